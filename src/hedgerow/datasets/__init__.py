"""Data sets: loading them, making them, changing them for experiments, and measuring them.

- ``loaders``: from a name or a file to a table; ``files``: reading and writing, whole or in chunks;
  ``folder``: a folder of data sets;
- ``text_files``: how a text file is written; ``cleaning``: columns as people export them;
- ``columns``: columns of a later file as a model reads them;
- ``chessboard``, ``irrelevant`` and ``density``: made tables, noise columns, sample density.
"""

from hedgerow._reading import ColumnReading, TableReading
from hedgerow.datasets.chessboard import make_chessboard
from hedgerow.datasets.cleaning import CleanTable, clean
from hedgerow.datasets.density import sample_density
from hedgerow.datasets.irrelevant import add_irrelevant_features
from hedgerow.datasets.loaders import LoadedData, available, load_data, read_table

__all__ = [
    "CleanTable",
    "ColumnReading",
    "LoadedData",
    "TableReading",
    "add_irrelevant_features",
    "available",
    "clean",
    "load_data",
    "make_chessboard",
    "read_table",
    "sample_density",
]
