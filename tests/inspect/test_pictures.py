"""DOT text and matplotlib pictures of trees, graphs and members of forests."""

import matplotlib
import numpy as np
import pytest

import hedgerow
from hedgerow.inspect import export_dot, export_text, member, plot
from hedgerow.inspect.colours import MIXED, UNKNOWN, class_colours

matplotlib.use("Agg")

from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", ["iris", "diabetes", "mixed", "woven"])
def test_dot_is_as_agreed(name, request, check_golden):
    check_golden(f"dot_{name}", export_dot(request.getfixturevalue(name).model))


def test_dot_with_options(iris, check_golden):
    text = export_dot(
        iris.model,
        max_depth=2,
        decimals=0,
        feature_names=["a", 'quote"', "back\\slash", "two\nlines"],
        class_names=["one", "two", "three"],
    )
    check_golden("dot_iris_options", text)


@pytest.mark.parametrize("name", ["iris", "diabetes", "mixed", "woven"])
def test_plot_shows_every_node_once_and_no_text_overlaps(name, request):
    model = request.getfixturevalue(name).model
    ax = plot(model)
    assert len(ax.texts) == model.graph_.n_nodes
    assert len(ax.lines) == 2 * model.graph_.n_splits
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_nodes_have_the_colour_of_the_class_with_more_than_half_and_are_blue_without(woven):
    ax = plot(woven.model)
    no, yes = class_colours(2)
    wanted = [MIXED, no, yes, no, MIXED, yes, no]
    got = [matplotlib.colors.to_hex(text.get_bbox_patch().get_facecolor()) for text in ax.texts]
    by_place = dict(zip([text.get_text() for text in ax.texts], got, strict=True))
    assert sorted(by_place.values()) == sorted(wanted)
    assert by_place["size <=\xa03.5\n100 rows"] == MIXED


def test_no_class_is_blue():
    assert MIXED not in class_colours(100)


def test_a_large_tree_becomes_dots():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 4)), rng.integers(0, 12, 2000)
    tree = hedgerow.DecisionTreeClassifier(max_leaf_nodes=400).fit(X, y)
    ax = plot(tree)
    assert not ax.texts
    assert len(ax.collections[0].get_offsets()) == 799


def test_plot_draws_into_given_axes_and_cuts_at_max_depth(iris):
    _, ax = plt.subplots(figsize=(8, 5))
    assert plot(iris.model, ax, max_depth=1) is ax
    assert len(ax.texts) == 3
    assert any("more" in text.get_text() for text in ax.texts)


def test_dollars_in_names_are_not_mathematics():
    X = np.arange(4.0)[:, None]
    tree = hedgerow.DecisionTreeClassifier().fit(X, ["$a$", "$a$", "b$", "b$"])
    plot(tree, feature_names=["US$ or CA$"]).figure.canvas.draw()


@pytest.mark.parametrize("function", [export_dot, plot])
@pytest.mark.parametrize("max_depth", [0, 1.5, True])
def test_wrong_max_depth(function, iris, max_depth):
    with pytest.raises(ValueError, match="'max_depth' must be a positive int or None, got"):
        function(iris.model, max_depth=max_depth)


def test_member_of_a_forest(iris):
    forest = hedgerow.RandomForestClassifier(5, random_state=0).fit(iris.X, iris.y)
    bare = member(forest, 2)
    assert UNKNOWN in export_dot(bare)
    assert "0 rows" not in export_dot(bare)
    whole = member(forest, 2, iris.X, iris.y)
    assert whole.graph_.n_samples[0] == len(iris.X)
    np.testing.assert_allclose(whole.graph_.value[0], [1 / 3] * 3)
    leaves = whole.graph_.kind == 0
    np.testing.assert_array_equal(whole.graph_.value[leaves], bare.graph_.value[leaves])
    assert whole.graph_.n_samples[leaves].sum() == len(iris.X)
    assert "(p = " in export_text(whole)


def test_member_of_a_regression_forest(diabetes):
    forest = hedgerow.ExtraTreesRegressor(3, max_depth=3, random_state=0).fit(
        diabetes.X, diabetes.y
    )
    one = member(forest, -1, diabetes.X, diabetes.y)
    assert one.graph_.value[0, 0] == pytest.approx(diabetes.y.mean())
    assert len(plot(one).texts) == one.graph_.n_nodes


def test_member_of_a_bag_is_the_estimator_itself(iris):
    bag = hedgerow.BaggingClassifier(n_estimators=2, random_state=0).fit(iris.X, iris.y)
    assert export_text(member(bag, 1)) == export_text(bag.estimators_[1])


def test_wrong_member(iris):
    forest = hedgerow.RandomForestClassifier(2, random_state=0).fit(iris.X, iris.y)
    with pytest.raises(ValueError, match="'index' must be one of the 2 members, got 2."):
        member(forest, 2)
    with pytest.raises(TypeError, match="'forest' must be a fitted forest or bag, got Decision"):
        member(iris.model)
