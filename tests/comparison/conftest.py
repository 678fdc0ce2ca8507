"""Comparisons small enough to be made for every run, for the tests of the report."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_digits

import hedgerow

NASTY = "<script>alert('x')</script>"


@pytest.fixture(scope="session")
def mixed():
    """Two classes; categories, missing values, and names that try to leave the page."""
    rng = np.random.default_rng(0)
    n = 400
    age = rng.integers(18, 90, n).astype(float)
    dose = rng.gamma(2.0, 0.0005, n)
    colour = rng.choice(["red", "green", "</script><b>blue", "grey"], n)
    y = np.where(np.isin(colour, ["red", "grey"]), age > 50, dose > 0.001)
    y = np.where(y ^ (rng.random(n) < 0.05), "yes & no", NASTY)
    age[rng.random(n) < 0.15] = np.nan
    colour = pd.Categorical(np.where(rng.random(n) < 0.1, None, colour))
    X = pd.DataFrame({NASTY: age, "dose (mg)": dose, "colour": colour, "noise": rng.normal(size=n)})
    models = ["hedgerow DecisionTree", "hedgerow RandomForest", "scikit-learn RandomForest"]
    return hedgerow.compare(X, y, models=models, cv=3, name=NASTY, progress=False)


@pytest.fixture(scope="session")
def digits():
    """Ten classes, an embedding among the models."""
    X, y = load_digits(return_X_y=True, as_frame=True)
    models = ["hedgerow DecisionTree", "hedgerow TreeEmbedding", "scikit-learn DecisionTree"]
    X, y = X.iloc[:600, 16:40], y[:600]
    return hedgerow.compare(X, y, models=models, cv=3, name="digits", progress=False)


@pytest.fixture(scope="session")
def diabetes():
    """A regression whose only tree has oblique tests."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    models = ["hedgerow MeanMarginTree", "hedgerow RandomForest"]
    return hedgerow.compare(X, y, models=models, cv=3, name="diabetes", progress=False)


@pytest.fixture(scope="session")
def report_of(request):
    """Function that gives the report of a comparison, made once."""
    made = {}

    def get(name):
        if name not in made:
            made[name] = request.getfixturevalue(name).report()
        return made[name]

    return get
