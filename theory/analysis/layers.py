"""The normalization layers whose derivatives `check` knows, each written once, in the language of the formulas.

The definitions below are what a formula's names mean; they are also what is shown to the user. Everything else is
derived from them: the symbolic gradient by differentiation, exact values by arithmetic with rational numbers.

| layer | output | scale |
|---|---|---|
| rmsnorm | o = gamma x / S | S = sqrt(mean x^2 + eps) |
| layernorm | o = gamma (x - mu) / S + beta | S = sqrt(mean (x - mu)^2 + eps) |
| mrsnorm | o = gamma z / S, z = (x, y) | S = mean sqrt(x^2 + y^2) + eps (MRSNorm, section 3, Eqs. 1-2) |
| ma-rmsnorm | o = s gamma x / S + alpha W log S | S = sqrt(mean x^2 + eps) (MA-RMSNorm, section 2.2) |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp
from sympy.tensor.indexed import IndexedBase

from theory.expressions import parse
from theory.phasors import N, P, e, eps, g, gamma, h, z
from theory.syntax import Node, Vocabulary

GRADIENT, WEIGHT_GRADIENT, JACOBIAN = "gradient", "weight_gradient", "jacobian"
TARGETS = (GRADIENT, WEIGHT_GRADIENT, JACOBIAN)
FUNCTIONS = {"sqrt": (1, 1), "log": (1, 1), "exp": (1, 1), "Abs": (1, 1), "Min": (2, 4), "Max": (2, 4)}

beta, W = IndexedBase("beta", real=True), IndexedBase("W", real=True)
s, alpha = sp.symbols("s alpha", real=True)


@dataclass(frozen=True)
class Layer:
    """One layer: the families its names stand for, and its definitions.

    `families` are the indexed inputs, `vectors` pairs of them under one name, `numbers` the plain inputs. `statistics`
    are kept as symbols while a formula is read; `definitions` are written out, `name[k]` those with an index.
    """

    name: str
    length: str
    families: Mapping[str, IndexedBase]
    numbers: Mapping[str, sp.Symbol]
    statistics: Mapping[str, str]
    definitions: Mapping[str, str]
    vectors: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def planar(self) -> bool:
        """Whether the inputs are phasors: vectors of two coordinates."""
        return bool(self.vectors)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The coordinates that a derivative is taken by."""
        return ("x", "y") if self.planar else ("x",)

    @property
    def loss(self) -> str:
        """A loss whose gradient in the outputs is g."""
        return "sum(k, dot(g[k], o[k]))" if self.planar else "sum(k, g[k]*o[k])"

    @property
    def primitives(self) -> tuple[str, ...]:
        """The indexed inputs that a point gives: coordinates, weights and upstream gradients."""
        return tuple(name for name in self.families if name != "r")

    def vocabulary(self, target: str) -> Vocabulary:
        """What a formula for this derivative may be made of."""
        every = {*self.definitions, *self.families, *self.vectors}
        indexed = {name.removesuffix("[k]") for name in every if name.endswith("[k]") or name not in self.definitions}
        names = {*self.numbers, *self.statistics, *(n for n in self.definitions if not n.endswith("[k]"))}
        if target == JACOBIAN:
            indexed -= {"g", "gx", "gy"}
        functions = dict(FUNCTIONS)
        if self.planar:
            functions |= {"dot": (2, 2)}
            if target == JACOBIAN:
                functions |= {"outer": (2, 2)}
                names |= {"I"}
        jacobian = target == JACOBIAN
        return Vocabulary(
            frozenset(names),
            frozenset(indexed),
            functions,
            indices=("i", "j") if jacobian else ("i",),
            sums=True,
            delta=jacobian,
        )

    def definition(self, name: str) -> Node:
        """The tree of a definition; `name` is as in `definitions` or `statistics`."""
        text = self.definitions.get(name) or self.statistics[name]
        known = _PARSED.get((self.name, name))
        if known is None:
            everything = self.vocabulary(GRADIENT)
            words = Vocabulary(everything.names, everything.indexed, everything.functions, ("k",), sums=True)
            known = _PARSED[self.name, name] = parse(text, words)
        return known

    def glossary(self, target: str) -> list[str]:
        """The definitions, one line each, as the user may write them."""
        shown = {**self.statistics, **self.definitions}
        return [f"{name} = {text}" for name, text in shown.items() if target != JACOBIAN or "g[" not in text]


_PARSED: dict[tuple[str, str], Node] = {}
_CHANNELS = {"x": h, "gamma": gamma, "g": e}

RMSNORM = Layer(
    "rmsnorm",
    "N",
    _CHANNELS,
    {"N": N, "eps": eps},
    {"S": "sqrt(sum(k, x[k]**2)/N + eps)"},
    {"rms": "S", "rstd": "1/S", "xhat[k]": "x[k]/S", "o[k]": "gamma[k]*xhat[k]"},
)
LAYERNORM = Layer(
    "layernorm",
    "N",
    {**_CHANNELS, "beta": beta},
    {"N": N, "eps": eps},
    {
        "mu": "sum(k, x[k])/N",
        "var": "sum(k, (x[k] - mu)**2)/N",
        "S": "sqrt(var + eps)",
    },
    {"sigma": "S", "std": "S", "rstd": "1/S", "xhat[k]": "(x[k] - mu)/S", "o[k]": "gamma[k]*xhat[k] + beta[k]"},
)
MRSNORM = Layer(
    "mrsnorm",
    "P",
    {
        "x": z.components[0],
        "y": z.components[1],
        "r": z.r,
        "gamma": gamma,
        "gx": g.components[0],
        "gy": g.components[1],
    },
    {"P": P, "eps": eps},
    {"S": "sum(k, r[k])/P + eps"},
    {
        "N": "2*P",
        "u[k]": "z[k]/r[k]",
        "ux[k]": "x[k]/r[k]",
        "uy[k]": "y[k]/r[k]",
        "zhat[k]": "z[k]/S",
        "xhat[k]": "x[k]/S",
        "yhat[k]": "y[k]/S",
        "o[k]": "gamma[k]*zhat[k]",
    },
    vectors={"z": ("x", "y"), "g": ("gx", "gy")},
)
MA_RMSNORM = Layer(
    "ma-rmsnorm",
    "N",
    {**_CHANNELS, "W": W},
    {"N": N, "eps": eps, "s": s, "alpha": alpha},
    {"S": "sqrt(sum(k, x[k]**2)/N + eps)"},
    {
        "R": "S",
        "rms": "S",
        "rstd": "1/S",
        "xhat[k]": "x[k]/S",
        "o[k]": "s*gamma[k]*xhat[k] + alpha*W[k]*log(S)",
    },
)
LAYERS = {layer.name: layer for layer in (RMSNORM, LAYERNORM, MRSNORM, MA_RMSNORM)}
