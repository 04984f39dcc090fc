"""The exact route: every statement evaluated in rational arithmetic at random points, derivatives by dual numbers.

Only the standard library computes here. What is shared with the proofs is the transcription: the SymPy trees that the
claim files write down, with their derivatives left standing (`theory.standing`). Neither SymPy's calculus, nor its
simplifier, nor the moment normal form is used, so that an error there is seen here.

| module | idea |
|---|---|
| `nodes`, `reading` | an expression as a graph of operations; sums over P kept small by the distributive law |
| `slopes` | derivatives by dual numbers |
| `numbers`, `enclosures` | rationals, with roots and logarithms as letters; signs by rational enclosures |
| `samples`, `evaluation` | exact inputs drawn from a set of known size; the value of a graph at them |
| `degrees` | the probability that a false identity passes (Schwartz-Zippel) |
| `identities`, `certificates`, `checks`, `impossible`, `findings` | the decisions |

An identity that held at every point is "consistent", with that probability; it is not called proved. An inequality is
consistent if its certificate is, checked anew by a second implementation of its rules. A refutation is one exact point.
"""

from theory.routes.exact.findings import findings

__all__ = ["findings"]
