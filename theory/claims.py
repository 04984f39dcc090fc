"""Finds the claim modules of this package by where they lie: `theory.<paper>.<slug>`, one file a claim."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import theory


def papers() -> list[str]:
    """The subpackages that hold claims."""
    return [entry.name for entry in pkgutil.iter_modules(theory.__path__) if entry.ispkg]


def modules() -> list[ModuleType]:
    """Every module with `STATEMENTS`, in order of paper and name."""
    found = []
    for paper in papers():
        package = importlib.import_module(f"theory.{paper}")
        for entry in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"theory.{paper}.{entry.name}")
            if hasattr(module, "STATEMENTS"):
                found.append(module)
    return found
