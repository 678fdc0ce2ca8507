"""The public names, written out: a new or lost name is a decision, not an accident."""

import subprocess
import sys

from sklearn.base import BaseEstimator

import hedgerow

NAMES = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "CascadeForestClassifier",
    "CascadeForestRegressor",
    "CentredTreeNetworkRegressor",
    "CentredTreeRegressor",
    "CrossValidatedTreeClassifier",
    "CrossValidatedTreeRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "HeterogeneousForestClassifier",
    "HeterogeneousForestRegressor",
    "LeafMeansEmbedding",
    "MeanMarginTreeClassifier",
    "MeanMarginTreeRegressor",
    "MultiGrainedScanner",
    "NaiveDecisionGraphClassifier",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreesClassifier",
    "RandomTreesRegressor",
    "TAOTreeClassifier",
    "TAOTreeRegressor",
    "TreeEmbeddingClassifier",
    "TreeEmbeddingRegressor",
    "TreeInTreeClassifier",
    "TreeInTreeRegressor",
    "TreeNetworkClassifier",
    "TreeNetworkRegressor",
    "compare",
    "fit_within",
    "load",
    "save",
]


def test_public_names_are_exactly_these():
    assert sorted(hedgerow.__all__) == sorted(NAMES)


def test_every_public_name_exists():
    for name in hedgerow.__all__:
        assert hasattr(hedgerow, name), name


def test_every_estimator_is_documented_and_pickles_by_its_own_module():
    for name in hedgerow.__all__:
        kind = getattr(hedgerow, name)
        if isinstance(kind, type) and issubclass(kind, BaseEstimator):
            assert kind.__name__ == name
            assert kind.__doc__
            assert getattr(sys.modules[kind.__module__], name) is kind


def test_star_import_brings_the_public_names():
    space = {}
    exec("from hedgerow import *", space)
    assert set(hedgerow.__all__) <= set(space)


def test_import_needs_no_optional_package():
    program = (
        "import sys;"
        "extras = ['pandas', 'polars', 'matplotlib', 'rich', 'jinja2', 'typer', 'pyarrow'];"
        "sys.modules.update(dict.fromkeys(extras));"  # None in sys.modules makes an import fail
        "import hedgerow;"
        "hedgerow.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]).predict([[1.0]])"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
