"""A false claim is measured to be false: with a right formula in the place of the printed one nothing is violated."""

import importlib
import pkgutil

import pytest

import numerics
from numerics.measure import Settings

FEW = Settings(trials=4, dtypes=("fp16", "fp32"))
PAPERS = ("mrsnorm", "beyond", "ma_rmsnorm")
MODULES = {
    f"{paper}.{entry.name}": importlib.import_module(f"numerics.{paper}.{entry.name}")
    for paper in PAPERS
    for entry in pkgutil.iter_modules([f"{numerics.__path__[0]}/{paper}"])
}
REPAIRS = [(name, repair) for name, module in MODULES.items() for repair in getattr(module, "REPAIRS", {})]
pytestmark = pytest.mark.usefixtures("one_thread")


def printed_rows(module):
    found = [row for row in module.measure(FEW) if row.statement == "as printed"]
    assert found
    return found


@pytest.mark.parametrize(("name", "repair"), REPAIRS)
def test_with_a_right_formula_nothing_that_is_printed_is_violated(name, repair, monkeypatch):
    module = MODULES[name]
    assert "violated" in {row.status for row in printed_rows(module)}
    monkeypatch.setattr(module, "printed", module.REPAIRS[repair])
    assert [row for row in printed_rows(module) if row.status == "violated"] == []
