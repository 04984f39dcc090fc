"""The bands that are missing, in this process or in several; the result does not depend on how many."""

from __future__ import annotations

from collections.abc import Callable

import torch

from numerics.exhaustive.bands import Band, Table, scan
from numerics.exhaustive.state import State


def finish(state: State, jobs: int = 1, advance: Callable[[], None] = lambda: None) -> None:
    """Scan what is missing in `state` and record each band as it is finished; `advance` is called after each."""
    scale, gamma, device = (state.header[name] for name in ("scale", "gamma", "device"))
    if jobs == 1 or device != "cpu" or len(state.missing) < 2:
        found = (_band(scale, gamma, device, number) for number in state.missing)
    else:
        import joblib

        work = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        found = work(joblib.delayed(_band)(scale, gamma, device, number) for number in state.missing)
    for band in found:
        state.add(band)
        advance()


def _band(scale: float, gamma: float, device: str, number: int) -> Band:
    """One band, with one thread: cores are used by working on several bands."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return scan(Table.of(scale, gamma, device), number)
    finally:
        torch.set_num_threads(threads)
