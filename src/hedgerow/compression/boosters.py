"""Readers of LightGBM's, XGBoost's and CatBoost's trees, each out of the model's own JSON.

Thresholds are turned into tests of doubles that send every number where the library sends it
(XGBoost and CatBoost read tables as float32). Codes of categories are looked up by value where the
file has the values, else by place.
"""

import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow._engine import DecisionGraph
from hedgerow._graph_columns import graph_of_columns
from hedgerow._table import Schema
from hedgerow.compression.sums import ReadSum, UnreadableError, as_float32_reads, scaled

_LOG = {"poisson", "gamma", "tweedie", "count:poisson", "reg:gamma", "reg:tweedie"}


class _Builder:
    """Nodes of a tree, one after the other."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.left: list[int] = []
        self.right: list[int] = []
        self.feature: list[int] = []
        self.threshold: list[float] = []
        self.missing_left: list[bool] = []
        self.value: list[float] = []
        self.sets: dict[int, np.ndarray] = {}

    def add(self, value: float = 0.0) -> int:
        """A leaf, for now; its place."""
        self.left.append(-1)
        self.right.append(-1)
        self.feature.append(-1)
        self.threshold.append(0.0)
        self.missing_left.append(False)
        self.value.append(value)
        return len(self.left) - 1

    def test(self, node: int, feature: int, threshold: float, missing_left: bool) -> None:
        self.feature[node], self.threshold[node] = feature, threshold
        self.missing_left[node] = missing_left

    def test_categories(self, node: int, feature: int, codes: Iterable[int], missing: bool) -> None:
        """Codes of the schema that go left."""
        n = len(self._schema.categories[feature])
        self.sets[node] = _bit_set(codes, n)
        self.test(node, feature, n, missing)  # codes from n on are not known

    def graph(self) -> DecisionGraph:
        n = len(self.left)
        return graph_of_columns(
            self._schema.n_features,
            left=np.array(self.left),
            right=np.array(self.right),
            feature=np.array(self.feature),
            threshold=np.array(self.threshold),
            missing_left=np.array(self.missing_left),
            n_samples=np.zeros(n),
            weight=np.zeros(n),
            impurity=np.zeros(n),
            value=np.array(self.value)[:, None],
            category_sets=self.sets,
        )


def _bit_set(codes: Iterable[int], n: int) -> np.ndarray:
    """Some of n codes as the words of a bit set."""
    words = np.zeros((n + 63) // 64, dtype=np.uint64)
    for code in codes:
        words[code // 64] |= np.uint64(1) << np.uint64(code % 64)
    return words


def _in_turns(graphs: list[DecisionGraph], score_of: list[int], n_scores: int) -> list:
    """The graphs in the order that a sum takes them in: one for each score, again and again."""
    by_score: list[list[DecisionGraph]] = [[] for _ in range(n_scores)]
    for graph, score in zip(graphs, score_of, strict=True):
        by_score[score].append(graph)
    if len({len(graphs) for graphs in by_score}) > 1:
        raise UnreadableError("its classes have different numbers of trees")
    return [graph for step in zip(*by_score, strict=True) for graph in step]


def read_lightgbm(model: Any, schema: Schema) -> ReadSum:
    """The trees of a fitted LGBMClassifier or LGBMRegressor."""
    dump = model.booster_.dump_model()
    codes = _lightgbm_codes(dump, schema)
    words = str(dump.get("objective", "")).split()
    objective, options = (words[0], words[1:]) if words else ("", [])
    if "sqrt" in options or objective == "multiclassova":
        raise UnreadableError(f"there is no reader of LightGBM's objective {objective!r}")
    n_scores = dump["num_tree_per_iteration"]
    graphs = [_lightgbm_graph(tree, schema, codes) for tree in dump["tree_info"]]
    factor = 1.0
    if dump.get("average_output"):
        factor = n_scores / len(graphs)
    link = "identity"
    if objective == "binary":
        link = "logit"
        factor *= next((float(o[8:]) for o in options if o.startswith("sigmoid:")), 1.0)
    elif objective == "multiclass":
        link = "softmax"
    elif objective in _LOG:
        link = "log"
    elif hasattr(model, "classes_"):
        raise UnreadableError(f"there is no reader of LightGBM's objective {objective!r}")
    if factor != 1:
        graphs = [scaled(graph, factor) for graph in graphs]
    return ReadSum(graphs, np.zeros(n_scores), link)


def _lightgbm_codes(dump: dict, schema: Schema) -> dict[int, Callable[[int], int | None]]:
    """By categorical feature: from LightGBM's code to the schema's, None for what it lacks."""
    by_value = dump.get("pandas_categorical") or []
    codes: dict[int, Callable[[int], int | None]] = {}
    for feature, known in zip(sorted(schema.categories), by_value, strict=False):
        place = {value: code for code, value in enumerate(schema.categories[feature])}
        codes[feature] = dict(enumerate(place.get(value) for value in known)).get
    return codes


def _lightgbm_graph(tree: dict, schema: Schema, codes: dict) -> DecisionGraph:
    built = _Builder(schema)
    waiting = [(built.add(), tree["tree_structure"])]
    while waiting:
        node, found = waiting.pop()
        if "split_feature" not in found:
            built.value[node] = found["leaf_value"]
            continue
        if "leaf_coeff" in found.get("left_child", {}):
            raise UnreadableError("LightGBM's linear leaves are not read")
        built.left[node], built.right[node] = built.add(), built.add()
        feature, threshold = found["split_feature"], found["threshold"]
        if found["decision_type"] == "==":
            if feature not in codes:
                raise UnreadableError("the categories of LightGBM's tests are not in its file")
            left = [codes[feature](int(code)) for code in threshold.split("||")]
            built.test_categories(node, feature, [c for c in left if c is not None], False)
        else:
            built.test(node, feature, threshold, _lightgbm_missing(found))
        waiting += [
            (built.right[node], found["right_child"]),
            (built.left[node], found["left_child"]),
        ]
    return built.graph()


def _lightgbm_missing(found: dict) -> bool:
    """Whether missing numbers go left: by default, or as zero does."""
    zero_left = found["threshold"] >= 0
    if found["missing_type"] == "NaN":
        return found["default_left"]
    if found["missing_type"] == "Zero" and found["default_left"] != zero_left:
        raise UnreadableError("LightGBM takes zeros for missing values here")
    return zero_left


def read_xgboost(model: Any, schema: Schema) -> ReadSum:
    """The trees of a fitted XGBClassifier or XGBRegressor."""
    booster = model.get_booster()
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    gradient = learner["gradient_booster"]
    if gradient["name"] != "gbtree":
        raise UnreadableError(f"there is no reader of XGBoost's booster {gradient['name']!r}")
    objective = learner["objective"]["name"]
    trees, of_score = gradient["model"]["trees"], gradient["model"]["tree_info"]
    starts = gradient["model"].get("iteration_indptr")
    best = getattr(model, "best_iteration", None) if model.early_stopping_rounds else None
    if best is not None and starts:
        trees, of_score = trees[: starts[best + 1]], of_score[: starts[best + 1]]
    n_scores = max(1, int(learner["learner_model_param"]["num_class"]))
    base = np.atleast_1d(json.loads(learner["learner_model_param"]["base_score"])).astype(float)
    if objective == "binary:logistic":
        link, intercept = "logit", np.log(base / (1 - base))
    elif objective in ("multi:softprob", "multi:softmax"):
        link, intercept = "softmax", base
    elif objective in _LOG:
        link, intercept = "log", np.log(base)
    elif objective.startswith("reg:") and objective != "reg:logistic":
        link, intercept = "identity", base
    else:
        raise UnreadableError(f"there is no reader of XGBoost's objective {objective!r}")
    graphs = [_xgboost_graph(tree, schema) for tree in trees]
    graphs = _in_turns(graphs, of_score, n_scores)
    return ReadSum(graphs, np.broadcast_to(intercept, n_scores).copy(), link)


def _xgboost_graph(tree: dict, schema: Schema) -> DecisionGraph:
    if int(tree["tree_param"]["size_leaf_vector"]) > 1:
        raise UnreadableError("XGBoost's trees of several outputs are not read")
    left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
    at = np.array(tree["split_conditions"], dtype=np.float32)
    feature = np.array(tree["split_indices"])
    # x < t in float32: not above the number before t.
    threshold = as_float32_reads(np.nextafter(at, np.float32(-np.inf)))
    sets = {}
    for node, start, size in zip(
        tree["categories_nodes"],
        tree["categories_segments"],
        tree["categories_sizes"],
        strict=True,
    ):
        known = schema.categories.get(int(feature[node]))
        if known is None:
            raise UnreadableError("XGBoost tests categories of a column that has none here")
        goes_right = set(tree["categories"][start : start + size])
        sets[node] = _bit_set(set(range(len(known))) - goes_right, len(known))
        threshold[node] = len(known)  # codes from there on are not known
    n = len(left)
    return graph_of_columns(
        schema.n_features,
        left=left,
        right=right,
        feature=feature,
        threshold=threshold,
        missing_left=np.array(tree["default_left"], dtype=bool),
        n_samples=np.zeros(n),
        weight=np.zeros(n),
        impurity=np.zeros(n),
        value=at.astype(np.float64)[:, None],
        category_sets=sets,
    )


def read_catboost(model: Any, schema: Schema) -> ReadSum:
    """The trees of a fitted CatBoostClassifier or CatBoostRegressor on numbers."""
    if schema.categories or model.get_cat_feature_indices():
        raise UnreadableError("CatBoost makes statistics of categories, which no test has")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        model.save_model(str(file), format="json")
        saved = json.loads(file.read_text(encoding="utf-8"))
    if "oblivious_trees" not in saved:
        raise UnreadableError("only CatBoost's symmetric trees are read")
    info = saved["features_info"]["float_features"]
    place = [found["flat_feature_index"] for found in info]
    # Numbers above the border are true; missing ones are below or above all borders.
    nan_left = [found.get("nan_value_treatment") != "AsTrue" for found in info]
    factor, bias = saved["scale_and_bias"]
    graphs = [_catboost_graph(t, schema, place, nan_left, factor) for t in saved["oblivious_trees"]]
    intercept = np.atleast_1d(np.asarray(bias, dtype=float))
    loss = str(model.get_all_params().get("loss_function", "")).split(":")[0]
    if hasattr(model, "predict_proba"):
        links = {"Logloss": "logit", "CrossEntropy": "logit", "MultiClass": "softmax"}
        if loss not in links:
            raise UnreadableError(f"there is no reader of CatBoost's loss {loss!r}")
        link = links[loss]
    else:
        link = "log" if loss in ("Poisson", "Tweedie") else "identity"
    n_scores = graphs[0].n_outputs if graphs else len(intercept)
    return ReadSum(graphs, np.broadcast_to(intercept, n_scores).copy(), link)


def _catboost_graph(
    tree: dict, schema: Schema, place: list[int], nan_left: list[bool], factor: float
) -> DecisionGraph:
    """A symmetric tree: the last test is the root; the first is the lowest bit of a leaf."""
    splits = (tree.get("splits") or [])[::-1]
    if any(split["split_type"] != "FloatFeature" for split in splits):
        raise UnreadableError("CatBoost's tests of statistics are not read")
    depth = len(splits)
    values = np.array(tree["leaf_values"], dtype=float).reshape(2**depth, -1) * factor
    n_inner = 2**depth - 1
    n = n_inner + 2**depth
    node = np.arange(n)
    is_test = node < n_inner
    level = np.floor(np.log2(node + 1)).astype(int)
    test = np.minimum(level, max(depth - 1, 0))
    index = [split["float_feature_index"] for split in splits] or [0]
    border = [split["border"] for split in splits] or [0.0]
    value = np.zeros((n, values.shape[1]))
    value[n_inner:] = values  # the leaves from left to right are the bits from high to low
    return graph_of_columns(
        schema.n_features,
        left=np.where(is_test, 2 * node + 1, -1),
        right=np.where(is_test, 2 * node + 2, -1),
        feature=np.array(place)[np.array(index)][test],
        threshold=as_float32_reads(np.array(border))[test],
        missing_left=np.array(nan_left)[np.array(index)][test],
        n_samples=np.zeros(n),
        weight=np.zeros(n),
        impurity=np.zeros(n),
        value=value,
    )
