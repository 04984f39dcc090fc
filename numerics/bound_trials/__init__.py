"""Trials of the error bounds of `numerics.rounding`: random ones, and a search for the worst."""
