"""Sums of graphs predict what their members add up to."""

import numpy as np
import pytest
from sklearn.datasets import make_regression

from hedgerow import DecisionTreeRegressor
from hedgerow._engine import GraphSum, SumRowPredictor


@pytest.fixture(scope="module")
def members():
    X, y = make_regression(200, 5, random_state=0)
    targets = [y, np.cos(y), np.abs(y) ** 0.5, np.sign(y)]
    return X, [DecisionTreeRegressor(max_depth=3).fit(X, t).graph_ for t in targets]


def added(graphs, X, intercept):
    sums = np.tile(intercept, (len(X), 1))
    for place, graph in enumerate(graphs):
        sums[:, place % len(intercept)] += graph.value[graph.apply(X)][:, 0]
    return sums


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_scores", [1, 2, 4])
def test_graphs_take_turns(members, n_scores, n_jobs):
    X, graphs = members
    intercept = np.arange(1.0, n_scores + 1)
    total = GraphSum(5, graphs, intercept, "identity")
    assert np.array_equal(total.scores(X, n_jobs), added(graphs, X, intercept))
    assert np.array_equal(total.predict(X, n_jobs), total.scores(X))
    assert np.array_equal(total.predict(X.astype(np.float32)).shape, (200, n_scores))


@pytest.mark.parametrize("link", ["log", "logit", "softmax"])
def test_links(members, link):
    X, graphs = members
    graphs = graphs[1:3]
    n_scores = 1 if link == "logit" else 2
    total = GraphSum(5, graphs, np.zeros(n_scores), link)
    scores = total.scores(X)
    if link == "log":
        expected = np.exp(scores)
    else:
        if link == "logit":
            scores = np.column_stack([np.zeros(len(X)), scores])
        expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    values = total.predict(X)
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    predictor = SumRowPredictor(total, None if link == "log" else ["a", "b"])
    assert np.array_equal([predictor.values(row) for row in X], values)
    if link != "log":
        assert [predictor(row) for row in X] == [("a", "b")[best] for best in values.argmax(axis=1)]


def test_far_scores_stay_finite():
    far = GraphSum(1, [], np.array([800.0, -800.0]), "softmax").predict(np.zeros((1, 1)))
    assert far.tolist() == [[1.0, 0.0]]
    certain = GraphSum(1, [], np.array([-800.0]), "logit").predict(np.zeros((1, 1)))
    assert certain.tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("graphs", "intercept", "link", "message"),
    [
        (3, [0.0, 0.0], "identity", "as many graphs for each score"),
        (2, [0.0, 0.0], "logit", "another number of scores"),
        (1, [], "identity", "another number of scores"),
        (1, [np.inf], "identity", "not finite"),
        (1, [0.0], "probit", "unknown link"),
    ],
)
def test_what_is_no_sum_is_refused(members, graphs, intercept, link, message):
    with pytest.raises(ValueError, match=message):
        GraphSum(5, members[1][:graphs], np.array(intercept), link)


def test_other_features_are_refused(members):
    with pytest.raises(ValueError, match="other features or outputs"):
        GraphSum(4, members[1], np.zeros(1), "identity")
