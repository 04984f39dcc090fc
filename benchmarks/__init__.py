"""Speed, as ratios of two things timed side by side in one run.

`make bench` runs every file of this folder in a process of its own and prints one line a ratio, with its goal. A file
has `benchmarks()`, which yields `Benchmark` objects or their data; `python -m benchmarks proofs layers` runs some of
them. Nothing here is a test: a goal that is missed is reported, and fails nothing.
"""
