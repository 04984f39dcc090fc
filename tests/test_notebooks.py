"""The notebooks run again from top to bottom, and every outcome and formula they show is the one that is stored.

Measured numbers and figures may differ in the last digit between machines; what is decided by proof may not.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def _code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _shown(cell: nbformat.NotebookNode) -> list[str]:
    """The tables and formulas of a cell."""
    data = [output.get("data", {}) for output in cell.outputs]
    return [entry[kind] for entry in data for kind in ("text/markdown", "text/latex") if kind in entry]


def _images(cell: nbformat.NotebookNode) -> int:
    return sum("image/png" in output.get("data", {}) for output in cell.outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_executed_and_in_order(path):
    cells = _code_cells(nbformat.read(path, as_version=4))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert any(_shown(cell) for cell in cells)
    assert any(_images(cell) for cell in cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_again_and_shows_the_same_outcomes(path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(path.parents[1]))
    stored = nbformat.read(path, as_version=4)
    again = nbformat.read(path, as_version=4)
    NotebookClient(again, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    for before, after in zip(_code_cells(stored), _code_cells(again), strict=True):
        assert _shown(after) == _shown(before)
        assert _images(after) == _images(before)


def test_there_are_notebooks():
    assert {path.stem for path in NOTEBOOKS} >= {"gradients", "logit_bound"}
