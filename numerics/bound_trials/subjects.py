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
from numerics.rounding import (
    Format,
    gradient_error,
    ma_gradient_error,
    ma_magnitude_gradient_error,
    ma_output_error,
    ma_weight_gradient_error,
    magnitude_error,
    output_error,
    rms_gradient_error,
    rms_output_error,
    rms_scale_error,
    rms_weight_gradient_error,
    rounded,
    scale_error,
    settle_overflow,
    weight_gradient_error,
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
    return (
        _tiles(norms.magnitudes(case.whole().x), case),
        _one(exact),
        magnitude_error(exact.double(), case.fmt)[:, None],
    )


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


def _weights(true: Callable, layer: Callable, bound: Callable, scale: Callable, wanted: str, case: Case) -> Outcome:
    """The gradient of one weight, summed over the stacked rows: one outcome a weight."""
    d, rows = case.doubles(), case.stacked()
    exact = true(d["x"], d["g"], case.eps) * float(case.copies)
    weights = {name: getattr(rows, name).detach().requires_grad_() for name in ("gamma", "gammas", "magnitude")}
    with torch.enable_grad():
        measured = torch.autograd.grad(layer(rows.x, weights, case.eps), weights[wanted], rows.g)[0]
    w = rows.doubles()
    lost = bound(w["x"], w["g"], scale(d["x"], case.eps).double().repeat(case.copies, 1), case.fmt)
    return measured[:, None], exact[:, None], lost[:, None]


def _mrs(x: Tensor, weights: dict[str, Tensor], eps: float) -> Tensor:
    return norms.mrs_norm(x, weights["gamma"], eps)


def _rms(x: Tensor, weights: dict[str, Tensor], eps: float) -> Tensor:
    return norms.rms_norm(x, weights["gammas"], eps)


def _ma(x: Tensor, weights: dict[str, Tensor], eps: float) -> Tensor:
    return norms.ma_rms_norm(x, weights["gammas"], weights["magnitude"], eps=eps)


def _ma_weight_gradient(x: Tensor, g: Tensor, eps: float) -> DoubleDouble:
    return truth.rms_weight_gradient(x, g, eps) * norms.MA_S


@dataclass(frozen=True)
class Bound:
    """A bound under its name, and the subject it is about.

    `stored` says whether the result is rounded to the input's format, `pairs` whether g is a key, and `over_rows`
    whether it is a sum over rows, so that what counts is how many there are, not P.
    """

    name: str
    subject: Subject
    stored: bool = True
    pairs: bool = False
    over_rows: bool = False


RMS = truth.rms_scale
BOUNDS = {
    bound.name: bound
    for bound in (
        Bound("r", _magnitude, stored=False),
        *(
            Bound(name, partial(_scale, layer, true, bound, per), stored=False)
            for name, layer, true, bound, per in (
                ("S, Eq. 1", norms.mrs_scale, truth.mrs_scale, scale_error, 2),
                ("S, Eq. 11", norms.phasor_rms_scale, truth.phasor_rms_scale, rms_scale_error, 1),
                ("S_RMS", norms.rms_scale, truth.rms_scale, rms_scale_error, 1),
            )
        ),
        Bound("MRSNorm o", _mrs_output),
        Bound("RMSNorm o", _rms_output),
        Bound("MA-RMSNorm y", _ma_output),
        Bound("MRSNorm dL/dz", _mrs_gradient),
        Bound("RMSNorm dL/dx", _rms_gradient),
        Bound("MA-RMSNorm dL/dx", _ma_gradient),
        *(
            Bound(name, partial(_weights, true, layer, bound, scale, wanted), over_rows=True)
            for name, true, layer, bound, scale, wanted in (
                ("MRSNorm dL/dgamma", truth.mrs_weight_gradient, _mrs, weight_gradient_error, truth.mrs_scale, "gamma"),
                ("RMSNorm dL/dgamma", truth.rms_weight_gradient, _rms, rms_weight_gradient_error, RMS, "gammas"),
                ("MA-RMSNorm dL/dgamma", _ma_weight_gradient, _ma, ma_weight_gradient_error, RMS, "gammas"),
                ("MA-RMSNorm dL/dW", truth.ma_magnitude_gradient, _ma, ma_magnitude_gradient_error, RMS, "magnitude"),
            )
        ),
        *(
            Bound(f"score, {definition.name}", partial(_score, definition, true), stored=False, pairs=True)
            for definition, true in (
                (attention_scores.MEAN, truth.mrs_scale),
                (attention_scores.ROOT_MEAN_SQUARE, truth.phasor_rms_scale),
                (attention_scores.SCALAR_RMS, RMS),
            )
        ),
    )
}
