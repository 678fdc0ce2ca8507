"""Trees of several outputs: against scikit-learn's, and against every split of a small table."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import tree as theirs
from sklearn.datasets import make_multilabel_classification

import hedgerow
from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow._engine import Dataset, GrowParams, grow

RNG = np.random.default_rng(0)
N = 300
X = RNG.normal(size=(N, 4))
CLASSES = np.column_stack(
    [np.digitize(X[:, 0] + 0.5 * RNG.normal(size=N), [-0.5, 0.5]),
     (X[:, 1] * X[:, 2] + 0.5 * RNG.normal(size=N) > 0).astype(int)]
)  # fmt: skip
NUMBERS = np.column_stack([X[:, 0] ** 2, X[:, 1] - X[:, 2], np.abs(X[:, 3])])
NUMBERS += 0.1 * RNG.normal(size=NUMBERS.shape)
WEIGHTS = RNG.integers(1, 4, N) * 0.5

CRITERIA = [("Classifier", "gini"), ("Classifier", "entropy"), ("Regressor", "squared_error"),
            ("Regressor", "poisson")]  # fmt: skip


def data_for(task, criterion):
    y = CLASSES if task == "Classifier" else NUMBERS
    return np.abs(y) if criterion == "poisson" else y


def nodes(tree):
    """What is known of the nodes, in an order of its own."""
    known = np.column_stack(
        [tree.n_node_samples, tree.weighted_n_node_samples, tree.impurity,
         tree.value.reshape(tree.node_count, -1)]
    )  # fmt: skip
    return known[np.lexsort(np.round(known, 6).T)]


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize(("task", "criterion"), CRITERIA)
def test_grows_scikit_learns_tree(task, criterion, weights):
    y = data_for(task, criterion)
    for settings in ({"max_depth": 4}, {"max_leaf_nodes": 9}, {"min_impurity_decrease": 0.01}):
        # Small nodes have equally good splits, of which each library takes its own.
        settings |= {"criterion": criterion, "random_state": 0, "min_samples_leaf": 12}
        ours = getattr(hedgerow, f"DecisionTree{task}")(**settings, max_bins=None)
        other = getattr(theirs, f"DecisionTree{task}")(**settings)
        ours.fit(X, y, weights), other.fit(X, y, weights)
        assert ours.tree_.node_count == other.tree_.node_count
        new = np.random.default_rng(1).normal(size=(500, 4)).astype(np.float32)
        assert_allclose(ours.predict(new), other.predict(new), rtol=1e-6)
        assert_allclose(ours.feature_importances_, other.feature_importances_, rtol=1e-6)
        assert_allclose(nodes(ours.tree_), nodes(other.tree_), rtol=1e-5, atol=1e-7)
        if task == "Classifier":
            for mine, wanted in zip(ours.predict_proba(new), other.predict_proba(new), strict=True):
                assert_allclose(mine, wanted, atol=1e-12)


def impurity(y, w, criterion):
    """The mean over the outputs, from the definition."""
    if criterion in ("gini", "entropy"):
        parts = []
        for column in y.T:
            p = np.array([w[column == k].sum() for k in np.unique(column)]) / w.sum()
            parts.append(1 - (p**2).sum() if criterion == "gini" else -(p * np.log2(p)).sum())
        return np.mean(parts)
    means = np.average(y, axis=0, weights=w)
    if criterion == "squared_error":
        return np.average((y - means) ** 2, axis=0, weights=w).mean()
    logs = np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / means), 0)
    return np.average(logs, axis=0, weights=w).mean()


def best_gain(sides, y, w, criterion):
    """The largest decrease of the impurity by any of the given sets of rows."""
    gains = [0.0]
    for left in sides:
        if not left.any() or left.all():
            continue
        right = ~left
        if criterion == "poisson" and (y[left].sum(0) * y[right].sum(0) <= 0).any():
            continue
        lost = sum(w[s].sum() * impurity(y[s], w[s], criterion) for s in (left, right))
        gains.append(impurity(y, w, criterion) - lost / w.sum())
    return max(gains)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ["numbers", "categories"])
@pytest.mark.parametrize(("task", "criterion"), CRITERIA)
def test_no_split_of_a_small_table_is_better(task, criterion, kind, missing):
    random = np.random.default_rng(1)
    for _ in range(15):
        n = 12
        column = random.integers(0, 5, n).astype(float)
        y = random.integers(0, 3, (n, 2)).astype(int if task == "Classifier" else float)
        w = random.integers(1, 4, n) * 0.5
        gone = np.zeros(n, dtype=bool)
        if missing:
            gone = random.random(n) < 0.3
        given = np.where(gone, np.nan, column)
        frame = pd.DataFrame({"a": given})
        values = np.unique(column[~gone])
        if kind == "categories":
            frame["a"] = pd.Categorical(frame["a"])
            masks = range(2 ** len(values))
            chosen = [values[[bool(m >> i & 1) for i in range(len(values))]] for m in masks]
        else:
            chosen = [values[: i + 1] for i in range(len(values))]
        sides = [np.isin(column, some) & ~gone for some in chosen]
        sides += [side | gone for side in sides]
        wanted = best_gain(sides, y, w, criterion)
        model = getattr(hedgerow, f"DecisionTree{task}")(max_depth=1, criterion=criterion)
        tree = model.fit(frame, y, w).tree_
        assert tree.impurity[0] == pytest.approx(impurity(y, w, criterion))
        got = 0.0
        if tree.node_count == 3:
            lost = tree.weighted_n_node_samples * tree.impurity
            got = (lost[0] - lost[1] - lost[2]) / w.sum()
        assert got == pytest.approx(wanted, abs=1e-9)


def test_outputs_that_are_alike_are_as_one():
    """Several outputs take another way through the engine: held against that for one output."""
    for kind, of in ((DecisionTreeClassifier, CLASSES), (DecisionTreeRegressor, NUMBERS)):
        y = of[:, 0]
        for settings in ({}, {"splitter": "random", "random_state": 3}, {"max_leaf_nodes": 20},
                         {"max_features": 2, "random_state": 5}):  # fmt: skip
            one = kind(**settings).fit(X, y)
            both = kind(**settings).fit(X, np.column_stack([y, y]))
            assert_array_equal(one.graph_.feature, both.graph_.feature)
            assert_array_equal(one.graph_.threshold, both.graph_.threshold)
            assert_allclose(one.graph_.impurity, both.graph_.impurity, atol=1e-12)
            assert_allclose(np.hstack([one.graph_.value] * 2), both.graph_.value, atol=1e-12)


def test_predictions_have_scikit_learns_forms():
    colours = np.array(["red", "blue", "sky"])[CLASSES[:, 0]]
    y = np.column_stack([colours.astype(object), CLASSES[:, 1]])
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    assert model.n_outputs_ == 2
    assert model.n_classes_ == [3, 2]
    assert [known.tolist() for known in model.classes_] == [["blue", "red", "sky"], [0, 1]]
    predicted, shares = model.predict(X), model.predict_proba(X)
    assert predicted.shape == (N, 2)
    assert [part.shape for part in shares] == [(N, 3), (N, 2)]
    assert [type(cell) for cell in predicted[0]] == [str, int]
    for output, part in enumerate(shares):
        assert_array_equal(predicted[:, output], model.classes_[output][part.argmax(axis=1)])
        assert_allclose(np.exp(model.predict_log_proba(X)[output]), part)
    assert model.tree_.value.shape == (model.tree_.node_count, 2, 3)
    assert (model.tree_.value[:, 1, 2] == 0).all()
    predict = model.row_predictor()
    assert [predict(row) for row in X[:9]] == predicted[:9].tolist()
    numbers = DecisionTreeRegressor(max_depth=3).fit(X, NUMBERS)
    assert_allclose(numbers.row_predictor()(X[0]), numbers.predict(X[:1])[0])
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X), predicted)


def test_weights_of_classes_multiply():
    weights = [{0: 2.0, 1: 1.0, 2: 1.0}, {0: 1.0, 1: 3.0}]
    factor = np.where(CLASSES[:, 0] == 0, 2.0, 1.0) * np.where(CLASSES[:, 1] == 1, 3.0, 1.0)
    settings = {"max_depth": 4}
    by_class = DecisionTreeClassifier(class_weight=weights, **settings).fit(X, CLASSES)
    by_row = DecisionTreeClassifier(**settings).fit(X, CLASSES, factor)
    assert_array_equal(by_class.graph_.value, by_row.graph_.value)
    with pytest.raises(ValueError, match="class_weight should match number of outputs"):
        DecisionTreeClassifier(class_weight=weights[:1]).fit(X, CLASSES)


def test_labels_may_be_many():
    X, y = make_multilabel_classification(n_samples=200, n_classes=6, random_state=0)
    model = DecisionTreeClassifier().fit(X, y)
    assert (model.predict(X) == y).mean() > 0.99
    assert model.score(X, y) > 0.95


def test_files_keep_several_outputs(tmp_path):
    for model, y in ((DecisionTreeClassifier(), CLASSES), (DecisionTreeRegressor(), NUMBERS)):
        model.fit(X, y)
        hedgerow.save(model, tmp_path / "model.hedgerow")
        again = hedgerow.load(tmp_path / "model.hedgerow")
        assert_array_equal(again.predict(X), model.predict(X))
        assert again.n_outputs_ == y.shape[1]


def test_pruning_and_explanations_know_several_outputs():
    model = DecisionTreeClassifier(random_state=0).fit(X, CLASSES)
    alphas = model.cost_complexity_pruning_path(X, CLASSES).ccp_alphas
    other = theirs.DecisionTreeClassifier(random_state=0)
    pruned = DecisionTreeClassifier(ccp_alpha=alphas[-3]).fit(X, CLASSES)
    assert 1 < pruned.get_n_leaves() < model.get_n_leaves()
    wanted = other.cost_complexity_pruning_path(X, CLASSES).ccp_alphas
    assert alphas[-1] == pytest.approx(wanted[-1], rel=1e-6)
    shap = pruned.shap_values(X[:5])
    assert shap.shape == (5, 4, 5)
    said = np.hstack(pruned.predict_proba(X[:5]))
    assert_allclose(shap.sum(axis=1) + pruned.shap_expected(), said, atol=1e-12)


def test_what_is_for_one_output_says_so():
    with pytest.raises(ValueError, match="'merge_siblings' is for one output"):
        DecisionTreeClassifier(merge_siblings=True).fit(X, CLASSES)
    with pytest.raises(ValueError, match="multiple outputs"):
        DecisionTreeRegressor(monotonic_cst=[1, 0, 0, 0]).fit(X, NUMBERS)
    with pytest.raises(ValueError, match="one output"):
        DecisionTreeClassifier(max_depth=2).fit(X, CLASSES).calibrate(X, CLASSES)
    for model in (hedgerow.TAOTreeClassifier(), hedgerow.TreeInTreeClassifier(),
                  hedgerow.AdaBoostClassifier(), hedgerow.CascadeForestClassifier()):  # fmt: skip
        with pytest.raises(ValueError, match="y has 2 outputs, and this model takes one"):
            model.fit(X, CLASSES)


@pytest.mark.parametrize(
    ("targets", "counts", "said"),
    [
        (np.zeros((4, 2), np.int32), [1], "class_counts"),
        (np.ones((4, 2), np.int32), [1, 1], "out of range"),
        (np.zeros((3, 2), np.int32), [1, 1], "targets"),
    ],
)
def test_the_engine_refuses_targets_that_do_not_fit(targets, counts, said):
    data = Dataset(4)
    data.append_matrix(np.arange(8.0).reshape(4, 2), 0, 1)
    params = GrowParams(n_classes=2, class_counts=counts)
    with pytest.raises(ValueError, match=said):
        grow(data, None, targets, None, params)
