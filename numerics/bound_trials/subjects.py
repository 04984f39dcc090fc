"""What has an error bound: every quantity of the layers, as measured, as it is, and with what its bound allows.

A case holds T rows, some of which may be given in short: `copies` times the same tile of phasors, one beside the other.
All three layers take means, so what is true of the tile is true of the row; only the roundings differ. Quantities that
sum over rows repeat the rows instead, and grow with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from numerics import attention_scores, norms, truth
from numerics.double_double import DoubleDouble
from numerics.gradients import input_gradient
from numerics.magnitude_rounding import gradient_error as ma_gradient_error
from numerics.rounding import (
    Format,
    gradient_error,
    ma_output_error,
    magnitude_error,
    output_error,
    rms_gradient_error,
    rms_output_error,
    rms_scale_error,
    rounded,
    scale_error,
    settle_overflow,
)


@dataclass(frozen=True)
class Case:
    """Rows x and upstream gradients (or keys) g, (T, N); weights of phasors (P,), and of channels, W among them, (N,).

    All in the format's dtype; what a subject has no use for is ignored.
    """

    fmt: Format
    eps: float
    x: Tensor
    g: Tensor
    gamma: Tensor
    gammas: Tensor
    magnitude: Tensor
    copies: int = 1

    def whole(self) -> Case:
        """The rows written out."""
        wide = {name: getattr(self, name).repeat(1, self.copies) for name in ("x", "g")}
        long = {name: getattr(self, name).repeat(self.copies) for name in ("gamma", "gammas", "magnitude")}
        return replace(self, **wide, **long, copies=1)

    def stacked(self) -> Case:
        """The rows repeated one below the other."""
        return replace(self, x=self.x.repeat(self.copies, 1), g=self.g.repeat(self.copies, 1), copies=1)

    def doubles(self) -> dict[str, Tensor]:
        """The tensors in fp64, where they are exact."""
        return {name: getattr(self, name).double() for name in ("x", "g", "gamma", "gammas", "magnitude")}


Outcome = tuple[Tensor, DoubleDouble, Tensor]  # measured, exact, bound before storing: (T, copies, ...), (T, 1, ...)
Subject = Callable[[Case], Outcome]


def ratios(subject: Subject, case: Case, stored: bool = True) -> Tensor:
    """The largest error / bound of every row, or of every weight; NaN where a result is NaN: (T,)."""
    measured, exact, lost = subject(case)
    value = exact.double()
    fmt = case.fmt if stored else case.fmt.accumulation
    settled, infinite = settle_overflow(measured, value.expand_as(measured), lost.expand_as(measured), fmt)
    error = exact.distance(settled).masked_fill(infinite, 0)
    bound = rounded(lost, value, fmt)
    return torch.where(error == 0, torch.zeros_like(error), error / bound).flatten(1).amax(-1)


def _tiles(values: Tensor, case: Case) -> Tensor:
    """(T, copies n) -> (T, copies, n)."""
    return values.unflatten(-1, (case.copies, -1))


def _one(values: DoubleDouble) -> DoubleDouble:
    return values[:, None]


def _magnitude(case: Case) -> Outcome:
    exact = truth.magnitudes(case.x.double())
    return _tiles(norms.magnitudes(case.whole().x), case), _one(exact), magnitude_error(exact.double(), case.fmt)[:, None]


def _scale(layer: Callable, true: Callable, bound: Callable, per: int, case: Case) -> Outcome:
    exact, whole = true(case.x.double(), case.eps), case.whole().x
    return layer(whole, case.eps), exact, bound(exact.double(), whole.shape[-1] // per, case.fmt)


def _mrs_output(case: Case) -> Outcome:
    d, whole = case.doubles(), case.whole()
    exact = truth.mrs_output(d["x"], d["gamma"], case.eps)
    lost = output_error(exact.double(), d["gamma"].repeat_interleave(2), whole.x.shape[-1] // 2, case.fmt)
    return _tiles(norms.mrs_norm(whole.x, whole.gamma, case.eps), case), _one(exact), lost[:, None]


def _rms_output(case: Case) -> Outcome:
    d, whole = case.doubles(), case.whole()
    exact = truth.rms_output(d["x"], d["gammas"], case.eps)
    lost = rms_output_error(exact.double(), d["gammas"], whole.x.shape[-1], case.fmt)
    return _tiles(norms.rms_norm(whole.x, whole.gammas, case.eps), case), _one(exact), lost[:, None]


def _ma_output(case: Case) -> Outcome:
    d, whole = case.doubles(), case.whole()
    exact = truth.ma_output(d["x"], d["gammas"], d["magnitude"], case.eps)
    w = whole.doubles()
    scale = truth.rms_scale(d["x"], case.eps).double()
    lost = ma_output_error(w["x"], w["gammas"], w["magnitude"], scale, case.fmt)
    measured = norms.ma_rms_norm(whole.x, whole.gammas, whole.magnitude, eps=case.eps)
    return _tiles(measured, case), _one(exact), _tiles(lost, case)


def _mrs_gradient(case: Case) -> Outcome:
    d, whole = case.doubles(), case.whole()
    exact = truth.mrs_gradient(d["x"], d["g"], d["gamma"], case.eps)
    w, scale = whole.doubles(), truth.mrs_scale(d["x"], case.eps).double()
    z, g = (w[name].unflatten(-1, (-1, 2)) for name in ("x", "g"))
    lost = gradient_error(z, g, w["gamma"], scale, case.fmt).flatten(-2)
    measured = input_gradient(partial(norms.mrs_norm, weight=whole.gamma, eps=case.eps), whole.x, whole.g)
    return _tiles(measured, case), _one(exact), _tiles(lost, case)


def _rms_gradient(case: Case) -> Outcome:
    d, whole = case.doubles(), case.whole()
    exact = truth.rms_gradient(d["x"], d["g"], d["gammas"], case.eps)
    w, scale = whole.doubles(), truth.rms_scale(d["x"], case.eps).double()
    lost = rms_gradient_error(w["x"], w["g"], w["gammas"], scale, case.fmt)
    measured = input_gradient(partial(norms.rms_norm, weight=whole.gammas, eps=case.eps), whole.x, whole.g)
    return _tiles(measured, case), _one(exact), _tiles(lost, case)


def _ma_gradient(case: Case) -> Outcome:
    d, whole = case.doubles(), case.whole()
    exact = truth.ma_gradient(d["x"], d["g"], d["gammas"], d["magnitude"], case.eps)
    w, scale = whole.doubles(), truth.rms_scale(d["x"], case.eps).double()
    lost = ma_gradient_error(w["x"], w["g"], w["gammas"], w["magnitude"], scale, case.fmt)
    layer = partial(norms.ma_rms_norm, weight=whole.gammas, magnitude=whole.magnitude, eps=case.eps)
    return _tiles(input_gradient(layer, whole.x, whole.g), case), _one(exact), _tiles(lost, case)


def _score(definition: attention_scores.Definition, true: Callable, case: Case) -> Outcome:
    d, whole = case.doubles(), case.whole()
    scale = true(d["x"], case.eps) * true(d["g"], case.eps)
    products = DoubleDouble(d["x"], torch.zeros_like(d["x"])) * d["g"]
    exact = (products.sum()[:, None] / scale) * float(case.copies)
    lost = attention_scores.score_error(whole.x, whole.g, definition, case.eps)[:, None]
    return attention_scores.score(whole.x, whole.g, definition, case.eps)[:, None], exact, lost


SCALES: dict[str, Subject] = {
    "r": _magnitude,
    "S, Eq. 1": partial(_scale, norms.mrs_scale, truth.mrs_scale, scale_error, 2),
    "S, Eq. 11": partial(_scale, norms.phasor_rms_scale, truth.phasor_rms_scale, rms_scale_error, 1),
    "S_RMS": partial(_scale, norms.rms_scale, truth.rms_scale, rms_scale_error, 1),
}
OUTPUTS: dict[str, Subject] = {"MRSNorm o": _mrs_output, "RMSNorm o": _rms_output, "MA-RMSNorm y": _ma_output}
GRADIENTS: dict[str, Subject] = {
    "MRSNorm dL/dz": _mrs_gradient,
    "RMSNorm dL/dx": _rms_gradient,
    "MA-RMSNorm dL/dx": _ma_gradient,
}
SCORES: dict[str, Subject] = {
    "score, Eq. 1": partial(_score, attention_scores.MEAN, truth.mrs_scale),
    "score, Eq. 11": partial(_score, attention_scores.ROOT_MEAN_SQUARE, truth.phasor_rms_scale),
    "score, QK-RMSNorm": partial(_score, attention_scores.SCALAR_RMS, truth.rms_scale),
}
