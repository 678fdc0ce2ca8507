"""A sum read term by term: the shapes of single features and the interactions add up to it."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from tree_sum_tables import mixed

from hedgerow import TreeSumClassifier, TreeSumRegressor
from hedgerow.inspect import export_text, member, rules


def test_terms_are_all_members_once():
    frame, y = mixed()
    model = TreeSumRegressor(30).fit(frame, y)
    terms = model.terms()
    assert sorted(place for term in terms for place in term.members) == list(range(len(model)))
    assert sum(term.n_splits for term in terms) == model.n_splits_
    assert sum(term.share for term in terms) == pytest.approx(1)
    assert len({term.features for term in terms}) == len(terms)
    assert [term.share for term in terms] == sorted((t.share for t in terms), reverse=True)


def test_shapes_of_stumps_add_up_to_the_sum():
    frame, y = mixed()
    frame.loc[::9, "kind"] = None
    model = TreeSumRegressor(30, max_depth=1).fit(frame, y)
    total = np.full(len(y), model.intercept_[0])
    for name in frame.columns:
        shape = model.feature_shape(name)
        if shape.categories is None:
            x = frame[name].to_numpy()
            step = shape.scores[np.searchsorted(shape.thresholds, np.nan_to_num(x)), 0]
            total += np.where(np.isnan(x), shape.missing[0], step)
        else:
            codes = frame[name].cat.codes.to_numpy()
            total += np.where(codes < 0, shape.missing[0], shape.scores[codes, 0])
    np.testing.assert_allclose(total, model.predict(frame))


def test_shape_without_a_term_is_flat():
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = TreeSumRegressor(5).fit(X, X[:, 0] > 0)
    assert model.terms()[0].features == (0,)
    flat = model.feature_shape(1)
    assert flat.scores.tolist() == [[0.0]]
    assert flat.missing.tolist() == [0.0]
    with pytest.raises(ValueError, match="'feature' must be a feature of the model, got 'age'"):
        model.feature_shape("age")


def test_text_and_rules():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = TreeSumClassifier(4).fit(X, y)
    text = export_text(model)
    assert text.startswith("score = ")
    assert text.count("+ member") == len(model)
    assert "[" in text  # a number for each class
    assert len(rules(member(model, 0))) == model.graphs_[0].n_leaves
