"""Cross-validated comparison of hedgerow's models and their peers.

- ``models``: the one list of what takes part; ``peers``: other libraries' models as they want it;
- ``evaluate``: the comparison; ``division``: its folds; ``schedule``: which model runs when, and
  which where time is short; ``run``: one model on its way through the folds; ``journal``: its
  finished folds on the disk;
- ``metrics``: what models are scored by; ``baseline``: the constant that they have to beat;
- ``comparison``: the result, made of plain ``records``; ``ranking``: the order, and what is about
  as good as the best; ``watch``: what looks too good; ``report``: its page;
- ``within``: the best model within a limit; ``sizes``: what a model costs; ``front``: every model
  from one split to its full size;
- ``budget`` and ``interrupts``: keeping to the time, showing it, and ending early;
- ``tables``: what the table itself says.
"""

from hedgerow.comparison.comparison import Comparison
from hedgerow.comparison.evaluate import compare
from hedgerow.comparison.models import MODELS, Model
from hedgerow.comparison.records import Data, Result
from hedgerow.comparison.within import fit_within

__all__ = ["MODELS", "Comparison", "Data", "Model", "Result", "compare", "fit_within"]
