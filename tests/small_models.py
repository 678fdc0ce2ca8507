"""A small fitted model of every class that a file can hold, on a table with everything in it.

The table follows from sums and remainders alone: it is the same with every version of NumPy.
"""

import inspect

import numpy as np
import pandas as pd
from sklearn.base import is_classifier, is_regressor

from hedgerow.storage import MODELS

SMALL = {
    "n_estimators": 3,
    "n_trees": 3,
    "max_iter": 3,
    "max_depth": 4,
    "max_layers": 2,
    "n_forests": 1,
    "max_splits": 6,
    "depth": 3,
    "encoding_depth": 2,
    "output_depth": 2,
    "random_state": 0,
}


def table(n=90):
    """Numbers, missing ones, categories and booleans."""
    i = np.arange(n)
    frame = pd.DataFrame(
        {
            "size": np.where(i % 7 == 3, np.nan, (i * 37 % 101) / 8 - 5),
            "age": (i * 53 % 89).astype(float),
            "kind": pd.Categorical(np.array(["hazel", "holly", "haw", "größe"])[i * i % 11 % 4]),
            "cut": i * 5 % 9 < 4,
        }
    )
    frame.loc[i % 13 == 5, "kind"] = None
    return frame


def numbers(n=90):
    """A table of numbers alone, as an array."""
    i = np.arange(n)[:, None]
    return (i * np.array([37, 53, 29, 71, 43, 61]) % 97) / 10.0


def targets(model, X):
    """Three classes, or a number, that a model can learn."""
    first = np.nan_to_num(np.asarray(X.iloc[:, 1] if hasattr(X, "iloc") else X[:, 1], float))
    second = np.asarray(X["cut"] if hasattr(X, "iloc") else X[:, 0] > 5, float)
    if is_regressor(model):
        return first / 7 + 3 * second
    return np.where(first > np.median(first), "keep", np.where(second > 0, "cut", "bend"))


def small(cls):
    """An estimator that is fitted in no time."""
    known = inspect.signature(cls).parameters
    settings = {name: value for name, value in SMALL.items() if name in known}
    if "shape" in known:  # windows over rows and columns
        settings |= {"shape": (2, 3), "windows": [(1, 2)]}
    return cls(**settings)


def fitted(name, **settings):
    """A fitted model by the name of its record, and the table that it was fitted on."""
    model = small(MODELS[name]).set_params(**settings)
    X = numbers() if hasattr(model, "shape") else table()
    return model.fit(X, targets(model, X)), X


def answers(model, X):
    """What a model says of rows, by method."""
    names = ["predict"] if is_classifier(model) or is_regressor(model) else ["transform"]
    if is_classifier(model):
        names.append("predict_proba")
    return {name: np.asarray(getattr(model, name)(X)) for name in names}
