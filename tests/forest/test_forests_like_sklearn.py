"""Forests keep the promises of scikit-learn's: every test runs over both libraries."""

import itertools
import pickle

import numpy as np
import pytest
import sklearn.ensemble
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GridSearchCV

import hedgerow

CLASSIFIERS = [
    pytest.param(getattr(library, name), id=f"{library.__name__.split('.')[0]}-{name}")
    for library, name in itertools.product(
        (hedgerow, sklearn.ensemble), ("RandomForestClassifier", "ExtraTreesClassifier")
    )
]
REGRESSORS = [
    pytest.param(getattr(library, name), id=f"{library.__name__.split('.')[0]}-{name}")
    for library, name in itertools.product(
        (hedgerow, sklearn.ensemble), ("RandomForestRegressor", "ExtraTreesRegressor")
    )
]

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
TOY = np.array([[-2, -1], [-1, -1], [-1, -2], [1, 1], [1, 2], [2, 1.0]])
SIDES = np.array([-1, -1, -1, 1, 1, 1])
BEYOND, BEYOND_SIDES = [[-1, -1], [2, 2], [3, 2.0]], [-1, 1, 1]

over_classifiers = pytest.mark.parametrize("kind", CLASSIFIERS)
over_regressors = pytest.mark.parametrize("kind", REGRESSORS)
over_forests = pytest.mark.parametrize("kind", CLASSIFIERS + REGRESSORS)


def data_for(kind):
    return IRIS if kind.__name__.endswith("Classifier") else DIABETES


def depth(member):
    return member.depth if hasattr(member, "depth") else member.get_depth()


def n_leaves(member):
    return member.get_n_leaves()


# --- quality --------------------------------------------------------------------------------------


@over_classifiers
def test_toy_classes_are_learnt(kind):
    forest = kind(n_estimators=10, random_state=1).fit(TOY, SIDES)
    assert forest.predict(BEYOND).tolist() == BEYOND_SIDES
    assert len(forest.estimators_) == 10
    leaves = forest.apply(TOY)
    assert leaves.shape == (6, 10)


@over_classifiers
@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
def test_iris_is_learnt_by_every_criterion(kind, criterion):
    X, y = IRIS
    forest = kind(n_estimators=10, criterion=criterion, random_state=1).fit(X, y)
    assert forest.score(X, y) > 0.95
    few = kind(n_estimators=10, criterion=criterion, max_features=2, random_state=1).fit(X, y)
    assert few.score(X, y) > 0.95


@over_regressors
def test_diabetes_is_learnt(kind):
    X, y = DIABETES
    forest = kind(n_estimators=20, random_state=0).fit(X, y)
    assert forest.score(X, y) > 0.88
    assert not hasattr(forest, "classes_")


@pytest.mark.parametrize("name", ["RandomForestClassifier", "ExtraTreesClassifier"])
def test_accuracy_agrees_between_the_libraries(name):
    X, y = make_classification(2000, 12, n_informative=6, n_classes=3, random_state=0)
    ours, theirs = (
        np.mean(
            [
                getattr(library, name)(60, random_state=seed)
                .fit(X[:1000], y[:1000])
                .score(X[1000:], y[1000:])
                for seed in range(3)
            ]
        )
        for library in (hedgerow, sklearn.ensemble)
    )
    assert abs(ours - theirs) < 0.02


@pytest.mark.parametrize(
    "kind", [hedgerow.RandomForestRegressor, sklearn.ensemble.RandomForestRegressor]
)
def test_poisson_suits_counts(kind):
    random = np.random.default_rng(0)
    X = random.uniform(-2, 2, (400, 5))
    y = random.poisson(np.exp(X[:, 0]))
    train, test = slice(0, 200), slice(200, None)
    settings = {"n_estimators": 20, "min_samples_leaf": 10, "random_state": 0}
    forest = kind(criterion="poisson", **settings).fit(X[train], y[train])
    mean = np.full(200, y[train].mean())
    assert (forest.predict(X) > 0).all()
    assert mean_poisson_deviance(y[test], forest.predict(X[test])) < 0.7 * mean_poisson_deviance(
        y[test], mean
    )


@over_regressors
@pytest.mark.parametrize("y", [[-1.0, 1, 2, 3, 3, 3], [0.0] * 6])
def test_poisson_refuses_targets_that_are_no_counts(kind, y):
    with pytest.raises(ValueError, match="poisson|[Pp]oisson"):
        kind(n_estimators=2, criterion="poisson").fit(TOY, y)


# --- probabilities, importances, out-of-bag scores ------------------------------------------------


@over_classifiers
def test_probabilities_are_shares_and_their_logarithms_fit(kind):
    X, y = IRIS
    forest = kind(n_estimators=10, max_features=1, max_depth=1, random_state=1).fit(X, y)
    probabilities = forest.predict_proba(X)
    assert probabilities.shape == (150, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(forest.predict_log_proba(X)), probabilities)
    assert forest.classes_[probabilities.argmax(axis=1)].tolist() == forest.predict(X).tolist()


@over_classifiers
def test_labels_may_be_strings(kind):
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])
    by_number = kind(n_estimators=5, random_state=0).fit(X, y)
    by_name = kind(n_estimators=5, random_state=0).fit(X, names[y])
    assert by_name.classes_.tolist() == names.tolist()
    assert by_name.predict(X).tolist() == names[by_number.predict(X)].tolist()
    assert by_name.n_classes_ == 3


@over_forests
def test_importances_find_the_informative_features(kind):
    X, y = make_classification(
        400, 10, n_informative=3, n_redundant=0, shuffle=False, random_state=0
    )
    forest = kind(n_estimators=10, random_state=0).fit(X, y)
    importances = forest.feature_importances_
    assert importances.shape == (10,)
    assert importances.sum() == pytest.approx(1)
    assert set(np.argsort(importances)[-3:]) == {0, 1, 2}


@over_forests
def test_importances_of_a_constant_target_are_zero(kind):
    forest = kind(n_estimators=5).fit(np.zeros((10, 4)), np.ones(10))
    assert forest.feature_importances_.tolist() == [0, 0, 0, 0]


@over_forests
def test_unfitted_forest_says_so(kind):
    with pytest.raises(NotFittedError):
        kind().predict(TOY)
    with pytest.raises(NotFittedError):
        kind().feature_importances_  # noqa: B018


@over_classifiers
def test_out_of_bag_accuracy_is_close_to_that_on_unseen_rows(kind):
    X, y = make_classification(1200, 10, n_informative=5, random_state=1)
    forest = kind(n_estimators=60, bootstrap=True, oob_score=True, random_state=0)
    forest.fit(X[:600], y[:600])
    assert abs(forest.oob_score_ - forest.score(X[600:], y[600:])) < 0.06
    assert forest.oob_decision_function_.shape == (600, 2)
    chosen = forest.oob_decision_function_.argmax(axis=1)
    assert forest.oob_score_ == pytest.approx(np.mean(chosen == y[:600]))


@over_regressors
def test_out_of_bag_r2_is_close_to_that_on_unseen_rows(kind):
    X, y = DIABETES
    forest = kind(n_estimators=80, bootstrap=True, oob_score=True, random_state=0)
    forest.fit(X[::2], y[::2])
    assert abs(forest.oob_score_ - forest.score(X[1::2], y[1::2])) < 0.1
    assert forest.oob_prediction_.shape == y[::2].shape


@over_forests
def test_too_few_members_for_out_of_bag_scores_warn(kind):
    X, y = data_for(kind)
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        kind(n_estimators=1, bootstrap=True, oob_score=True, random_state=0).fit(X, y)


@over_forests
def test_out_of_bag_scores_need_bags(kind):
    with pytest.raises(ValueError, match="Out of bag estimation only available if bootstrap=True"):
        kind(oob_score=True, bootstrap=False).fit(TOY, SIDES)


# --- limits of growth -----------------------------------------------------------------------------


@over_forests
def test_depth_and_leaves_are_limited(kind):
    X, y = data_for(kind)
    for settings in (
        {"max_depth": 1},
        {"max_leaf_nodes": 4},
        {"max_depth": 2, "max_leaf_nodes": 4},
    ):
        members = kind(n_estimators=3, random_state=0, **settings).fit(X, y).estimators_
        for member in members:
            assert depth(member) <= settings.get("max_depth", np.inf)
            assert n_leaves(member) <= settings.get("max_leaf_nodes", np.inf)


@over_forests
@pytest.mark.parametrize("least", [7, 0.1])
def test_leaves_keep_enough_rows(kind, least):
    X, y = data_for(kind)
    forest = kind(n_estimators=3, min_samples_leaf=least, bootstrap=False, random_state=0)
    expected = least if isinstance(least, int) else int(np.ceil(least * len(y)))
    for leaves in forest.fit(X, y).apply(X).T:
        assert np.unique(leaves, return_counts=True)[1].min() >= expected


@over_forests
@pytest.mark.parametrize("least", [20, 0.3])
def test_small_nodes_are_not_split(kind, least):
    X, y = data_for(kind)
    forest = kind(n_estimators=3, min_samples_split=least, bootstrap=False, random_state=0)
    forest.fit(X, y)
    path, ends = forest.decision_path(X)
    expected = least if isinstance(least, int) else int(np.ceil(least * len(y)))
    for i, leaves in enumerate(forest.apply(X).T):
        passed = np.asarray(path[:, ends[i] : ends[i + 1]].sum(axis=0)).ravel()
        inner = np.setdiff1d(np.arange(len(passed)), leaves)
        assert passed[inner].min() >= expected


@over_forests
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_leaves_keep_enough_weight(kind, share):
    X, y = data_for(kind)
    weights = np.random.default_rng(0).random(len(y))
    forest = kind(n_estimators=3, min_weight_fraction_leaf=share, bootstrap=False, random_state=0)
    for leaves in forest.fit(X, y, sample_weight=weights).apply(X).T:
        by_leaf = np.bincount(leaves, weights=weights)
        assert by_leaf[by_leaf > 0].min() >= share * weights.sum() * (1 - 1e-9)


@over_forests
def test_larger_demands_on_a_split_give_smaller_members(kind):
    X, y = data_for(kind)
    sizes = [
        sum(map(n_leaves, kind(n_estimators=3, random_state=0, **settings).fit(X, y).estimators_))
        for settings in (
            {},
            {"min_impurity_decrease": 0.01 * np.var(y)},
            {"ccp_alpha": 0.2 * np.var(y)},
        )
    ]
    assert sizes[1] < sizes[0]
    assert sizes[2] < sizes[0]


# --- bags, weights --------------------------------------------------------------------------------


@over_forests
def test_max_samples_of_one_is_all_rows(kind):
    X, y = data_for(kind)
    settings = {"n_estimators": 3, "bootstrap": True, "random_state": 0}
    whole = kind(max_samples=1.0, **settings).fit(X, y).predict(X)
    assert whole.tolist() == kind(max_samples=None, **settings).fit(X, y).predict(X).tolist()
    assert whole.tolist() == kind(max_samples=len(y), **settings).fit(X, y).predict(X).tolist()


@over_forests
@pytest.mark.filterwarnings("ignore:.*max_samples")  # scikit-learn says so
def test_tiny_share_of_rows_is_one_row(kind):
    X, y = data_for(kind)
    forest = kind(n_estimators=2, bootstrap=True, max_samples=1e-4, random_state=0).fit(X, y)
    assert [n_leaves(member) for member in forest.estimators_] == [1, 1]


@over_forests
@pytest.mark.parametrize("max_samples", [0, 0.0, -1, "all"])
def test_max_samples_out_of_range_is_refused(kind, max_samples):
    with pytest.raises((ValueError, TypeError), match="max_samples"):
        kind(n_estimators=2, bootstrap=True, max_samples=max_samples).fit(TOY, SIDES)


@over_classifiers
def test_class_weight_equals_sample_weight(kind):
    X, y = IRIS
    weights = np.array([1.0, 2.0, 50.0])[y]
    settings = {"n_estimators": 5, "random_state": 0}
    by_class = kind(class_weight={0: 1, 1: 2, 2: 50}, **settings).fit(X, y)
    by_row = kind(**settings).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(by_class.feature_importances_, by_row.feature_importances_)
    both = kind(class_weight={0: 1, 1: 2, 2: 50}, **settings).fit(X, y, sample_weight=weights)
    squared = kind(**settings).fit(X, y, sample_weight=weights**2)
    np.testing.assert_allclose(both.feature_importances_, squared.feature_importances_)


@over_classifiers
def test_balanced_classes_need_no_balancing(kind):
    X, y = IRIS
    settings = {"n_estimators": 5, "bootstrap": False, "random_state": 0}
    plain = kind(**settings).fit(X, y)
    balanced = kind(class_weight="balanced", **settings).fit(X, y)
    np.testing.assert_allclose(plain.feature_importances_, balanced.feature_importances_)


@over_classifiers
@pytest.mark.parametrize("class_weight", ["balanced", "balanced_subsample", {0: 1, 1: 30}])
def test_class_weight_lifts_the_rare_class(kind, class_weight):
    X, y = make_classification(600, 5, weights=[0.95], flip_y=0.05, random_state=0)
    settings = {"n_estimators": 20, "max_depth": 3, "random_state": 0, "bootstrap": True}
    plain = kind(**settings).fit(X, y).predict_proba(X)[:, 1].mean()
    lifted = kind(class_weight=class_weight, **settings).fit(X, y).predict_proba(X)[:, 1].mean()
    assert lifted > 2 * plain


@over_classifiers
@pytest.mark.parametrize("class_weight", ["heavy", 3])
def test_unknown_class_weight_is_refused(kind, class_weight):
    with pytest.raises((ValueError, TypeError), match="class_weight"):
        kind(n_estimators=2, class_weight=class_weight).fit(TOY, SIDES)


@pytest.mark.parametrize("kind", [p for p in CLASSIFIERS + REGRESSORS if "Extra" not in p.id])
def test_members_without_chance_are_all_equal(kind):
    X, y = data_for(kind)
    X = X + 1e-6 * np.random.default_rng(0).normal(size=X.shape)  # no ties, which chance breaks
    forest = kind(n_estimators=4, bootstrap=False, max_features=None, max_depth=3, random_state=0)
    leaves = forest.fit(X, y).apply(X)
    assert (leaves == leaves[:, :1]).all()


@over_forests
def test_random_state_fixes_the_forest(kind):
    X, y = data_for(kind)

    def predict(seed):
        return kind(n_estimators=3, random_state=seed).fit(X[::2], y[::2]).predict(X)

    assert predict(1).tolist() == predict(1).tolist()
    assert predict(np.random.RandomState(1)).tolist() == predict(np.random.RandomState(1)).tolist()
    assert predict(1).tolist() != predict(2).tolist()


# --- warm start -----------------------------------------------------------------------------------


@over_forests
def test_warm_start_ends_where_one_fit_does(kind):
    X, y = data_for(kind)
    warm = kind(n_estimators=5, random_state=7, warm_start=True).fit(X, y)
    warm.set_params(n_estimators=12).fit(X, y)
    cold = kind(n_estimators=12, random_state=7).fit(X, y)
    assert len(warm.estimators_) == 12
    assert (warm.apply(X) == cold.apply(X)).all()


@over_forests
def test_warm_start_refuses_fewer_members_and_warns_of_none(kind):
    X, y = data_for(kind)
    forest = kind(n_estimators=5, random_state=0, warm_start=True).fit(X, y)
    with pytest.warns(UserWarning, match="does not fit new"):
        forest.fit(X, y)
    with pytest.raises(ValueError, match="n_estimators=4 must be larger or equal"):
        forest.set_params(n_estimators=4).fit(X, y)


@over_forests
def test_without_warm_start_a_fit_starts_anew(kind):
    X, y = data_for(kind)
    forest = kind(n_estimators=5, random_state=1, warm_start=True).fit(X, y)
    forest.set_params(warm_start=False, random_state=2).fit(X, y)
    assert (forest.apply(X) == kind(n_estimators=5, random_state=2).fit(X, y).apply(X)).all()


@over_forests
def test_warm_start_scores_all_members_out_of_bag(kind):
    X, y = data_for(kind)
    settings = {"bootstrap": True, "oob_score": True, "random_state": 3}
    cold = kind(n_estimators=40, **settings).fit(X, y)
    warm = kind(n_estimators=30, warm_start=True, **settings).fit(X, y)
    warm.set_params(n_estimators=40).fit(X, y)
    assert warm.oob_score_ == pytest.approx(cold.oob_score_)


# --- leaves and paths, input ----------------------------------------------------------------------


@over_forests
def test_decision_path_ends_in_the_leaves(kind):
    X, y = data_for(kind)
    forest = kind(n_estimators=4, max_depth=4, random_state=0).fit(X, y)
    path, ends = forest.decision_path(X)
    assert path.shape == (len(X), ends[-1])
    for i, leaves in enumerate(forest.apply(X).T):
        assert (path[np.arange(len(X)), ends[i] + leaves] == 1).all()


@over_forests
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_layout_of_the_matrix_does_not_matter(kind, dtype):
    X, y = data_for(kind)
    X = X.astype(dtype)
    forest = kind(n_estimators=3, random_state=0)
    expected = forest.fit(X, y).predict(X).tolist()
    for same in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X.tolist()):
        assert clone(forest).fit(same, y).predict(same).tolist() == expected


@over_forests
def test_one_dimensional_table_is_refused(kind):
    X, y = data_for(kind)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead"):
        kind(n_estimators=1).fit(X[:, 0], y)
    forest = kind(n_estimators=1, random_state=0).fit(X[:, [0]], y)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead"):
        forest.predict(X[:, 0])


@over_forests
def test_column_of_targets_is_read_with_a_warning(kind):
    X, y = data_for(kind)
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        kind(n_estimators=1).fit(X, y[:, None])


@over_forests
def test_missing_values_are_learnt(kind):
    X, y = data_for(kind)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    forest = kind(n_estimators=20, random_state=0).fit(X, y)
    assert np.isfinite(forest.predict(np.full_like(X, np.nan))).all()
    assert forest.score(X, y) > 0.75


@over_forests
@pytest.mark.parametrize("n_estimators", [0, -3, 1.5, "ten"])
def test_number_of_members_must_be_a_positive_int(kind, n_estimators):
    with pytest.raises(ValueError, match="n_estimators"):
        kind(n_estimators=n_estimators).fit(TOY, SIDES)


@over_forests
def test_pickle_predicts_the_same(kind):
    X, y = data_for(kind)
    forest = kind(n_estimators=5, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(forest))
    assert type(again) is type(forest)
    assert again.predict(X).tolist() == forest.predict(X).tolist()


@over_forests
def test_grid_search_tunes_a_forest(kind):
    X, y = data_for(kind)
    grid = GridSearchCV(kind(random_state=0), {"n_estimators": [1, 2], "max_depth": [1, 2]}, cv=2)
    assert grid.fit(X, y).best_params_["max_depth"] in (1, 2)


@pytest.mark.parametrize("name", ["RandomForestClassifier", "RandomForestRegressor"])
def test_parameters_and_defaults_are_those_of_scikit_learn(name):
    ours = getattr(hedgerow, name)().get_params()
    theirs = getattr(sklearn.ensemble, name)().get_params()
    shared = {key: ours[key] for key in theirs}
    assert shared == theirs


@pytest.mark.parametrize("name", ["RandomForestClassifier", "ExtraTreesRegressor"])
def test_sparse_table_is_read_as_the_dense_one(name):
    kind = getattr(hedgerow, name)
    dense, compressed = np.array(TOY, dtype=float), csr_matrix(TOY)
    expected = kind(n_estimators=3, random_state=0).fit(dense, SIDES).predict(dense)
    forest = kind(n_estimators=3, random_state=0).fit(compressed, SIDES)
    assert (forest.predict(compressed) == expected).all()
