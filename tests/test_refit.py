"""A second fit replaces all of the first one, or nothing where it fails."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, is_classifier

import hedgerow

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(60, 4)), columns=list("abcd"))
NUMBERS = (X["a"] + (X["b"] > 0)).to_numpy()
CLASSES = np.where(NUMBERS > 0.5, "yes", "no")
SMALL = {"n_estimators": 3, "n_trees": 3, "max_layers": 1, "encoding_depth": 2, "random_state": 0}

MODELS = [
    name
    for name in hedgerow.__all__
    if inspect.isclass(kind := getattr(hedgerow, name))
    and issubclass(kind, BaseEstimator)
    and hasattr(kind, "predict")
]


def fitted(name):
    model = getattr(hedgerow, name)()
    known = model.get_params()
    model.set_params(**{k: v for k, v in SMALL.items() if k in known})
    return model.fit(X, targets_of(model))


def targets_of(model):
    return CLASSES if is_classifier(model) else NUMBERS


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_that_fails_leaves_the_model_as_it_was(name):
    model = fitted(name)
    expected, before = model.predict(X), set(vars(model))
    wrong = np.where(np.arange(60) < 30, np.inf, 1.0)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(X[["a", "b"]].to_numpy(), wrong)
    assert set(vars(model)) == before
    assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize("name", MODELS)
def test_names_of_an_earlier_table_are_forgotten(name):
    model = fitted(name)
    assert model.feature_names_in_.tolist() == list("abcd")
    rows = X[["a", "b"]].to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(rows, targets_of(model)).predict(rows)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
