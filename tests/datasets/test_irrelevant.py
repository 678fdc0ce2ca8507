"""Columns of noise: appended to any table, repeatable, never in the way."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hedgerow.datasets import add_irrelevant_features

DATA = {"a": [1.0, 2.0, 3.0], "kind": ["x", "y", "x"]}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_columns_and_types(frame):
    X = frame(DATA)
    noisy = add_irrelevant_features(X, 2, random_state=0)
    assert list(noisy.columns) == ["a", "kind", "noise0", "noise1"]
    assert type(noisy) is frame and list(noisy["kind"]) == DATA["kind"]
    assert list(X.columns) == ["a", "kind"]


def test_index_of_a_frame_is_kept():
    X = pd.DataFrame(DATA, index=[7, 8, 7])
    noisy = add_irrelevant_features(X, 1, random_state=0)
    assert noisy.index.tolist() == [7, 8, 7] and noisy["noise0"].notna().all()


def test_noise_is_standard_normal_and_repeatable():
    X = np.zeros((5000, 1))
    noisy = add_irrelevant_features(X, 3, random_state=0)
    assert noisy.shape == (5000, 4)
    assert np.abs(noisy[:, 1:].mean(axis=0)).max() < 0.05
    assert np.abs(noisy[:, 1:].std(axis=0) - 1).max() < 0.05
    assert np.array_equal(add_irrelevant_features(X, 2, random_state=0), noisy[:, :3])


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="'n_features' must be a non-negative int, got -1."):
        add_irrelevant_features(np.zeros((2, 2)), -1)
    with pytest.raises(ValueError, match="already has a column 'noise0'"):
        add_irrelevant_features(pd.DataFrame({"noise0": [1.0]}), 1)
