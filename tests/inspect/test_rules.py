import sys

import numpy as np
import pytest
from hypothesis import given
from strategies import tables

from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.inspect import RuleList, rules

# scikit-learn looks for infinities by a sum, which huge numbers of both signs upset.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")


@pytest.mark.parametrize("name", ["iris", "diabetes", "mixed", "woven"])
def test_rules_are_as_agreed(name, request, check_golden):
    check_golden(f"rules_{name}", str(rules(request.getfixturevalue(name).model)))


def check_cover(model, X, found):
    """Follow the rules of every row to a leaf; exactly one must hold at each stop."""
    X = model.schema_.encode(model, X)
    at = np.zeros(len(X), dtype=int)
    leaf = np.full(len(X), -1)
    while (leaf < 0).any():
        before = at.copy()
        count = np.zeros(len(X), dtype=int)
        for rule in found:
            held = rule.covers(X) & (before == rule.start) & (leaf < 0)
            count += held
            at[held] = rule.node
            if rule.ends:
                leaf[held] = rule.node
        assert (count[before != -1] == 1).all()
        before[leaf >= 0] = -1
        at[leaf >= 0] = -1
    return leaf


def check_rules(model, X):
    found = rules(model)
    leaf = check_cover(model, X, found)
    assert np.array_equal(leaf, model.apply(X))
    prediction = {rule.node: rule.prediction for rule in found if rule.ends}
    assert [prediction[node] for node in leaf] == model.predict(X).tolist()
    return found, leaf


@given(tables("classes", weighted=False))
def test_every_row_of_a_classifier_meets_exactly_one_rule(table):
    model = DecisionTreeClassifier(categorical_features=table.categorical).fit(table.X, table.y)
    found, leaf = check_rules(model, table.X)
    assert [rule.rows for rule in found] == [np.sum(leaf == rule.node) for rule in found]
    assert sum(rule.share for rule in found) == pytest.approx(1)


@given(tables("reals", weighted=False))
def test_every_row_of_a_regressor_meets_exactly_one_rule(table):
    model = DecisionTreeRegressor(categorical_features=table.categorical).fit(table.X, table.y)
    check_rules(model, table.X)


def test_every_row_of_a_mixed_frame_meets_exactly_one_rule(mixed):
    check_rules(mixed.model, mixed.X)


def test_rules_of_a_graph_lead_every_row_to_its_leaf(woven):
    found = rules(woven.model)
    assert np.array_equal(
        check_cover(woven.model, woven.X, found), woven.model.graph_.apply(woven.X, 1)
    )


def test_shared_nodes_do_not_multiply_the_rules(ladder):
    model = ladder(60)  # 4**60 paths
    assert len(rules(model)) == 4 * 60 + 1


def test_rule_says_how_sure_it_is(iris):
    rule = rules(iris.model)[0]
    assert rule.prediction == "setosa"
    assert rule.probabilities == {"setosa": 1.0, "versicolor": 0.0, "virginica": 0.0}
    assert (rule.rows, rule.share, rule.confidence) == (50, 1 / 3, 1.0)


def test_regression_rule_has_no_probabilities(diabetes):
    rule = rules(diabetes.model)[0]
    assert rule.probabilities is None
    assert rule.confidence is None


def test_rule_list_is_a_sequence(iris):
    found = rules(iris.model)
    assert isinstance(found[:2], RuleList)
    assert [found[0], found[1]] == list(found[:2])
    assert repr(found) == f"<RuleList of {len(found)} rules>"
    assert len({*found}) == len(found)


def test_frame_has_one_row_per_rule(woven):
    found = rules(woven.model)
    frame = found.to_frame()
    assert frame["then"].tolist() == [rule.then for rule in found]
    assert frame["rows"].isna().tolist() == [not rule.ends for rule in found]


def test_frame_without_pandas(iris, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="'to_frame' needs pandas: install it with"):
        rules(iris.model).to_frame()


def test_class_names_change_the_text_and_not_the_prediction(iris):
    rule = rules(iris.model, class_names=["A", "B", "C"])[0]
    assert rule.then.startswith("A (")
    assert rule.prediction == "setosa"


def test_single_leaf():
    model = DecisionTreeRegressor().fit([[0.0], [1.0]], [2.5, 2.5])
    assert str(rules(model)) == "1. 2.5 (2 rows, 100%)"
