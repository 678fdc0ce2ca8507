"""Bad input is refused with the words of docs/errors.md, or works as it says there."""

import datetime
import pickle
import re
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import hedgerow
from hedgerow import (
    AdaBoostClassifier,
    BaggingClassifier,
    CascadeForestClassifier,
    Dataset,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    HeterogeneousForestClassifier,
    MeanMarginTreeRegressor,
    MultiGrainedScanner,
    NaiveDecisionGraphClassifier,
    RandomForestClassifier,
    TAOTreeClassifier,
    TreeEmbeddingClassifier,
    TreeInTreeClassifier,
)
from hedgerow._engine import DecisionGraph
from hedgerow._graph_model import GraphClassifier
from hedgerow.graph import fine_tune

GUIDE = Path(__file__).parents[1] / "docs" / "errors.md"
REFUSED = {
    case: (error, message)
    for case, error, message in re.findall(
        r"^\| ([\w-]+) \| .* \| `{1,2}(\w+): (.*?)`{1,2}(?: …)? \|$",
        GUIDE.read_text(),
        re.MULTILINE,
    )
}
_, WORKS_TABLE = GUIDE.read_text().split("## Works")
WORKS = set(re.findall(r"^\| ([\w-]+) \|", WORKS_TABLE, re.MULTILINE)) - {"case", "---"}

X = np.random.default_rng(0).random((30, 3))
Y = (X[:, 0] > 0.5).astype(int)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


def batches_that_grow():
    rows = iter((1, 2))

    def read():
        n = next(rows)
        return [(X[:n], Y[:n])]

    return Dataset.from_batches(read)


def classify(X=X, y=Y, sample_weight=None, **parameters):
    return DecisionTreeClassifier(**parameters).fit(X, y, sample_weight)


def regress(X=X, y=X[:, 0], **parameters):
    return DecisionTreeRegressor(**parameters).fit(X, y)


def embedding(**parameters):
    return TreeEmbeddingClassifier(**parameters).fit(X, Y)


def forest(X=X, y=Y, **parameters):
    return RandomForestClassifier(**{"n_estimators": 3, **parameters}).fit(X, y)


def bag(estimator=None, X=X, **parameters):
    return BaggingClassifier(estimator, 3, **parameters).fit(X, Y)


def mixed(candidates=None, **parameters):
    return HeterogeneousForestClassifier(candidates, 3, **parameters).fit(X, Y)


class FittedWhole(GraphClassifier):
    """A tree that cannot grow on rows of a table read before."""


def boost(estimator=None, X=X, y=Y):
    return AdaBoostClassifier(estimator).fit(X, y)


def tnt(X=X, y=Y, **parameters):
    return TreeInTreeClassifier(**parameters).fit(X, y)


def tao(**parameters):
    return TAOTreeClassifier(**parameters).fit(X, Y)


def cascade(X=X, y=Y, **parameters):
    small = {"preset": "light", "n_trees": 3}
    return CascadeForestClassifier(**small | parameters).fit(X, y)


def cascades_in_one_folder(*tables):
    with tempfile.TemporaryDirectory() as folder:
        for table in tables:
            cascade(table, checkpoint=folder)


def changed(array, place, value):
    array = np.array(array, dtype=float)
    array[place] = value
    return array


def column(values):
    return pd.DataFrame({"a": values})


class Tampered:
    """Pickles as a graph whose columns were changed."""

    def __init__(self, **changes):
        self.state = classify().graph_.arrays() | changes
        self.state = {name: value for name, value in self.state.items() if value is not None}

    def __reduce__(self):
        return DecisionGraph.__new__, (DecisionGraph,), self.state


def unpickle(**changes):
    """A graph of a test and two leaves, changed: both ways into the engine say the same."""
    tampered = Tampered(**changes)
    with pytest.raises(ValueError) as error:
        DecisionGraph.from_arrays(tampered.state)
    with pytest.raises(ValueError, match=re.escape(str(error.value))):
        pickle.loads(pickle.dumps(tampered))
    raise error.value


def numbers(*values, dtype=np.int32):
    return np.array(values, dtype=dtype)


DAYS = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]

REFUSALS = {
    "nan-in-y": lambda: regress(y=changed(Y, 0, np.nan)),
    "nan-in-classes": lambda: classify(y=changed(Y, 0, np.nan)),
    "inf-in-y": lambda: regress(y=changed(Y, 0, np.inf)),
    "huge-y": lambda: regress(y=changed(Y.astype(float), 0, 1e300)),
    "no-y": lambda: classify(y=None),
    "numbers-as-classes": lambda: classify(y=X[:, 0]),
    "words-as-numbers": lambda: regress(y=["low"] * 30),
    "compress-without-limit": lambda: hedgerow.compress(classify(), X, Y),
    "compress-too-small": lambda: hedgerow.compress(classify(), X, Y, max_bytes=3),
    "compress-no-model": lambda: hedgerow.compress(3, X, Y, max_splits=2),
    "compress-other-classes": lambda: hedgerow.compress(classify(), X, Y * 7, max_splits=2),
    "several-outputs": lambda: TAOTreeClassifier().fit(X, np.c_[Y, Y]),
    "negative-counts": lambda: regress(y=changed(Y, 0, -1), criterion="poisson"),
    "inf-in-x": lambda: classify(changed(X, (0, 0), np.inf)),
    "inf-in-frame": lambda: classify(FRAME.assign(a=np.inf)),
    "inf-in-x-at-predict": lambda: classify().predict(changed(X, (0, 0), -np.inf)),
    "zero-rows": lambda: classify(X[:0], Y[:0]),
    "zero-rows-frame": lambda: classify(FRAME[:0], Y[:0]),
    "zero-columns": lambda: classify(X[:3, :0], Y[:3]),
    "zero-columns-frame": lambda: classify(FRAME[[]], Y),
    "one-dimension": lambda: classify(X[:, 0]),
    "mismatched-lengths": lambda: classify(y=Y[1:]),
    "words-in-array": lambda: classify([["red"], ["blue"]], [0, 1]),
    "dicts-in-array": lambda: classify(np.array([[{}], [{}]]), [0, 1]),
    "times-in-array": lambda: classify(np.array([DAYS], dtype="datetime64[D]").T, [0, 1]),
    "dicts-in-frame": lambda: classify(column([{}, {}]), [0, 1]),
    "dates-as-categories": lambda: classify(column(DAYS), [0, 1]),
    "dates-for-numbers": lambda: classify(column([1.0, 2.0]), [0, 1]).predict(
        pl.DataFrame({"a": DAYS})
    ),
    "xarray": lambda: classify(type("DataArray", (), {"__module__": "xarray.core"})()),
    "lists-in-frame": lambda: classify(pl.DataFrame({"a": [[1], [2]]}), [0, 1]),
    "complex-numbers": lambda: classify(X + 1j),
    "sparse-matrix": lambda: classify(sparse.csr_array(X), categorical_features=[0]),
    "sparse-matrix-infinity": lambda: classify(sparse.csr_array(changed(X, (0, 0), np.inf))),
    "sparse-matrix-too-large": lambda: MeanMarginTreeRegressor().fit(
        sparse.csr_array((1 << 10, 1 << 18)), np.arange(1 << 10)
    ),
    "too-many-categories": lambda: classify(
        column([f"id{i}" for i in range(65536)]), np.arange(65536) % 2
    ),
    "zero-weights": lambda: classify(sample_weight=np.zeros(30)),
    "negative-weight": lambda: classify(sample_weight=changed(np.ones(30), 3, -1)),
    "nan-weight": lambda: classify(sample_weight=changed(np.ones(30), 3, np.nan)),
    "huge-weight": lambda: classify(sample_weight=changed(np.ones(30), 3, 1e300)),
    "too-few-weights": lambda: classify(sample_weight=np.ones(29)),
    "negative-class-weight": lambda: classify(class_weight={0: -1, 1: 2}),
    "class-without-weight": lambda: classify(class_weight={"red": 2}),
    "not-fitted": lambda: DecisionTreeClassifier().predict(X),
    "fewer-features": lambda: classify().predict(X[:, :2]),
    "other-names": lambda: classify(FRAME).predict(FRAME.rename(columns={"a": "d"})),
    "other-order": lambda: classify(FRAME).predict(FRAME[["b", "a", "c"]]),
    "short-row": lambda: classify().row_predictor()(X[0, :2]),
    "criterion": lambda: classify(criterion="mse"),
    "criterion-quantile": lambda: regress(criterion="quantile"),
    "quantile": lambda: regress(criterion="quantile", quantile=50),
    "splitter": lambda: classify(splitter="worst"),
    "max_depth": lambda: classify(max_depth=-3),
    "max_depth-bool": lambda: classify(max_depth=True),
    "max_depth-float": lambda: classify(max_depth=2.5),
    "min_samples_split": lambda: classify(min_samples_split=1),
    "min_samples_leaf": lambda: classify(min_samples_leaf=1.5),
    "min_weight_fraction_leaf": lambda: classify(min_weight_fraction_leaf=0.6),
    "max_features": lambda: classify(max_features="all"),
    "random_state": lambda: classify(random_state="seed"),
    "max_leaf_nodes": lambda: classify(max_leaf_nodes=1),
    "min_impurity_decrease": lambda: classify(min_impurity_decrease=np.nan),
    "class_weight": lambda: classify(class_weight="even"),
    "ccp_alpha-huge": lambda: classify(ccp_alpha=10**400),
    "ccp_alpha": lambda: classify(ccp_alpha=-1),
    "monotonic_cst": lambda: classify(monotonic_cst=[1, 0, 2]),
    "monotonic_cst-length": lambda: classify(monotonic_cst=[1, 0]),
    "monotonic_cst-name": lambda: classify(monotonic_cst={"d": 1}),
    "monotonic_cst-classes": lambda: classify(y=np.arange(30) % 3, monotonic_cst=[1, 0, 0]),
    "monotonic_cst-category": lambda: regress(monotonic_cst=[1, 0, 0], categorical_features=[0]),
    "merge_siblings": lambda: classify(merge_siblings="yes"),
    "max_bins": lambda: classify(max_bins=10**18),
    "categorical_features": lambda: classify(categorical_features=[7]),
    "categorical_features-name": lambda: classify(categorical_features=["colour"]),
    "n_jobs": lambda: classify(n_jobs=0),
    "n_estimators": lambda: forest(n_estimators=0),
    "max_samples": lambda: forest(max_samples=1.5),
    "more-features-than-columns": lambda: bag(max_features=4),
    "oob-without-bags": lambda: forest(oob_score=True, bootstrap=False),
    "other-table-in-warm-start": lambda: (
        forest(warm_start=True).set_params(n_estimators=9).fit(X[:, :2], Y)
    ),
    "too-large-a-subset": lambda: forest().subset(4),
    "activation": lambda: embedding(activation="tanh"),
    "vote-of-one-tree": lambda: embedding(n_estimators=1, activation="vote"),
    "head": lambda: embedding(head="svm"),
    "impute": lambda: embedding(impute="median"),
    "n_components": lambda: embedding(n_components=0),
    "bandwidth": lambda: embedding(bandwidth=0),
    "penalty": lambda: embedding(penalty=0),
    "no-estimator": lambda: bag(LogisticRegression),
    "other-kind-of-estimator": lambda: bag(DecisionTreeRegressor()),
    "member-fails": lambda: bag(LogisticRegression(), changed(X, (0, 0), np.nan)),
    "candidates": lambda: mixed("best"),
    "candidates-kind": lambda: mixed([("forest", RandomForestClassifier())]),
    "candidates-fail": lambda: mixed([("deep", DecisionTreeClassifier(max_depth=-3))]),
    "contest-of-one-row": lambda: HeterogeneousForestClassifier().fit(X[:1], Y[:1]),
    "folds": lambda: mixed(cv=1),
    "member-without-weights": lambda: boost(KNeighborsClassifier()),
    "no-better-than-chance": lambda: boost(X=np.zeros((4, 1)), y=[0, 1, 0, 1]),
    "max_passes": lambda: tao(max_passes=-1),
    "init": lambda: tao(init=DecisionTreeRegressor()),
    "init-features": lambda: tao(init=classify(FRAME)),
    "init-classes": lambda: tao(init=classify(y=Y + 1)),
    "naive-C": lambda: NaiveDecisionGraphClassifier(C=-1).fit(X, Y),
    "naive-max_splits": lambda: NaiveDecisionGraphClassifier(max_splits=0).fit(X, Y),
    "tnt-max_splits": lambda: tnt(max_splits=0),
    "tnt-micro_trees": lambda: tnt(micro_trees="random"),
    "tnt-init": lambda: tnt(init="tree"),
    "tnt-init-features": lambda: tnt(init=classify(X[:, :2])),
    "tnt-init-names": lambda: tnt(init=classify(FRAME)),
    "tnt-one-row": lambda: tnt(X[:1], Y[:1], early_stopping=True),
    "tune-no-graph": lambda: fine_tune(forest(), X, Y),
    "tune-not-fitted": lambda: fine_tune(DecisionTreeClassifier(), X, Y),
    "tune-features": lambda: fine_tune(classify(), X[:, :2], Y),
    "tune-classes": lambda: fine_tune(classify(), X, np.full(30, 7)),
    "tune-outputs": lambda: fine_tune(MeanMarginTreeRegressor().fit(X, X[:, :2]), X, Y),
    "init-unfitted": lambda: tao(init=FittedWhole()),
    "preset": lambda: cascade(preset="deep"),
    "n_trees": lambda: cascade(n_trees=0),
    "class_vectors": lambda: cascade(class_vectors="in_bag"),
    "validation_fraction": lambda: cascade(validation_fraction=1.0),
    "screening": lambda: cascade(screening=2),
    "storage": lambda: cascade(storage="tape"),
    "no-members": lambda: cascade(estimators=[]),
    "other-kind-of-member": lambda: cascade(estimators=[DecisionTreeRegressor()]),
    "too-many-layers": lambda: cascade().subset(9),
    "cascade-of-one-row": lambda: cascade(X[:1], Y[:1]),
    "other-checkpoint": lambda: cascades_in_one_folder(X, X * 2),
    "shape": lambda: MultiGrainedScanner((2, 2)).fit(X, Y),
    "windows": lambda: MultiGrainedScanner(windows=[4]).fit(X, Y),
    "graph-cycle": lambda: unpickle(
        kind=numbers(1, 1, 0, dtype=np.uint8),
        feature=numbers(0, 0, -1),
        left=numbers(1, 1, -1),
        right=numbers(2, 2, -1),
    ),
    "graph-root": lambda: unpickle(left=numbers(0, -1, -1)),
    "graph-child": lambda: unpickle(left=numbers(3, -1, -1)),
    "graph-feature": lambda: unpickle(feature=numbers(3, -1, -1)),
    "graph-kind": lambda: unpickle(kind=numbers(4, 0, 0, dtype=np.uint8)),
    "graph-lengths": lambda: unpickle(right=numbers(2, -1)),
    "graph-threshold": lambda: unpickle(threshold=np.full(3, np.nan)),
    "graph-weight": lambda: unpickle(weight=np.full(3, np.nan)),
    "graph-number": lambda: unpickle(n_features=-1),
    "graph-value": lambda: unpickle(value=np.full(6, np.inf)),
    "graph-type": lambda: unpickle(left=np.array(["1", "2", "3"])),
    "graph-column": lambda: unpickle(left=None),
    "graph-format": lambda: unpickle(format=99),
    "compare-missing-target": lambda: hedgerow.compare(X, changed(Y, 0, np.nan)),
    "compare-budget": lambda: hedgerow.compare(X, Y, budget="soon"),
    "compare-cv": lambda: hedgerow.compare(X, Y, cv=1),
    "compare-unknown-model": lambda: hedgerow.compare(X, Y, models=["Elm"]),
    "compare-bad-table": lambda: hedgerow.compare(
        changed(X, slice(None), np.inf), Y, models=["hedgerow DecisionTree"]
    ),
    "within-no-limit": lambda: hedgerow.fit_within(X, Y),
    "within-impossible": lambda: hedgerow.fit_within(
        X, Y, max_bytes=1, models=["hedgerow DecisionTree"]
    ),
    "batches-once": lambda: Dataset.from_batches((X, Y) for _ in range(2)),
    "batches-target": lambda: Dataset.from_batches([FRAME]),
    "batches-columns": lambda: Dataset.from_batches([(X, Y), (X[:, :2], Y)]),
    "batches-no-rows": lambda: Dataset.from_batches([]),
    "batches-changed": lambda: batches_that_grow(),
    "batches-max_bins": lambda: classify(Dataset.from_batches([(X, Y)], max_bins=4), None),
    "batches-classes": lambda: regress(Dataset.from_batches([(X, np.full(30, "a"))]), None),
    "batches-file": lambda: Dataset.open(GUIDE),
    "save-unfitted": lambda: hedgerow.save(DecisionTreeClassifier(), "nowhere.hedgerow"),
    "save-function": lambda: hedgerow.save(forest(callback=print), "nowhere.hedgerow"),
    "load-nothing": lambda: hedgerow.load("nowhere.hedgerow"),
    "load-other-file": lambda: hedgerow.load(GUIDE),
}


def test_guide_and_tests_have_the_same_cases():
    assert set(REFUSED) == set(REFUSALS)
    assert {f"test_{case.replace('-', '_')}_works" for case in WORKS} == {
        name for name in globals() if name.endswith("_works")
    }


@pytest.mark.parametrize("case", REFUSALS)
def test_refused_with_the_words_of_the_guide(case):
    error, message = REFUSED[case]
    with pytest.raises(Exception) as caught:
        REFUSALS[case]()
    assert type(caught.value).__name__ == error
    assert message in str(caught.value)


PARAMETERS = sorted(DecisionTreeClassifier().get_params() | DecisionTreeRegressor().get_params())
ODD_VALUES = [None, True, "x", b"x", -1, 0, 1.5, -0.5, np.nan, -np.inf, np.bool_(True), 1j, [1.5]]
ODD_VALUES += [{}, set(), object, np.array([0.5, 2]), -(10**18)]


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_is_refused_by_name(name):
    assert name in REFUSED
    fit = classify if name in DecisionTreeClassifier().get_params() else regress
    for value in ODD_VALUES:
        try:
            assert fit(**{name: value}).n_splits_ >= 0
        except (ValueError, NotImplementedError) as error:
            # scikit-learn's own words for seeds do not name the parameter.
            assert name in str(error) or name == "random_state"


def test_one_class_works():
    tree = classify(y=["yes"] * 30)
    assert tree.get_n_leaves() == 1
    assert set(tree.predict(X)) == {"yes"}
    assert_array_equal(tree.predict_proba(X), np.ones((30, 1)))


def test_constant_features_works():
    assert_array_equal(
        classify(np.ones((4, 2)), [0, 1, 1, 1]).predict_proba([[1, 1]]), [[0.25, 0.75]]
    )
    assert regress(np.ones((4, 2)), [0, 1, 1, 1]).predict([[5, 5]]) == [0.75]


def test_one_row_works():
    assert classify(X[:1], [7]).predict(X[:1]) == [7]
    assert regress(X[:1], [7.5]).predict(X[:1]) == [7.5]


def test_missing_everywhere_works():
    X_missing = np.c_[np.full(30, np.nan), X]
    assert 0 not in classify(X_missing).graph_.feature
    assert_array_equal(classify(X_missing).predict(X_missing), Y)


def test_unseen_category_works():
    words = column(["red", "red", "blue", "blue", "grey", None])
    for grey in 0, 1:
        tree = classify(words, [0, 0, 1, 1, 1, grey])
        unseen, missing = tree.predict(column(["green", None]))
        assert unseen == missing == grey


def test_missing_at_predict_works():
    tree = classify([[1.0], [2.0], [3.0]], [0, 1, 1])
    assert tree.predict([[np.nan]]) == [1]


def test_array_after_frame_works():
    tree = classify(FRAME)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert_array_equal(tree.predict(X), Y)


def test_zero_weight_rows_works():
    weight = np.arange(30) % 2
    odd = classify(X[1::2], Y[1::2]).graph_
    assert_array_equal(classify(sample_weight=weight).graph_.threshold, odd.threshold)


def test_one_weight_works():
    assert classify(sample_weight=2.0).graph_.weight[0] == 60


def test_read_only_works():
    X_frozen, y_frozen, weight = X.copy(), Y.copy(), np.ones(30)
    for array in X_frozen, y_frozen, weight:
        array.setflags(write=False)
    tree = classify(X_frozen, y_frozen, weight, class_weight="balanced")
    assert_array_equal(tree.predict(X_frozen), Y)
    assert_array_equal(X_frozen, X)


def test_non_contiguous_works():
    spread = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    for same in np.asfortranarray(X), spread, np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]:
        tree = classify(same, np.repeat(Y, 2)[::2])
        assert_array_equal(tree.graph_.threshold, classify().graph_.threshold)
        assert_array_equal(tree.predict(same), Y)


def test_other_number_types_works():
    for dtype in [np.int8, np.uint64, bool, np.float16, np.longdouble, ">f8", ">i4"]:
        X_other = np.round(X * 100).astype(dtype)
        assert classify(X_other).predict(X_other).shape == (30,)


def test_numbers_as_objects_works():
    for other in X.astype(object), X.astype(str):
        assert_array_equal(classify(other).predict(other), Y)


@pytest.mark.parametrize("huge", [10**18, 10**400, np.uint64(2**64 - 1)])
@pytest.mark.parametrize("name", ["max_depth", "max_leaf_nodes", "max_features"])
def test_gigantic_limits_works(name, huge):
    noise = np.random.default_rng(1).integers(0, 2, 30)
    assert_array_equal(classify(y=noise, **{name: huge}).predict(X), noise)


def test_gigantic_minimums_works():
    for huge in 10**18, 10**400:
        assert classify(min_samples_split=huge).n_splits_ == 0
        assert classify(min_samples_leaf=huge).n_splits_ == 0
    assert classify(min_impurity_decrease=1e300).n_splits_ == 0
    assert classify(ccp_alpha=1e300).n_splits_ == 0


def test_too_few_members_for_oob_works():
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        few = forest(n_estimators=1, oob_score=True)
    assert np.isnan(few.oob_decision_function_).any()
    assert 0 <= few.oob_score_ <= 1


def test_extreme_numbers_works():
    values = np.array([-1.79e308, -5e-324, 0.0, 5e-324, 1.0, np.nextafter(1, 2), 1.7e308])
    X_extreme = values[:, None]
    for splitter in "best", "random":
        tree = classify(X_extreme, np.arange(7), splitter=splitter)
        assert_array_equal(tree.predict(X_extreme), np.arange(7))
