"""Independent routes: each decides the statements of a claim again, by other means than `theory.statements`.

| route | file | how a statement is decided |
|---|---|---|
| `exact` | `exact/` | both sides evaluated in rational arithmetic at random points, derivatives by dual numbers |
| `smt` | `smt/` | an SMT solver at fixed P; its models are evaluated again before they count |
| `interval` | `interval/` | ball arithmetic: rigorous enclosures of constants, and of both sides on boxes |
| `coq` | `kernel.py` | the machine-checked theorem that decides the same statement |

Each package has `findings(module) -> Iterator[Finding]` for the claim modules of `theory`; a route that does not apply
to a statement yields nothing for it, one that applies and does not succeed yields "undecided", and one whose prover is
not installed yields "not run". None of these is a pass.
"""
