"""Cross-validated trees: the contest, the winner, candidates that fail."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning

from hedgerow import (
    CrossValidatedTreeClassifier,
    CrossValidatedTreeRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    HeterogeneousForestClassifier,
    MeanMarginTreeClassifier,
    MeanMarginTreeRegressor,
    NaiveDecisionGraphClassifier,
    TAOTreeClassifier,
    TreeInTreeClassifier,
)
from hedgerow._folds import folds_of
from hedgerow._graph_model import GraphClassifier
from hedgerow._table import Table

ESTIMATORS = {
    "classes": (CrossValidatedTreeClassifier, DecisionTreeClassifier, MeanMarginTreeClassifier),
    "reals": (CrossValidatedTreeRegressor, DecisionTreeRegressor, MeanMarginTreeRegressor),
}
targets = pytest.mark.parametrize("target", ESTIMATORS)


class WithoutLearner(GraphClassifier):
    """A model that cannot grow on rows of a table."""


def sample(target, oblique, seed=0):
    """Rows whose target changes along a diagonal, or along the first axis."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 6))
    y = X.sum(axis=1) if oblique else np.sign(X[:, 0]) + 0.01 * X[:, 0]
    return X, (y > 0).astype(int) if target == "classes" else y


def contest(target, **parameters):
    return ESTIMATORS[target][0](random_state=0, **parameters)


@targets
@pytest.mark.parametrize("oblique", [False, True])
def test_better_kind_of_tree_wins(target, oblique):
    X, y = sample(target, oblique)
    model = contest(target).fit(X, y)
    first = "erdt" if target == "classes" else "cart"
    assert model.selected_ == ("mmdt" if oblique else first)
    assert list(model.scores_) == [first, "mmdt"]
    assert model.scores_[model.selected_] == max(model.scores_.values())


@targets
@pytest.mark.parametrize("oblique", [False, True])
def test_winner_is_the_tree_of_all_rows(target, oblique):
    X, y = sample(target, oblique)
    model = contest(target).fit(X, y)
    kind = type(model.estimator_)
    alone = kind(**model.estimator_.get_params()).fit(X, y)
    assert_array_equal(model.predict(X), alone.predict(X))
    assert_array_equal(model.graph_.value, alone.graph_.value)
    assert_array_equal(model.feature_importances_, alone.feature_importances_)
    assert model.get_n_leaves() == alone.get_n_leaves()


@targets
def test_scores_are_those_of_trees_fitted_on_each_half(target):
    X, y = sample(target, oblique=True)
    model = contest(target).fit(X, y)
    codes = np.unique(y, return_inverse=True)[1] if target == "classes" else y
    classes = codes if target == "classes" else None
    one, other = folds_of(np.arange(len(y)), 2, np.random.RandomState(0), classes)
    tree = ESTIMATORS[target][2]()
    found = np.empty_like(y)
    found[other] = tree.fit(X[one], y[one]).predict(X[other])
    found[one] = tree.fit(X[other], y[other]).predict(X[one])
    if target == "classes":
        assert model.scores_["mmdt"] == np.mean(found == y)
    else:
        residual = np.sum((y - found) ** 2) / np.sum((y - y.mean()) ** 2)
        assert model.scores_["mmdt"] == pytest.approx(1 - residual)


def test_folds_spread_the_classes_evenly():
    y = np.repeat([0, 1, 2], [50, 7, 1])
    one, other = folds_of(np.arange(len(y)), 2, np.random.RandomState(0), y)
    assert sorted([*one, *other]) == list(range(len(y)))
    assert np.abs(np.bincount(y[one], minlength=3) - np.bincount(y[other], minlength=3)).max() <= 1


def test_the_table_is_read_once_for_all_candidates_and_folds(monkeypatch):
    X, y = sample("classes", oblique=False)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(kind=np.where(X[:, 1] > 0, "a", "b"))
    binned = []
    bin_table = Table._binned
    monkeypatch.setattr(Table, "_binned", lambda *a: (binned.append(1), bin_table(*a))[1])
    pairs = [
        ("cart", DecisionTreeClassifier()),
        ("margin", MeanMarginTreeClassifier()),
        ("tao", TAOTreeClassifier()),
        ("graph", TreeInTreeClassifier()),
        ("naive", NaiveDecisionGraphClassifier()),
    ]
    model = contest("classes", candidates=pairs, cv=4).fit(frame, y)
    assert list(model.scores_) == [name for name, _ in pairs]
    assert not np.isnan(list(model.scores_.values())).any()
    assert len(binned) == 1


@targets
def test_rows_that_are_left_out_can_judge(target):
    """As in a bag: each candidate is grown on the member's rows and judged on the others."""
    X, y = sample(target, oblique=True)
    model = contest(target, cv=None)
    own = np.where(np.arange(len(y)) < 20, 0.0, 1.0)  # rows that no member has
    table = model.read_table(X, y, own)
    drawn = np.where(np.arange(len(y)) % 3 == 0, 0.0, 2.0) * own
    grown = model.learner().grow(table, weights=drawn, seed=0)
    first = "erdt" if target == "classes" else "cart"
    judged = (drawn == 0) & (own > 0)
    for name, kind in zip([first, "mmdt"], ESTIMATORS[target][1:], strict=True):
        alone = kind(**({"criterion": "entropy"} if name == "erdt" else {})).fit(X, y, drawn)
        assert grown.facts["scores_"][name] == pytest.approx(alone.score(X[judged], y[judged]))
    winner = grown.facts["estimator_"]
    assert grown.facts["selected_"] == "mmdt"
    assert_array_equal(winner.predict(X), alone.predict(X))
    assert winner.graph_ is grown.graph


def test_without_rows_left_out_there_is_nothing_to_judge_on():
    X, y = sample("classes", oblique=True)
    with pytest.raises(ValueError, match="'cv' must be an int of at least 2, got None: only mem"):
        contest("classes", cv=None).fit(X, y)
    # A bag that happens to have all rows takes the first.
    model = contest("classes", cv=None)
    grown = model.learner().grow(model.read_table(X, y), weights=np.ones(len(y)))
    assert grown.facts["selected_"] == "erdt"
    assert np.isnan(grown.facts["scores_"]["mmdt"])


@targets
def test_the_paper_does_not_standardize(target):
    X, y = sample(target, oblique=True)
    X[:, 0] *= 100
    paper = contest(target, preset="paper").fit(X, y)
    kind = ESTIMATORS[target][2]
    names = list(paper.scores_)
    pairs = [(names[0], paper.learner().candidates[names[0]]), ("mmdt", kind(standardize=False))]
    assert contest(target, candidates=pairs).fit(X, y).scores_ == paper.scores_
    assert contest(target).fit(X, y).scores_["mmdt"] != paper.scores_["mmdt"]
    assert contest(target, candidates=pairs[:1], preset="paper").fit(X, y).selected_ == names[0]


def test_candidates_and_contest_are_left_as_they_are():
    X, y = sample("classes", oblique=True)
    tree = DecisionTreeClassifier(splitter="random", random_state=np.random.RandomState(0))
    model = contest("classes", candidates=[("tree", tree)])
    scores = [model.fit(X, y).scores_ for _ in range(2)]
    assert scores[0] == scores[1]
    assert not hasattr(tree, "graph_")
    before = model.predict(X)
    with pytest.raises(ValueError, match="All candidates failed"):
        model.set_params(candidates=[("tree", DecisionTreeClassifier(max_depth=-1))]).fit(X, y)
    assert_array_equal(model.predict(X), before)


@targets
def test_result_depends_on_the_seed_alone(target):
    X, y = sample(target, oblique=True)
    models = [contest(target, n_jobs=n).fit(X, y) for n in (None, 1, 2)]
    assert models[0].scores_ == models[1].scores_ == models[2].scores_
    assert contest(target).set_params(random_state=1).fit(X, y).scores_ != models[0].scores_


@targets
def test_rows_without_weight_do_not_matter(target):
    X, y = sample(target, oblique=True)
    w = np.zeros(len(y))
    w[:200] = 1
    weighted = contest(target).fit(X, y, sample_weight=w)
    plain = contest(target).fit(X[:200], y[:200])
    assert weighted.selected_ == plain.selected_ == "mmdt"
    assert weighted.scores_["mmdt"] == plain.scores_["mmdt"]
    assert_array_equal(weighted.predict(X), plain.predict(X))


@targets
def test_frames_with_categories_and_missing_values_work(target):
    X, y = sample(target, oblique=True)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["kind"] = pd.Categorical(np.where(X[:, 0] > 0, "up", "down"))
    frame.loc[::5, ["a", "kind"]] = None
    model = contest(target).fit(frame, y)
    assert model.score(frame, y) > 0.5
    assert model.schema_.missing == {0, 6}


def test_failing_candidate_is_out_of_the_contest():
    X, y = sample("reals", oblique=True)
    candidates = [
        ("poisson", DecisionTreeRegressor(criterion="poisson")),  # refuses negative targets
        ("mmdt", MeanMarginTreeRegressor()),
    ]
    with pytest.warns(FitFailedWarning, match="poisson: ValueError: Some value"):
        model = contest("reals", candidates=candidates).fit(X, y)
    assert model.selected_ == "mmdt"
    assert np.isnan(model.scores_["poisson"])


@targets
def test_contest_without_a_candidate_left_says_why(target):
    X, y = sample(target, oblique=True)
    candidates = [("deep", ESTIMATORS[target][1](max_depth=-3))]
    with pytest.raises(ValueError, match="All candidates failed:\ndeep: .*'max_depth' must be"):
        contest(target, candidates=candidates).fit(X, y)


@targets
@pytest.mark.parametrize("bad", ["empty", "class", "bare", "task", "twice", "no learner"])
def test_wrong_candidates_are_refused(target, bad):
    tree = ESTIMATORS[target][1]()
    other = ESTIMATORS["reals" if target == "classes" else "classes"][1]()
    candidates = {
        "empty": [],
        "class": [("a", type(tree))],
        "bare": [tree],
        "task": [("a", other)],
        "twice": [("a", tree), ("a", clone(tree))],
        "no learner": [("a", WithoutLearner())],
    }
    with pytest.raises(ValueError, match="^'candidates' must be None or"):
        contest(target, candidates=candidates[bad]).fit(*sample(target, True))


@targets
def test_one_row_cannot_be_divided(target):
    with pytest.raises(ValueError, match="1 sample"):
        contest(target).fit([[1.0]], [1])


@targets
def test_two_rows_can(target):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert contest(target).fit([[0.0], [1.0]], [0, 1]).predict([[1.0]]) == [1]


@pytest.mark.parametrize("kind", [CrossValidatedTreeClassifier, HeterogeneousForestClassifier])
def test_classes_are_weighed_in_the_contest_and_in_the_winner(kind):
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    y = (X[:, 0] + random.normal(size=300) > 1.3).astype(int)
    candidates = [("few", DecisionTreeClassifier(max_depth=1)), ("cart", DecisionTreeClassifier())]
    settings = {"candidates": candidates, "random_state": 0}
    settings |= {"n_estimators": 5} if kind is HeterogeneousForestClassifier else {}
    by_class = kind(class_weight={0: 1.0, 1: 4.0}, **settings).fit(X, y)
    by_row = kind(**settings).fit(X, y, np.where(y == 1, 4.0, 1.0))
    assert_array_equal(by_class.predict_proba(X), by_row.predict_proba(X))
    plain = kind(**settings).fit(X, y)
    assert by_class.predict(X).sum() > plain.predict(X).sum()
