"""Data sets: loading them, making them, changing them for experiments, and measuring them.

- ``loaders``: from a name or a file to a table; ``files``: reading and writing, whole or in chunks;
  ``folder``: a folder of data sets;
- ``columns``: columns of a file as the models read them;
- ``chessboard``, ``irrelevant`` and ``density``: made tables, noise columns, sample density.
"""

from hedgerow.datasets.chessboard import make_chessboard
from hedgerow.datasets.density import sample_density
from hedgerow.datasets.irrelevant import add_irrelevant_features
from hedgerow.datasets.loaders import LoadedData, available, load_data

__all__ = [
    "LoadedData",
    "add_irrelevant_features",
    "available",
    "load_data",
    "make_chessboard",
    "sample_density",
]
