"""What `inspect` shows: a table, a figure and a JSON document of the same quantities."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from rich.table import Table
from rich.text import Text

from paper_checks.report.terminal import console

SCHEMA_VERSION = 1
SCALES = {"none": "as stored", "mean": "MRSNorm, Eq. 1", "rms": "MRSNorm, Eq. 11"}
COLUMNS = {
    "outlier": lambda s: number(s.outlier_ratio),
    "kurtosis": lambda s: number(s.kurtosis),
    "S/S_RMS\nmin median max": lambda s: " ".join(number(s.s_over_s_rms[k]) for k in ("min", "median", "max")),
    "attenuation\nMRS RMS": lambda s: " ".join(number(s.attenuation[k]) for k in ("mrsnorm", "rmsnorm")),
    "radial\ngain": lambda s: number(s.radial_gain_min),
    "ampli-\nfied": lambda s: number(s.operator_norm_amplification_max),
    "max\n|o|": lambda s: number(s.output_norm_max),
    "self-\nscore": lambda s: number(s.self_score_min),
    "phase\nlost": lambda s: number(s.fp16_phase_lost_share, "%"),
}


def number(value: float, unit: str = "") -> str:
    """Three digits; a dash where no row has the quantity."""
    if math.isnan(value):
        return "-"
    if unit == "%":
        return f"{value:.2%}" if value == 0 or value >= 5e-5 else f"{value:.0e}"
    return f"{value:.3g}" if abs(value) < 1e5 and (value == 0 or abs(value) >= 1e-3) else f"{value:.1e}"


def print_table(summaries: Sequence[Any], skipped: Mapping[str, str], attention: Any, stream: TextIO) -> None:
    """One line a tensor, then what was left out, then the attention scores."""
    out = console(stream)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("tensor", overflow="fold")
    table.add_column("rows x\nchannels", no_wrap=True)
    for name in COLUMNS:
        table.add_column(name, justify="right", no_wrap=True)
    for summary in summaries:
        size = f"{summary.rows} x {summary.channels}"
        table.add_row(summary.name, size, *(cell(summary) for cell in COLUMNS.values()))
    out.print(table)
    for summary in summaries:
        for count, what in ((summary.rows_zero, "all zero"), (summary.rows_not_finite, "not finite")):
            if count:
                out.print(Text(f"{summary.name}: {count} of {summary.rows} rows are {what} and left out", style="dim"))
    for name, reason in skipped.items():
        out.print(Text(f"left out  {name}: {reason}", style="dim"))
    if attention is not None:
        _print_attention(attention, out)


def _print_attention(attention: Any, out: Any) -> None:
    out.print()
    most = math.log(attention.keys)
    heads = "1 head" if attention.heads == 1 else f"{attention.heads} heads"
    out.print(f"{attention.query} with {attention.key}: {heads} of d = {attention.head_dim}, {attention.keys} keys")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("queries and keys")
    for name in (
        "least score",
        "largest score",
        "bound",
        "used",
        "least entropy",
        "mean entropy",
        f"log {attention.keys}",
    ):
        table.add_column(name, justify="right")
    for scale, found in attention.attention.items():
        bound = attention.bounds.get(scale)
        used = max(abs(found.score_min), abs(found.score_max)) / bound if bound else math.nan
        shown = {"mean": "d^2/4 = ", "rms": "d/2 = "}.get(scale, "")
        cells = (found.score_min, found.score_max)
        table.add_row(
            SCALES[scale],
            *map(number, cells),
            f"{shown}{number(bound)}" if bound else "-",
            number(used, "%"),
            *map(number, (found.entropy_min, found.entropy_mean, most)),
        )
    out.print(table)


def as_json(eps: float, summaries: Sequence[Any], skipped: Mapping[str, str], attention: Any) -> str:
    """The document; null where no row has a quantity, or where it is infinite."""
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "eps": eps,
        "tensors": [_plain(vars(summary)) for summary in summaries],
        "skipped": [{"name": name, "reason": reason} for name, reason in skipped.items()],
    }
    if attention is not None:
        document["attention"] = _attention(attention)
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _attention(attention: Any) -> dict:
    head = {name: getattr(attention, name) for name in ("query", "key", "heads", "head_dim", "keys")}
    bounds = {"d/2": attention.bounds["rms"], "d^2/4": attention.bounds["mean"]}
    scales = {
        name: {
            "score": {"min": found.score_min, "max": found.score_max},
            "entropy": {"min": found.entropy_min, "mean": found.entropy_mean},
        }
        for name, found in attention.attention.items()
    }
    return _plain({**head, "bounds": bounds, "scales": scales})


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def draw(summaries: Sequence[Any]) -> bytes:
    """A PNG: scale ratio, attenuation, radial gain and amplification, one row a tensor."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names, rows = [summary.name for summary in summaries], range(len(summaries))
    figure = Figure(figsize=(12, 1.6 + 0.35 * len(summaries)), layout="constrained")
    FigureCanvasAgg(figure)
    ratio, shrunk, gain, amplified = figure.subplots(1, 4, sharey=True)
    low, middle, high = ([s.s_over_s_rms[key] for s in summaries] for key in ("min", "median", "max"))
    ratio.hlines(rows, low, high, color="tab:blue")
    ratio.plot(middle, rows, "o", color="tab:blue")
    ratio.set(title="S / S_RMS\nsmallest, median, largest")
    ratio.set_xlim(left=0)
    for norm, label, color in (("mrsnorm", "MRSNorm", "tab:blue"), ("rmsnorm", "RMSNorm", "tab:orange")):
        shrunk.plot([s.attenuation[norm] for s in summaries], rows, "o", color=color, label=label)
    shrunk.set(title="attenuation of the other\nchannels by outliers", xscale="log")
    shrunk.grid(axis="x", alpha=0.4)
    shrunk.legend(fontsize="small")
    gain.barh(rows, [s.radial_gain_min for s in summaries], 0.6, color="tab:blue")
    gain.set(title="smallest radial gain\n1 - r_i / (P S)", xlim=(0, 1))
    amplified.barh(rows, [s.operator_norm_amplification_max for s in summaries], 0.6, color="tab:blue")
    amplified.set(title="largest amplification\nRMS of r / mean of r")
    ratio.set_yticks(list(rows), names)
    ratio.invert_yaxis()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150, metadata={"Software": None})
    return buffer.getvalue()
