"""The six experiments that the MA-RMSNorm article describes, re-created: six figures and one file of numbers.

    python -m numerics.experiments.magnitude_aware output

The author's code is not used, nor its data: the article describes what was measured, and this measures it on random
inputs. The claims that the figures are to support are decided elsewhere (`numerics.ma_rmsnorm`, `theory.ma_rmsnorm`).
Source: MA-RMSNorm article, sections 3.1-3.6 and 4.3.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from numerics.ma_rmsnorm import ma_entropy, ma_mi, ma_training
from numerics.ma_rmsnorm.ma_ablation import VARIANTS
from numerics.measure import Settings
from numerics.norms import MA_ALPHA as ALPHA
from numerics.norms import ma_rms_norm
from numerics.rounding import FORMATS, Format
from numerics.scenarios import generator, normal

SCALES = (1.0, 2.0, 5.0, 8.0)
CHANNELS = 64
RESULTS = "all_results.json"
Curves = dict[str, tuple[list[float], list[float]]]  # name -> x, y


def activations(settings: Settings, fmt: Format, size: int) -> tuple[dict, Curves]:
    """Figure 1: quantiles of |y|, and their 99th, for several s."""
    x, gamma, w = _inputs(settings, fmt, size)
    shares = torch.linspace(0, 1, 51, dtype=torch.float64)
    curves = {}
    for s in SCALES:
        y = ma_rms_norm(x, gamma, w, s).double().abs().flatten()[:1_000_000]
        curves[f"s = {s:g}"] = (shares.tolist(), y.quantile(shares.to(y.device)).tolist())
        curves[f"s = {s:g}"][1].append(y.quantile(0.99).item())
    p99 = {name: values.pop() for name, (_, values) in curves.items()}
    return {"p99 of |y|": p99}, curves


def information(settings: Settings, fmt: Format, size: int) -> tuple[dict, Curves]:
    """Figure 2: what the best linear readout knows of log R, from 2-dimensional histograms, for RMSNorm and over s."""
    x, gamma, w = _inputs(settings, fmt, size)
    level = x.double().square().mean(-1).sqrt().log()
    readout = w.double() / gamma.double() ** 2
    estimate = {"RMSNorm": _mutual(level, ma_rms_norm(x, gamma, None, 1.0).double() @ readout)}
    for s in SCALES:
        estimate[f"s = {s:g}"] = _mutual(level, ma_rms_norm(x, gamma, w, s).double() @ readout)
    theory = [0.5 * math.log1p(float(ma_mi.best(gamma.double(), w.double(), s) * level.var())) for s in SCALES]
    curves = {
        "histogram": (list(SCALES), [estimate[f"s = {s:g}"] for s in SCALES]),
        "Gaussian formula": (list(SCALES), theory),
        "RMSNorm": (list(SCALES), [estimate["RMSNorm"]] * len(SCALES)),
    }
    return {"mutual information in nats": estimate}, curves


def entropies(settings: Settings, fmt: Format, size: int) -> tuple[dict, Curves]:
    """Figure 3: entropy of attention over log n, for unit variance and for a hundredth of the logits."""
    share: dict[str, list[float]] = {"unit variance": [], "a hundredth of it": []}
    for s in SCALES:
        logits = ma_entropy.attention_logits(settings, fmt, s, rows=max(1, size // 256)).double()
        for (_, values), gain in zip(share.items(), (1.0, 0.01), strict=True):
            values.append((ma_entropy.entropy(gain * logits)[0].mean() / math.log(ma_entropy.KEYS)).item())
    return {"H / log n": share}, {name: (list(SCALES), values) for name, values in share.items()}


def quantization(settings: Settings, fmt: Format, size: int) -> tuple[dict, Curves]:
    """Figure 4: root mean square errors of rounding the outputs to fp16, absolute and relative to the outputs."""
    x, gamma, w = (value.double() for value in _inputs(settings, fmt, size))
    found: dict[str, list[float]] = {"absolute": [], "relative": []}
    for s in SCALES:
        y = ma_rms_norm(x, gamma, w, s)
        error = (y.half().double() - y).square().mean().sqrt()
        found["absolute"].append(error.item())
        found["relative"].append((error / y.square().mean().sqrt()).item())
    return {"fp16 error": found}, {name: (list(SCALES), values) for name, values in found.items()}


def training(settings: Settings, fmt: Format, size: int) -> tuple[dict, Curves]:
    """Figure 5: losses over the steps of SGD, for RMSNorm and for several s."""
    steps = max(10, size // 32)
    runs = {"RMSNorm": ma_training.Run(1.0, 0.0)} | {f"s = {s:g}": ma_training.Run(s, ALPHA) for s in SCALES}
    curves = {
        name: (list(range(steps)), ma_training.losses(settings, fmt, run, False, steps).tolist())
        for name, run in runs.items()
    }
    return {"last loss": {name: values[-1] for name, (_, values) in curves.items()}}, curves


def ablation(settings: Settings, fmt: Format, size: int) -> tuple[dict, Curves]:
    """Figure 6: losses over the steps of Adam with neither term, each alone, and both."""
    steps = max(10, size // 32)
    curves = {
        name: (list(range(steps)), ma_training.losses(settings, fmt, run, True, steps).tolist())
        for name, run in VARIANTS.items()
    }
    return {"last loss": {name: values[-1] for name, (_, values) in curves.items()}}, curves


EXPERIMENTS: dict[str, Callable[[Settings, Format, int], tuple[dict, Curves]]] = {
    "fig1_numerical_utilization": activations,
    "fig2_magnitude_mi": information,
    "fig3_entropy": entropies,
    "fig4_quantization": quantization,
    "fig5_training": training,
    "fig6_ablation": ablation,
}


def run(directory: Path, settings: Settings, fmt: Format, size: int = 4096) -> dict:
    """All six experiments on `size` rows: writes their figures and `all_results.json`, and returns the numbers."""
    directory.mkdir(parents=True, exist_ok=True)
    results = {}
    for name, experiment in EXPERIMENTS.items():
        results[name], curves = experiment(settings, fmt, size)
        _draw(directory / f"{name}.png", name, curves)
    (directory / RESULTS).write_text(json.dumps(results, indent=2), encoding="utf-8")
    return results


def _inputs(settings: Settings, fmt: Format, size: int) -> tuple[Tensor, Tensor, Tensor]:
    """Normal rows whose magnitudes are log-normal, gamma of both signs, and W, in the format."""
    rng = generator(settings.seed, "experiments", fmt.name)
    x = normal(rng, size, CHANNELS) * normal(rng, size, 1).exp()
    gamma, w = normal(rng, CHANNELS), normal(rng, CHANNELS)
    gamma = gamma.sign() * (0.5 + gamma.abs() / 2)
    return tuple(value.to(fmt.dtype).to(settings.device) for value in (x, gamma, w))


def _mutual(a: Tensor, b: Tensor, cells: int = 16) -> float:
    """Mutual information of two samples in nats, from a histogram with equally filled margins."""
    ranks = [(value.argsort().argsort() * cells // len(value)).long() for value in (a, b)]
    joint = torch.bincount(ranks[0] * cells + ranks[1], minlength=cells**2).double().reshape(cells, cells) / len(a)
    margins = joint.sum(1, keepdim=True) * joint.sum(0, keepdim=True)
    return torch.where(joint > 0, joint * (joint / margins).log(), torch.zeros_like(joint)).sum().item()


def _draw(path: Path, title: str, curves: Curves) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 3.5), layout="tight")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot(title=title)
    for name, (x, y) in curves.items():
        axes.plot(x, y, marker="." if len(x) < 8 else None, label=name)
    axes.legend()
    figure.savefig(path, dpi=100)


def main() -> None:
    """Run the experiments into a directory and print how long they took."""
    parser = argparse.ArgumentParser(description="Re-creates the six experiments of the MA-RMSNorm article.")
    parser.add_argument("directory", type=Path, help="where the figures and all_results.json go")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=4096, help="rows of the random inputs (default: 4096)")
    arguments = parser.parse_args()
    started = time.perf_counter()
    run(arguments.directory, Settings(seed=arguments.seed), FORMATS["fp32"], arguments.rows)
    print(f"{len(EXPERIMENTS)} figures and {RESULTS} in {arguments.directory}, {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
