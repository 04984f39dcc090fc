"""The parent's side of a whole check: instances, calls, and what became of inputs on the way.

An instance is made for each width, eps, dtype and serial number, and called as often as the probes like. A child that
died or hung is replaced at the next call.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from numerics.conformance import data, passing
from numerics.conformance.case import Case
from numerics.conformance.memory import Found, Memory
from numerics.conformance.process import Child, Failure, Hung
from numerics.conformance.specs import Spec
from numerics.conformance.target import LoadError, Target
from numerics.rounding import FORMATS, Format
from numerics.scenarios import generator

DEFAULT_EPS = 1e-6  # of a target whose eps cannot be given
WIDTH = 16  # channels of an ordinary case
ORDER = ("fp32", "fp16", "bf16", "fp64")
MOST_HANGS = 2
KEPT, KEPT_CASES = 4096, 100  # entries of a case that is remembered, and how many are
LOADING = 90.0  # seconds to import the target, which may compile something
COMPILING = 90.0
ELSEWHERE = 2**22  # bytes from the start of the memory: another place for an input


@dataclass(frozen=True)
class Options:
    """How a target is checked: limits in seconds, of one call and of the whole."""

    seed: int
    device: str = "cpu"
    dtypes: tuple[str, ...] = ()  # empty: those of the four that the target accepts
    quick: bool = False
    call_limit: float = 10.0
    time_limit: float = 180.0


@dataclass(frozen=True)
class Result:
    """What a call gave: a failure in words, or what was returned. Gradients are those of inputs, then of parameters."""

    failure: str = ""
    outputs: tuple[Found, ...] = ()
    gradients: tuple[Found, ...] = ()
    count: tuple[int, int] = (0, 0)
    gradient_failure: str = ""


@dataclass
class Session:
    """One target under one specification. `steps` counts calls, for the progress bar."""

    target: Target
    spec: Spec
    options: Options
    advance: Callable[[], None] = lambda: None
    kind: str = ""
    takes_eps: bool = True
    fixed_eps: float = DEFAULT_EPS
    flat: bool = False  # the target takes (T, N) only
    formats: dict[str, Format] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)  # format -> what it raised
    impure: list[tuple[str, Case]] = field(default_factory=list)
    shapes: dict[str, list] = field(default_factory=dict)  # key -> parameters of the instance, by name
    hangs: int = 0
    compiles: bool = False  # a compiler is loaded in the child: calls are given more time
    calls: int = 0
    stopped: str = ""

    def __post_init__(self) -> None:
        self.memory = Memory()
        self.child: Child | None = None
        self.past: list[Case] = []
        self.made: set[str] = set()
        self.deadline = time.monotonic() + self.options.time_limit

    def random(self, *key: object) -> torch.Generator:
        """A generator for one part of one probe, from the seed of the run."""
        return generator("conform", self.options.seed, *key)

    def eps(self, wanted: float) -> float:
        """`wanted`, or what the target has where its eps cannot be given."""
        return wanted if self.takes_eps else self.fixed_eps

    def shape(self, *shape: int) -> tuple[int, ...]:
        """A shape (B, T, N), for a target that takes (T, N) only flattened to that."""
        return (shape[0] * shape[1], *shape[2:]) if self.flat and len(shape) == 3 else shape

    def load(self) -> None:
        """Imports the target in a child.

        Raises:
            LoadError: it cannot be imported, or the object cannot be constructed.
        """
        argument, given = ("TARGET", self.target.forward) if self.target.forward else ("--backward", self.target.name)
        try:
            answer = self._start()
        except Failure as failure:
            raise LoadError(argument, given, f"importing it {failure}") from failure
        if "raised" in answer:
            raise LoadError(argument, given, answer["raised"])
        self.kind, self.takes_eps = str(answer.get("kind")), bool(answer.get("takes_eps"))
        self.compiles = bool(answer.get("compiles"))
        self.deadline = time.monotonic() + self.options.time_limit
        literal = (self.target.kwargs or {}).get("eps")
        if isinstance(literal, int | float):
            self.takes_eps, self.fixed_eps = False, float(literal)

    def _start(self) -> dict:
        self.made.clear()
        self.child = Child(self.memory.file.fileno(), self.options.device)
        request = {
            "op": "load",
            "target": self.target.forward,
            "backward": self.target.backward,
            "kwargs": self.target.kwargs,
            "groups": self.spec.groups,
        }
        return self._ask(request, LOADING) if self.kind else self.child.ask(request, LOADING)

    def earlier(self, case: Case) -> list[tuple[str, Case]]:
        """Earlier cases with the same shape, whose results a cache might return, the latest first."""
        alike = [each for each in self.past if each is not case and each.x.shape == case.x.shape]
        return [("the result of an earlier call: something is cached", each) for each in reversed(alike)]

    def restart(self) -> None:
        """Ends the child; the next call starts another."""
        if self.child is not None:
            self.child.end()

    def close(self) -> None:
        """Ends the child and gives the memory back."""
        self.restart()
        self.memory.file.close()

    def detect(self) -> None:
        """Finds out which dtypes the target accepts, and whether it takes (B, T, N) or (T, N) only."""
        for self.flat in (False, True):
            self.formats, self.refused = {}, {}
            for name in self.options.dtypes or ORDER:
                case = data.draw(
                    self.random("detect"), self.spec, FORMATS[name], self.shape(2, 3, WIDTH), self.eps(0.125)
                )
                forward = self.target.forward is not None
                result = self.call(replace(case, g=None) if forward else case)
                if result.failure.startswith("raises"):
                    self.refused[name] = result.failure.removeprefix("raises ")
                else:
                    self.formats[name] = FORMATS[name]
            if self.formats:
                return
        self.flat = False
        self.formats = {name: FORMATS[name] for name in self.refused}

    def _ask(self, request: dict, seconds: float) -> dict:
        seconds = max(seconds, COMPILING) if self.compiles else seconds
        seconds = min(seconds, self.deadline - time.monotonic())
        if seconds <= 0:
            self.stopped = f"was not called any more: the time limit of {self.options.time_limit:g} s is used up"
            raise Failure(self.stopped)
        try:
            answer = self.child.ask(request, seconds)
            self.compiles = self.compiles or bool(answer.get("compiles"))
            return answer
        except Hung:
            self.hangs += MOST_HANGS if self.compiles else 1
            if self.hangs >= MOST_HANGS:
                self.stopped = f"did not return within {seconds:.0f} s in {self.hangs} calls, after which none was made"
            raise

    def instance(self, case: Case, serial: int = 0, compiled: bool = False) -> str:
        """The key of the instance for a case, made if need be; raises Failure, or ValueError with what it raised."""
        if self.child is None or self.child.ended:
            answer = self._start()
            if "raised" in answer:
                raise ValueError(answer["raised"])
        key = f"{case.channels} {case.eps} {case.fmt.name} {serial}"
        if key not in self.made:
            request = {"op": "make", "key": key, "channels": case.channels, "eps": case.eps, "dtype": case.fmt.name}
            answer = self._ask(request, self.options.call_limit)
            if "raised" in answer:
                raise ValueError(answer["raised"])
            self.shapes[key] = answer.get("parameters", [])
            self.made.add(key)
        if compiled and f"{key} compiled" not in self.made:
            answer = self._ask({"op": "compile", "key": key, "as": f"{key} compiled"}, COMPILING)
            if "raised" in answer:
                raise ValueError(answer["raised"])
            self.made.add(f"{key} compiled")
        return f"{key} compiled" if compiled else key

    def call(
        self,
        case: Case,
        serial: int = 0,
        elsewhere: bool = False,
        same_object: bool = False,
        train: bool = True,
        grad: bool | None = None,
        inference: bool = False,
        compiled: bool = False,
        between: Tensor | None = None,
        frozen: str = "",
    ) -> Result:
        """Calls the target; never raises for what the target does.

        `between` is another input, on which it is called before its output is read and before the backward pass;
        `frozen`, "input" or "parameters", is what needs no gradient.
        """
        self.advance()
        if self.stopped:
            return Result(failure=self.stopped)
        self.calls += 1
        if case.x.numel() < KEPT:
            self.past = [*self.past[-KEPT_CASES:], case]
        try:
            key = self.instance(case, serial, compiled)
            given = passing.assigned(case, self.shapes[key.removesuffix(" compiled")], self.kind)
            flags = {
                "op": "call",
                "key": key,
                "eps": case.eps,
                "train": train,
                "grad": case.g is not None if grad is None else grad,
                "inference": inference,
                "same_object": same_object,
                "frozen": frozen,
            }
            self.memory.begin(ELSEWHERE if elsewhere else 0)
            return self._called(case, given, flags, between, COMPILING if compiled else self.options.call_limit)
        except Failure as failure:
            return Result(failure=str(failure))
        except ValueError as raised:
            return Result(failure=f"raises {raised}")

    def _called(
        self, case: Case, given: list[tuple[str | None, Tensor]], flags: dict, between: Tensor | None, seconds: float
    ) -> Result:
        memory, inputs = self.memory, passing.both(case.x, case)
        upstream = [] if case.g is None else passing.both(case.g, case)
        laid = [[(each, memory.put(each)) for each in part] for part in (inputs, upstream)]
        passed = [(name, each, memory.put(each)) for name, each in given]
        size = case.x.numel() * 8 + 64
        count = len(inputs) * (2 if upstream else 1)
        places = [memory.room(size) for _ in range(count)]
        places += [memory.room(each.numel() * 8 + 64) for _, each in given] if upstream else []
        kept = [memory.room(each.numel() * 8 + 64) for _, each in given]
        printed = self.child.printed()
        request = {
            **flags,
            "inputs": [layout for _, layout in laid[0]],
            "upstream": [layout for _, layout in laid[1]],
            "parameters": [{"name": name, "layout": layout} for name, _, layout in passed],
            "between": [] if between is None else [memory.put(each) for each in passing.both(between, case)],
            "places": places,
            "kept": kept,
            "poison": sorted({case.x.numel() * width for width in (2, 4, 8)}),
        }
        answer = self._ask(request, seconds)
        for part, each in zip(("input", "upstream gradient"), laid, strict=True):
            if not all(memory.unchanged(tensor, layout) for tensor, layout in each):
                self.impure.append((f"the {part} is modified in place", case))
        if self.child.printed() > printed:
            self.impure.append((f"it prints on standard output: {self.child.text(printed)!r}", case))
        if answer.get("changed"):
            self.impure.append((f"it changes torch's {str(answer['changed'])[:100]}", case))
        if "raised" in answer:
            return Result(failure=f"raises {answer['raised']}")
        return self._read(case, answer, places, kept, given)

    def _read(self, case: Case, answer: dict, places: list, kept: list, given: list) -> Result:
        try:
            outputs, gradients, after = answer["outputs"], answer["gradients"], answer["after"]
            found = [
                self.memory.found(each, place) for each, place in zip([*outputs, *gradients], places, strict=False)
            ]
            kept_values = [self.memory.found(each, place) for each, place in zip(after, kept, strict=False)]
            count = (int(answer["count"][0]), int(answer["count"][1]))
            split = len(outputs)
            raised = str(answer["gradient_raised"])
        except (KeyError, TypeError, ValueError, IndexError):
            return Result(failure="interfered with the process it runs in, whose answer makes no sense")
        for (name, values), now in zip(given, kept_values, strict=False):
            if now.values is None or not torch.equal(now.values.reshape(-1), values.double().reshape(-1)):
                self.impure.append((f"the parameter {name or 'passed to it'} is modified in place", case))
        found = passing.unturned(found, split, case)
        failed = f"raises {raised}" if raised else ""
        return Result("", tuple(found[:split]), tuple(found[split:]), count, failed)
