"""Scanning: windows where they should be, described out of fold, within the memory given."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.pipeline import make_pipeline

from hedgerow import CascadeForestClassifier, MultiGrainedScanner
from hedgerow.cascade.scanning import Grain


def small(shape=(8, 8), **given):
    return MultiGrainedScanner(shape, **{"n_trees": 5, "random_state": 0} | given)


def digits(n_train=300):
    X, y = load_digits(return_X_y=True)
    return X[:n_train], y[:n_train], X[n_train : n_train + 300], y[n_train : n_train + 300]


def naive_windows(sample, window, stride):
    """Windows of one (height, width, channels) image, cut one by one."""
    height, width, _ = sample.shape
    return np.array(
        [
            sample[top : top + window[0], left : left + window[1]].ravel()
            for top in range(0, height - window[0] + 1, stride)
            for left in range(0, width - window[1] + 1, stride)
        ]
    )


@pytest.mark.parametrize("shape", [(7, 5, 1), (8, 9, 3), (5, 5, 2)])
@pytest.mark.parametrize("window", [(1, 1), (2, 3), (5, 5)])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_windows_are_where_a_plain_loop_finds_them(shape, window, stride):
    grain = Grain(shape, window, stride, pooling=2)
    sample = np.random.default_rng(0).random(shape)
    assert_array_equal(sample.ravel()[grain.cells()], naive_windows(sample, window, stride))


def test_windows_of_a_sequence():
    grain = Grain((6, 1), (3,), 1, pooling=1)
    assert_array_equal(grain.cells(), [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]])


def test_pooling_averages_what_is_there_at_the_edges():
    grain = Grain((5, 5, 1), (3, 3), 1, pooling=2)  # three by three places
    values = np.arange(9.0).reshape(1, 9, 1)
    assert_array_equal(grain.pool(values).ravel(), [2, 3.5, 6.5, 8])
    assert grain.n_pooled == 4


def test_random_labels_leave_no_trace_in_the_features():
    random = np.random.default_rng(0)
    X, y = random.random((400, 16)), random.integers(0, 2, 400)
    scanner = small(None, windows=[4], min_samples_leaf=1)
    unseen = scanner.fit_transform(X, y)[:, 1::2].mean(axis=1)  # probabilities of class 1
    seen = scanner.transform(X)[:, 1::2].mean(axis=1)
    gap = [score[y == 1].mean() - score[y == 0].mean() for score in (unseen, seen)]
    assert abs(gap[0]) < 4 * unseen.std() * np.sqrt(4 / len(y))
    assert gap[1] > 0.1  # two thirds of the forests saw the row


def test_scanned_digits_go_through_a_pipeline():
    X, y, X_test, y_test = digits()
    scanner = small(windows=[3, (4, 5)], stride=1, n_trees=10)
    model = make_pipeline(scanner, CascadeForestClassifier("light", n_trees=20, random_state=0))
    assert model.fit(X, y).score(X_test, y_test) > 0.75
    out = model[0].transform(X_test)
    assert out.dtype == np.float32
    assert out.shape == (300, 2 * 10 * (9 + 6))  # two forests, 6x6 and 5x4 places, pooled
    assert len(set(model[0].get_feature_names_out())) == out.shape[1]
    assert_allclose(out.reshape(300, -1, 10).sum(axis=2), 1, rtol=1e-5)


def test_result_depends_on_neither_threads_nor_block_size():
    X, y, X_test, _ = digits(200)
    scanner = small(windows=[3]).fit(X, y)
    expected = scanner.transform(X_test)
    assert_array_equal(small(windows=[3], n_jobs=2).fit(X, y).transform(X_test), expected)
    scanner.set_params(max_memory=0.001)
    assert len(list(scanner._blocks(scanner.grains_[0], np.arange(300), 8))) == 2
    assert_array_equal(scanner.transform(X_test), expected)
    assert_array_equal(pickle.loads(pickle.dumps(scanner)).transform(X_test), expected)


def test_forests_learn_from_the_windows_that_fit():
    X, y, X_test, y_test = digits()
    scanner = small(windows=[3], stride=1, max_memory=0.001).fit(X, y)
    assert scanner.n_windows_ == [int(0.001e9) // (9 + 100)]
    assert small(windows=[3], stride=1).fit(X, y).n_windows_ == [300 * 36]
    best = scanner.transform(X_test).reshape(300, -1, 10).mean(axis=1).argmax(axis=1)
    assert np.mean(best == y_test) > 0.5


def test_numbers_as_targets_and_features_passed_through():
    random = np.random.default_rng(0)
    X = random.random((200, 20))
    y = X[:, :10].sum(axis=1)
    scanner = small(20, windows=[5], passthrough=True, pooling=1, n_forests=2)
    out = scanner.fit_transform(X, y)
    assert out.shape == (200, 20 + 4 * 16)
    assert_allclose(out[:, :20], X, rtol=1e-6)
    assert np.corrcoef(out[:, 20], y)[0, 1] > 0.3
    assert list(scanner.get_feature_names_out()[:1]) == ["x0"]
    assert not hasattr(scanner, "classes_")


def test_images_of_odd_sizes_channels_and_frames():
    random = np.random.default_rng(0)
    X, y = random.random((40, 7 * 5 * 3)), np.repeat([0, 1], 20)
    X[::3, 4] = np.nan
    scanner = small((7, 5, 3), windows=[(3, 2)], min_samples_leaf=1).fit(X, y)
    assert scanner.grains_[0].places == (3, 2)
    frame = pd.DataFrame(X, columns=[f"pixel {i}" for i in range(105)])
    assert_array_equal(clone(scanner).fit(frame, y).transform(frame), scanner.transform(X))
    assert small((7, 5, 3)).fit(X, y).grains_[0].window == (2, 1)  # by their share of the sides


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"shape": (8, 9)}, r"'shape' \(8, 9\) has 72 numbers, X has 64 features."),
        ({"shape": (8, -8)}, r"'shape' must have 1 or 2 or 3 positive ints, got \(8, -8\)."),
        (
            {"windows": [9]},
            r"'windows' has \(9, 9\), which does not fit into a sample of \(8, 8\).",
        ),
        ({"windows": [(3, 9)]}, r"'windows' has \(3, 9\), which does not fit"),
        ({"windows": [0]}, r"'windows' has \(0, 0\), which does not fit"),
        ({"windows": [(3, 3, 3)]}, r"'windows' must have 2 positive ints, got \(3, 3, 3\)."),
        ({"windows": []}, r"'windows' must be None or a list of sizes, got \[\]."),
        ({"stride": 0}, "'stride' must be a positive int or None, got 0."),
        ({"pooling": 0}, "'pooling' must be a positive int, got 0."),
        ({"max_memory": 0}, "'max_memory' must be a number of at least 0.001, got 0."),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    X, y, *_ = digits(50)
    with pytest.raises(ValueError, match=message):
        small(**given).fit(X, y)


def test_whole_numbers_as_floats_are_refused_where_they_may_be_classes_or_numbers():
    X, y = load_diabetes(return_X_y=True)  # whole numbers, but targets of a regression
    message = "y holds 214 different whole numbers as floats, which may be classes or numbers"
    with pytest.raises(ValueError, match=message):
        small(None).fit(X, y)
    assert not hasattr(small(None).fit(X, y / 10), "classes_")
    assert len(small(None).fit(X[:30], (y[:30] > 100).astype(float)).classes_) == 2


def test_columns_of_strings_are_refused_without_the_advice_to_make_them_strings():
    frame = pd.DataFrame({"a": ["u", "v"] * 10, "b": np.arange(20.0)})
    message = "Column 'a' has type .* and cannot be read as numbers: convert it to numbers.$"
    for words in (frame, frame.astype({"a": "category"})):
        with pytest.raises(ValueError, match=message):
            small(None).fit(words, np.arange(20) % 2)


def test_failed_fit_leaves_the_scanner_as_it_was():
    X, y, X_test, _ = digits(100)
    scanner = small(windows=[3]).fit(X, y)
    before = scanner.transform(X_test)
    with pytest.raises(ValueError, match="'windows' has"):
        scanner.set_params(windows=[9]).fit(X, y * 0.5)
    assert_array_equal(scanner.transform(X_test), before)
    assert len(scanner.classes_) == 10
    scanner.set_params(windows=[3]).fit(X, y / 3)
    assert not hasattr(scanner, "classes_")
    assert scanner.transform(X_test).shape == (300, before.shape[1] // 10)
