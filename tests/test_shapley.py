"""Shapley values against their definition: brute force over all coalitions of features."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from hedgerow import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    MeanMarginTreeClassifier,
    RandomForestClassifier,
    TreeInTreeClassifier,
)


def table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.integers(0, 4, n).astype(float),
            "c": pd.Categorical(rng.choice(list("xyzw"), n)),
            "d": rng.normal(size=n),
        }
    )
    X.loc[rng.random(n) < 0.15, "a"] = np.nan
    X.loc[rng.random(n) < 0.1, "c"] = None
    y = np.nan_to_num(X["a"]) * (X["b"] > 1) + (X["c"] == "x") * X["d"] + rng.normal(size=n) / 5
    return X, np.asarray(y)


def by_definition(worth, n_features):
    """Shapley values and interactions of a game by the sum over coalitions."""
    features = range(n_features)
    worths = {
        frozenset(s): worth(frozenset(s))
        for size in range(n_features + 1)
        for s in itertools.combinations(features, size)
    }
    values = []
    for i in features:
        total = 0
        for s, of_s in worths.items():
            if i not in s:
                share = math.factorial(len(s)) * math.factorial(n_features - len(s) - 1)
                total = total + share / math.factorial(n_features) * (worths[s | {i}] - of_s)
        values.append(total)
    pairs = np.zeros((n_features, n_features, *np.shape(values[0])))
    for i, j in itertools.permutations(features, 2):
        for s, of_s in worths.items():
            if i not in s and j not in s:
                share = math.factorial(len(s)) * math.factorial(n_features - len(s) - 2)
                both = worths[s | {i, j}] - worths[s | {i}] - worths[s | {j}] + of_s
                pairs[i, j] += share / math.factorial(n_features - 1) / 2 * both
    for i in features:
        pairs[i, i] = values[i] - pairs[i].sum(axis=0)
    return np.array(values), pairs


def worth_by_paths(graph, turns):
    """Worth of a coalition for one row; turns tells where the row goes at every test."""

    def worth(known, node=0):
        if graph.left[node] < 0:
            return graph.value[node]
        left, right = graph.left[node], graph.right[node]
        if graph.feature[node] in known:
            return worth(known, left if turns[node] else right)
        share = graph.weight[left] / graph.weight[node]
        return share * worth(known, left) + (1 - share) * worth(known, right)

    return worth


def turns_of(graph, row):
    """Where a row goes at every test, whether it gets there or not: test by test."""
    turns = {}
    arrays = graph.arrays()
    for node in np.flatnonzero(graph.left >= 0):
        value = row[graph.feature[node]]
        if graph.kind[node] == 1:
            goes = (
                bool(graph.missing_left[node])
                if np.isnan(value)
                else value <= graph.threshold[node]
            )
        elif not 0 <= value < graph.threshold[node]:
            goes = bool(graph.missing_left[node])
        else:
            start = arrays["category_start"][arrays["detail"][node]]
            word = int(arrays["category_words"][start + int(value) // 64])
            goes = bool(word >> (int(value) % 64) & 1)
        turns[node] = goes
    return turns


@pytest.mark.parametrize("is_classifier", [False, True])
def test_values_by_paths_are_those_of_the_definition(is_classifier):
    X, y = table()
    if is_classifier:
        model = DecisionTreeClassifier(max_depth=5).fit(X, np.digitize(y, [-0.5, 0.5]))
    else:
        model = DecisionTreeRegressor(max_depth=5).fit(X, y)
    rows = X[:12]
    values = model.shap_values(rows)
    pairs = model.shap_values(rows, interactions=True)
    for row, found, found_pairs in zip(
        model.schema_.encode(model, rows), values, pairs, strict=True
    ):
        exact, exact_pairs = by_definition(
            worth_by_paths(model.graph_, turns_of(model.graph_, row)), 4
        )
        np.testing.assert_allclose(found, exact.reshape(found.shape), atol=1e-12)
        np.testing.assert_allclose(found_pairs, exact_pairs.reshape(found_pairs.shape), atol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(max_depth=5),
        ExtraTreesRegressor(4, max_depth=4, random_state=0),
        TreeInTreeClassifier(max_splits=12, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_values_by_rows_are_those_of_the_definition(model):
    X, y = table()
    model.fit(X, np.digitize(y, [-0.5, 0.5]) if hasattr(model, "predict_proba") else y)
    rows, background = X[:6], X[50:70]
    values = model.shap_values(rows, background)
    encoded = model.schema_.encode(model, rows)
    others = model.schema_.encode(model, background)
    start, (graphs,), scale = model.summands()

    def output(matrix):
        return start + scale * sum(graph.value[graph.apply(matrix)] for graph in graphs)

    for row, found in zip(encoded, values, strict=True):

        def worth(known, row=row):
            mixed = others.copy()
            mixed[:, list(known)] = row[list(known)]
            return output(mixed).mean(axis=0)

        exact, _ = by_definition(worth, 4)
        np.testing.assert_allclose(found, exact.reshape(found.shape), atol=1e-12)
    expected = model.shap_expected(background)
    np.testing.assert_allclose(expected, np.squeeze(output(others).mean(axis=0)), atol=1e-12)


@pytest.mark.parametrize("by", ["paths", "rows"])
@pytest.mark.parametrize("depth", [3, None])
def test_values_add_up_to_the_output(by, depth):
    X, y = table(400)
    forest = RandomForestClassifier(5, max_depth=depth, random_state=0).fit(X, np.digitize(y, [0]))
    values = forest.shap_values(X[:50], X[:100], by=by)
    assert values.shape == (50, 4, 2)
    total = values.sum(axis=1) + forest.shap_expected(X[:100], by=by)
    np.testing.assert_allclose(total, forest.predict_proba(X[:50]), atol=1e-9)


def test_many_features_and_deep_paths():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 60))
    tree = DecisionTreeRegressor().fit(X, X @ rng.normal(size=60))
    values = tree.shap_values(X[:20])
    np.testing.assert_allclose(values.sum(axis=1) + tree.shap_expected(), tree.predict(X[:20]))
    pairs = tree.shap_values(X[:5], interactions=True)
    np.testing.assert_allclose(pairs.sum(axis=2), values[:5], atol=1e-9)
    np.testing.assert_allclose(pairs, pairs.transpose(0, 2, 1), atol=1e-12)


def test_any_number_of_threads_gives_the_same():
    X, y = table(300)
    one = DecisionTreeRegressor(max_depth=6, n_jobs=1).fit(X, y)
    two = DecisionTreeRegressor(max_depth=6, n_jobs=2).fit(X, y)
    assert np.array_equal(one.shap_values(X), two.shap_values(X))
    assert np.array_equal(one.shap_values(X, X[:9]), two.shap_values(X, X[:9]))


@pytest.mark.parametrize("by", ["paths", "rows"])
def test_a_row_is_explained_alone_as_among_others(by):
    X, y = table(300)
    model = RandomForestClassifier(4, random_state=0).fit(X, np.digitize(y, [-0.5, 0.5]))
    together = model.shap_values(X[:45], X[100:220], by=by)
    alone = [model.shap_values(X[i : i + 1], X[100:220], by=by)[0] for i in range(45)]
    assert np.array_equal(together, alone)


def test_many_background_rows_count_alike():
    X, y = table(300)
    model = RandomForestClassifier(4, random_state=0).fit(X, np.digitize(y, [-0.5, 0.5]))
    each = [model.shap_values(X[:10], X[i : i + 1]) for i in range(100, 240)]
    all_of_them = model.shap_values(X[:10], X[100:240])
    np.testing.assert_allclose(all_of_them, np.mean(each, axis=0), atol=1e-12)


def test_a_leaf_gives_nothing():
    tree = DecisionTreeRegressor().fit(np.zeros((3, 2)), [1.0, 1.0, 1.0])
    assert not tree.shap_values(np.ones((2, 2))).any()
    assert tree.shap_expected() == 1.0


def test_what_cannot_be_explained_is_refused():
    X, y = table()
    forest = RandomForestClassifier(3, random_state=0).fit(X, y > 0)
    with pytest.raises(ValueError, match="give 'background'"):
        forest.shap_values(X)
    with pytest.raises(ValueError, match="0 rows"):
        forest.shap_values(X, X[:0])
    with pytest.raises(ValueError, match="by='rows' needs 'background'"):
        forest.shap_values(X, by="rows")
    with pytest.raises(ValueError, match="'by' must be one of"):
        forest.shap_values(X, X, by="trees")
    with pytest.raises(ValueError, match="computed by paths"):
        forest.shap_values(X, X, by="rows", interactions=True)
    oblique = MeanMarginTreeClassifier().fit(X, y > 0)
    with pytest.raises(ValueError, match="oblique tests"):
        oblique.shap_values(X)


def test_as_shap_and_like_shap():
    shap = pytest.importorskip("shap")
    from sklearn.tree import DecisionTreeRegressor as Reference

    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5)).astype(np.float32).astype(float)  # as both read it
    y = X[:, 0] * (X[:, 1] > 0) + rng.normal(size=200)
    ours = DecisionTreeRegressor(min_samples_leaf=10).fit(X, y)
    theirs = Reference(min_samples_leaf=10, random_state=0).fit(X, y)
    assert np.array_equal(ours.graph_.feature, theirs.tree_.feature)
    explainer = shap.TreeExplainer(theirs)
    np.testing.assert_allclose(ours.shap_values(X), explainer.shap_values(X), atol=1e-9)
    explanation = ours.shap_explanation(X)
    assert explanation.values.shape == X.shape


def test_expected_output_of_a_table_of_categories_alone():
    kinds = pd.DataFrame({"kind": pd.Categorical(["elm", "oak", "yew", "oak"] * 10)})
    tree = DecisionTreeRegressor().fit(kinds, [1.0, 2.0, 6.0, 2.0] * 10)
    for by in ("paths", "rows"):
        values, base = tree.shap_values(kinds, kinds, by=by), tree.shap_expected(kinds, by=by)
        np.testing.assert_allclose(values.sum(axis=1) + base, tree.predict(kinds), atol=1e-12)
