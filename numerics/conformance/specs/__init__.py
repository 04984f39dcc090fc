"""The specifications by name."""

from __future__ import annotations

from numerics.conformance.specs.base import Exact, Rows, Spec
from numerics.conformance.specs.centred import LayerNorm
from numerics.conformance.specs.channels import MA_ALPHA, MA_S, ChannelNorm
from numerics.conformance.specs.phasors import PhasorNorm

NAMES = ("mrsnorm", "group-mrsnorm", "rmsnorm", "layernorm", "ma-rmsnorm", "qk-norm")
GROUPS = 2  # of group-mrsnorm, where --kwargs does not say how many

__all__ = ["GROUPS", "NAMES", "Exact", "Rows", "Spec", "find"]


def find(name: str, groups: int = GROUPS) -> Spec:
    """The specification of a name; KeyError where there is none."""
    made = {
        "mrsnorm": PhasorNorm(),
        "group-mrsnorm": PhasorNorm(
            "group-mrsnorm", groups=groups, formula="gamma_i z_i / (mean |z_k| of the group + eps)"
        ),
        "rmsnorm": ChannelNorm(),
        "layernorm": LayerNorm(),
        "ma-rmsnorm": ChannelNorm(
            "ma-rmsnorm", MA_S, MA_ALPHA, formula="s gamma_c x_c / S + alpha W_c log S, S = sqrt(mean x^2 + eps)"
        ),
        "qk-norm": PhasorNorm("qk-norm", inputs=2, affine=False, formula="z_i / (mean |z_k| + eps), queries and keys"),
    }
    return made[name]
