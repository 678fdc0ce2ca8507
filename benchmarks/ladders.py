"""Contenders of `sizes.py`: every one fills a limit of splits or bytes from a ladder of settings.

One ruler for all. Splits are the tests of all trees; a node that several ways lead to counts once.
Bytes are 16 for a node, leaves among them, and 8 more for every value of a leaf that holds several
(class scores of more than two classes). An oblivious tree of depth d is the tree that it is, with
2^d - 1 splits. A term of an additive model is the tree that reads it: a split between two
neighbouring bins of different score.
"""

import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

import hedgerow

NODE_BYTES, VALUE_BYTES = 16, 8
SMOOTHING = 10  # rows of the overall mean that a category's mean is mixed with


def count_bytes(n_splits, n_leaves, n_values=1):
    """Bytes of a model by the ruler."""
    return NODE_BYTES * (n_splits + n_leaves) + (
        VALUE_BYTES * n_values * n_leaves if n_values > 1 else 0
    )


def most_splits(limit, n_values=1):
    """Splits of the largest tree within a limit."""
    unit, amount = limit
    if unit == "splits":
        return amount
    one_leaf = count_bytes(0, 1, n_values)
    return max(0, (amount - one_leaf) // (NODE_BYTES + one_leaf))


def keeps(limit, n_splits, n_bytes):
    """Whether sizes, numbers or arrays, are within a limit."""
    unit, amount = limit
    return (n_splits if unit == "splits" else n_bytes) <= amount


@dataclass
class Stage:
    """A fitted model within a limit: its sizes and a function from rows to predictions."""

    n_splits: int
    n_bytes: int
    predict: object


@dataclass
class Rows:
    """Rows of a set: frame, target (classes are whole numbers), and the forms libraries take."""

    frame: pd.DataFrame
    y: np.ndarray
    n_classes: int  # 0 for regression
    forms: dict = field(default_factory=dict, repr=False)

    def take(self, places):
        """Some of the rows."""
        frame = self.frame.iloc[places].reset_index(drop=True)
        return Rows(frame, self.y[places], self.n_classes)

    @property
    def n_values(self):
        """Values of a leaf that speaks for all classes: one for two classes and for numbers."""
        return max(1, self.n_classes) if self.n_classes != 2 else 1

    @property
    def categorical(self):
        """Places of the columns of categories."""
        return [i for i, kind in enumerate(self.frame.dtypes) if kind == "category"]

    @property
    def codes(self):
        """A float matrix; categories are their numbers, missing values NaN."""
        if "codes" not in self.forms:
            columns = [
                self.frame[c].cat.codes.where(self.frame[c].notna(), np.nan)
                if self.frame[c].dtype == "category"
                else self.frame[c]
                for c in self.frame
            ]
            self.forms["codes"] = np.column_stack([c.to_numpy("float64") for c in columns])
        return self.forms["codes"]

    def ordered(self, train):
        """A float matrix without gaps; categories are the smoothed target means of `train`."""
        if id(train) not in self.forms:
            X = self.codes.copy()
            for i in self.categorical:
                means = train.means(i)
                X[:, i] = means[np.where(np.isnan(X[:, i]), -1, X[:, i]).astype(int)]
            gaps = np.nan_to_num(np.nanmedian(train.codes, axis=0))
            self.forms[id(train)] = np.where(np.isnan(X), gaps, X), train  # keeps the id alive
        return self.forms[id(train)][0]

    def means(self, i):
        """Smoothed means of the target over the categories of a column; the last: missing."""
        if ("means", i) not in self.forms:
            n = len(self.frame.iloc[:, i].cat.categories)
            code = np.where(np.isnan(self.codes[:, i]), n, self.codes[:, i]).astype(int)
            count = np.bincount(code, minlength=n + 1)
            total = np.bincount(code, self.y, minlength=n + 1)
            overall = self.y.mean()
            self.forms["means", i] = (total + SMOOTHING * overall) / (count + SMOOTHING)
        return self.forms["means", i]


def decide(raw, n_classes):
    """Predictions from raw scores: numbers, the sign of two classes, or the largest of several."""
    if n_classes == 0:
        return raw
    return (raw > 0).astype(int) if n_classes == 2 else np.argmax(raw, axis=1)


# --- one tree or graph: a fit for every limit ---------------------------------------------------


class Single:
    """A tree or graph of hedgerow's that takes the number of its splits."""

    ours = True

    def __init__(self, name, stem, size, settings, most=None):
        self.name, self.stem, self.size, self.ladder = name, stem, size, settings
        self.most = most or np.inf

    def settings(self, rows):
        return self.ladder

    def fit(self, setting, rows, limits):
        ending = "Classifier" if rows.n_classes else "Regressor"
        maker = getattr(hedgerow, self.stem + ending)
        stages, known = {}, {}
        for limit in limits:
            n = most_splits(limit, rows.n_values)
            if not 1 <= n <= self.most:
                continue
            if n not in known:
                model = maker(n_jobs=1, **self.size(n), **setting).fit(rows.frame, rows.y)
                graph = model.graph_
                n_bytes = count_bytes(graph.n_splits, graph.n_leaves, rows.n_values)
                known[n] = Stage(
                    graph.n_splits, n_bytes, lambda other, model=model: model.predict(other.frame)
                )
            stages[limit] = known[n]
        return stages


# --- sums of few trees: a fit for every limit ---------------------------------------------------


class TreeSum:
    """Sums of few trees that grow together; bytes depend on the number of members as well."""

    ours = True
    is_trusted = True  # taken, at the limit, unless another is clearly better on held-out rows

    def __init__(self, name, fills=False):
        self.name, self.fills = name, fills

    def settings(self, rows):
        return [{}]

    def fit(self, setting, rows, limits):
        maker = hedgerow.TreeSumClassifier if rows.n_classes else hedgerow.TreeSumRegressor
        known = {}

        def stage(n):
            if n not in known:
                model = maker(max_splits=n, n_jobs=1, **setting).fit(rows.frame, rows.y)
                n_splits = sum(graph.n_splits for graph in model.graphs_)
                n_leaves = sum(graph.n_leaves for graph in model.graphs_)
                n_bytes = count_bytes(n_splits, n_leaves, rows.n_values)
                known[n] = Stage(n_splits, n_bytes, lambda other: model.predict(other.frame))
            return known[n]

        stages, members = {}, 0.0  # members there are for each split
        a_split, a_member = (count_bytes(1, 1, rows.n_values), count_bytes(0, 1, rows.n_values))
        for limit in sorted(limits, key=lambda limit: (limit[0] == "bytes", limit[1])):
            n = most_splits(limit, rows.n_values)
            if limit[0] == "bytes":
                n = min(n, int(limit[1] / (a_split + members * a_member)))
            while n >= 1 and limit not in stages:
                found = stage(n)
                if keeps(limit, found.n_splits, found.n_bytes):
                    stages[limit] = found
                    used = found.n_bytes - found.n_splits * a_split
                    members = used / a_member / max(1, found.n_splits)
                else:  # as many splits as have room beside the members that there are now
                    n -= max(1, -(-(found.n_bytes - limit[1]) // a_split))
        return stages


# --- boosters: one fit, read at the rounds that fill the limits ---------------------------------

# Leaves of a tree and the step of a round; few rounds of small steps would stay unfinished.
SHAPES = (
    (2, 0.3), (2, 1.0), (4, 0.3), (4, 0.6), (4, 1.0), (6, 0.2), (6, 1.0), (8, 0.6), (16, 0.3),
    (16, 0.6), (32, 0.3),
)  # fmt: skip


class Booster:
    """Sums of trees, grown a round at a time; the first rounds are a smaller model."""

    ours = False

    shapes = SHAPES

    def settings(self, rows):
        return [{"leaves": leaves, "step": step} for leaves, step in self.shapes]

    def trees_a_round(self, rows):
        return rows.n_values

    def fit(self, setting, rows, limits):
        most = max(most_splits(limit) for limit in limits)
        trees = self.trees_a_round(rows)
        n_rounds = max(1, most // ((setting["leaves"] - 1) * trees))
        booster = self.train(setting, rows, n_rounds)
        leaves = self.count_leaves(booster).reshape(-1, trees).sum(axis=1)
        n_splits = np.cumsum(leaves - trees)
        n_bytes = np.cumsum(count_bytes(leaves - trees, leaves, rows.n_values if trees == 1 else 1))
        stages = {}
        for limit in limits:
            n = int(np.count_nonzero(keeps(limit, n_splits, n_bytes)))
            if n:
                stages[limit] = Stage(
                    int(n_splits[n - 1]), int(n_bytes[n - 1]),
                    lambda other, n=n: decide(self.raw(booster, other, n, rows), rows.n_classes),
                )  # fmt: skip
        return stages


class GradientBoosting(Booster):
    name, ours = "GradientBoosting", True

    def train(self, setting, rows, n_rounds):
        ending = "Classifier" if rows.n_classes else "Regressor"
        model = getattr(hedgerow, "GradientBoosting" + ending)(
            max_iter=n_rounds, max_leaf_nodes=setting["leaves"], learning_rate=setting["step"],
            early_stopping=False, n_jobs=1,
        )  # fmt: skip
        return model.fit(rows.frame, rows.y)

    def count_leaves(self, booster):
        return np.array([graph.n_leaves for graph in booster.graphs_])

    def raw(self, booster, rows, n, train):
        key = ("staged", id(booster))
        if key not in rows.forms:
            name = "staged_decision_function" if rows.n_classes else "staged_predict"
            rows.forms[key] = list(getattr(booster, name)(rows.frame)), booster
        return rows.forms[key][0][n - 1]


class LightGBM(Booster):
    name = "LightGBM"

    def train(self, setting, rows, n_rounds):
        import lightgbm

        params = {
            "objective": {0: "regression", 2: "binary"}.get(rows.n_classes, "multiclass"),
            "num_leaves": setting["leaves"], "learning_rate": setting["step"], "verbose": -1,
            "num_threads": 1, "seed": 0, "deterministic": True,
            **({"num_class": rows.n_classes} if rows.n_classes > 2 else {}),
        }  # fmt: skip
        if "lightgbm" not in rows.forms:
            rows.forms["lightgbm"] = lightgbm.Dataset(
                rows.codes, rows.y, categorical_feature=rows.categorical,
                params={"verbose": -1, "num_threads": 1}, free_raw_data=False,
            )  # fmt: skip
        return lightgbm.train(params, rows.forms["lightgbm"], n_rounds)

    def count_leaves(self, booster):
        return np.array(re.findall(r"^num_leaves=(\d+)", booster.model_to_string(), re.M), int)

    def raw(self, booster, rows, n, train):
        return booster.predict(rows.codes, num_iteration=n, raw_score=True, num_threads=1)


class XGBoost(Booster):
    name = "XGBoost"

    def train(self, setting, rows, n_rounds):
        import xgboost

        params = {
            "objective": {0: "reg:squarederror", 2: "binary:logitraw"}.get(
                rows.n_classes, "multi:softprob"
            ),
            "grow_policy": "lossguide", "max_leaves": setting["leaves"], "max_depth": 0,
            "eta": setting["step"], "nthread": 1, "tree_method": "hist", "verbosity": 0,
            **({"num_class": rows.n_classes} if rows.n_classes > 2 else {}),
        }  # fmt: skip
        return xgboost.train(params, self.matrix(rows), n_rounds)

    def matrix(self, rows):
        import xgboost

        if "xgboost" not in rows.forms:
            kinds = ["c" if i in rows.categorical else "q" for i in range(rows.codes.shape[1])]
            rows.forms["xgboost"] = xgboost.DMatrix(
                rows.codes, rows.y, feature_types=kinds, enable_categorical=True, nthread=1
            )
        return rows.forms["xgboost"]

    def count_leaves(self, booster):
        return np.array([tree.count("leaf=") for tree in booster.get_dump()])

    def raw(self, booster, rows, n, train):
        return booster.predict(self.matrix(rows), iteration_range=(0, n), output_margin=True)


class CatBoost(Booster):
    """Oblivious trees on categories ordered by target means: its own tables of means are large."""

    name = "CatBoost"
    shapes = (
        (2, 0.3), (2, 1.0), (4, 0.3), (4, 0.6), (4, 1.0), (8, 0.3), (8, 0.6), (8, 1.0), (16, 0.3),
        (16, 0.6), (32, 0.3),
    )  # fmt: skip

    def trees_a_round(self, rows):
        return 1

    def train(self, setting, rows, n_rounds):
        import catboost

        loss = {0: "RMSE", 2: "Logloss"}.get(rows.n_classes, "MultiClass")
        if "catboost" not in rows.forms:
            pool = catboost.Pool(rows.ordered(rows), rows.y)
            pool.quantize(border_count=254)
            rows.forms["catboost"] = pool
        model = catboost.CatBoost(
            {"loss_function": loss, "depth": int(np.log2(setting["leaves"])), "verbose": 0,
             "learning_rate": setting["step"], "iterations": n_rounds, "thread_count": 1,
             "random_seed": 0, "allow_writing_files": False, "boosting_type": "Plain"}
        )  # fmt: skip
        return model.fit(rows.forms["catboost"])

    def count_leaves(self, booster):
        return np.asarray(booster.get_tree_leaf_counts(), int)

    def raw(self, booster, rows, n, train):
        return booster.predict(rows.ordered(train), ntree_end=n, thread_count=1)


# --- FIGS ---------------------------------------------------------------------------------------


class Figs:
    """Greedy sums of trees of imodels; one greedy run, copied at every size on its way."""

    name, ours = "FIGS", False
    most, most_of_many, many = 40, 20, 20_000  # splits; a run takes the square of them

    def settings(self, rows):
        return [{}]

    def fit(self, setting, rows, limits):
        from imodels import FIGSClassifier, FIGSRegressor

        copies = []

        class Copied(FIGSClassifier if rows.n_classes else FIGSRegressor):
            def _fit_candidate_stumps(self, *given):
                copies.append([flatten(tree) for tree in self.trees_])
                return super()._fit_candidate_stumps(*given)

        most = self.most if len(rows.y) < self.many else self.most_of_many
        limits = [limit for limit in limits if most_splits(limit, rows.n_values) <= most]
        if not limits:
            return {}
        most = max(most_splits(limit) for limit in limits)
        Copied(max_rules=most, random_state=0).fit(rows.ordered(rows), rows.y)
        n_splits = np.arange(1, len(copies) + 1)
        n_bytes = np.array([count_bytes(n, n + len(t), rows.n_values) for n, t in
                            zip(n_splits, copies, strict=True)])  # fmt: skip
        stages = {}
        for limit in limits:
            n = int(np.count_nonzero(keeps(limit, n_splits, n_bytes)))
            if n:
                stages[limit] = Stage(
                    n, int(n_bytes[n - 1]),
                    lambda other, n=n: self.predict(copies[n - 1], other, rows),
                )  # fmt: skip
        return stages

    def predict(self, trees, rows, train):
        X = rows.ordered(train)
        total = sum(read_flat(tree, X) for tree in trees)
        return np.argmax(total, axis=1) if train.n_classes else total[:, 0]


def flatten(root):
    """A tree of FIGS as arrays: feature (-1 in a leaf), threshold, left, right, value."""
    nodes = []

    def add(node):
        place = len(nodes)
        nodes.append(None)
        if node.left is None:
            nodes[place] = (-1, 0.0, 0, 0, np.ravel(node.value))
        else:
            nodes[place] = (
                node.feature, node.threshold, add(node.left), add(node.right),
                np.zeros_like(np.ravel(node.left.value)),
            )  # fmt: skip
        return place

    add(root)
    return [np.array(column) for column in zip(*nodes, strict=True)]


def read_flat(tree, X):
    """Leaf values of the rows."""
    feature, threshold, left, right, value = tree
    place = np.zeros(len(X), int)
    while np.any(inner := feature[place] >= 0):
        at = place[inner]
        goes_left = X[inner, feature[at]] <= threshold[at]
        place[inner] = np.where(goes_left, left[at], right[at])
    return value[place]


# --- EBM ----------------------------------------------------------------------------------------


class Ebm:
    """Additive terms of interpret; the most important ones that fit the limit."""

    name, ours = "EBM", False

    def settings(self, rows):
        return [{"max_bins": 16}]

    def fit(self, setting, rows, limits):
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

        maker = ExplainableBoostingClassifier if rows.n_classes else ExplainableBoostingRegressor
        model = maker(
            interactions=0, outer_bags=1, learning_rate=0.1, max_rounds=500, n_jobs=1,
            random_state=0, **setting,
        )  # fmt: skip
        model.fit(self.frame(rows), rows.y)
        sizes = [self.count_splits(scores) for scores in model.term_scores_]
        order = np.argsort(-np.asarray(model.term_importances()))
        stages = {}
        for limit in limits:
            kept, n_splits, n_bytes = [], 0, 0
            for term in order:
                more = n_splits + sizes[term]
                more_bytes = n_bytes + count_bytes(sizes[term], sizes[term] + 1, rows.n_values)
                if sizes[term] and keeps(limit, more, more_bytes):
                    kept.append(term)
                    n_splits, n_bytes = more, more_bytes
            if kept:
                stages[limit] = Stage(
                    n_splits, n_bytes,
                    lambda other, kept=kept: self.predict(model, kept, other),
                )  # fmt: skip
        return stages

    def frame(self, rows):
        if "ebm" not in rows.forms:
            rows.forms["ebm"] = rows.frame.assign(
                **{c: rows.frame[c].astype(object) for c in rows.frame.columns[rows.categorical]}
            )
        return rows.forms["ebm"]

    def count_splits(self, scores):
        values = scores[1:-1].reshape(len(scores) - 2, -1)  # without missing and unknown
        return int(np.count_nonzero(np.any(np.diff(values, axis=0) != 0, axis=1)))

    def predict(self, model, kept, rows):
        key = ("terms", id(model))
        if key not in rows.forms:
            rows.forms[key] = np.asarray(model.eval_terms(self.frame(rows))), model
        raw = rows.forms[key][0][:, kept].sum(axis=1) + model.intercept_
        return decide(raw, rows.n_classes)


# --- STreeD -------------------------------------------------------------------------------------


class Streed:
    """Optimal trees; only sizes at which the search ends within its time."""

    name, ours = "STreeD", False
    most, seconds = 7, 15

    def settings(self, rows):
        return [{"n_thresholds": 10}]

    def fit(self, setting, rows, limits):
        from pystreed import STreeDClassifier, STreeDRegressor

        maker = STreeDClassifier if rows.n_classes else STreeDRegressor
        X, stages, known = pd.DataFrame(rows.ordered(rows)), {}, {}
        for limit in limits:
            n = most_splits(limit, rows.n_values)
            if not 1 <= n <= self.most:
                continue
            if n not in known:
                model = maker(
                    max_depth=3, max_num_nodes=n, cost_complexity=0.0, time_limit=self.seconds,
                    **setting,
                )  # fmt: skip
                model.fit(X, rows.y)
                if not model.is_fitted():  # the time was not enough
                    continue
                n_leaves = model.get_n_leaves()
                known[n] = Stage(
                    n_leaves - 1, count_bytes(n_leaves - 1, n_leaves, rows.n_values),
                    lambda other, model=model: model.predict(pd.DataFrame(other.ordered(rows))),
                )  # fmt: skip
            stages[limit] = known[n]
        return stages


LEAST_ROWS = tuple({"min_samples_leaf": n} for n in (1, 5, 20))
CONTENDERS = {
    contender.name: contender
    for contender in (
        TreeSum("TreeSum"),
        TreeSum("TreeSum, limit filled", fills=True),
        Single("CART", "DecisionTree", lambda n: {"max_leaf_nodes": n + 1}, LEAST_ROWS),
        Single("TAO", "TAOTree", lambda n: {"max_leaf_nodes": n + 1}, LEAST_ROWS[1:2]),
        Single("Tree in Tree", "TreeInTree", lambda n: {"max_splits": n}, LEAST_ROWS[1:2], 80),
        GradientBoosting(),
        Figs(),
        Ebm(),
        LightGBM(),
        XGBoost(),
        CatBoost(),
        Streed(),
    )
}
