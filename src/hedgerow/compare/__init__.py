"""Cross-validated comparison of hedgerow's models and their peers.

- ``models``: the one list of what takes part; ``peers``: other libraries' models as they want it;
- ``evaluate``: the comparison; ``comparison``: its result;
- ``within``: the best model within a limit; ``sizes``: what a model costs;
- ``budget`` and ``progress``: keeping to the time, and showing it;
- ``tables``: what the table itself says.
"""

from hedgerow.compare.comparison import Comparison, Data, Result
from hedgerow.compare.evaluate import compare
from hedgerow.compare.models import MODELS, Model
from hedgerow.compare.within import fit_within

__all__ = ["MODELS", "Comparison", "Data", "Model", "Result", "compare", "fit_within"]
