"""Experiments that are larger than a check: trainings and re-creations of what a paper reports."""
