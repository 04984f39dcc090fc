"""Sweeps: many trials over a matrix of scenarios, in shards that survive a crash and merge in any order."""
