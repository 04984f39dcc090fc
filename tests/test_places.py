"""The place of a statement is the line that makes it."""

from pathlib import Path

import pytest

from paper_checks.places import place
from theory.claims import modules
from theory.mrsnorm import eq05, explosion, softmax_collapse

ROOT = Path(__file__).parents[1]


def line_of(where):
    """The line of the file that a place names."""
    file, number = where.split(":")
    return (ROOT / file).read_text(encoding="utf-8").splitlines()[int(number) - 1]


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.__name__)
def test_every_statement_and_condition_is_found(module):
    for statement in module.STATEMENTS:
        for text in (statement.text, *(condition.text for condition in statement.conditions)):
            assert not line_of(place(module, text)).startswith("STATEMENTS"), text


def test_statements_of_one_file_have_lines_of_their_own_in_their_order():
    places = [place(eq05, statement.text) for statement in eq05.STATEMENTS]
    lines = [int(where.removeprefix("theory/mrsnorm/eq05.py:")) for where in places]
    assert lines == sorted(set(lines))
    assert all("Identity(" in line_of(where) for where in places)


def test_a_text_with_computed_parts_is_found_where_it_is_computed():
    text = explosion.STATEMENTS[0].text
    assert text not in Path(explosion.__file__).read_text(encoding="utf-8")
    assert place(explosion, text).startswith("theory/mrsnorm/explosion.py:")


def test_a_statement_from_another_file_is_found_there():
    (text,) = (s.text for s in softmax_collapse.STATEMENTS if s.name == "the variance of the logits")
    assert place(softmax_collapse, text).startswith("theory/softmax.py:")


@pytest.mark.parametrize("text", ["", "no statement says this"])
def test_what_is_not_found_is_placed_at_the_list(text):
    assert line_of(place(eq05, text)).startswith("STATEMENTS")
