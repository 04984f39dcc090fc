"""Results, written down: terminal table, JSON, JUnit, Markdown, HTML, and one claim's derivation."""
