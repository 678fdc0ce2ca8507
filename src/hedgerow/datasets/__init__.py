"""Data sets: making them, changing them for experiments, and measuring them."""

from hedgerow.datasets.chessboard import make_chessboard
from hedgerow.datasets.density import sample_density
from hedgerow.datasets.irrelevant import add_irrelevant_features

__all__ = ["add_irrelevant_features", "make_chessboard", "sample_density"]
