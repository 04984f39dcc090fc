"""Where a statement stands: file and line, found by its text in the source of the module that makes it.

A text is looked up among the arguments of the calls in the claim's file, then in those of the modules that it imports
from the same package, then among the texts with computed parts and those that have a name of their own. What is not
found is placed at the list `STATEMENTS`.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

LIST = "STATEMENTS"


def place(module: ModuleType, text: str) -> str:
    """The "file:line" of the statement with that text, the file relative to the directory of the module's package."""
    own = inspect.getsourcefile(module)
    root = Path(own).parents[module.__name__.count(".")]
    top = module.__name__.partition(".")[0]
    path, line = next(_found(own, top, text), (own, _list(own)))
    return f"{Path(path).relative_to(root).as_posix()}:{line}"


def _found(own: str, top: str, text: str) -> Iterator[tuple[str, int]]:
    """Every (file, line) that the text may come from, the likeliest first; none for an empty text."""
    if not text:
        return
    for path in (own, *_imported(own, top)):
        yield from ((path, line) for value, line in _literals(path) if value == text)
    matching = [(size, line) for pattern, size, line in _patterns(own) if pattern.fullmatch(text)]
    yield from ((own, line) for _, line in sorted(matching, key=lambda match: -match[0]))
    yield from ((own, node.lineno) for node in ast.walk(_tree(own)) if getattr(node, "value", None) == text)


@cache
def _tree(path: str) -> ast.Module:
    return ast.parse(Path(path).read_text(encoding="utf-8"))


@cache
def _arguments(path: str) -> tuple[tuple[ast.expr, int], ...]:
    """Every argument of every call, with the line where the call begins."""
    calls = [node for node in ast.walk(_tree(path)) if isinstance(node, ast.Call)]
    return tuple((a, call.lineno) for call in calls for a in (*call.args, *(key.value for key in call.keywords)))


@cache
def _literals(path: str) -> tuple[tuple[str, int], ...]:
    constants = ((argument, line) for argument, line in _arguments(path) if isinstance(argument, ast.Constant))
    return tuple((constant.value, line) for constant, line in constants if isinstance(constant.value, str))


@cache
def _patterns(path: str) -> tuple[tuple[re.Pattern, int, int], ...]:
    """The texts with computed parts: what they match, how much of it is literal, and the line of the call."""
    found = []
    for argument, line in _arguments(path):
        if isinstance(argument, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else None for part in argument.values]
            pattern = "".join(".*" if part is None else re.escape(part) for part in parts)
            found.append((re.compile(pattern, re.DOTALL), sum(len(part or "") for part in parts), line))
    return tuple(found)


def _list(path: str) -> int:
    for node in _tree(path).body:
        targets = node.targets if isinstance(node, ast.Assign) else ()
        if any(isinstance(target, ast.Name) and target.id == LIST for target in targets):
            return node.lineno
    return 1


@cache
def _imported(path: str, top: str) -> tuple[str, ...]:
    """The files of the modules of the same top-level package that a file imports something from."""
    found = []
    for node in _tree(path).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == top:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            found += [module.__file__ for name in names if (module := sys.modules.get(name)) and module.__file__]
    return tuple(dict.fromkeys(found))
