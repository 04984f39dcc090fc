"""Real activations: what each normalization layer would do to them, from a file of any size.

`files` opens a file as tensors that are read in chunks, `quantities` reduces one tensor to a `Summary`, `pairs` a query
and a key tensor to attention scores. Everything is computed in fp64 from the stored values.
"""

from numerics.inspection.files import FileProblem, Stored, open_file
from numerics.inspection.pairs import PairSummary, inspect_pair
from numerics.inspection.quantities import OUTLIER_FACTOR, Summary, inspect_tensor

__all__ = [
    "OUTLIER_FACTOR",
    "FileProblem",
    "PairSummary",
    "Stored",
    "Summary",
    "inspect_pair",
    "inspect_tensor",
    "open_file",
]
