"""Sweeps: many trials of the checks over a matrix of scenarios, in shards that survive a crash and merge in any order."""
