"""How long the norms take beside PyTorch's `F.rms_norm` and beside a bare copy of the same bytes.

    python -m benchmarks.layers [--device cpu|cuda] [--dtype fp32 ...] [--threads 1] [--rounds 9] [--size 4096 4096]

The functions of one comparison take turns, round by round, and a ratio is the median over the rounds of what each round
gives: what slows a whole machine down for a while slows both sides. `clone` is the copy: like the norms it allocates
its result. Memory is the bytes of the tensors that autograd keeps for the backward pass, counted by its own hooks.

Goals: eager no slower than eager `F.rms_norm`; compiled at most 1.2 times compiled `F.rms_norm` (on CUDA: no slower,
and at least 85 % of the bandwidth of a copy); no more memory kept. The cost of `safe=True` has no goal.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from numerics.norms import mrs_norm, rms_norm

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
Run = Callable[[], object]


def rounds_of(runs: dict[str, Run], rounds: int, device: str) -> dict[str, list[float]]:
    """Seconds of each run in each round, after two rounds that do not count."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for count in range(-2, rounds):
        for name, run in runs.items():
            _finish(device)
            start = time.perf_counter()
            run()
            _finish(device)
            if count >= 0:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def _finish(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def kept_bytes(forward: Callable[[], Tensor]) -> int:
    """Bytes of the different tensors that the graph of forward() keeps."""
    kept: dict[int, int] = {}

    def pack(t: Tensor) -> Tensor:
        kept[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        result = forward()
    del result
    return sum(kept.values())


class Case:
    """One dtype on one device: x and g (rows, channels), weights by pair and by channel."""

    def __init__(self, name: str, device: str, size: tuple[int, int]) -> None:
        rng = torch.Generator().manual_seed(0)
        rows, channels = size

        def draw(*shape: int) -> Tensor:
            return torch.randn(shape, generator=rng).to(DTYPES[name]).to(device)

        threads = torch.get_num_threads()
        self.channels = channels
        self.where = device if device == "cuda" else f"{threads} thread{'s' if threads > 1 else ''}"
        self.x, self.g = draw(rows, channels), draw(rows, channels)
        self.leaf = self.x.clone().requires_grad_()
        self.by_pair, self.by_channel = (draw(channels // per).requires_grad_() for per in (2, 1))
        self.functions = {
            "F.rms_norm": (partial(F.rms_norm, normalized_shape=(channels,), eps=1e-6), self.by_channel),
            "MRSNorm": (partial(mrs_norm, eps=1e-6), self.by_pair),
            "MRSNorm safe": (partial(mrs_norm, eps=1e-6, safe=True), self.by_pair),
            "RMSNorm": (partial(rms_norm, eps=1e-6), self.by_channel),
        }

    def runs(self, backward: bool, compiled: bool) -> dict[str, Run]:
        """What is timed: each function, and for the forward pass a copy."""
        found: dict[str, Run] = {}
        for name, (function, weight) in self.functions.items():
            call = torch.compile(function, fullgraph=True) if compiled else function
            found[name] = partial(self._both if backward else self._forward, call, weight)
        return found if backward else {**found, "copy": self.x.clone}

    def _forward(self, call: Callable[..., Tensor], weight: Tensor) -> Tensor:
        with torch.no_grad():
            return call(self.x, weight=weight)

    def _both(self, call: Callable[..., Tensor], weight: Tensor) -> tuple[Tensor, ...]:
        return torch.autograd.grad(call(self.leaf, weight=weight), (self.leaf, weight), self.g)

    def memory(self, name: str) -> int:
        """Bytes kept by the eager forward pass."""
        function, weight = self.functions[name]
        return kept_bytes(lambda: function(self.leaf, weight=weight))


def row(name: str, ratio: float, goal: float | None, detail: str, better: str = "lower") -> dict:
    """One line of the report; without a goal the ratio is told and not judged."""
    return {"name": name, "ratio": ratio, "goal": goal, "better": better, "detail": detail}


def _compared(case: Case, seconds: dict[str, list[float]], first: str, second: str) -> tuple[float, str]:
    """The median ratio of two runs, and both medians in words."""
    ratio = statistics.median(a / b for a, b in zip(seconds[first], seconds[second], strict=True))
    a, b = (1000 * statistics.median(seconds[name]) for name in (first, second))
    return ratio, f"{a:.2f} ms against {b:.2f} ms, {case.x.shape[0]} x {case.channels}, {case.where}"


def benchmarks(
    device: str = "cpu", dtypes: tuple[str, ...] = tuple(DTYPES), rounds: int = 9, size: tuple[int, int] = (4096, 4096)
) -> Iterator[dict]:
    """Every comparison: name, ratio, goal (or None), which way is better, detail."""
    cuda = device == "cuda"
    for dtype in dtypes:
        case = Case(dtype, device, size)
        for compiled in (False, True):
            torch.compiler.reset()
            for backward in (False, True):
                seconds = rounds_of(case.runs(backward, compiled), rounds, device)
                how = (
                    f"{'compiled' if compiled else 'eager'}, {'forward + backward' if backward else 'forward'}, {dtype}"
                )
                goal = (1.0 if cuda else 1.2) if compiled else 1.0
                for name in ("MRSNorm", "RMSNorm"):
                    ratio, detail = _compared(case, seconds, name, "F.rms_norm")
                    yield row(f"{name} over F.rms_norm, {how}", ratio, goal, detail)
                ratio, detail = _compared(case, seconds, "MRSNorm safe", "MRSNorm")
                yield row(f"safe=True over safe=False, {how}", ratio, None, detail)
                if not backward:
                    ratio, detail = _compared(case, seconds, "copy", "MRSNorm")
                    least = 0.85 if cuda and compiled and size[1] >= 4096 else None
                    yield row(f"a copy over MRSNorm, {how}", ratio, least, detail, better="higher")
        kept = {name: case.memory(name) for name in ("MRSNorm", "F.rms_norm")}
        detail = " against ".join(f"{value / 2**20:.2f} MiB" for value in kept.values())
        yield row(
            f"memory kept, MRSNorm over F.rms_norm, eager, {dtype}", kept["MRSNorm"] / kept["F.rms_norm"], 1.0, detail
        )


def met(result: dict) -> bool | None:
    """Whether the goal is met; None where there is none."""
    if result["goal"] is None:
        return None
    return result["ratio"] <= result["goal"] if result["better"] == "lower" else result["ratio"] >= result["goal"]


def main() -> None:
    """Print one line a comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.layers", description="Time the norms.")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--dtype", nargs="+", choices=DTYPES, default=list(DTYPES))
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--size", type=int, nargs=2, default=(4096, 4096), metavar=("ROWS", "CHANNELS"))
    args = parser.parse_args()
    if args.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device is cuda; accepted here: cpu, no CUDA device was found")
    for name, value in (("--threads", args.threads), ("--rounds", args.rounds), ("--size", min(args.size))):
        if value < 1:
            parser.error(f"{name} is {value}; accepted: at least 1")
    if args.size[1] % 2:
        parser.error(f"--size has {args.size[1]} channels; accepted: an even number")
    torch.set_num_threads(args.threads)
    verdicts = {True: "met", False: "NOT MET", None: "no goal"}
    for result in benchmarks(args.device, tuple(args.dtype), args.rounds, tuple(args.size)):
        sign = "<=" if result["better"] == "lower" else ">="
        goal = "" if result["goal"] is None else f" {sign} {result['goal']}"
        print(
            f"{result['ratio']:6.2f}{goal:8} {verdicts[met(result)]:8} {result['name']}: {result['detail']}", flush=True
        )


if __name__ == "__main__":
    main()
