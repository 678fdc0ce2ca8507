"""Cross-validated comparison of hedgerow's models and their peers.

- ``models``: the one list of what takes part;
- ``evaluate``: the comparison itself and its result.
"""

from hedgerow.compare.evaluate import Comparison, compare
from hedgerow.compare.models import MODELS

__all__ = ["MODELS", "Comparison", "compare"]
