"""digest-listing: the listing that a digest of the paper reprints is the implementation.

Claim: the listing, as it stands in the digest, is an implementation of the layer: it runs.

Source: the code listing at the end of a digest of the paper; compared with appendix C.

It does not, for three reasons, each enough by itself. The listing is not reproduced here; each reason is shown on the
shortest program that has it.

1. The indentation is lost: the bodies of the class's methods stand at the level of their `def`. Python refuses that.
2. The parentheses of calls without arguments are lost. The constructor of the base class is named but not called, so
   that nothing it sets up is there; a method in place of the number of dimensions is added to, counted up to by
   `range` and multiplied with a list, each a TypeError. (A lost call of the initializer would also leave the weights
   uninitialized, in silence.)
3. The shape into which the phasors are grouped names the axis of the two components twice: it is inserted although it
   is already among the axes that follow. The tensor has B P 2 M elements (B before the channels, M after them), the
   shape has B G (P/G) 2 2 M, twice as many, for all sizes.

With these repaired, what is left is appendix C (see `appendix_c`).
"""

from dataclasses import dataclass

import sympy as sp

from theory.exact import point
from theory.kinds.computed import Computed
from theory.phasors import P
from theory.statements import Identity

B, G, M = sp.symbols("B G M", integer=True, positive=True)  # sizes: before the channels, groups, after the channels


@dataclass(frozen=True)
class Listing:
    """The traits of a listing that decide whether it runs: programs by name, and the axes of the grouped phasors."""

    layout: dict[str, str]
    calls: dict[str, str]
    grouped: tuple[sp.Expr, ...]


class Tensor:
    """A stand-in whose number of dimensions is a method, as it is in PyTorch."""

    def dim(self) -> int:
        """3."""
        return 3


LOST = {"a body at the level of its def": "def f():\nreturn 1"}
KEPT = {"a body below its def": "def f():\n    return 1"}
_CONSTRUCTOR = (
    "class Base:\n    def __init__(self):\n        self.parameters = []\n"
    "class Layer(Base):\n    def __init__(self):\n        super{call}.__init__{call}\n"
    "Layer().parameters"
)
UNCALLED = {
    "a constructor that is not called": _CONSTRUCTOR.format(call=""),
    "a method plus a number": "x.dim - 1",
    "a range up to a method": "range(1, x.dim)",
    "a list times a method": "[1] * x.dim",
}
CALLED = {
    "a constructor that is called": _CONSTRUCTOR.format(call="()"),
    "a number plus a number": "x.dim() - 1",
    "a range up to a number": "range(1, x.dim())",
    "a list times a number": "[1] * x.dim()",
}
TWICE = (B, G, P / G, 2, 2, M)
ONCE = (B, G, P / G, 2, M)


def derived() -> sp.Expr:
    """The number of elements of the phasors that are to be grouped."""
    return B * P * 2 * M


def printed() -> Listing:
    """The digest's listing."""
    return Listing(LOST, UNCALLED, TWICE)


def corrected() -> Listing:
    """The same with indentation, calls, and the axis of the components named once: appendix C's."""
    return Listing(KEPT, CALLED, ONCE)


def refused(programs: dict[str, str]) -> list[str]:
    """The programs that do not compile, or raise when they run."""
    found = []
    for name, source in programs.items():
        try:
            exec(compile(source, name, "exec"), {"x": Tensor(), "__name__": "listing"})
        except (SyntaxError, TypeError, AttributeError) as error:
            found.append(f"{name}: {type(error).__name__}")
    return found


def _elements(listing: Listing) -> sp.Expr:
    return sp.Mul(*listing.grouped)


def _runs(which: str, name: str, text: str, expects: str) -> Computed:
    """As many programs as there are of this kind run."""

    def programs() -> dict[str, str]:
        return getattr({"as printed": printed, "corrected": corrected}[name](), which)

    return Computed(
        name,
        text,
        lambda: [(len(refused(programs())), 0)],
        scope="these programs, in this Python",
        inputs=lambda: {"programs": programs(), "refused": refused(programs())},
        expects=expects,
    )


STATEMENTS = (
    _runs("layout", "as printed", "the listing compiles: its method bodies are indented", "refuted"),
    _runs("calls", "as printed", "its calls are calls", "refuted"),
    Identity(
        "as printed",
        "the grouped phasors have as many elements as the phasors",
        lambda: (derived(), _elements(printed())),
        nonzero=(G,),
        counterexample=point({P: 2, B: 1, G: 1, M: 1}),
        expects="refuted",
    ),
    _runs("layout", "corrected", "with method bodies indented it compiles", "proved"),
    _runs("calls", "corrected", "with parentheses its calls are calls", "proved"),
    Identity(
        "corrected",
        "with the axis of the components named once, the numbers of elements agree",
        lambda: (derived(), _elements(corrected())),
        nonzero=(G,),
    ),
    Identity(
        "twice as many",
        "as printed, the shape has twice as many elements, for all sizes",
        lambda: (2 * derived(), sp.Mul(*TWICE)),
        nonzero=(G,),
        scope="every P, every number of groups, every other size",
    ),
)

MUTANTS = {
    "indented": lambda: Listing(KEPT, UNCALLED, TWICE),
    "with parentheses": lambda: Listing(LOST, CALLED, TWICE),
    "one axis of components": lambda: Listing(LOST, UNCALLED, ONCE),
}
CORRECTED_MUTANTS = {
    "not indented": lambda: Listing(LOST, CALLED, ONCE),
    "without parentheses": lambda: Listing(KEPT, UNCALLED, ONCE),
    "two axes of components": lambda: Listing(KEPT, CALLED, TWICE),
    "no axis of components": lambda: Listing(KEPT, CALLED, (B, G, P / G, M)),
}
