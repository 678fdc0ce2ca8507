"""Callbacks of scikit-learn watch long fits, metadata is routed, outputs are frames if wanted."""

import os

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgerow import (
    AdaBoostClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    LeafMeansEmbedding,
    RandomForestClassifier,
)

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
X = np.random.default_rng(0).normal(size=(80, 3))
Y = (X[:, 0] + np.random.default_rng(1).normal(size=80) > 0).astype(int)
LONG = [
    RandomForestClassifier(7, random_state=0),
    BaggingRegressor(n_estimators=7, random_state=0),
    AdaBoostClassifier(n_estimators=7),
    GradientBoostingClassifier(max_iter=7, early_stopping=False),
]


class Diary:
    """A callback that notes what it is told."""

    def __init__(self):
        self.said = []

    def setup(self, estimator, context):
        self.said.append("setup")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.said.append(context.task_name)

    def teardown(self, estimator, context):
        self.said.append("teardown")


@pytest.mark.parametrize("model", LONG, ids=lambda model: type(model).__name__)
def test_callbacks_hear_of_every_member_and_change_nothing(model):
    diary = Diary()
    watched = clone(model).set_callbacks(diary).fit(X, Y)
    assert diary.said == ["setup", *["member"] * 7, "fit", "teardown"]
    np.testing.assert_equal(watched.predict(X), clone(model).fit(X, Y).predict(X))


def test_callbacks_are_torn_down_when_a_fit_fails():
    diary = Diary()

    def stop(done, n):
        raise KeyboardInterrupt

    model = RandomForestClassifier(7, callback=stop).set_callbacks(diary)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert diary.said[0] == "setup" and diary.said[-1] == "teardown"
    assert not hasattr(model, "forest_")


@pytest.mark.parametrize("model", LONG, ids=lambda model: type(model).__name__)
def test_scikit_learns_progress_bar_is_drawn(model, capsys):
    clone(model).set_callbacks(callback.ProgressBar()).fit(X, Y)
    assert "100%" in capsys.readouterr().out


def test_a_search_hands_its_progress_bar_on(capsys):
    search = GridSearchCV(RandomForestClassifier(4, random_state=0), {"max_depth": [1, 2]}, cv=2)
    if not hasattr(search, "set_callbacks"):
        pytest.skip("this GridSearchCV has no callbacks")
    search.set_callbacks(callback.ProgressBar()).fit(X, Y)
    assert "RandomForestClassifier" in capsys.readouterr().out


def test_weights_are_routed_through_pipelines_and_folds():
    weights = np.where(X[:, 1] > 0, 3.0, 0.5)
    with sklearn.config_context(enable_metadata_routing=True):
        tree = DecisionTreeClassifier(max_depth=2).set_fit_request(sample_weight=True)
        routed = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), tree).fit(
            X, Y, sample_weight=weights
        )
        direct = DecisionTreeClassifier(max_depth=2).fit(
            StandardScaler().fit_transform(X), Y, sample_weight=weights
        )
        np.testing.assert_equal(
            routed.predict_proba(X), direct.predict_proba(StandardScaler().fit_transform(X))
        )
        tree.set_score_request(sample_weight=True)
        assert len(
            cross_validate(tree, X, Y, cv=2, params={"sample_weight": weights})["test_score"]
        )


def test_transformers_give_frames_if_wanted():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    layer = LeafMeansEmbedding(2, random_state=0).set_output(transform="pandas")
    found = layer.fit(frame, Y).transform(frame)
    assert list(found.columns) == list(layer.get_feature_names_out())
    assert list(found.index) == list(frame.index)


def test_arrays_of_the_array_api_are_taken_whether_they_are_dispatched_or_not():
    xp = pytest.importorskip("array_api_strict")
    expected = DecisionTreeClassifier().fit(X, Y).predict(X)
    for dispatch in (False, True) if os.environ.get("SCIPY_ARRAY_API") == "1" else (False,):
        with sklearn.config_context(array_api_dispatch=dispatch):
            model = DecisionTreeClassifier().fit(xp.asarray(X), Y)
            np.testing.assert_equal(model.predict(xp.asarray(X)), expected)
