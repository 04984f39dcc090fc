"""Rounding: the four formats, and a-priori bounds on what the layers may lose in them.

`formats` says what a format is, `counts` how roundings are counted and where the counts hold, `forward`, `backward`,
`weight_gradient`, `magnitude_aware` and `scores` bound the errors of each result before it is stored, `storing` adds
the last rounding, and `conditions` says what cancellation makes of a bound. All bounds are evaluated in fp64.
"""

from numerics.rounding.backward import (
    direction,
    gradient_error,
    gradient_errors,
    own_gradient_error,
    rms_gradient_error,
)
from numerics.rounding.conditions import condition, omega_condition, score_condition
from numerics.rounding.counts import (
    MAGNITUDE,
    check_domain,
    domain,
    pair_sum_roundings,
    rms_roundings,
    roundings,
    scale_roundings,
    sum_roundings,
)
from numerics.rounding.formats import FORMATS, FP64, Format
from numerics.rounding.forward import (
    log_error,
    magnitude_error,
    output_error,
    rms_output_error,
    rms_scale_error,
    scale_error,
)
from numerics.rounding.magnitude_aware import ma_gradient_error, ma_output_error
from numerics.rounding.scores import score_error
from numerics.rounding.storing import rounded, settle_overflow
from numerics.rounding.weight_gradient import (
    ma_magnitude_gradient_error,
    ma_weight_gradient_error,
    rms_weight_gradient_error,
    row_sum_roundings,
    weight_gradient_error,
)

__all__ = [
    "FORMATS",
    "FP64",
    "MAGNITUDE",
    "Format",
    "check_domain",
    "condition",
    "direction",
    "domain",
    "gradient_error",
    "gradient_errors",
    "log_error",
    "ma_gradient_error",
    "ma_magnitude_gradient_error",
    "ma_output_error",
    "ma_weight_gradient_error",
    "magnitude_error",
    "omega_condition",
    "output_error",
    "own_gradient_error",
    "pair_sum_roundings",
    "rms_gradient_error",
    "rms_output_error",
    "rms_roundings",
    "rms_scale_error",
    "rms_weight_gradient_error",
    "rounded",
    "roundings",
    "row_sum_roundings",
    "scale_error",
    "scale_roundings",
    "score_condition",
    "score_error",
    "settle_overflow",
    "sum_roundings",
    "weight_gradient_error",
]
