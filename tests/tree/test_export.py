"""scikit-learn's texts and pictures, of our trees."""

import numpy as np
import pandas as pd
import pytest
from sklearn import tree as theirs
from sklearn.datasets import load_diabetes, load_iris

from hedgerow import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    MeanMarginTreeClassifier,
    RandomForestClassifier,
)
from hedgerow import tree as ours

IRIS = load_iris()


def both(settings, X, y, task="Classifier"):
    """The same tree of both libraries: one column leaves no tie between features."""
    mine = (DecisionTreeClassifier if task == "Classifier" else DecisionTreeRegressor)(**settings)
    other = getattr(theirs, f"DecisionTree{task}")(**settings)
    return mine.fit(X, y), other.fit(X, y)


def test_the_text_is_scikit_learns():
    one_column = IRIS.data[:, [2]]
    for settings in ({}, {"show_weights": True, "decimals": 3}, {"feature_names": ["length"]}):
        mine, other = both({"max_depth": 3}, one_column, IRIS.target)
        assert ours.export_text(mine, **settings) == theirs.export_text(other, **settings)
    X, y = load_diabetes(return_X_y=True)
    mine, other = both({"max_depth": 2}, X[:, [2]], y, "Regressor")
    assert ours.export_text(mine) == theirs.export_text(other)


def test_the_graphviz_text_is_scikit_learns(tmp_path):
    one_column = IRIS.data[:, [2]]
    mine, other = both({"max_depth": 3}, one_column, IRIS.target)
    settings = {"filled": True, "impurity": True, "class_names": list(IRIS.target_names)}
    assert ours.export_graphviz(mine, **settings) == theirs.export_graphviz(other, **settings)
    assert ours.export_graphviz(mine, str(tmp_path / "tree.dot"), **settings) is None
    assert (tmp_path / "tree.dot").read_text() == theirs.export_graphviz(other, **settings)


def test_the_picture_has_scikit_learns_texts():
    pytest.importorskip("matplotlib").use("agg")
    mine, other = both({"max_depth": 3}, IRIS.data[:, [2]], IRIS.target)
    drawn = [note.get_text() for note in ours.plot_tree(mine, filled=True, proportion=True)]
    assert drawn == [n.get_text() for n in theirs.plot_tree(other, filled=True, proportion=True)]
    assert len(drawn) >= mine.tree_.node_count


def test_a_member_of_a_forest_has_a_text():
    forest = RandomForestClassifier(2, random_state=0, max_depth=2).fit(IRIS.data, IRIS.target)
    assert "class: 1" in ours.export_text(forest[0])


@pytest.mark.parametrize("function", [ours.export_text, ours.export_graphviz, ours.plot_tree])
def test_other_tests_than_thresholds_are_refused(function):
    frame = pd.DataFrame({"colour": pd.Categorical(np.array(["red", "blue", "sky"])[IRIS.target])})
    for model in (
        DecisionTreeClassifier().fit(frame, IRIS.target),
        MeanMarginTreeClassifier().fit(IRIS.data, IRIS.target),
    ):
        with pytest.raises(ValueError, match="hedgerow.inspect"):
            function(model)
