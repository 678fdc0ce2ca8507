"""The ways of models from one split to their full size."""

import json
import math
from types import SimpleNamespace

import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from hedgerow.comparison import Comparison, compare
from hedgerow.comparison.front import SIZES, front_of
from hedgerow.comparison.schedule import Clock

MODELS = ["hedgerow DecisionTree", "hedgerow TreeSum", "scikit-learn DecisionTree"]


@pytest.fixture(scope="module", params=["classification", "regression"])
def limited(request):
    load = load_breast_cancer if request.param == "classification" else load_diabetes
    X, y = load(return_X_y=True, as_frame=True)
    return compare(X.iloc[:300], y[:300], cv=2, max_splits=5, models=MODELS, progress=False)


def test_every_model_goes_from_one_split_to_its_full_size(limited):
    assert {point.name for point in limited.front} == set(MODELS)
    for name in MODELS:
        way = [point for point in limited.front if point.name == name]
        assert way[0].n_splits == 1
        assert way[-1].settings == {}
        assert way[-1].n_splits > 5 or name == "hedgerow TreeSum"
        for point, most in zip(way[:-1], SIZES, strict=False):
            assert point.n_splits <= most
            assert point.n_bytes >= 16 * point.n_splits


def test_the_front_is_drawn_and_goes_to_the_file(limited):
    page = limited.report(refit=False)
    assert 'data-test="sizes"' in page.html()
    ways = json.loads(page.json())["sizes"]
    assert {way["name"] for way in ways} == set(MODELS)
    assert all(math.isfinite(p["score"]) for way in ways for p in way["points"])
    assert Comparison.from_json(limited.to_json()).front == limited.front


def test_without_a_limit_there_is_no_front_of_sizes():
    X, y = load_breast_cancer(return_X_y=True)
    found = compare(X[:200], y[:200], cv=2, models=MODELS[:1], progress=False)
    assert found.front == []
    assert 'data-test="sizes"' not in found.report(refit=False).html()


def test_no_time_gives_no_front():
    run = SimpleNamespace(model=SimpleNamespace(ladder=None))
    assert front_of([run], Clock(0.0, 0.0)) == []
