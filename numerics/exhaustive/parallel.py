"""The bands that are missing, in this process or in several; the result does not depend on how many."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from numerics.exhaustive.bands import Band, Table, scan
from numerics.exhaustive.state import State
from numerics.threads import one_thread


def finish(
    state: State,
    jobs: int = 1,
    advance: Callable[[], None] = lambda: None,
    starting: Callable[[], AbstractContextManager] = nullcontext,
) -> None:
    """Scan what is missing in `state` and record each band as it is finished; `advance` is called after each.

    `starting` is entered while worker processes are started.
    """
    scale, gamma, device = (state.header[name] for name in ("scale", "gamma", "device"))
    if jobs == 1 or device != "cpu" or len(state.missing) < 2:
        found = (_band(scale, gamma, device, number) for number in state.missing)
    else:
        import joblib

        with starting():
            work = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
            found = work(joblib.delayed(_band)(scale, gamma, device, number) for number in state.missing)
    for band in found:
        state.add(band)
        advance()


def _band(scale: float, gamma: float, device: str, number: int) -> Band:
    with one_thread():
        return scan(Table.of(scale, gamma, device), number)
