"""Boosted trees: against brute force, against scikit-learn, and what parameters promise."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss, mean_gamma_deviance, mean_poisson_deviance
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

from hedgerow import GradientBoostingClassifier, GradientBoostingRegressor

# Nothing drawn, nothing shrunk.
PLAIN = {"subsample": 1.0, "max_features": None, "l2_regularization": 0.0}


def frame(n=600, seed=0):
    """Numbers, missing ones and categories, some of them rare."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(list("abcdefgh"), n, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.03, 0.02])
    X = pd.DataFrame(
        {
            "u": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "v": rng.integers(0, 12, n).astype(float),
            "kind": pd.Categorical(np.where(rng.random(n) < 0.05, None, kind)),
        }
    )
    signal = X["u"].fillna(1.5) * 2 + (X["v"] > 5) + X["kind"].isin(["a", "d", "g"]) * 1.5
    return X, (signal + rng.normal(scale=0.5, size=n)).to_numpy()


REGRESSORS = {
    "squared_error": {},
    "absolute_error": {},
    "poisson": {},
    "gamma": {},
    "quantile": {"quantile": 0.8},
}


class BruteForce:
    """One boosted tree by trying every split of every leaf, written as plainly as can be."""

    def __init__(self, codes, gradient, hessian, *, leaves, least, l2, smoothing, categorical):
        self.codes, self.g, self.h = codes, gradient, hessian
        self.least, self.l2, self.smoothing = least, l2, smoothing
        self.categorical = categorical
        parts = [np.arange(len(gradient))]
        while len(parts) < leaves:
            found = [(self.best(part), at) for at, part in enumerate(parts)]
            (_, left), at = max(found, key=lambda pair: pair[0][0])
            if left is None:
                break
            part = parts.pop(at)
            parts += [part[left], part[~left]]
        self.parts = parts

    def score(self, rows, l2):
        return self.g[rows].sum() ** 2 / (self.h[rows].sum() + l2)

    def sides(self, part):
        """All ways to send the rows of a leaf left or right, with their l2; -1 is missing."""
        for feature in range(self.codes.shape[1]):
            code = self.codes[part, feature]
            if feature in self.categorical:
                known = np.unique(code)
                wish = [
                    self.g[part][code == c].sum() / (self.h[part][code == c].sum() + self.smoothing)
                    for c in known
                ]
                order = known[np.argsort(wish, kind="stable")]
                for n in range(1, len(order)):
                    yield np.isin(code, order[:n]), self.l2 + 3
            else:
                for cut in np.unique(code[code >= 0]):
                    yield (code <= cut) & (code >= 0), self.l2
                    yield code <= cut, self.l2

    def best(self, part):
        best_gain, best_left = 1e-9, None
        for left, l2 in self.sides(part):
            if min(left.sum(), (~left).sum()) < self.least:
                continue
            sides = self.score(part[left], l2) + self.score(part[~left], l2)
            gain = sides - self.score(part, self.l2)
            if gain > best_gain + 1e-9:
                best_gain, best_left = gain, left
        return best_gain, best_left

    def values(self):
        out = np.empty(len(self.g))
        for part in self.parts:
            out[part] = -self.g[part].sum() / (self.h[part].sum() + self.l2)
        return out


def codes_of(X):
    """Ranks of the values, -1 for what is missing."""
    columns = []
    for name in X:
        column = X[name]
        if column.dtype == "category":
            columns.append(column.cat.codes.to_numpy())
        else:
            known = np.unique(column.dropna())
            columns.append(np.where(column.isna(), -1, np.searchsorted(known, column)))
    return np.column_stack(columns)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("task", ["numbers", "classes", "weighted"])
def test_a_round_is_the_tree_that_brute_force_finds(task, seed):
    X, y = frame(120, seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2, len(X)) if task == "weighted" else None
    settings = PLAIN | {"max_iter": 1, "max_leaf_nodes": 6, "min_samples_leaf": 8}
    settings |= {"l2_regularization": 0.7}
    settings |= {"learning_rate": 1.0, "category_smoothing": 3.0, "early_stopping": False}
    w = np.ones(len(X)) if weights is None else weights
    if task == "classes":
        labels = (y > np.median(y) - 0.4).astype(int)
        model = GradientBoostingClassifier(**settings).fit(X, labels)
        p = labels.mean()
        start, g, h = np.log(p / (1 - p)), p - labels, np.full(len(X), p * (1 - p))
        found = model.decision_function(X)
    else:
        model = GradientBoostingRegressor(**settings).fit(X, y, weights)
        start = np.average(y, weights=weights)
        g, h = w * (start - y), w
        found = model.predict(X)
    expected = BruteForce(
        codes_of(X), g, h, leaves=6, least=8, l2=0.7, smoothing=3.0, categorical={2}
    )
    np.testing.assert_allclose(found, start + expected.values(), rtol=0, atol=1e-5)


def loss_of(model, X, y):
    if hasattr(model, "predict_proba"):
        return log_loss(y, model.predict_proba(X))
    predicted = model.predict(X)
    match model.loss:
        case "squared_error":
            return np.mean((y - predicted) ** 2)
        case "absolute_error":
            return np.mean(np.abs(y - predicted))
        case "quantile":
            return np.mean(np.maximum(0.8 * (y - predicted), 0.2 * (predicted - y)))
        case "poisson":
            return mean_poisson_deviance(y, predicted)
        case _:
            return mean_gamma_deviance(y, predicted)


@pytest.mark.parametrize("loss", REGRESSORS)
def test_losses_of_numbers_are_as_low_as_scikit_learns(loss):
    X, y = load_diabetes(return_X_y=True)
    Xa, Xb, ya, yb = train_test_split(X, y, random_state=0)
    settings = {"loss": loss, "max_iter": 40, "learning_rate": 0.1, "early_stopping": False}
    settings |= REGRESSORS[loss]
    ours = GradientBoostingRegressor(**PLAIN, **settings).fit(Xa, ya)
    theirs = HistGradientBoostingRegressor(**settings).fit(Xa, ya)
    assert loss_of(ours, Xa, ya) == pytest.approx(loss_of(theirs, Xa, ya), rel=0.1)
    assert loss_of(ours, Xb, yb) <= 1.05 * loss_of(theirs, Xb, yb)


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_losses_of_classes_are_as_low_as_scikit_learns(load):
    X, y = load(return_X_y=True)
    Xa, Xb, ya, yb = train_test_split(X, y, random_state=1, stratify=y)
    settings = {"max_iter": 30, "learning_rate": 0.1, "early_stopping": False}
    ours = GradientBoostingClassifier(**PLAIN, **settings).fit(Xa, ya)
    theirs = HistGradientBoostingClassifier(**settings).fit(Xa, ya)
    assert loss_of(ours, Xb, yb) <= 1.1 * loss_of(theirs, Xb, yb)


def equal(a, b):
    return len(a.graphs_) == len(b.graphs_) and all(
        np.array_equal(x, z)
        for g, h in zip(a.graphs_, b.graphs_, strict=True)
        for x, z in zip(g.arrays().values(), h.arrays().values(), strict=True)
    )


@pytest.mark.parametrize("settings", [PLAIN, {"subsample": 0.5, "max_features": 0.5}])
def test_the_model_is_the_same_for_any_n_jobs(settings):
    X, y = make_regression(40_000, 6, noise=10, random_state=0)
    models = [
        GradientBoostingRegressor(max_iter=3, n_jobs=n_jobs, random_state=0, **settings).fit(X, y)
        for n_jobs in (1, 2, 5)
    ]
    assert equal(models[0], models[1]) and equal(models[0], models[2])
    labels = np.digitize(y, [-50, 50])
    models = [
        GradientBoostingClassifier(max_iter=2, n_jobs=n_jobs, random_state=0, **settings).fit(
            X, labels
        )
        for n_jobs in (1, 3)
    ]
    assert equal(*models)


@pytest.mark.parametrize("loss", REGRESSORS)
def test_a_weight_of_two_is_a_row_twice(loss):
    X, y = frame(300)
    y = np.exp(y / 3)
    twice = np.random.default_rng(1).integers(0, 3, len(X))
    model = GradientBoostingRegressor(
        loss=loss,
        max_iter=5,
        min_samples_leaf=1,
        max_bins=None,
        early_stopping=False,
        subsample=1.0,
        **REGRESSORS[loss],
    )
    copies = np.repeat(np.arange(len(X)), twice)
    weighted = clone(model).fit(X, y, twice)
    repeated = clone(model).fit(X.iloc[copies].reset_index(drop=True), y[copies])
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-4)


def test_class_weights_are_weights_of_rows():
    X, y = load_breast_cancer(return_X_y=True)
    by_class = GradientBoostingClassifier(max_iter=5, class_weight={0: 3, 1: 1}).fit(X, y)
    by_row = GradientBoostingClassifier(max_iter=5).fit(X, y, np.where(y == 0, 3.0, 1.0))
    assert equal(by_class, by_row)
    balanced = GradientBoostingClassifier(max_iter=1, class_weight="balanced").fit(X, y)
    assert balanced.intercept_[0] == pytest.approx(0)


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "absolute_error", "quantile"])
@pytest.mark.parametrize("direction", [-1, 1])
def test_monotonic_constraints_hold_everywhere(loss, direction):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(500, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.exp(np.sin(8 * np.nan_to_num(X[:, 0])) + np.nan_to_num(X[:, 1]) + rng.normal(size=500))
    settings = {"loss": loss, "max_iter": 50, "min_samples_leaf": 5, "early_stopping": False}
    settings |= REGRESSORS[loss]
    model = GradientBoostingRegressor(monotonic_cst=[direction, 0, 0], **settings).fit(X, y)
    steps = np.linspace(0, 1, 60)
    for row in X[:20]:
        line = np.repeat(row[None], len(steps), axis=0)
        line[:, 0] = steps
        rises = direction * np.diff(model.predict(line))
        assert rises.min() >= -1e-12
    free = GradientBoostingRegressor(**settings).fit(X, y)
    assert loss_of(free, X, y) < loss_of(model, X, y)


def test_monotonic_constraints_by_name_and_for_two_classes():
    X, y = frame()
    labels = np.where(y > 1, "high", "low")
    model = GradientBoostingClassifier(max_iter=20, monotonic_cst={"v": 1}).fit(X, labels)
    line = pd.concat([X.iloc[[3]]] * 12, ignore_index=True)
    line["v"] = np.arange(12.0)
    assert np.diff(model.predict_proba(line)[:, 1]).min() >= 0  # "low" is the second class
    with pytest.raises(ValueError, match="multiclass classification"):
        GradientBoostingClassifier(monotonic_cst={"v": 1}).fit(X, np.digitize(y, [0, 1]))
    with pytest.raises(ValueError, match="categorical"):
        GradientBoostingRegressor(monotonic_cst={"kind": 1}).fit(X, y)
    with pytest.raises(ValueError, match="'w', which X does not have"):
        GradientBoostingRegressor(monotonic_cst={"w": 1}).fit(X, y)


def paths(graph):
    """The features on each path from the root to a leaf."""
    stack = [(0, frozenset())]
    while stack:
        node, used = stack.pop()
        if graph.left[node] < 0:
            yield used
            continue
        used = used | {int(graph.feature[node])}
        stack += [(graph.left[node], used), (graph.right[node], used)]


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ("no_interactions", [{0}, {1}, {2}, {3}]),
        ("pairwise", [{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}]),
        ([[0, 1]], [{0, 1}, {2, 3}]),
        ([[0, 1], [1, 2]], [{0, 1}, {1, 2}, {3}]),
    ],
)
def test_interaction_constraints_hold_on_every_path(given, allowed):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = X[:, 0] * X[:, 1] + X[:, 1] * X[:, 2] + X[:, 3] * X[:, 0] + X.sum(axis=1)
    model = GradientBoostingRegressor(
        max_iter=40, interaction_cst=given, min_samples_leaf=5, early_stopping=False
    )
    used = {path for graph in model.fit(X, y).graphs_ for path in paths(graph)}
    assert all(any(path <= group for group in allowed) for path in used)
    assert len(set.union(*map(set, used))) == 4


def test_leaves_depth_and_rows_keep_their_limits():
    X, y = frame(1000)
    labels = np.digitize(y, [0, 1.5])
    model = GradientBoostingClassifier(
        max_iter=5,
        max_leaf_nodes=9,
        max_depth=4,
        min_samples_leaf=30,
        early_stopping=False,
        subsample=1.0,
    ).fit(X, labels)
    assert len(model.graphs_) == 15 and model.n_trees_per_iteration_ == 3
    for graph in model.graphs_:
        assert graph.n_leaves <= 9 and graph.depth <= 4
        reached = np.bincount(graph.apply(model.schema_.encode(model, X)), minlength=graph.n_nodes)
        leaves = graph.left < 0
        assert reached[leaves].min() >= 30
        np.testing.assert_array_equal(reached[leaves], graph.n_samples[leaves])


def test_warm_start_goes_on_as_if_it_had_never_stopped():
    X, y = frame()
    settings = {"random_state": 3, "subsample": 0.7, "max_features": 0.7, "early_stopping": False}
    whole = GradientBoostingRegressor(max_iter=12, **settings).fit(X, y)
    parts = GradientBoostingRegressor(max_iter=5, warm_start=True, **settings).fit(X, y)
    parts.set_params(max_iter=12).fit(X, y)
    assert equal(whole, parts)
    with pytest.raises(ValueError, match="max_iter=3 must be larger"):
        parts.set_params(max_iter=3).fit(X, y)
    with pytest.raises(ValueError, match="features and classes of the first fit"):
        parts.set_params(max_iter=20).fit(X[["u", "v"]], y)


def test_early_stopping_keeps_the_best_round():
    X, y = frame(800)
    labels = np.where(y > 1, 1, 0)
    model = GradientBoostingClassifier(
        max_iter=300, early_stopping=True, n_iter_no_change=5, learning_rate=0.3, random_state=0
    ).fit(X, labels)
    assert model.do_early_stopping_ and 0 < model.n_iter_ < 300
    assert len(model.train_score_) == len(model.validation_score_) == model.n_iter_ + 1
    assert model.validation_score_[-1] == model.validation_score_.max()
    again = clone(model).fit(X, labels)
    assert equal(model, again)
    judged = clone(model).set_params(validation_fraction=None, max_iter=5).fit(X, labels)
    assert judged.validation_score_.size == 0
    assert judged.train_score_[-1] == pytest.approx(-loss_of(judged, X, labels))
    never = clone(model).set_params(early_stopping=False, max_iter=20).fit(X, labels)
    assert not never.do_early_stopping_ and never.n_iter_ == 20 and never.train_score_.size == 0


def test_the_number_of_rounds_is_chosen_on_folds_and_boosted_on_all_rows():
    X, y = frame(800)
    model = GradientBoostingRegressor(learning_rate=0.3, n_iter_no_change=5).fit(X, y)
    assert model.do_early_stopping_ and 0 < model.n_iter_ < 100
    assert model.validation_score_[-1] == model.validation_score_.max()
    fixed = GradientBoostingRegressor(
        learning_rate=0.3, early_stopping=False, max_iter=model.n_iter_
    ).fit(X, y)
    assert equal(model, fixed)
    scaled = clone(model).fit(X, 1e-6 * y)  # when to stop does not depend on the unit
    assert scaled.n_iter_ == model.n_iter_
    on = clone(model).set_params(warm_start=True, max_iter=3).fit(X, y)
    assert on.n_iter_ == 3 and not on.do_early_stopping_


def test_staged_predictions_end_with_the_prediction():
    X, y = frame()
    labels = np.digitize(y, [0, 1.5])
    model = GradientBoostingClassifier(max_iter=4, early_stopping=False).fit(X, labels)
    staged = list(model.staged_predict_proba(X))
    assert len(staged) == 4
    np.testing.assert_array_equal(staged[-1], model.predict_proba(X))
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    functions = list(model.staged_decision_function(X))
    np.testing.assert_array_equal(functions[-1], model.decision_function(X))
    assert not np.array_equal(functions[0], functions[1])
    numbers = GradientBoostingRegressor(max_iter=40, loss="gamma").fit(X, np.exp(y))
    np.testing.assert_array_equal(list(numbers.staged_predict(X))[-1], numbers.predict(X))


def test_many_categories_and_unknown_ones():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 400, 4000)
    effect = rng.normal(size=400)
    X = pd.DataFrame({"shop": pd.Categorical([f"shop {c}" for c in codes]), "u": rng.random(4000)})
    y = effect[codes] + 0.1 * rng.normal(size=4000)
    model = GradientBoostingRegressor(
        max_iter=60, category_smoothing=1.0, learning_rate=0.1, early_stopping=False
    ).fit(X, y)
    assert model.score(X, y) > 0.8
    later = X.head(2).assign(shop=pd.Categorical(["nowhere", None]))
    assert np.isfinite(model.predict(later)).all()


def test_one_class_and_constant_targets():
    X, _ = frame(60)
    alone = GradientBoostingClassifier().fit(X, ["only"] * 60)
    assert (alone.predict(X) == "only").all() and (alone.predict_proba(X) == 1).all()
    flat = GradientBoostingRegressor().fit(X, np.full(60, 3.5))
    np.testing.assert_array_equal(flat.predict(X), 3.5)


def test_importances_find_the_features_that_matter():
    X, y = frame()
    X["noise"] = np.random.default_rng(5).random(len(X))
    importances = GradientBoostingRegressor(max_iter=10).fit(X, y).feature_importances_
    assert importances.sum() == pytest.approx(1) and importances.argmin() == 3


def test_a_callback_hears_of_the_rounds_and_can_end_the_fit():
    X, y = frame()
    heard = []
    model = GradientBoostingRegressor(
        max_iter=7, early_stopping=False, callback=lambda *told: heard.append(told)
    ).fit(X, y)
    assert heard[-1] == (7, 7)

    def refuse(done, n):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        model.set_params(callback=refuse).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"learning_rate": 0}, "'learning_rate' must be"),
        ({"max_iter": 0}, "'max_iter' must be a positive int"),
        ({"subsample": 1.5}, "'subsample' must be a number"),
        ({"early_stopping": "yes"}, "'early_stopping' must be True, False or 'auto'"),
        ({"monotonic_cst": [2, 0, 0]}, "monotonic_cst must be None or an array-like of -1, 0 or 1"),
        ({"monotonic_cst": [1]}, "monotonic_cst has shape 1 but the input data X has 3 features"),
        ({"interaction_cst": "none"}, "'interaction_cst' must be"),
        ({"interaction_cst": [[7]]}, "'interaction_cst' names 7, which is no feature"),
        ({"validation_fraction": 1.0}, "'validation_fraction' must be"),
        ({"loss": "quantile"}, "needs 'quantile'"),
        ({"loss": "gamma"}, "needs targets above zero"),
        ({"loss": "poisson"}, "needs targets that are not negative"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    X, y = frame(60)
    with pytest.raises(ValueError, match=message):
        GradientBoostingRegressor(**settings).fit(X, y)


@pytest.mark.parametrize("kind", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_without_draws_weights_count_as_scikit_learn_wants_them(kind):
    model = kind(early_stopping=False, max_iter=20, **PLAIN)
    check_sample_weight_equivalence_on_dense_data(kind.__name__, model)
