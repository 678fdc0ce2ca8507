"""Training tables that come in batches: read twice, kept as codes of a byte or two a cell."""

from hedgerow.batches.dataset import Dataset

__all__ = ["Dataset"]
