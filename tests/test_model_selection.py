"""5x2 cross-validation: halves, use in scikit-learn, both tests by hand."""

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import GridSearchCV, cross_val_score

from hedgerow import DecisionTreeClassifier
from hedgerow.model_selection import FiveByTwo, combined_f_test, paired_t_test

rng = np.random.default_rng(0)
X, y = rng.normal(size=(61, 3)), np.repeat(["a", "b", "c"], [40, 20, 1])


def test_splits_are_five_divisions_used_both_ways():
    splits = list(FiveByTwo(random_state=0).split(X, y))
    assert len(splits) == FiveByTwo().get_n_splits() == 10
    for (train, test), (back_train, back_test) in zip(splits[::2], splits[1::2], strict=True):
        assert sorted([*train, *test]) == list(range(61))
        assert train.tolist() == back_test.tolist() and test.tolist() == back_train.tolist()
    assert len({tuple(train) for train, _ in splits}) == 10


def test_classes_are_spread_evenly_and_numbers_are_left_alone():
    for train, test in FiveByTwo(random_state=0).split(X, y):
        assert sum(y[train] == "a") == 20
        assert abs(sum(y[train] == "b") - sum(y[test] == "b")) <= 1
    numbers = list(FiveByTwo(random_state=0).split(X, rng.normal(size=61)))
    plain = list(FiveByTwo(random_state=0).split(X))
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(numbers, plain, strict=True))


def test_seed_repeats_the_divisions():
    one, two = (list(FiveByTwo(random_state=3).split(X, y)) for _ in range(2))
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(one, two, strict=True))


def test_scikit_learn_takes_it():
    assert len(cross_val_score(DecisionTreeClassifier(), X, y, cv=FiveByTwo())) == 10
    GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=FiveByTwo()).fit(X, y)


def test_one_row_cannot_be_divided():
    with pytest.raises(ValueError, match="at least 2 rows"):
        next(FiveByTwo().split(X[:1]))


def test_statistics_follow_the_definitions():
    a, b = rng.normal(size=(2, 10))
    p = (a - b).reshape(5, 2)
    s = [(u - (u + v) / 2) ** 2 + (v - (u + v) / 2) ** 2 for u, v in p]
    t, f = paired_t_test(a, b), combined_f_test(a, b)
    assert t.statistic == pytest.approx(p[0, 0] / np.sqrt(sum(s) / 5))
    assert t.pvalue == pytest.approx(2 * stats.t(5).sf(abs(t.statistic)))
    assert f.statistic == pytest.approx((p**2).sum() / (2 * sum(s)))
    assert f.pvalue == pytest.approx(stats.f(10, 5).sf(f.statistic))
    assert combined_f_test(b, a) == f
    assert paired_t_test(b, a).statistic == -t.statistic


@pytest.mark.parametrize("test", [paired_t_test, combined_f_test])
def test_equal_scores_do_not_differ_and_a_steady_gap_does(test):
    assert test(np.ones(10), np.ones(10)) == (0.0, 1.0)
    assert test(np.ones(10), np.zeros(10)) == (np.inf, 0.0)


@pytest.mark.parametrize("test", [paired_t_test, combined_f_test])
@pytest.mark.parametrize("bad", [np.ones(9), np.ones((5, 2)), np.full(10, np.nan)])
def test_anything_but_ten_scores_is_refused(test, bad):
    with pytest.raises(ValueError, match="'b' must be the ten scores"):
        test(np.ones(10), bad)
