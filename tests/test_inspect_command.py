"""The command `inspect`: what it prints, writes, draws and refuses, and what the documents say of it."""

import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from numerics import activations
from paper_checks.report.activations import number

ROOT = Path(__file__).parents[1]
FIELDS = {
    "name",
    "shape",
    "dtype",
    "rows",
    "channels",
    "outlier_ratio",
    "kurtosis",
    "s_over_s_rms",
    "radial_gain_min",
    "operator_norm_amplification_max",
    "attenuation",
    "fp16_phase_lost_share",
    "output_norm_max",
    "self_score_min",
}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some.safetensors"
    x = torch.randn(5, 8, generator=torch.Generator().manual_seed(1))
    save_file({"a": x, "b": x.half(), "odd": torch.ones(2, 7), "ids": torch.ones(2, 8, dtype=torch.int64)}, path)
    return str(path)


def test_the_json_has_the_documented_fields(command, file):
    found = command("inspect", file, "--json", "-")
    assert found.status == 0
    document = found.json()
    assert (document["schema_version"], document["eps"]) == (1, 1e-6)
    assert [each["name"] for each in document["tensors"]] == ["a", "b"]
    for each in document["tensors"]:
        assert each.keys() >= FIELDS
        assert set(each["s_over_s_rms"]) == {"min", "median", "max"}
        assert set(each["attenuation"]) == {"mrsnorm", "rmsnorm"}
    assert {each["name"] for each in document["skipped"]} == {"odd", "ids"}


def test_what_is_left_out_is_said(command, file):
    found = command("inspect", file)
    assert (found.status, found.err) == (0, "")
    assert "left out  odd: its shape is (2, 7)" in found.out
    assert "left out  ids: its dtype is I64" in found.out


def test_eps_matters(command, file):
    gains = [
        command("inspect", file, "--tensor", "a", "--eps", eps, "--json", "-").json()["tensors"][0]["radial_gain_min"]
        for eps in ("0", "1e-6", "1")
    ]
    assert gains[0] < gains[1] < gains[2]


def test_a_plot_is_a_png(command, file, tmp_path):
    target = tmp_path / "a.png"
    assert command("inspect", file, "--plot", str(target)).status == 0
    assert target.read_bytes().startswith(b"\x89PNG\r\n")


def test_queries_and_keys_are_scored(command):
    pair = ("--query", "layer0.query", "--key", "layer0.key", "--heads", "12")
    document = command("inspect", str(activations.PATH), "--tensor", "layer0.query", *pair, "--json", "-").json()
    attention = document["attention"]
    assert attention["bounds"] == {"d/2": 16.0, "d^2/4": 256.0}
    assert attention["scales"]["mean"]["score"]["max"] > 16 >= attention["scales"]["rms"]["score"]["max"]
    text = command("inspect", str(activations.PATH), "--tensor", "layer0.query", *pair).out
    assert "12 heads of d = 32, 78 keys" in text and "d/2 = 16" in text


def bad(name, *arguments):
    return pytest.param(arguments, id=name)


@pytest.mark.parametrize(
    "arguments",
    [
        bad("no such tensor", "--tensor", "z"),
        bad("odd width", "--tensor", "odd"),
        bad("a query alone", "--query", "a"),
        bad("a key alone", "--key", "a"),
        bad("heads that do not divide", "--query", "a", "--key", "b", "--heads", "3"),
        bad("no heads", "--heads", "0"),
        bad("negative eps", "--eps", "-1"),
        bad("eps that is no number", "--eps", "small"),
        bad("infinite eps", "--eps", "inf"),
        bad("a plot that is no PNG", "--plot", "a.pdf"),
        bad("a dimension that is no number", "--dim", "last"),
        bad("an output nowhere", "--json", "/nowhere/a.json"),
    ],
)
def test_bad_usage_is_one_line_and_writes_nothing(command, file, tmp_path, arguments):
    found = command("inspect", file, *arguments)
    assert found.status == 2
    assert re.fullmatch(r"paper-checks: --[a-z, -]+: got .+, accepts .+\n", found.err)
    assert found.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["some.safetensors"]


@pytest.mark.parametrize("name", ["missing.npy", "some.csv", "folder.npy"])
def test_a_file_that_cannot_be_read_is_refused(command, tmp_path, name):
    (tmp_path / "some.csv").write_text("1,2\n")
    (tmp_path / "folder.npy").mkdir()
    found = command("inspect", str(tmp_path / name))
    assert found.status == 2
    assert re.fullmatch(r"paper-checks: FILE: got .+, accepts .+\n", found.err)


def test_a_file_without_activations_is_refused(command, tmp_path):
    save_file({"odd": torch.ones(2, 7)}, tmp_path / "a.safetensors")
    found = command("inspect", str(tmp_path / "a.safetensors"))
    assert found.status == 2 and "odd: its shape is (2, 7)" in found.err


def test_the_readme_of_the_shipped_activations_says_what_inspect_finds(command):
    text = (activations.PATH.parent / "README.md").read_text(encoding="utf-8")
    found = {each["name"]: each for each in command("inspect", str(activations.PATH), "--json", "-").json()["tensors"]}
    rows = re.findall(r"^\| `(layer\d\.\w+)` \|(.+)\|$", text, re.MULTILINE)
    assert {name for name, _ in rows} == found.keys()
    for name, cells in rows:
        each = found[name]
        quantities = (
            each["outlier_ratio"],
            each["kurtosis"],
            each["radial_gain_min"],
            each["attenuation"]["mrsnorm"],
            each["attenuation"]["rmsnorm"],
        )
        assert [cell.strip() for cell in cells.split("|")] == [number(value) for value in quantities]
    assert found["layer2.pre_norm"]["rows"] == 78 and found["layer2.pre_norm"]["channels"] == 384


def test_the_readme_shows_how_to_capture_activations_from_a_model(command, tmp_path, monkeypatch):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?register_forward_hook.*?)```", text, re.DOTALL)
    assert len([line for line in code.splitlines() if line and not line.startswith(("import", "from"))]) <= 5
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    model, batch = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), torch.randn(3, 5, 16)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {"model": model, "batch": batch})
    document = command("inspect", "activations.safetensors", "--json", "-").json()
    names = {name for name, module in model.named_modules() if isinstance(module, nn.LayerNorm)}
    assert {each["name"] for each in document["tensors"]} == names
    assert all(each["rows"] == 15 and each["channels"] == 16 for each in document["tensors"])
