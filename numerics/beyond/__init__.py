"""Theorems that no source states, measured: one file each."""
