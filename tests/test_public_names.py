"""The public names, written out: a new or lost name is a decision, not an accident."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import hedgerow

PUBLIC = {
    "hedgerow": [
        "AdaBoostClassifier",
        "AdaBoostRegressor",
        "BaggingClassifier",
        "BaggingRegressor",
        "CascadeForestClassifier",
        "CascadeForestRegressor",
        "CentredTreeNetworkRegressor",
        "CentredTreeRegressor",
        "CompressedClassifier",
        "CompressedRegressor",
        "CrossValidatedTreeClassifier",
        "CrossValidatedTreeRegressor",
        "Dataset",
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "GradientBoostingClassifier",
        "GradientBoostingRegressor",
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
        "TreeSumClassifier",
        "TreeSumRegressor",
        "compare",
        "compress",
        "fit_within",
        "load",
        "save",
    ],
    "hedgerow.additive": [
        "GradientBoostingClassifier",
        "GradientBoostingRegressor",
        "TreeSumClassifier",
        "TreeSumRegressor",
    ],
    "hedgerow.batches": ["Dataset"],
    "hedgerow.cascade": [
        "CascadeForestClassifier",
        "CascadeForestRegressor",
        "MultiGrainedScanner",
        "TreeNetworkClassifier",
        "TreeNetworkRegressor",
    ],
    "hedgerow.cli": ["main"],
    "hedgerow.comparison": [
        "MODELS",
        "Comparison",
        "Data",
        "Model",
        "Result",
        "compare",
        "fit_within",
    ],
    "hedgerow.compression": ["CompressedClassifier", "CompressedRegressor", "compress"],
    "hedgerow.datasets": [
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
    ],
    "hedgerow.dask": [
        "CascadeForestClassifier",
        "CascadeForestRegressor",
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "GradientBoostingClassifier",
        "GradientBoostingRegressor",
        "HeterogeneousForestClassifier",
        "HeterogeneousForestRegressor",
        "LeafMeansEmbedding",
        "MeanMarginTreeClassifier",
        "MeanMarginTreeRegressor",
        "RandomForestClassifier",
        "RandomForestRegressor",
        "TreeEmbeddingClassifier",
        "TreeEmbeddingRegressor",
        "TreeInTreeClassifier",
        "TreeInTreeRegressor",
        "TreeSumClassifier",
        "TreeSumRegressor",
    ],
    "hedgerow.embedding": [
        "AnchorLayer",
        "Diagnostics",
        "LeafMeansEmbedding",
        "TreeEmbeddingClassifier",
        "TreeEmbeddingRegressor",
        "diagnose",
    ],
    "hedgerow.export": [
        "TARGETS",
        "Check",
        "ExportError",
        "Program",
        "check",
        "from_json",
        "json_schema",
        "read",
        "size",
        "to_c",
        "to_html",
        "to_javascript",
        "to_json",
        "to_onnx",
        "to_python",
        "to_sql",
    ],
    "hedgerow.forest": [
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
    ],
    "hedgerow.graph": [
        "NaiveDecisionGraphClassifier",
        "TreeInTreeClassifier",
        "TreeInTreeRegressor",
        "fine_tune",
    ],
    "hedgerow.inspect": [
        "Explanation",
        "Rule",
        "RuleList",
        "Step",
        "explain",
        "export_dot",
        "export_text",
        "member",
        "overview",
        "plot",
        "rules",
    ],
    "hedgerow.model_selection": [
        "FiveByTwo",
        "TestResult",
        "combined_f_test",
        "corrected_t_test",
        "paired_t_test",
    ],
    "hedgerow.papers": [],
    "hedgerow.storage": ["content_of", "load", "model_of", "save"],
    "hedgerow.tree": [
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
        "export_graphviz",
        "export_text",
        "plot_tree",
    ],
}


def offered(module):
    """The public names that a module really has: its own, and in a package what it imports."""
    return sorted(
        name
        for name, value in ((name, getattr(module, name)) for name in dir(module))
        if not name.startswith("_")
        and getattr(value, "__module__", "hedgerow").startswith(
            "hedgerow" if hasattr(module, "__path__") else module.__name__
        )
        and not isinstance(value, type(sys))
    )


def test_every_public_module_is_listed():
    found = {module.name for module in pkgutil.iter_modules(hedgerow.__path__, "hedgerow.")}
    assert {name for name in found if "._" not in name} == PUBLIC.keys() - {"hedgerow"}


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_are_exactly_these(name):
    module = importlib.import_module(name)
    assert offered(module) == sorted(PUBLIC[name])
    assert sorted(getattr(module, "__all__", PUBLIC[name])) == sorted(PUBLIC[name])


def test_every_estimator_of_a_family_is_a_public_name_of_hedgerow_and_no_other():
    values = {
        name: getattr(importlib.import_module(module), name)
        for module, names in PUBLIC.items()
        for name in names
        if module != "hedgerow"
    }
    estimators = {
        name
        for name, value in values.items()
        if isinstance(value, type) and issubclass(value, BaseEstimator)
    }
    others = {"Dataset"}
    assert estimators | others == {name for name in hedgerow.__all__ if name[0].isupper()}


def test_no_module_hides_behind_a_function_of_its_name():
    """``import hedgerow.graph.x as x`` gives the module x."""
    hidden = set()
    for module in pkgutil.walk_packages(hedgerow.__path__, "hedgerow."):
        package, _, name = module.name.rpartition(".")
        found = importlib.import_module(module.name)
        if getattr(sys.modules[package], name) is not found:
            hidden.add(module.name)
    assert hidden <= {"hedgerow.graph.fine_tune"}


def test_every_estimator_is_documented_and_pickles_by_its_own_module():
    for name in hedgerow.__all__:
        kind = getattr(hedgerow, name)
        if isinstance(kind, type) and issubclass(kind, BaseEstimator):
            assert kind.__name__ == name
            assert kind.__doc__
            assert getattr(sys.modules[kind.__module__], name) is kind


def test_type_checkers_see_the_same_names():
    stub = ast.parse(Path(hedgerow.__file__).with_suffix(".pyi").read_text())
    said = {
        name.asname: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert sorted(said) == sorted([*hedgerow.__all__, "__version__"])
    for name, module in said.items():
        assert getattr(importlib.import_module(module), name) is getattr(hedgerow, name)


def test_import_loads_nothing_until_a_name_is_asked_for():
    program = (
        "import sys, hedgerow;"
        "assert not {'numpy', 'scipy', 'sklearn', 'hedgerow.tree'} & set(sys.modules);"
        "assert 'RandomForestClassifier' in dir(hedgerow);"
        "hedgerow.tree.DecisionTreeClassifier, hedgerow.datasets.load_data;"
        "assert not hasattr(hedgerow, 'Elm') and not hasattr(hedgerow, 'elm');"
        "from hedgerow.cli import main;"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


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
