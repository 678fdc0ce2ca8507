"""Models to inspect, and golden files to compare their texts with.

``HEDGEROW_UPDATE_GOLDEN=1`` rewrites the golden files instead of comparing.
"""

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

import hedgerow

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def check_golden():
    """Function that compares a text with a golden file."""

    def check(name, text):
        path = GOLDEN / f"{name}.txt"
        if os.environ.get("HEDGEROW_UPDATE_GOLDEN") == "1":
            path.write_text(text + "\n", encoding="utf-8")
        assert text + "\n" == path.read_text(encoding="utf-8")

    return check


@pytest.fixture(scope="session")
def iris():
    """Classifier with feature names and string labels, and its rows."""
    data = load_iris(as_frame=True)
    y = data.target_names[data.target]
    model = hedgerow.DecisionTreeClassifier(max_depth=4).fit(data.data, y)
    return SimpleNamespace(model=model, X=data.data, y=y)


@pytest.fixture(scope="session")
def diabetes():
    """Regressor on small numbers, and its rows."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return SimpleNamespace(model=hedgerow.DecisionTreeRegressor(max_depth=3).fit(X, y), X=X, y=y)


@pytest.fixture(scope="session")
def mixed():
    """Classifier on a frame with categories, missing values and awkward names."""
    rng = np.random.default_rng(0)
    n = 400
    age = rng.integers(18, 90, n).astype(float)
    dose = rng.gamma(2.0, 0.0005, n)
    colour = rng.choice(["red", "green", "blue, dark", "grey"], n)
    y = np.where(np.isin(colour, ["red", "grey"]), age > 50, dose > 0.001)
    age[rng.random(n) < 0.15] = np.nan
    colour = pd.Categorical(np.where(rng.random(n) < 0.1, None, colour))
    X = pd.DataFrame({"age": age, "dose (mg)": dose, "colour": colour})
    model = hedgerow.DecisionTreeClassifier(max_depth=3, min_samples_leaf=5).fit(X, y)
    return SimpleNamespace(model=model, X=X, y=y)


class FittedGraph:
    """Smallest estimator around a graph that was put together by hand."""

    def __init__(self, graph, feature_names, categories, classes):
        self.graph_ = graph
        self.classes_ = np.array(classes)
        self.schema_ = SimpleNamespace(
            feature_names=feature_names,
            categories=categories,
            missing={0},
            encode=lambda model, X: X,
        )


def build_graph(tests, children, values, n_features):
    """Graph from a test per node: None, (feature, threshold), (feature, codes) or oblique terms.

    Oblique terms are a list of (feature, weight, centre); their threshold is 0.
    """
    n = len(tests)
    kind = np.zeros(n, np.uint8)
    feature, detail = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    threshold = np.zeros(n)
    words, terms, term_start = [], [], [0]
    for node, test in enumerate(tests):
        if isinstance(test, list):
            kind[node], detail[node] = 3, len(term_start) - 1
            terms += test
            term_start.append(len(terms))
        elif test is not None and isinstance(test[1], set):
            kind[node], feature[node], detail[node] = 2, test[0], len(words)
            words.append(sum(1 << code for code in test[1]))
            threshold[node] = 64  # categories are known
        elif test is not None:
            kind[node], feature[node], threshold[node] = 1, *test
    rows = np.array([value[0] for value in values], np.int32)
    oblique = np.array(terms, dtype=float).reshape(-1, 3)
    return hedgerow._engine.DecisionGraph.from_arrays(
        {
            "format": 1,
            "n_features": n_features,
            "n_outputs": len(values[0][1]),
            "kind": kind,
            "missing_left": (kind == 2).astype(np.uint8),
            "feature": feature,
            "left": np.array([pair[0] for pair in children], np.int32),
            "right": np.array([pair[1] for pair in children], np.int32),
            "detail": detail,
            "threshold": threshold,
            "n_samples": rows,
            "weight": rows.astype(float),
            "impurity": np.zeros(n),
            "value": np.array([value[1] for value in values], dtype=float).ravel(),
            "category_words": np.array(words, np.uint64),
            "category_start": np.arange(len(words) + 1, dtype=np.uint32),
            "oblique_feature": oblique[:, 0].astype(np.int32),
            "oblique_category": np.full(len(oblique), -1, np.int32),
            "oblique_weight": np.ascontiguousarray(oblique[:, 1]),
            "oblique_centre": np.ascontiguousarray(oblique[:, 2]),
            "oblique_start": np.array(term_start, np.uint32),
        }
    )


@pytest.fixture(scope="session")
def woven():
    """Graph with all three kinds of test; node 4 and the leaf 5 have two parents each."""
    graph = build_graph(
        tests=[
            (0, 3.5),
            (1, {0, 2}),
            [(0, -1.0, 1.0), (2, 0.25, 2.0)],
            None,
            (2, 0.001),
            None,
            None,
        ],
        children=[(1, 2), (3, 4), (4, 5), (-1, -1), (5, 6), (-1, -1), (-1, -1)],
        values=[
            (100, [0.5, 0.5]),
            (60, [0.6, 0.4]),
            (40, [0.3, 0.7]),
            (30, [1.0, 0.0]),
            (50, [0.5, 0.5]),
            (25, [0.1, 0.9]),
            (45, [0.9996, 0.0004]),
        ],
        n_features=3,
    )
    categories = {1: ["red", "green", "blue, dark"]}
    model = FittedGraph(graph, ["size", "colour", "mass"], categories, ["no", "yes"])
    rows = [
        [1, "red", 2],
        [1, "green", 0.0005],
        [None, "purple", 1],
        [9, "red", None],
        [4, None, 100],
    ]
    code = {"red": 0.0, "green": 1.0, "blue, dark": 2.0}
    X = np.array([[a, code.get(b), c] for a, b, c in rows], dtype=float)
    return SimpleNamespace(model=model, rows=rows, X=X)


@pytest.fixture(scope="session")
def ladder():
    """Function that builds a graph in which every step doubles the number of paths."""

    def build(length):
        tests, children = [], []
        for top in range(0, 3 * length, 3):  # both children of a step's node lead to the next
            tests += [(0, top + 0.5), (1, top + 0.5), (2, top + 0.5)]
            children += [(top + 1, top + 2), (top + 3, top + 3), (top + 3, top + 3)]
        tests.append(None)
        children.append((-1, -1))
        values = [(1, [0.5, 0.5])] * len(tests)
        return FittedGraph(build_graph(tests, children, values, 3), None, {}, ["a", "b"])

    return build
