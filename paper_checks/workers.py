"""Worker processes of joblib: how they are started, and what they keep."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

MOST_GROWTH = 4 * 10**9  # bytes, of a worker that ends with the run


def keep_caches() -> None:
    """Let this worker grow: joblib would replace it after 300 MB, and throw away all that SymPy has computed in it."""
    from joblib.externals.loky import process_executor

    if hasattr(process_executor, "_MAX_MEMORY_LEAK_SIZE"):
        process_executor._MAX_MEMORY_LEAK_SIZE = MOST_GROWTH


@contextmanager
def quiet_children() -> Iterator[None]:
    """Processes started meanwhile, and by threads started meanwhile, leave an interrupt to this process.

    It reaches them blocked, since they inherit the signal mask. The one that outlives this process to give its
    semaphores back does so without a warning.
    """
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (before, "ignore:resource_tracker")))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before
