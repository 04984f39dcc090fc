"""What the options of `run` accept, and the settings they make."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.metadata import version

from numerics.measure import DTYPES, Settings
from paper_checks import __version__, routes
from paper_checks.evidence import SYMPY
from paper_checks.usage import UsageProblem, integer

DEVICES = ("auto", "cpu", "cuda")
ALIASES = {
    "float16": "fp16",
    "half": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float": "fp32",
    "float64": "fp64",
    "double": "fp64",
}
MOST_TRIALS, MOST_JOBS = 10**6, 1024
LARGEST_SEED = 2**63 - 1
ALL = "all"


@dataclass(frozen=True)
class Request:
    """The options as the user typed them."""

    device: str = "auto"
    dtypes: tuple[str, ...] = ()
    trials: str = "64"
    seed: str = "0"
    full: bool = False

    def check(self) -> Settings:
        """The settings, with the device as it was named: needs no torch.

        Raises:
            UsageProblem: an option was given something it does not accept.
        """
        if self.device not in DEVICES:
            raise UsageProblem("--device", self.device, f"one of {', '.join(DEVICES)}")
        return Settings(
            device=self.device,
            dtypes=tuple(dict.fromkeys(dtype(name) for name in self.dtypes)) or DTYPES,
            trials=integer("--trials", self.trials, 1, MOST_TRIALS),
            seed=integer("--seed", self.seed, 0, LARGEST_SEED),
            full=self.full,
        )

    def settings(self) -> Settings:
        """The settings, with the device that is there.

        Raises:
            UsageProblem: as for `check`; or CUDA was asked for and there is none.
        """
        checked = self.check()
        return replace(checked, device=_available(checked.device))


def dtype(name: str) -> str:
    """The short name of a dtype: float16, half and torch.float16 are fp16.

    Raises:
        UsageProblem: it is none of the four that are checked.
    """
    short = name.strip().lower().removeprefix("torch.")
    short = ALIASES.get(short, short)
    if short not in DTYPES:
        raise UsageProblem("--dtype", name, f"one of {', '.join((*DTYPES, *ALIASES))}")
    return short


def provers(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The independent routes to ask, and those of them that were asked for by name.

    Args:
        names: what --provers was given, each one prover or several separated by commas; none means all. SymPy is
            always asked, since the verdicts rest on it.

    Raises:
        UsageProblem: one of them is no prover.
    """
    given = [name.strip().lower() for entry in names for name in entry.split(",")] or [ALL]
    for name in given:
        if name not in (ALL, SYMPY, *routes.MODULES):
            raise UsageProblem("--provers", name, f"one of {', '.join((ALL, SYMPY, *routes.MODULES))}")
    named = tuple(route for route in routes.MODULES if route in given)
    return (tuple(routes.MODULES) if ALL in given else named), named


def _available(name: str) -> str:
    if name == "cpu":
        return name
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if name == "cuda":
        raise UsageProblem("--device", name, "auto or cpu here: torch finds no CUDA device")
    return "cpu"


def environment(chosen: Settings, jobs: int) -> dict:
    """Where and how a run was made: versions, device, threads (of each process) and options."""
    import torch

    cuda = chosen.device == "cuda"
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "paper_checks": __version__,
        **{name: version(name) for name in ("torch", "sympy", "numpy")},
        "device": chosen.device,
        "device_name": torch.cuda.get_device_name() if cuda else platform.processor() or platform.machine(),
        "threads": 1,
        "jobs": jobs,
        "seed": chosen.seed,
        "dtypes": list(chosen.dtypes),
        "trials": chosen.trials,
        "full": chosen.full,
    }
