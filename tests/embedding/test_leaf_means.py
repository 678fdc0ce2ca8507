"""The embedding: its anchors, its activations, and what it does with tables."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier

from hedgerow.embedding import LeafMeansEmbedding
from hedgerow.embedding.layer import ACTIVATIONS


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture
def mixed():
    """A frame with numbers, categories and gaps, and its classes."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=200),
            "kind": pd.Categorical(rng.choice(["ash", "elm", "oak"], 200)),
            "age": rng.integers(1, 90, 200).astype(float),
        }
    )
    y = np.where((frame["kind"] == "elm") ^ (frame["size"] > 0), "cut", "keep")
    frame.loc[::7, "age"] = np.nan
    frame.loc[::9, "kind"] = None
    return frame, y


def test_anchors_of_one_tree_are_the_leaf_means_of_the_same_tree_elsewhere(iris):
    X, y = iris
    embedding = LeafMeansEmbedding(1, max_bins=None, merge_siblings=False).fit(X, y)
    tree = DecisionTreeClassifier(min_samples_leaf=10, random_state=0).fit(X, y)
    leaves = tree.apply(X)
    means = {tuple(X[leaves == leaf].mean(axis=0).round(8)) for leaf in np.unique(leaves)}
    assert {tuple(anchor) for anchor in embedding.anchors_.round(8)} == means
    counts = embedding.anchor_counts_
    assert sorted(counts) == sorted(np.unique(leaves, return_counts=True)[1])


def test_leaves_of_one_class_are_merged_as_published():
    """Siblings merged, the tree has as many leaves as the paper gives for these sets."""
    for load, n_leaves in ((load_iris, 3), (load_wine, 4)):
        X, y = load(return_X_y=True)
        embedding = LeafMeansEmbedding(1).fit(X, y)
        assert len(embedding.anchors_) == n_leaves
        whole = LeafMeansEmbedding(1, merge_siblings=False).fit(X, y)
        assert len(whole.anchors_) > n_leaves
        # The regions are larger, the classes that they stand for are the same.
        classes = [e.anchor_class_[e.layer_.own_anchors(e.layer_.leaves(e.encode(X), 1))[0]]
                   for e in (embedding, whole)]  # fmt: skip
        np.testing.assert_array_equal(*classes)


def test_first_tree_sees_all_rows_and_the_others_bags(iris):
    X, y = iris
    embedding = LeafMeansEmbedding(4, random_state=0).fit(X, y)
    alone = LeafMeansEmbedding(1).fit(X, y)
    first = embedding.anchor_tree_ == 0
    np.testing.assert_array_equal(embedding.anchors_[first], alone.anchors_)
    for tree in range(4):
        assert embedding.anchor_counts_[embedding.anchor_tree_ == tree].sum() == len(y)
    assert not np.array_equal(embedding.graphs_[1].threshold, embedding.graphs_[2].threshold)


def test_means_of_large_numbers_lose_nothing(iris):
    X, y = iris
    near = LeafMeansEmbedding(1).fit(X, y).anchors_
    far = LeafMeansEmbedding(1).fit(X + 2.0**30, y).anchors_
    np.testing.assert_allclose(far - 2.0**30, near, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("standardize", [False, True])
def test_activations_are_what_they_say(iris, dtype, standardize):
    X, y = iris
    X = X.astype(dtype)
    embedding = LeafMeansEmbedding(3, standardize=standardize, random_state=0, bias="theory")
    embedding.fit(X, y)
    x = embedding.numeric(X).astype(float)
    if standardize:
        np.testing.assert_allclose(x, (X - X.mean(axis=0)) / X.std(axis=0), atol=1e-5)
    mu, tree = embedding.anchors_, embedding.anchor_tree_
    linear = x @ mu.T - (mu**2).sum(axis=1)
    distance = np.linalg.norm(x[:, None] - mu, axis=2)
    bumps = np.exp(-(distance**2) / (2 * embedding.bandwidth_**2))
    sums = np.array([bumps[:, tree == t].sum(axis=1) for t in tree]).T
    expected = {
        "raw": x,
        "linear": linear,
        "relu": np.maximum(linear, 0),
        "distance": distance,
        "rbf": bumps,
        "softmax": bumps / sums,
    }
    tolerance = 1e-4 if dtype == np.float32 else 1e-7
    for name, values in expected.items():
        Z = embedding.set_params(activation=name).transform(X)
        assert Z.dtype == dtype
        np.testing.assert_allclose(Z, values, atol=tolerance * 100, err_msg=name)
    both = embedding.set_params(activation=("raw", "rbf")).transform(X)
    np.testing.assert_allclose(both, np.hstack([x, bumps]), atol=tolerance * 100)


def test_leaf_is_the_membership_in_each_tree(iris):
    X, y = iris
    embedding = LeafMeansEmbedding(3, activation="leaf", random_state=0).fit(X, y)
    Z = embedding.transform(X)
    assert (Z.sum(axis=1) == 3).all()
    first = embedding.anchor_tree_ == 0
    np.testing.assert_array_equal(Z[:, first].sum(axis=0), embedding.anchor_counts_[first])


def test_votes_on_training_rows_are_of_trees_that_did_not_draw_them():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)  # nothing to learn
    embedding = LeafMeansEmbedding(
        20, activation="vote", min_samples_leaf=1, max_bins=255, random_state=0
    )
    honest = embedding.fit_transform(X, y).argmax(axis=1) == y
    seen = embedding.transform(X).argmax(axis=1) == y
    assert 0.4 < honest.mean() < 0.6
    assert seen.mean() > 0.95


@pytest.mark.parametrize("max_anchors", [1, 2, 5, 16, 1000])
def test_cut_trees_have_nested_regions(max_anchors):
    X, y = load_wine(return_X_y=True)
    whole = LeafMeansEmbedding(1, min_samples_leaf=1, activation="leaf").fit(X, y)
    cut = LeafMeansEmbedding(1, min_samples_leaf=1, activation="leaf", max_anchors=max_anchors).fit(
        X, y
    )
    assert len(cut.anchors_) == min(max_anchors, len(whole.anchors_))
    fine, coarse = whole.transform(X).argmax(axis=1), cut.transform(X).argmax(axis=1)
    assert len(set(zip(fine, coarse, strict=True))) == len(set(fine))
    for anchor in range(len(cut.anchors_)):
        np.testing.assert_allclose(cut.anchors_[anchor], X[coarse == anchor].mean(axis=0))
        shares = np.bincount(y[coarse == anchor], minlength=3) / (coarse == anchor).sum()
        np.testing.assert_allclose(cut.anchor_values_[anchor], shares)


def test_categories_and_gaps(mixed):
    frame, y = mixed
    embedding = LeafMeansEmbedding(3, activation=("raw", "vote"), random_state=0).fit(frame, y)
    numbers = embedding.numeric(frame)
    assert numbers.shape == (200, 5)
    hot = numbers[:, 1:4]
    np.testing.assert_allclose(hot.sum(axis=1), 1)
    known = frame["kind"].notna().to_numpy()
    np.testing.assert_allclose(hot[~known], np.tile(hot[known].mean(axis=0), (sum(~known), 1)))
    np.testing.assert_allclose(numbers[frame["age"].isna(), 4], frame["age"].mean())
    names = embedding.get_feature_names_out()
    assert list(names) == [
        "size", "kind_ash", "kind_elm", "kind_oak", "age", "vote_cut", "vote_keep",
    ]  # fmt: skip
    unseen = frame.assign(kind="yew")
    np.testing.assert_allclose(embedding.numeric(unseen)[:, 1:4], hot[~known][[0] * 200])


def test_gaps_can_be_filled_with_the_mean_of_the_leaf(mixed):
    frame, y = mixed
    embedding = LeafMeansEmbedding(2, activation="raw", impute="leaf", random_state=0)
    numbers = embedding.fit(frame, y).numeric(frame)
    leaf = embedding.graphs_[0].apply(embedding.encode(frame), 1)
    gap = int(np.flatnonzero(frame["age"].isna())[0])
    same = (leaf == leaf[gap]) & frame["age"].notna().to_numpy()
    assert numbers[gap, 4] == pytest.approx(frame["age"][same].mean())
    assert not np.isnan(numbers).any()


def test_polars_gives_the_same(mixed):
    frame, y = mixed
    embedding = LeafMeansEmbedding(3, activation="rbf", random_state=0)
    from_pandas = embedding.fit(frame, y).transform(frame)
    other = pl.from_pandas(frame)
    np.testing.assert_array_equal(embedding.fit(other, y).transform(other), from_pandas)


def test_output_can_be_a_frame(iris):
    X, y = load_iris(return_X_y=True, as_frame=True)
    embedding = LeafMeansEmbedding(2, random_state=0).set_output(transform="pandas").fit(X, y)
    out = embedding.transform(X)
    assert list(out.columns) == list(embedding.get_feature_names_out())
    assert out.columns[0] == "linear_0_0"


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_result_is_the_same_for_any_n_jobs_and_after_pickling(mixed, activation):
    frame, y = mixed
    one = LeafMeansEmbedding(5, activation=activation, random_state=1, n_jobs=1).fit(frame, y)
    two = LeafMeansEmbedding(5, activation=activation, random_state=1, n_jobs=2).fit(frame, y)
    np.testing.assert_array_equal(one.transform(frame), two.transform(frame))
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(one.transform(frame), again.transform(frame))


def test_rows_of_weight_zero_are_left_out(iris):
    X, y = iris
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    kept = weights > 0
    a = LeafMeansEmbedding(4, random_state=0, max_bins=None).fit(X, y, weights)
    b = LeafMeansEmbedding(4, random_state=0, max_bins=None).fit(X[kept], y[kept])
    np.testing.assert_allclose(a.anchors_, b.anchors_)


def test_weight_two_is_a_row_twice_for_one_tree(iris):
    X, y = iris
    weights = 1 + np.arange(len(y)) % 2
    twice = np.repeat(np.arange(len(y)), weights)
    settings = {"min_samples_leaf": 1, "max_bins": None, "standardize": True}
    a = LeafMeansEmbedding(1, **settings).fit(X, y, weights)
    b = LeafMeansEmbedding(1, **settings).fit(X[twice], y[twice])
    np.testing.assert_allclose(a.anchors_, b.anchors_)
    np.testing.assert_allclose(a.anchor_counts_, b.anchor_counts_)
    np.testing.assert_allclose(a.bandwidth_, b.bandwidth_)


def test_numbers_as_targets():
    X, y = load_diabetes(return_X_y=True)
    embedding = LeafMeansEmbedding(
        3, criterion="squared_error", activation="vote", random_state=0
    ).fit(X, y)
    assert embedding.anchor_values_.shape[1] == 1
    assert not hasattr(embedding, "anchor_class_")
    assert list(embedding.get_feature_names_out()) == ["vote_mean"]
    assert np.corrcoef(embedding.transform(X)[:, 0], y)[0, 1] > 0.7


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "'n_estimators' must be a positive int, got 0."),
        ({"n_estimators": 2.5}, "'n_estimators' must be a positive int, got 2.5."),
        ({"activation": "tanh"}, "'activation' must be one or several of 'raw', .* got 'tanh'."),
        ({"activation": ()}, r"'activation' must be one or several of .* got \(\)."),
        ({"activation": 3}, "'activation' must be one or several of .* got 3."),
        ({"activation": ([],)}, "'activation' must be one or several of"),
        (
            {"activation": "vote", "n_estimators": 1},
            "'n_estimators' must be at least 2 for .* got 1.",
        ),
        ({"max_anchors": 0}, "'max_anchors' must be a positive int, 'all' or None, got 0."),
        ({"bias": "b"}, "'bias' must be one of 'method', 'theory', 'half', got 'b'."),
        ({"impute": "zero"}, "'impute' must be one of 'mean', 'leaf', got 'zero'."),
        ({"standardize": "yes"}, "'standardize' must be True, False or None, got 'yes'."),
        ({"bandwidth": 0}, "'bandwidth' must be a positive number or None, got 0."),
        ({"criterion": "mse"}, "'criterion' must be one of 'gini', .* got 'mse'."),
        ({"max_depth": -3}, "'max_depth' must be a positive int or None, got -3."),
        ({"max_leaf_nodes": 1}, "'max_leaf_nodes' must be an int of at least 2 or None, got 1."),
        ({"min_samples_leaf": 0}, "'min_samples_leaf' must be an int of at least 1"),
        ({"max_bins": 1}, "'max_bins' must be an int from 2 to 65535 or None, got 1."),
        ({"n_jobs": 0}, "'n_jobs' must be a non-zero int or None, got 0."),
    ],
)
def test_wrong_parameters_are_named(iris, parameters, message):
    with pytest.raises(ValueError, match=message):
        LeafMeansEmbedding(**parameters).fit(*iris)
