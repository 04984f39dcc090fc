"""What one benchmark says, and how two or more functions are timed side by side."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Benchmark:
    """A ratio and its goal: at most `goal` where `better` is "lower", at least where it is "higher".

    `goal` is None for a figure that has none. `detail` says what was timed, on how much, and the seconds.
    """

    name: str
    ratio: float
    goal: float | None
    better: str
    detail: str

    def __post_init__(self) -> None:
        if self.better not in ("lower", "higher"):
            raise ValueError(f"better is {self.better!r}; accepted: lower, higher")

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None where there is none. A NaN meets nothing."""
        if self.goal is None:
            return None
        return self.ratio <= self.goal if self.better == "lower" else self.ratio >= self.goal

    def data(self) -> dict:
        """As plain data."""
        return asdict(self)


def side_by_side(repeats: int, **work: Callable[[], object]) -> dict[str, float]:
    """Median seconds of each function, called in turn, `repeats` times after one call that is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for turn in range(repeats + 1):
        for name, function in work.items():
            start = time.perf_counter()
            function()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in seconds.items()}
