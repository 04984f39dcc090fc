"""half-params: the affine weights are half as many.

Claim: MRSNorm over N = 2P channels has N/2 learnable weights instead of N.

Source: abstract; section 3, after Eq. 3.

True against RMSNorm, one weight a channel. "Standard normalizations" include LayerNorm with its bias, 2N parameters,
of which P = N/2 is a quarter.
"""

import sympy as sp

from theory.exact import point
from theory.phasors import P
from theory.statements import Condition, Identity, refute

MRSNORM = P  # one weight a phasor
RMSNORM = 2 * P  # one weight a channel
LAYERNORM = 2 * (2 * P)  # one weight and one bias a channel


def derived() -> sp.Expr:
    """The ratio of MRSNorm's parameters to RMSNorm's."""
    return MRSNORM / RMSNORM


def printed() -> sp.Expr:
    """One half."""
    return sp.Rational(1, 2)


_LAYERNORM = Identity("half of LayerNorm's parameters", "", lambda: (MRSNORM / LAYERNORM, printed()))
CONDITIONS = (
    Condition(
        "compared with a norm that has one weight a channel and no bias (RMSNorm)",
        lambda: refute(_LAYERNORM, point({P: 1})),
    ),
)

STATEMENTS = (
    Identity("as printed", "P weights are half of N = 2P", lambda: (derived(), printed()), CONDITIONS),
    Identity("against LayerNorm with bias", "P is a quarter of 2 N", lambda: (MRSNORM / LAYERNORM, sp.Rational(1, 4))),
)

MUTANTS = {"a quarter": lambda: sp.Rational(1, 4), "the same": lambda: sp.Integer(1), "P": lambda: P}
