"""Derivations valid for every P: what a paper claims, from the definition, and whether it follows."""
