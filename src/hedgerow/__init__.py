"""Tree-structured models that stay small, fast and readable.

Names are loaded when they are first asked for, so that ``import hedgerow`` and ``hedgerow --help``
do not wait for SciPy and scikit-learn. ``__init__.pyi`` says the same to type checkers.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from hedgerow._version import __version__ as __version__

_NAMES = {
    "hedgerow.additive": (
        "GradientBoostingClassifier",
        "GradientBoostingRegressor",
        "TreeSumClassifier",
        "TreeSumRegressor",
    ),
    "hedgerow.batches": ("Dataset",),
    "hedgerow.cascade": (
        "CascadeForestClassifier",
        "CascadeForestRegressor",
        "MultiGrainedScanner",
        "TreeNetworkClassifier",
        "TreeNetworkRegressor",
    ),
    "hedgerow.comparison": (
        "compare",
        "fit_within",
    ),
    "hedgerow.compression": (
        "CompressedClassifier",
        "CompressedRegressor",
        "compress",
    ),
    "hedgerow.embedding": (
        "LeafMeansEmbedding",
        "TreeEmbeddingClassifier",
        "TreeEmbeddingRegressor",
    ),
    "hedgerow.forest": (
        "AdaBoostClassifier",
        "AdaBoostRegressor",
        "BaggingClassifier",
        "BaggingRegressor",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "HeterogeneousForestClassifier",
        "HeterogeneousForestRegressor",
        "RandomForestClassifier",
        "RandomForestRegressor",
        "RandomTreesClassifier",
        "RandomTreesRegressor",
    ),
    "hedgerow.graph": (
        "NaiveDecisionGraphClassifier",
        "TreeInTreeClassifier",
        "TreeInTreeRegressor",
    ),
    "hedgerow.storage": (
        "load",
        "save",
    ),
    "hedgerow.tree": (
        "CentredTreeNetworkRegressor",
        "CentredTreeRegressor",
        "CrossValidatedTreeClassifier",
        "CrossValidatedTreeRegressor",
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        "MeanMarginTreeClassifier",
        "MeanMarginTreeRegressor",
        "TAOTreeClassifier",
        "TAOTreeRegressor",
    ),
}
_PLACES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = sorted(_PLACES)


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        value = getattr(import_module(_PLACES[name]), name)
    elif not name.startswith("_") and find_spec(f"hedgerow.{name}") is not None:
        value = import_module(f"hedgerow.{name}")
    else:
        raise AttributeError(f"module 'hedgerow' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
