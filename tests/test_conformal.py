"""Intervals and sets of classes hold the truth as often as they promise."""

import numpy as np
import pytest
from small_models import small, targets

import hedgerow
from hedgerow import (
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.storage import MODELS

REGRESSORS = [name for name in hedgerow.__all__ if name.endswith("Regressor")]
CLASSIFIERS = [name for name in hedgerow.__all__ if name.endswith("Classifier")]


def rows(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n)


def share_inside(intervals, y):
    return np.mean((intervals[:, 0] <= y) & (y <= intervals[:, 1]))


@pytest.mark.parametrize("name", REGRESSORS)
def test_every_regressor_gives_intervals_of_the_promised_coverage(name):
    X, y = rows(400, 0)
    X_new, y_new = rows(2000, 1)
    unit = (X - X.min()) / (X.max() - X.min())  # centred trees take numbers from 0 to 1
    if name.startswith("Centred"):
        X_new = np.clip((X_new - X.min()) / (X.max() - X.min()), 0, 1)
        X = unit
    model = small(getattr(hedgerow, name)).fit(X[:200], y[:200]).calibrate(X[200:], y[200:])
    intervals = model.predict_interval(X_new, coverage=0.8)
    assert intervals.shape == (2000, 2)
    # Coverage given 200 calibration rows has a standard deviation of 0.028.
    assert abs(share_inside(intervals, y_new) - 0.8) < 0.1


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_gives_sets_of_the_promised_coverage(name):
    X, y = rows(600, 0)
    X_new, y_new = rows(2000, 1)
    labels, labels_new = np.digitize(y, [0, 2]), np.digitize(y_new, [0, 2])
    model = small(getattr(hedgerow, name)).fit(X[:300], labels[:300])
    sets = model.calibrate(X[300:], labels[300:]).predict_set(X_new, coverage=0.8)
    assert sets.shape == (2000, 3)
    assert sets.dtype == bool
    assert sets[np.arange(2000), labels_new].mean() > 0.7  # few values: more than kept


def test_the_radius_is_the_right_order_statistic():
    X = np.arange(9.0)[:, None]
    model = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0]], [0.0, 0.0])
    model.calibrate(X, np.arange(1.0, 10.0))  # residuals 1 to 9
    assert model.predict_interval([[0.0]], coverage=0.9).tolist() == [[-9.0, 9.0]]
    assert model.predict_interval([[0.0]], coverage=0.5).tolist() == [[-5.0, 5.0]]
    with pytest.raises(ValueError, match="coverage=0.95 needs at least 19 rows .* there were 9"):
        model.predict_interval([[0.0]], coverage=0.95)


def test_bags_are_calibrated_on_the_rows_that_members_did_not_draw():
    X, y = rows(800, 0)
    X_new, y_new = rows(4000, 1)
    for model in (
        RandomForestRegressor(oob_score=True, random_state=0),
        BaggingRegressor(n_estimators=50, oob_score=True, random_state=0),
    ):
        intervals = model.fit(X, y).predict_interval(X_new)
        assert abs(share_inside(intervals, y_new) - 0.9) < 0.04
        assert len(model.calibration_) == 800
    forest = RandomForestClassifier(oob_score=True, random_state=0).fit(X, y > 1)
    assert forest.predict_set(X_new)[np.arange(4000), (y_new > 1).astype(int)].mean() > 0.87


def test_a_model_without_calibration_says_what_to_do():
    X, y = rows(50, 0)
    tree = DecisionTreeRegressor().fit(X, y)
    with pytest.raises(ValueError, match=r"not calibrated: call calibrate\(X, y\)"):
        tree.predict_interval(X)
    with pytest.raises(ValueError, match="or fit it with oob_score=True"):
        RandomForestClassifier(5).fit(X, y > 0).predict_set(X)
    for bad in (0, 1, -0.1, 2, "most", None, np.nan):
        with pytest.raises(ValueError, match="'coverage' must be a number between 0 and 1"):
            tree.calibrate(X, y).predict_interval(X, coverage=bad)
    with pytest.raises(ValueError, match="y has the class 'c', which the fit did not have"):
        DecisionTreeClassifier().fit(X, np.where(y > 0, "a", "b")).calibrate(X[:1], ["c"])
    with pytest.raises(ValueError, match="X has 50 rows and y has 3"):
        tree.calibrate(X, y[:3])


def test_a_new_fit_forgets_the_calibration_of_the_last():
    X, y = rows(100, 0)
    tree = DecisionTreeRegressor().fit(X, y).calibrate(X, y)
    tree.fit(X, y)
    with pytest.raises(ValueError, match="not calibrated"):
        tree.predict_interval(X)
    forest = RandomForestRegressor(5, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="OOB"):
        forest.fit(X, y)
    with pytest.raises(ValueError, match="not calibrated"):
        forest.subset(2).predict_interval(X)


@pytest.mark.parametrize("name", ["DecisionTreeRegressor", "RandomForestClassifier"])
def test_calibration_is_in_the_file(name, tmp_path):
    X, _ = rows(100, 0)
    model = small(getattr(hedgerow, name))
    model.fit(X, targets(model, X)).calibrate(X, targets(model, X))
    hedgerow.save(model, tmp_path / "model")
    again = hedgerow.load(tmp_path / "model")
    assert type(model) in MODELS.values()
    np.testing.assert_array_equal(again.calibration_, model.calibration_)
