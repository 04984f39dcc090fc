"""What the README shows in Python runs as it stands there."""

import re
from pathlib import Path

import pytest
import torch

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = [block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "model" not in block]


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_an_example_runs(number):
    found = {}
    exec(compile(BLOCKS[number], "README.md", "exec"), found)
    results = [value for value in found.values() if isinstance(value, torch.Tensor)]
    assert results and all(bool(value.isfinite().all()) for value in results)


def test_the_example_of_the_layers_is_there_and_its_scores_are_bounded():
    (block,) = [block for block in BLOCKS if "QKNorm" in block]
    found = {}
    exec(compile(block, "README.md", "exec"), found)
    scores = found["q"] @ found["k"].transpose(-1, -2)
    assert float(scores.detach().abs().max()) <= 32
    assert found["o"].dtype == torch.float16
    assert float(found["tiny"].detach().abs().min()) > 0.5
