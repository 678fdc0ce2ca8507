import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from strategies import tables

from hedgerow import DecisionTreeClassifier, MeanMarginTreeClassifier
from hedgerow.inspect import explain, rules

# scikit-learn looks for infinities by a sum, which huge numbers of both signs upset.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")


@pytest.mark.parametrize(("name", "row"), [("iris", 70), ("diabetes", 5), ("mixed", 3)])
def test_explanation_is_as_agreed(name, row, request, check_golden):
    data = request.getfixturevalue(name)
    check_golden(f"explain_{name}", str(explain(data.model, data.X.iloc[row])))


def test_explanations_of_a_graph_are_as_agreed(woven, check_golden):
    texts = [str(explain(woven.model, row)) for row in woven.rows]
    check_golden("explain_woven", "\n\n".join(texts))


def check_path(model, X, i, row):
    explanation = explain(model, row)
    indptr, indices = model.graph_.decision_path(model.schema_.encode(model, X))
    nodes = [step.node for step in explanation.steps] + [explanation.leaf]
    assert sorted(nodes) == sorted(indices[indptr[i] : indptr[i + 1]])
    assert nodes[1:] == [step.goes_to for step in explanation.steps]
    return explanation


@given(tables("classes", weighted=False, max_rows=12))
def test_steps_agree_with_the_decision_path(table):
    model = DecisionTreeClassifier(categorical_features=table.categorical).fit(table.X, table.y)
    prediction, probabilities = model.predict(table.X), model.predict_proba(table.X)
    for i, row in enumerate(table.X):
        explanation = check_path(model, table.X, i, row)
        assert explanation.prediction == prediction[i]
        assert list(explanation.probabilities.values()) == probabilities[i].tolist()


def test_repeated_tests_of_a_feature_are_one_line():
    X = np.arange(20.0)[:, None]
    tree = DecisionTreeClassifier().fit(X, X[:, 0].astype(int))
    explanation = explain(tree, [17])
    assert len(explanation.steps) >= 3
    assert explanation.lines == ("16.5 < x0 <= 17.5 (it is 17)",)
    assert str(explanation).startswith("1. 16.5 < x0 <= 17.5 (it is 17)\nso: 17 (p = 1,")
    assert explanation._repr_html_().count("<li>") == 1


def test_steps_of_a_mixed_frame_agree_with_the_decision_path(mixed):
    for i in range(60):
        check_path(mixed.model, mixed.X, i, mixed.X.iloc[i])


def test_steps_of_a_graph_agree_with_the_decision_path(woven):
    for i, row in enumerate(woven.rows):
        check_path(woven.model, woven.X, i, row)


def test_a_row_may_come_in_any_form(iris):
    row = iris.X.iloc[70]
    forms = [
        row,
        row.iloc[::-1],
        row.to_dict(),
        row.to_numpy(),
        row.to_numpy()[None, :],
        row.tolist(),
        tuple(row),
        iris.X.iloc[[70]],
        pl.from_pandas(iris.X)[70],
    ]
    texts = {str(explain(iris.model, form)) for form in forms}
    assert len(texts) == 1


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_any_missing_marker_is_missing(mixed, missing):
    row = {"age": missing, "dose (mg)": 0.001, "colour": missing}
    explanation = explain(mixed.model, row)
    assert "it is missing and goes the way of missing values" in str(explanation)
    assert None in [step.value for step in explanation.steps]


def test_unseen_category_is_named(mixed):
    row = {"age": 30, "dose (mg)": 0.002, "colour": "purple"}
    assert "'purple', never seen in training," in str(explain(mixed.model, row))


def test_regressor_has_no_probabilities(diabetes):
    explanation = explain(diabetes.model, diabetes.X.iloc[0])
    assert explanation.probabilities is None
    assert explanation.prediction == diabetes.model.predict(diabetes.X.iloc[[0]])[0]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([1.0, 2.0], "'row' must have 4 values, one per feature, got 2."),
        ("abcd", "'row' must be a single row of 4 values"),
        (3.0, "'row' must be a single row of 4 values"),
        (np.zeros((2, 4)), "'row' must be a single row of 4 values"),
        ({"petal": 1.0}, "'row' must name the 4 features of the model: it lacks"),
        ([1.0, "wide", 2.0, 3.0], "'sepal width \\(cm\\)' must be a number, got 'wide'."),
    ],
)
def test_wrong_row(iris, row, message):
    with pytest.raises(ValueError, match=message):
        explain(iris.model, row)


def test_wrong_frame(iris):
    with pytest.raises(ValueError, match="'row' must be a single row, got 3 rows."):
        explain(iris.model, iris.X.iloc[:3])
    with pytest.raises(ValueError, match="has unknown \\['extra'\\]"):
        explain(iris.model, iris.X.iloc[[0]].assign(extra=1.0))


def test_the_path_is_the_engines_even_on_the_border_of_an_oblique_test():
    """Rows on a plane up to rounding, where the order of a sum decides."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 9)), rng.integers(0, 2, 60)
    model = MeanMarginTreeClassifier(max_depth=1, standardize=False).fit(X, y)
    (condition,) = rules(model)[0].conditions
    weights = np.zeros(9)
    weights[list(condition.features)] = condition.weights
    on_plane = rng.normal(size=(300, 9))
    missed = condition.bound - on_plane @ weights
    on_plane += missed[:, None] * weights / (weights @ weights)
    leaves = model.apply(on_plane)
    assert 0 < np.mean(leaves == leaves[0]) < 1
    explained = [explain(model, row) for row in on_plane]
    assert [explanation.leaf for explanation in explained] == leaves.tolist()
    texts = [str(explanation.steps[0]) for explanation in explained]
    assert any("(it is equal up to rounding)" in text for text in texts)
