"""
hedgerow's C++ engine: binned data sets, growing, decision graphs, prediction.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def interleave(columns: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], places: Sequence[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None], wide: bool) -> tuple[NDArray[numpy.float32] | NDArray[numpy.float64], int]:
    """
    Columns as rows of float64 (wide) or float32 numbers; codes of categories, which have places, as these or NaN. With the first column that holds infinity, or their number.
    """

class SparseTable:
    """Rows (CSR) or columns (CSC) of which only some numbers are stored."""

    def __init__(self, values: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], length: int) -> None: ...

    def __len__(self) -> int: ...

class Dataset:
    """A table as column-major small-integer codes."""

    def __init__(self, n_rows: int) -> None: ...

    def append_matrix(self, x: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], max_bins: int, n_jobs: int) -> None: ...

    def append_sparse(self, columns: SparseTable, max_bins: int, n_jobs: int) -> None: ...

    def append_numbers(self, columns: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], max_bins: int, n_jobs: int) -> None: ...

    def append_categories(self, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_categories: int) -> None: ...

    def append_coded(self, codes: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)], n_bins: int, categorical: bool, smallest: Sequence[float], largest: Sequence[float]) -> None:
        """A column of codes, which are kept where they are."""

    def take(self, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_jobs: int = 1) -> Dataset:
        """
        A data set of the given rows, with the same bins, categories and codes.
        """

    def share(self) -> Dataset:
        """Another data set of the same columns, not copied."""

    def codes(self, feature: int) -> Annotated[NDArray[numpy.uint8], dict(writable=False)] | Annotated[NDArray[numpy.uint16], dict(writable=False)]: ...

    def n_bins(self, feature: int) -> int: ...

    def is_categorical(self, feature: int) -> bool: ...

    def has_missing(self, feature: int) -> bool: ...

    def smallest(self, feature: int) -> NDArray[numpy.float64]:
        """The smallest value of each bin; of categories there is none."""

    def largest(self, feature: int) -> NDArray[numpy.float64]:
        """The largest value of each bin, empty where bins are single values."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

class Sketch:
    """Distinct values, or ranks, of a column that comes in batches."""

    def __init__(self, rank_error: float) -> None: ...

    def merge(self, other: Sketch) -> None:
        """Take in the rows of another sketch."""

    def ends(self, max_bins: int) -> tuple[NDArray[numpy.float64], bool, int, int]:
        """
        The largest value of each bin, whether a bin is one value, how many values (or runs) there are, and by how many rows a rank may be off.
        """

    @property
    def nbytes(self) -> int: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

def sketch_columns(sketches: Sequence[object], columns: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], first_row: int, n_jobs: int) -> None:
    """Add a batch of rows to the sketches of its columns."""

def code_columns(columns: Sequence[Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)]], largest: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], low: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]], high: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]], codes: Sequence[Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')]], n_jobs: int) -> None:
    """
    Write the codes of a batch of rows, and widen the ranges of values seen in each bin.
    """

class DecisionGraph:
    """
    A tree or decision graph as columns; node 0 is the root. At a leaf the children are -1, feature and threshold -2; an oblique test has feature -2, too.
    """

    @staticmethod
    def from_arrays(arrays: dict) -> DecisionGraph: ...

    def arrays(self) -> dict: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

    @property
    def n_nodes(self) -> int: ...

    @property
    def n_leaves(self) -> int: ...

    @property
    def n_splits(self) -> int: ...

    @property
    def depth(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def n_outputs(self) -> int: ...

    @property
    def kind(self) -> Annotated[NDArray[numpy.uint8], dict(writable=False)]: ...

    @property
    def missing_left(self) -> Annotated[NDArray[numpy.uint8], dict(writable=False)]: ...

    @property
    def feature(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def left(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def right(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def threshold(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def n_samples(self) -> Annotated[NDArray[numpy.int32], dict(writable=False)]: ...

    @property
    def weight(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def impurity(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def value(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    def categories_left(self, node: int) -> NDArray[numpy.int32]: ...

    def oblique(self, node: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], float, NDArray[numpy.int32]]:
        """
        Features, weights, threshold and categories (-1 for a number) of the terms that count.
        """

    def apply_rows(self, data: Dataset, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int32]:
        """The leaves of rows of a binned data set."""

    @overload
    def apply(self, x: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu', writable=False)], n_jobs: int = 1, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> NDArray[numpy.int32]: ...

    @overload
    def apply(self, x: SparseTable, n_jobs: int = 1) -> NDArray[numpy.int32]: ...

    @overload
    def decision_path(self, x: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32]]: ...

    @overload
    def decision_path(self, x: SparseTable) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32]]: ...

def put_in_order(graph: DecisionGraph, directions: Sequence[int]) -> DecisionGraph:
    """
    The graph with leaf values that move one way with features: 1 up, -1 down, 0 freely.
    """

class GrowParams:
    """How a tree is grown; -1 means no limit."""

    def __init__(self, *, criterion: str = 'gini', splitter: str = 'best', n_classes: int = 0, max_depth: int = -1, max_leaf_nodes: int = -1, max_features: int = -1, min_samples_split: int = 2, min_samples_leaf: int = 1, min_weight_leaf: float = 0.0, min_impurity_decrease: float = 0.0, ccp_alpha: float = 0.0, seed: int = 0, monotonic: Sequence[int] = [], class_counts: Sequence[int] = [], quantile: float = 0.5, stem: tuple[int, int, float] | None = None, keyed_draws: bool = False) -> None: ...

    def root_key(self, n_features: int) -> int:
        """The key of the root of a tree."""

def grow(data: Dataset, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, targets: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, params: GrowParams, n_jobs: int = 1) -> DecisionGraph:
    """Grow one tree on the given rows (all when None)."""

def count_classes(data: Dataset, node_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_nodes: int, targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, params: GrowParams) -> NDArray[numpy.int64]:
    """
    What rows add to the counts of nodes, a row for each: by feature and code the weight of each class, then the number of rows where there are weights. ``node_of`` is the node of each row, or -1.
    """

def decide(data: Dataset, params: GrowParams, counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weighted: bool) -> tuple[DecisionGraph, NDArray[numpy.uint8], int, tuple[int, int]]:
    """
    What becomes of a node whose rows were counted: a graph whose first node is a leaf or the test; then of a test, by code of its feature, what goes left, how many rows that are, and the keys of both children.
    """

def join_nodes(nodes: Sequence[DecisionGraph], left: Sequence[int], right: Sequence[int], parts: Sequence[DecisionGraph]) -> DecisionGraph:
    """
    One graph of the first nodes of graphs, whose children are later ones or, at -2 - i, the parts.
    """

def pruning_path(graph: DecisionGraph) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """Effective alphas and total leaf impurities of the nested subtrees."""

def pruning_prices(graph: DecisionGraph) -> NDArray[numpy.float64]:
    """By node the price from which on it is no split any more; 0 for leaves."""

def prune(graph: DecisionGraph, alpha: float) -> DecisionGraph:
    """The smallest subtree that minimises impurity + alpha * leaves."""

def merge_siblings(graph: DecisionGraph) -> DecisionGraph:
    """The classification tree without splits that leave no fewer rows wrong."""

class MarginParams:
    """
    How a mean-margin tree is grown; -1 means no limit. With a start seed the power method starts at random.
    """

    def __init__(self, *, max_depth: int = -1, min_samples_split: int = 2, min_samples_leaf: int = 1, min_weight_leaf: float = 0.0, ccp_alpha: float = 0.0, power_steps: int = 10, start_seed: int | None = None) -> None: ...

def grow_mean_margin(x: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu', writable=False)], n_categories: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, targets: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_classes: int, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, params: MarginParams, n_jobs: int = 1) -> DecisionGraph:
    """
    Grow a mean-margin tree on the given rows (all when None) for classes, or for rows of numbers when 'n_classes' is 0.
    """

def standard_scale(x: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu', writable=False)], n_categories: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_jobs: int = 1) -> NDArray[numpy.float64]:
    """
    Standard deviation of each feature; 1 for constant and categorical ones.
    """

class PackedGraphs:
    """One or more graphs, laid out for prediction."""

    def __init__(self, graphs: Sequence[DecisionGraph]) -> None: ...

    def graph(self, i: int) -> DecisionGraph:
        """Member i as a graph, without counts and impurities."""

    @overload
    def predict(self, x: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu', writable=False)], n_jobs: int = 1) -> NDArray[numpy.float64]:
        """The mean of the members' values."""

    @overload
    def predict(self, x: SparseTable, n_jobs: int = 1) -> NDArray[numpy.float64]: ...

    @overload
    def predict_class(self, x: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu', writable=False)], n_jobs: int = 1) -> NDArray[numpy.int32]:
        """The output with the largest mean value."""

    @overload
    def predict_class(self, x: SparseTable, n_jobs: int = 1) -> NDArray[numpy.int32]: ...

    @overload
    def apply(self, x: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu', writable=False)], n_jobs: int = 1) -> NDArray[numpy.int32]:
        """The leaf of each row in each member."""

    @overload
    def apply(self, x: SparseTable, n_jobs: int = 1) -> NDArray[numpy.int32]: ...

    @property
    def n_members(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def n_outputs(self) -> int: ...

    @property
    def n_nodes(self) -> int: ...

    @property
    def values(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]:
        """The distinct values of all leaves, one row each; none for one output."""

    @property
    def nbytes(self) -> int: ...

class GraphSum:
    """A sum of graphs, with an intercept and a link."""

    def __init__(self, n_features: int, graphs: Sequence[DecisionGraph], intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], link: str) -> None: ...

    @overload
    def scores(self, x: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu', writable=False)], n_jobs: int = 1) -> NDArray[numpy.float64]:
        """The intercept and the members' values, added up."""

    @overload
    def scores(self, x: SparseTable, n_jobs: int = 1) -> NDArray[numpy.float64]: ...

    @overload
    def predict(self, x: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu', writable=False)], n_jobs: int = 1) -> NDArray[numpy.float64]:
        """The scores through the link."""

    @overload
    def predict(self, x: SparseTable, n_jobs: int = 1) -> NDArray[numpy.float64]: ...

    @property
    def graphs(self) -> PackedGraphs: ...

    @property
    def nbytes(self) -> int: ...

def link(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], name: str, n_jobs: int = 1) -> NDArray[numpy.float64]:
    """Values out of scores."""

def exponential(x: float) -> float:
    """e to the power of x, with the same bits on every machine."""

class RowPredictor:
    """Predicts one row of numbers, fast."""

    def __init__(self, graphs: PackedGraphs, labels: object | None) -> None: ...

    def __call__(self, row: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)]) -> object: ...

    def values(self, row: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

class SumRowPredictor:
    """Predicts one row of numbers by a sum."""

    def __init__(self, graphs: GraphSum, labels: object | None) -> None: ...

    def __call__(self, row: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)]) -> object: ...

    def values(self, row: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]: ...

class ForestParams:
    """How a forest is grown."""

    def __init__(self, tree: GrowParams, *, seed: int, bootstrap: bool, n_draws: int, balanced_subsample: bool = False, by_row: bool = False, first: int = 0) -> None: ...

    def bag(self, n_rows: int, member: int) -> NDArray[numpy.uint32]:
        """How often each row is in a member's bag."""

    def bag_of_rows(self, n_rows: int, member: int, first: int, n: int) -> NDArray[numpy.uint32]:
        """The same for some neighbouring rows."""

    def seed_of_tree(self, member: int) -> int:
        """What a member's tree draws from."""

class Forest(PackedGraphs):
    """Packed members with their importances."""

    def __init__(self, n_features: int, n_outputs: int) -> None: ...

    def grow(self, data: Dataset, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, targets: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, params: ForestParams, n_trees: int, out_of_bag: bool = False, n_jobs: int = 1, progress: Callable[[int], None] | None = None, held: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[NDArray[numpy.float64], NDArray[numpy.uint32]] | None:
        """
        Grow members on the given rows (all when None). Returns sums and counts of the values of unseen rows, those out of a bag or 'held', or None where none are asked for.
        """

    def out_of_bag_importances(self, params: ForestParams, x: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu', writable=False)], targets: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], n_jobs: int = 1) -> NDArray[numpy.float64]: ...

    def first(self, n: int) -> Forest:
        """A forest of the first n members."""

    @staticmethod
    def of(graphs: Sequence[DecisionGraph]) -> Forest:
        """A forest of trees that were grown elsewhere."""

    @staticmethod
    def joined(parts: Sequence[object]) -> Forest:
        """The members of forests, one after the other."""

    @property
    def importances(self) -> NDArray[numpy.float64]: ...

    def __getstate__(self) -> dict: ...

    def __setstate__(self, arg: dict, /) -> None: ...

def shapley_by_paths(graphs: Sequence[DecisionGraph], x: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu', writable=False)], counted: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, interactions: bool = False, n_jobs: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Shapley values of rows, or those of pairs of features, summed over the graphs, and the expected value; shares of rows by the `counted` ones, or as the graphs kept them.
    """

def shapley_by_rows(graphs: Sequence[DecisionGraph], x: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu', writable=False)], background: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu', writable=False)], n_jobs: int = 1) -> NDArray[numpy.float64]:
    """
    Shapley values of rows against background rows, summed over the graphs.
    """

class TreeInTreeParams:
    """How a Tree in Tree graph is grown."""

    def __init__(self, micro: GrowParams, *, n_merges: int = 2, n_rounds: int = 5, C: float = 0.0, max_splits: int = 0, merge_leaves: bool = False, tests: str = 'axis', scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, router_gain: float = 0.5, keep_last: bool = False) -> None: ...

def grow_tree_in_tree(data: Dataset, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, validation: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, targets: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, params: TreeInTreeParams, start: DecisionGraph | None, n_jobs: int = 1, numbers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None) -> dict:
    """
    Grow a graph on the given rows (all when None); the validation rows, if any, choose its round.
    """

def trim(graph: DecisionGraph, data: Dataset, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, targets: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, params: TreeInTreeParams, max_splits: int, n_jobs: int = 1, numbers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None) -> tuple[DecisionGraph, NDArray[numpy.float64]]:
    """
    The graph with at most this many splits, its statistics from the given rows (all when None), and the loss that each node removes.
    """

class TuneParams:
    """How a graph is fine-tuned; 0 classes: regression."""

    def __init__(self, *, n_classes: int = 0, max_passes: int = 20, min_samples_leaf: int = 1) -> None: ...

def fine_tune(graph: DecisionGraph, data: Dataset, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, targets: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, params: TuneParams, n_jobs: int = 1, numbers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, after_pass: Callable[[float], None] | None = None) -> DecisionGraph:
    """
    The graph with its tests alternately optimised on the given rows (all when None). Oblique tests need the 'numbers' behind the data; 'after_pass' hears the training loss.
    """

class TreeSumParams:
    """How a sum of trees is grown; -1: no limit."""

    def __init__(self, *, loss: str, n_classes: int = 0, level: float = 0.5, max_splits: int = 40, max_members: int = -1, max_depth: int = -1, min_samples_leaf: int = 1, ridge: float = -1.0, category_smoothing: float = 0.0, min_gain: float = 0.0, feature_price: float = 0.0, threshold_price: float = 0.0, max_swaps: int = 0, tuning_passes: int = 0, exact_search: bool = True, tolerance: float = 0.01, monotone: Sequence[int] = []) -> None: ...

def grow_tree_sum(data: Dataset, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, targets: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, params: TreeSumParams, n_jobs: int = 1) -> dict:
    """Grow a sum of trees on the given rows (all when None)."""

class BoostParams:
    """How trees are boosted; -1 means no limit."""

    def __init__(self, *, loss: str, n_classes: int = 0, quantile: float = 0.5, learning_rate: float = 0.1, max_leaf_nodes: int = 31, max_depth: int = -1, min_samples_leaf: int = 20, min_hessian_leaf: float = 0.001, l2: float = 0.0, category_l2: float = 3.0, category_smoothing: float = 10.0, max_features: float = 1.0, subsample: float = 1.0, monotonic: Sequence[int] = [], groups: Sequence[Sequence[int]] = [], members: str = 'tree', seed: int = 0) -> None: ...

def boost(data: Dataset, targets: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], held: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], params: BoostParams, n_rounds: int, first_round: int = 0, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None = None, patience: int = 0, least: float = 0.0, track: bool = False, n_jobs: int = 1, progress: Callable[[int], None] | None = None) -> tuple:
    """
    Boost trees on some rows, judged by held ones: intercept, graphs, and the mean losses of both before the first round and after each.
    """
