"""In the child: from "package.module:Name" or "path/to/file.py:Name" to something that can be called.

A class or a factory is called with the number of channels and `eps`, and with --kwargs; if these name "{channels}" or
"{pairs}", with them alone. What it returns is checked. A function is called as f(x, weight, eps), with further
parameters before eps.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

INPUT_NAMES = {
    "x",
    "input",
    "inputs",
    "hidden_states",
    "hidden",
    "h",
    "z",
    "q",
    "query",
    "queries",
    "tensor",
    "activations",
}
PLACEHOLDERS = ("channels", "pairs", "eps", "groups")
WIDTH = 16  # channels of the instance that shows whether the target can be used at all


def resolve(target: str) -> Any:
    """The object a target names. Raises whatever importing it raises."""
    place, _, name = target.rpartition(":")
    if place.endswith(".py"):
        path = Path(place).resolve()
        sys.path.insert(0, str(path.parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        found = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = found
        spec.loader.exec_module(found)
    else:
        found = importlib.import_module(place)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def fill(value: Any, values: dict[str, Any]) -> Any:
    """`value` with every string "{channels}", "{pairs}", "{eps}" or "{groups}" in it replaced, in lists too."""
    if isinstance(value, dict):
        return {key: fill(each, values) for key, each in value.items()}
    if isinstance(value, list):
        return [fill(each, values) for each in value]
    for name in PLACEHOLDERS:
        if value == f"{{{name}}}":
            return values[name]
    return value


class Loaded:
    """A target, and how it is called: `kind` is "constructor" or "function"; `takes_eps` whether eps can be given."""

    def __init__(self, target: str, kwargs: dict[str, Any] | None, groups: int) -> None:
        self.target, self.kwargs, self.groups = resolve(target), kwargs, groups
        if not callable(self.target) or isinstance(self.target, torch.nn.Module):
            raise TypeError(f"it is a {type(self.target).__name__}: not a class, a factory or a function")
        names = _parameters(self.target)
        self.takes_eps = "eps" in names or "**" in names or "{eps}" in str(kwargs)
        self.kind = self._kind(names)
        if self.kind == "function":
            self.takes_eps = True

    def _kind(self, names: list[str]) -> str:
        if inspect.isclass(self.target):
            self.build(WIDTH, 1e-6, torch.float32, "cpu")
            return "constructor"
        if names and names[0] in INPUT_NAMES:
            return "function"
        try:
            self.build(WIDTH, 1e-6, torch.float32, "cpu")
        except Exception:
            if self.kwargs and any("{" in str(value) for value in self.kwargs.values()):
                raise
            return "function"
        return "constructor"

    def build(self, channels: int, eps: float, dtype: torch.dtype, device: str) -> Callable:
        """An instance for this width. Raises TypeError where the target returns nothing that can be called."""
        values = {"channels": channels, "pairs": channels // 2, "eps": eps, "groups": self.groups}
        given = fill(self.kwargs or {}, values)
        if self.takes_eps and "{eps}" not in str(self.kwargs):
            given = {"eps": eps, **given}
        named = any(f"{{{name}}}" in str(self.kwargs) for name in ("channels", "pairs"))
        made = self.target(**given) if named else self.target(channels, **given)
        if not callable(made) or isinstance(made, torch.Tensor):
            raise TypeError(f"it returned {type(made).__name__}: not something that can be called")
        return made.to(device=device, dtype=dtype) if isinstance(made, torch.nn.Module) else made

    def as_function(self, eps: float) -> Callable:
        """The function with its eps: called with input(s) and parameters."""
        given = fill(self.kwargs or {}, {"channels": None, "pairs": None, "eps": eps, "groups": self.groups})
        if "eps" in given or "{eps}" in str(self.kwargs):
            return lambda *arguments: self.target(*arguments, **given)
        if "eps" in _parameters(self.target):
            return lambda *arguments: self.target(*arguments, eps=eps, **given)
        return lambda *arguments: self.target(*arguments, eps, **given)


def parameters_of(instance: Any) -> dict[str, torch.Tensor]:
    """The learnable tensors of an instance, by name."""
    if isinstance(instance, torch.nn.Module):
        return dict(instance.named_parameters())
    found = getattr(instance, "__dict__", {})
    return {name: each for name, each in found.items() if isinstance(each, torch.Tensor) and each.requires_grad}


def _parameters(target: Any) -> list[str]:
    try:
        found = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return []
    return ["**" if each.kind is each.VAR_KEYWORD else each.name for each in found]
