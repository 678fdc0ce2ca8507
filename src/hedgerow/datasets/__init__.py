"""Data sets: changing them for experiments, and measuring them."""

from hedgerow.datasets.density import sample_density
from hedgerow.datasets.irrelevant import add_irrelevant_features

__all__ = ["add_irrelevant_features", "sample_density"]
