import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from hedgerow import DecisionTreeClassifier
from hedgerow.inspect import explain, export_text, rules

FUNCTIONS = [
    export_text,
    rules,
    lambda model, **names: explain(model, [1.0, 2.0, 3.0, 4.0], **names),
]
X, Y = [[0.0], [1.0], [2.0], [3.0]] * 3, [0, 0, 1, 1] * 3


@pytest.mark.parametrize("function", FUNCTIONS)
def test_unfitted_model(function):
    with pytest.raises(
        NotFittedError, match="DecisionTreeClassifier is not fitted yet: call 'fit'"
    ):
        function(DecisionTreeClassifier())


@pytest.mark.parametrize(
    ("model", "advice"),
    [
        (RandomForestClassifier(2), "one of its members, 'hedgerow.inspect.member\\(model, 0\\)'"),
        (make_pipeline(DecisionTreeClassifier()), "its last step, 'model\\[-1\\]'"),
        (GridSearchCV(DecisionTreeClassifier(), {}, cv=2), "'model.best_estimator_'"),
        (LogisticRegression(), "use a hedgerow tree or decision graph"),
    ],
)
def test_model_without_a_graph_says_what_to_do(model, advice):
    with pytest.raises(TypeError, match=f"holds no single decision graph.*{advice}"):
        export_text(clone(model).fit(X, Y))


@pytest.mark.parametrize("model", [None, "tree", DecisionTreeClassifier])
def test_not_a_model(model):
    with pytest.raises(TypeError, match="'model' must be a fitted hedgerow estimator, got"):
        rules(model)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_wrong_names(function, iris, diabetes):
    with pytest.raises(
        ValueError, match="'feature_names' must have one name per feature \\(4\\), got 2."
    ):
        function(iris.model, feature_names=["a", "b"])
    with pytest.raises(
        ValueError, match="'class_names' must have one name per class \\(3\\), got 'abc'."
    ):
        function(iris.model, class_names="abc")
    with pytest.raises(ValueError, match="'class_names' must be None for a regressor"):
        function(diabetes.model, class_names=["a"])


@pytest.mark.parametrize("decimals", [-1, 1.5, True, "2"])
def test_wrong_decimals(iris, decimals):
    with pytest.raises(ValueError, match="'decimals' must be a non-negative int or None, got"):
        rules(iris.model, decimals=decimals)


def test_features_without_names_are_numbered():
    model = DecisionTreeClassifier().fit(X, Y)
    assert export_text(model).splitlines()[0] == "x0 <= 1.5: 0 (p = 1, 6 rows)"
