"""Theorems that no source states, proved for every P: one file each."""
