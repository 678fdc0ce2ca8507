"""Data sets: loading them, making them, changing them for experiments, and measuring them.

- ``loaders``: from a name or a file to a table; ``files``: reading and writing, whole or in chunks;
- ``columns``: columns of a file as the models read them;
- ``chessboard``, ``irrelevant`` and ``density``: made tables, noise columns, sample density.
"""

from hedgerow.datasets.chessboard import make_chessboard
from hedgerow.datasets.density import sample_density
from hedgerow.datasets.irrelevant import add_irrelevant_features
from hedgerow.datasets.loaders import Table, available, load

__all__ = [
    "Table",
    "add_irrelevant_features",
    "available",
    "load",
    "make_chessboard",
    "sample_density",
]
