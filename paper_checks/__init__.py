"""The claims of normalization-layer papers, decided: claims -> evidence -> verdict -> report.

`claims` holds what the papers state, as data; `evidence` collects what `theory` proves or refutes and what `numerics`
measures; `verdict` is a pure function of that evidence; `report` writes it down.
"""

__version__ = "0.1.0"
