"""Further kinds of statements: each in a file of its own, decided and refused like those of `theory.statements`."""
