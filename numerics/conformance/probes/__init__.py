"""One file a property, or a group of related ones."""
