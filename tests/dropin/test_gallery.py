"""What the examples of scikit-learn's gallery do with trees and forests; the import is changed.

Each is written once, for a ``house`` of estimators, and run with scikit-learn's and with ours.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import ensemble, tree
from sklearn.datasets import load_diabetes, load_digits, load_iris, make_classification
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

import hedgerow

NAMES = ("DecisionTreeClassifier", "DecisionTreeRegressor", "RandomForestClassifier",
         "ExtraTreesRegressor", "BaggingRegressor", "AdaBoostClassifier")  # fmt: skip
SCIKIT_LEARN = SimpleNamespace(
    **{name: getattr(tree if "Tree" in name and hasattr(tree, name) else ensemble, name)
       for name in NAMES}, plot_tree=tree.plot_tree, export_text=tree.export_text,
)  # fmt: skip
HEDGEROW = SimpleNamespace(
    **{name: getattr(hedgerow, name) for name in NAMES},
    plot_tree=hedgerow.tree.plot_tree,
    export_text=hedgerow.tree.export_text,
)
every_house = pytest.mark.parametrize("house", [SCIKIT_LEARN, HEDGEROW], ids=["theirs", "ours"])
IRIS = load_iris()


@every_house
def test_the_structure_of_a_tree_is_walked(house):
    X_train, X_test, y_train, _ = train_test_split(IRIS.data, IRIS.target, random_state=0)
    model = house.DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X_train, y_train)
    nodes = model.tree_
    depth, is_leaf = np.zeros(nodes.node_count, int), np.zeros(nodes.node_count, bool)
    stack = [(0, 0)]
    while stack:
        node, level = stack.pop()
        depth[node] = level
        if nodes.children_left[node] == nodes.children_right[node]:
            is_leaf[node] = True
            continue
        stack += [(nodes.children_left[node], level + 1), (nodes.children_right[node], level + 1)]
    assert (nodes.node_count, is_leaf.sum(), depth.max()) == (5, 3, 2)
    path, leaves = model.decision_path(X_test), model.apply(X_test)
    for row in range(len(X_test)):
        passed = path.indices[path.indptr[row] : path.indptr[row + 1]]
        assert leaves[row] in passed
        for node in passed:
            if leaves[row] != node:
                feature = nodes.feature[node]
                goes_left = X_test[row, feature] <= nodes.threshold[node]
                child = nodes.children_left if goes_left else nodes.children_right
                assert child[node] in passed
    assert set(np.flatnonzero(path.toarray()[:2].sum(axis=0) == 2)) >= {0}
    assert nodes.value.shape == (5, 1, 3)


@every_house
def test_a_tree_is_drawn_beside_its_surface(house):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    from sklearn.inspection import DecisionBoundaryDisplay

    for pair in ([0, 1], [2, 3]):
        model = house.DecisionTreeClassifier().fit(IRIS.data[:, pair], IRIS.target)
        shown = DecisionBoundaryDisplay.from_estimator(
            model, IRIS.data[:, pair], response_method="predict", grid_resolution=20
        )
        assert set(np.unique(shown.response)) == {0, 1, 2}
    _, ax = plt.subplots()
    model = house.DecisionTreeClassifier(max_depth=2).fit(IRIS.data, IRIS.target)
    texts = house.plot_tree(model, filled=True, feature_names=IRIS.feature_names, ax=ax)
    assert any("gini" in text.get_text() for text in texts)
    assert house.export_text(model).count("class:") == 3
    plt.close("all")


@every_house
def test_trees_are_pruned_along_their_path(house):
    X, y = make_classification(400, random_state=0)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    path = house.DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(
        X_train, y_train
    )
    assert (np.diff(path.ccp_alphas) >= 0).all()
    models = [
        house.DecisionTreeClassifier(random_state=0, ccp_alpha=alpha).fit(X_train, y_train)
        for alpha in path.ccp_alphas
    ]
    counts = [model.tree_.node_count for model in models]
    assert counts[-1] == 1
    assert sorted(counts, reverse=True) == counts
    assert [model.tree_.max_depth for model in models][-2] >= 1
    assert max(model.score(X_test, y_test) for model in models) > 0.8


@every_house
def test_several_numbers_are_predicted_at_once(house):
    random = np.random.RandomState(1)
    X = np.sort(200 * random.rand(100, 1) - 100, axis=0)
    y = np.array([np.pi * np.sin(X).ravel(), np.pi * np.cos(X).ravel()]).T
    y[::5] += 0.5 - random.rand(20, 2)
    model = house.DecisionTreeRegressor(max_depth=8).fit(X, y)
    assert model.predict(np.arange(-100, 100)[:, np.newaxis]).shape == (200, 2)
    # The lower half of a digit from its upper half.
    digits = load_digits().images.reshape(-1, 64)
    upper, lower = digits[:, :32], digits[:, 32:]
    faces = house.ExtraTreesRegressor(10, max_features=16, random_state=0)
    faces.fit(upper[:1500], lower[:1500])
    assert faces.predict(upper[1500:]).shape == lower[1500:].shape
    missed = np.abs(faces.predict(upper[1500:]) - lower[1500:]).mean()
    assert missed < 0.8 * np.abs(lower[:1500].mean(axis=0) - lower[1500:]).mean()


@every_house
def test_importances_have_a_spread_over_the_members(house):
    X, y = make_classification(
        600, n_features=10, n_informative=3, n_redundant=0, shuffle=False, random_state=0
    )
    forest = house.RandomForestClassifier(random_state=0).fit(X, y)
    spread = np.std([member.feature_importances_ for member in forest.estimators_], axis=0)
    assert spread.shape == (10,)
    assert (spread > 0).all()
    assert set(np.argsort(forest.feature_importances_)[-3:]) == {0, 1, 2}


@every_house
def test_errors_out_of_bag_fall_with_the_members(house):
    X, y = make_classification(
        400, n_features=25, n_informative=15, n_clusters_per_class=1, random_state=123
    )
    forest = house.RandomForestClassifier(
        warm_start=True, oob_score=True, max_features="sqrt", random_state=123
    )
    errors = []
    for n in range(40, 101, 20):
        errors.append(1 - forest.set_params(n_estimators=n).fit(X, y).oob_score_)
    assert errors[-1] <= errors[0]
    assert len(forest.estimators_) == 100


@every_house
def test_boosting_is_followed_member_by_member(house):
    X, y = make_classification(
        600, n_features=10, n_informative=6, n_redundant=0, n_classes=3, random_state=0
    )
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=0.7, random_state=42)
    weak = house.DecisionTreeClassifier(max_leaf_nodes=8)
    boosted = house.AdaBoostClassifier(estimator=weak, n_estimators=40, random_state=42)
    boosted.fit(X_train, y_train)
    misses = [1 - accuracy_score(y_test, said) for said in boosted.staged_predict(X_test)]
    assert len(misses) == len(boosted.estimators_) == len(boosted.estimator_errors_) == 40
    assert misses[-1] < misses[0]
    assert (boosted.estimator_weights_ > 0).all()
    # One tree against a bag of trees: the bag's predictions vary less from fit to fit.
    X, y = load_diabetes(return_X_y=True)
    said = {name: [] for name in ("tree", "bag")}
    for seed in range(6):
        rows = np.random.RandomState(seed).choice(300, 300)
        one = house.DecisionTreeRegressor(random_state=0).fit(X[rows], y[rows])
        bag = house.BaggingRegressor(house.DecisionTreeRegressor(), random_state=0)
        said["tree"].append(one.predict(X[300:]))
        said["bag"].append(bag.fit(X[rows], y[rows]).predict(X[300:]))
    assert np.var(said["bag"], axis=0).mean() < np.var(said["tree"], axis=0).mean()
