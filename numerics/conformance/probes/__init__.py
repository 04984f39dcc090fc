"""The properties that are checked, in the order of the report; one file a group of related ones."""

from __future__ import annotations

from collections.abc import Callable

from numerics.conformance.probes import compiled, contract, edges, eps, layouts, ranges, sizes, structure, values
from numerics.conformance.probes.line import Line

PROPERTIES: dict[str, Callable[[Line], str]] = {  # name -> a probe: returns what holds, or raises Failed
    "forward": values.forward,
    "input-gradient": values.input_gradient,
    "weight-gradient": values.weight_gradient,
    "dtype-shape": contract.dtype_shape,
    "eps": eps.eps,
    "pairing": structure.pairing,
    "independence": structure.independence,
    "gamma": structure.gamma,
    "zero-row": edges.zero_row,
    "zero-pair": edges.zero_pair,
    "fp16-range": ranges.fp16_range,
    "bf16-range": ranges.bf16_range,
    "spike": ranges.spike,
    "scale-invariance": ranges.scale_invariance,
    "widths": sizes.widths,
    "rows": sizes.rows,
    "layout-input": layouts.layout_input,
    "layout-gradient": layouts.layout_gradient,
    "purity": contract.purity,
    "determinism": contract.determinism,
    "compile": compiled.compiled,
    "non-finite": edges.non_finite,
}
