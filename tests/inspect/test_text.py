import pytest

from hedgerow import DecisionTreeClassifier
from hedgerow.inspect import export_text


@pytest.mark.parametrize("name", ["iris", "diabetes", "mixed", "woven"])
def test_text_is_as_agreed(name, request, check_golden):
    check_golden(f"text_{name}", export_text(request.getfixturevalue(name).model))


def test_text_with_options(iris, check_golden):
    text = export_text(
        iris.model,
        max_depth=2,
        decimals=0,
        show_weights=True,
        feature_names=["a", "b", "c", "d"],
        class_names=["one", "two", "three"],
    )
    check_golden("text_iris_options", text)


def test_weights_of_a_regressor(diabetes):
    assert "rows, weight " in export_text(diabetes.model, show_weights=True)


def test_every_split_and_leaf_is_written_once(woven):
    text = export_text(woven.model)
    assert text.count("[node 4]") == 1
    assert text.count("go to node 4") == 1
    assert text.count("\n") + 1 == 2 * woven.model.graph_.n_splits


def test_single_leaf():
    model = DecisionTreeClassifier().fit([[0.0], [1.0]], ["a", "a"])
    assert export_text(model) == "a (p = 1, 2 rows)"


def test_a_graph_deeper_than_the_recursion_limit_is_written_once(ladder):
    model = ladder(1000)
    assert model.graph_.depth == 2000
    assert export_text(model).count("\n") + 1 == 2 * model.graph_.n_splits


@pytest.mark.parametrize("max_depth", [0, -3, 1.5, True])
def test_wrong_max_depth(iris, max_depth):
    with pytest.raises(ValueError, match="'max_depth' must be a positive int or None, got"):
        export_text(iris.model, max_depth=max_depth)


def test_the_text_of_a_deep_graph_stays_short(ladder):
    lines = export_text(ladder(200)).splitlines()
    assert len(lines) == 3 * 2 * 200
    assert max(map(len, lines)) < 250
    assert lines[40].startswith("|   " * 40)
    assert "level" not in lines[40]
    assert lines[41] == "|   " * 40 + "... level 41: x1 <= 60.5: [node 63]"
