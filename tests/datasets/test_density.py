"""Sample density: the paper's product, as a logarithm."""

import numpy as np
import pandas as pd
import pytest

from hedgerow.datasets import sample_density


def test_arities_multiply():
    X = pd.DataFrame({"x": np.arange(6.0), "colour": list("rgbrgb"), "on": [True, False] * 3})
    assert 10 ** sample_density(X) == pytest.approx(5 * 3 * 2 / 6)
    assert 10 ** sample_density(X, continuous_arity=2) == pytest.approx(2 * 3 * 2 / 6)
    codes = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]])
    assert 10 ** sample_density(codes, categorical_features=[0]) == pytest.approx(3 * 5 / 3)


def test_many_features_do_not_overflow():
    assert sample_density(np.zeros((10, 2000))) == pytest.approx(2000 * np.log10(5) - 1)


def test_wrong_arity_is_refused():
    with pytest.raises(
        ValueError, match="'continuous_arity' must be a number of at least 1, got 0."
    ):
        sample_density(np.zeros((2, 2)), continuous_arity=0)
