"""The one reader: any fitted model of hedgerow as a :class:`Program`.

A model inside another (a member of a bag, a fold of a layer, a final estimator) reads columns of
the program as its features; steps are appended to the same program.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import check_is_fitted

from hedgerow._engine import DecisionGraph
from hedgerow._graph_model import GraphModel
from hedgerow._table_model import TableModel
from hedgerow.additive.sum_model import SumModel
from hedgerow.cascade.cascade_model import CascadeModel
from hedgerow.cascade.layers import FoldedMember, GrownForest
from hedgerow.cascade.tree_network import TreeNetworkClassifier, TreeNetworkRegressor
from hedgerow.embedding import LeafMeansEmbedding, TreeEmbeddingClassifier, TreeEmbeddingRegressor
from hedgerow.embedding.layer import AnchorLayer, activation_names
from hedgerow.export.graphs import Leaves, as_graph, constant_graph
from hedgerow.export.program import (
    Activate,
    Add,
    Affine,
    Distances,
    Divide,
    Exit,
    Feature,
    Link,
    Median,
    Nearest,
    Numbers,
    Output,
    Place,
    Program,
    Recode,
    Round,
    Step,
    Vote,
    Walk,
)
from hedgerow.forest import AdaBoostClassifier, AdaBoostRegressor
from hedgerow.forest.bag import Bag
from hedgerow.forest.forest_model import ForestModel

_TOGETHER = 10  # members that a bag sums at a time


class ExportError(ValueError):
    """A model, or a part of it, that cannot leave Python."""


def read(model: Any, *, output: int | None = None) -> Program:
    """Read a fitted model.

    Parameters
    ----------
    model : a fitted estimator of hedgerow, or a `Program`, which is returned as it is
    output : int, default=None
        The place of one of several outputs, which the program predicts alone. Needed where the
        outputs are classes.

    Returns
    -------
    program : Program

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import DecisionTreeClassifier
    >>> from hedgerow.export import read
    >>> X, y = load_iris(return_X_y=True)
    >>> program = read(DecisionTreeClassifier(max_depth=2).fit(X, y))
    >>> program.graph.n_tests, program.outputs[0].classes
    (2, (0, 1, 2))
    """
    if isinstance(model, Program) and output is None:
        return model
    if not isinstance(model, TableModel):
        _refuse(
            f"{type(model).__name__} is no model of hedgerow: its own library may have an export. "
            "A hedgerow model that imitates it can be exported (hedgerow.compress)."
        )
    check_is_fitted(model)
    _check_output(model, output)
    schema = model.schema_
    names: Sequence[str | None] = schema.feature_names or [None] * schema.n_features
    features = tuple(
        Feature(name, tuple(_plain(schema.categories[f])) if f in schema.categories else None)
        for f, name in enumerate(names)
    )
    reader = _Reader(schema.n_features, output)
    columns = [_Column(f, feature.categories) for f, feature in enumerate(features)]
    answer = reader.model(model, columns)
    return Program(
        model=type(model).__name__,
        features=features,
        steps=tuple(reader.steps),
        values=answer.values,
        decisions=answer.decisions,
        outputs=_outputs(model, len(answer.values), reader.classes_of(model)),
        is_exact=reader.is_exact,
        output=output,
    )


def _refuse(message: str) -> NoReturn:
    raise ExportError(message)


def _plain(values: Any) -> list:
    """Labels as Python's own types."""
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def _check_output(model: Any, output: int | None) -> None:
    n = getattr(model, "n_outputs_", 1)
    if output is None:
        if n > 1 and hasattr(model, "classes_"):
            _refuse(
                f"{type(model).__name__} predicts classes of {n} outputs, and a file holds one of "
                "them: write read(model, output=0), and so on, in place of the model; 'hedgerow "
                "export' takes --output 0."
            )
    elif type(output) is not int or not 0 <= output < n:
        raise ValueError(f"'output' must be an int from 0 to {n - 1}, got {output!r}.")


def _outputs(model: Any, n_values: int, classes: Any) -> tuple[Output, ...]:
    if isinstance(model, LeafMeansEmbedding):
        names = model.get_feature_names_out()
        return tuple(Output(str(name), i, i + 1) for i, name in enumerate(names))
    if classes is not None:
        return (Output(None, 0, n_values, tuple(_plain(classes))),)
    if n_values == 1:
        return (Output(None, 0, 1),)
    return tuple(Output(f"output {i}", i, i + 1) for i in range(n_values))


@dataclass(frozen=True)
class _Column:
    """A column as a model sees it: its place in the program, and what its codes stand for."""

    place: int
    categories: Sequence[Any] | None = None


@dataclass(frozen=True)
class _Answer:
    """The columns of a model's values, and those that choose its class."""

    values: np.ndarray
    decisions: np.ndarray


def _same(values: np.ndarray) -> _Answer:
    return _Answer(values, values)


class _Reader:
    """Appends the steps of models to one program; ``output``: of one output alone."""

    def __init__(self, n_features: int, output: int | None = None) -> None:
        self.steps: list[Step] = []
        self.n_columns = n_features
        self.is_exact = True
        self.output = output

    def classes_of(self, model: Any) -> Any:
        """The classes of the output that is read, None for numbers."""
        classes = getattr(model, "classes_", None)
        return classes[self.output or 0] if isinstance(classes, list) else classes

    def _leaves_of(self, model: Any) -> Leaves:
        """The part of a leaf's values that the output that is read has."""
        place = self.output
        if place is None:
            return lambda values: values
        classes = getattr(model, "classes_", None)
        sizes = list(map(len, classes)) if isinstance(classes, list) else [1] * model.n_outputs_
        start, stop = sum(sizes[:place]), sum(sizes[: place + 1])
        return lambda values: values[:, start:stop]

    def append(self, step: Step) -> np.ndarray:
        """The columns of a further step."""
        self.steps.append(step)
        self.n_columns += step.width
        return np.arange(self.n_columns - step.width, self.n_columns)

    def model(self, model: Any, columns: Sequence[_Column]) -> _Answer:
        """The steps of a model whose features are some columns."""
        if isinstance(model, DummyClassifier):  # of a fold with one class
            return _same(self._constant(np.asarray(model.class_prior_, dtype=np.float64)))
        if not isinstance(model, TableModel):
            _refuse(
                f"A member is a {type(model).__name__}, which is no model of hedgerow: fit the "
                "ensemble with members of hedgerow to export it."
            )
        for kind, read_kind in _KINDS:
            if isinstance(model, kind):
                return read_kind(self, model, self._recoded(model, columns))
        _refuse(
            f"{type(model).__name__} cannot be exported: its answer is no short function of one "
            "row of a table. Export the model behind it, and give that its output."
        )

    def _recoded(self, model: TableModel, columns: Sequence[_Column]) -> list[_Column]:
        """The columns with the codes of the model's own categories."""
        out = []
        for f, column in enumerate(columns):
            known = model.schema_.categories.get(f)
            if known is None or column.categories is None:
                if (known is None) != (column.categories is None) and not _are_codes(column):
                    _refuse(
                        f"A member reads feature {f} otherwise than the model around it: name the "
                        "categorical features with 'categorical_features'."
                    )
                out.append(column)
                continue
            place = {value: code for code, value in enumerate(known)}
            table = np.array([place.get(value, -1) for value in column.categories], dtype=np.int32)
            if (table == np.arange(len(table))).all():
                out.append(_Column(column.place, tuple(known)))
            else:
                (recoded,) = self.append(Recode(column.place, table))
                out.append(_Column(int(recoded), tuple(known)))
        return out

    def _constant(self, values: np.ndarray) -> np.ndarray:
        return self.append(Walk((constant_graph(values),), np.zeros(len(values))))

    def walk(
        self,
        graphs: Sequence[DecisionGraph],
        columns: Sequence[_Column],
        *,
        start: np.ndarray | None = None,
        in_turns: bool = False,
        factor: float = 1.0,
        leaves: Sequence[Leaves] | None = None,
    ) -> np.ndarray:
        """Graphs whose features are some columns; ``leaves`` gives leaves other values."""
        places = np.array([column.place for column in columns], dtype=np.int32)
        n_codes = [None if c.categories is None else len(c.categories) for c in columns]
        taken = [None] * len(graphs) if leaves is None else leaves
        read_graphs = tuple(
            as_graph(graph, places, n_codes, values)
            for graph, values in zip(graphs, taken, strict=True)
        )
        if start is None:
            start = np.zeros(read_graphs[0].values.shape[1])
        return self.append(Walk(read_graphs, start, in_turns, factor))

    def mean(
        self,
        graphs: Sequence[DecisionGraph],
        columns: Sequence[_Column],
        leaves: Leaves | None = None,
    ) -> np.ndarray:
        """The mean of graphs, as the engine takes it."""
        n = len(graphs)
        return self.walk(graphs, columns, factor=1.0 / n, leaves=leaves and [leaves] * n)

    def members(self, values: list[np.ndarray]) -> np.ndarray:
        """The sum of several members' values."""
        return values[0] if len(values) == 1 else self.append(Add(np.stack(values)))

    def placed(self, values: np.ndarray, of: Any, classes: np.ndarray) -> np.ndarray:
        """A member's values at the places of its classes among those of the whole."""
        places = np.searchsorted(classes, of)
        if len(places) == len(classes):
            return values
        return self.append(Place(values, places, len(classes)))

    def graph_model(self, model: GraphModel, columns: Sequence[_Column]) -> _Answer:
        return _same(self.walk([model.graph_], columns, leaves=[self._leaves_of(model)]))

    def forest(self, model: ForestModel, columns: Sequence[_Column]) -> _Answer:
        return _same(self.mean(_graphs_of(model.forest_), columns, self._leaves_of(model)))

    def sum_model(self, model: SumModel, columns: Sequence[_Column]) -> _Answer:
        in_turns = bool(model.graphs_) and model.graphs_[0].n_outputs == 1
        scores = self.walk(model.graphs_, columns, start=model.intercept_, in_turns=in_turns)
        if model.link == "identity":
            return _same(scores)
        return _same(self.append(Link(scores, model.link)))

    def bag(self, model: Bag, columns: Sequence[_Column]) -> _Answer:
        n, is_counted = len(model), getattr(model, "voting", "soft") == "hard"
        is_of_graphs = isinstance(model.estimator_, GraphModel) and not model.draws_.draws_features
        if is_of_graphs:
            if model.forest_ is not None:
                graphs = _graphs_of(model.forest_)
            else:
                graphs = [member.graph_ for member in model.members_]
            part = self._leaves_of(model)
            if not is_counted:
                return _same(self.mean(graphs, columns, part))
            # Votes are whole numbers: their sums are exact in any order.
            votes: list[Leaves] = [lambda values: _votes(part(values), 1.0, 0.0)] * n
            return _same(self.append(Divide(self.walk(graphs, columns, leaves=votes), float(n))))
        said = []
        for place, member in enumerate(model.members_):
            features = model.draws_.features(place)
            answer = self.model(member, [columns[f] for f in features])
            values = answer.values
            classes = self.classes_of(model)
            if classes is not None:
                if is_counted:
                    values = self.append(Vote(answer.decisions))
                values = self.placed(values, self.classes_of(member), classes)
            said.append(values)
        groups = [self.members(said[i : i + _TOGETHER]) for i in range(0, n, _TOGETHER)]
        return _same(self.append(Divide(self.members(groups), float(n))))

    def boosted_classifier(self, model: AdaBoostClassifier, columns: Sequence[_Column]) -> _Answer:
        n_classes, total = model.n_classes_, 0.0
        against = -1 / max(1, n_classes - 1)
        weights = [float(w) for w in model.estimator_weights_[: len(model.members_)]]
        for weight in weights:
            total += weight
        if isinstance(model.estimator_, GraphModel):
            votes: list[Leaves] = [_voting(weight, against * weight) for weight in weights]
            sums = self.walk([m.graph_ for m in model.members_], columns, leaves=votes)
        else:
            parts = [self._constant(np.zeros(n_classes))]
            for member, weight in zip(model.members_, weights, strict=True):
                decisions = self.model(member, columns).decisions
                if len(member.classes_) != n_classes:
                    _refuse(
                        "A member has seen fewer classes than the ensemble: such votes cannot be "
                        "exported."
                    )
                parts.append(self.append(Vote(decisions, weight, against * weight)))
            sums = self.append(Add(np.stack(parts)))
        scores = self.append(Divide(self.append(Divide(sums, total)), float(max(1, n_classes - 1))))
        return _same(self.append(Link(scores, "softmax")))

    def boosted_regressor(self, model: AdaBoostRegressor, columns: Sequence[_Column]) -> _Answer:
        numbers = [self.model(member, columns).values for member in model.members_]
        weights = model.estimator_weights_[: len(numbers)]
        return _same(self.append(Median(np.concatenate(numbers), weights)))

    def cascade(self, model: CascadeModel, columns: Sequence[_Column]) -> _Answer:
        classes = getattr(model, "classes_", None)
        # Layers see codes, whatever the categories are.
        coded = [
            _Column(c.place, None if c.categories is None else range(len(c.categories)))
            for c in columns
        ]
        wider, layers = coded, [stored.load() for stored in model.layers_]
        for number, layer in enumerate(layers, start=1):
            fresh = [self._layer_member(member, wider, classes) for member in layer.members]
            if classes is not None:  # probabilities are kept in single precision
                rounded = self.append(Round(np.concatenate(fresh)))
                fresh = np.split(rounded, len(fresh))
            values = self.append(Divide(self.members(fresh), float(len(fresh))))
            wider = [*coded, *(_Column(int(place)) for place in np.concatenate(fresh))]
            if number < len(layers) and layer.gate < np.inf:
                self.append(Exit(values, float(layer.gate)))
        final = getattr(model, "final_estimator_", None)
        if final is None:
            return _same(values)
        answer = self.model(final, wider)
        if classes is None:
            return _same(answer.values)
        return _same(self.placed(answer.values, final.classes_, classes))

    def _layer_member(
        self, member: Any, columns: Sequence[_Column], classes: np.ndarray | None
    ) -> np.ndarray:
        if isinstance(member, GrownForest):
            return self.mean(_graphs_of(member.forest), columns)
        assert isinstance(member, FoldedMember)
        said = []
        for estimator in member.estimators:
            values = self.model(estimator, columns).values
            if classes is not None:
                values = self.placed(values, estimator.classes_, classes)
            said.append(values)
        return self.append(Divide(self.members(said), float(len(said))))

    def tree_network(self, model: Any, columns: Sequence[_Column]) -> _Answer:
        encoded = self.model(model.encoder_, columns).values
        wider = [*columns, *(_Column(int(place)) for place in encoded)]
        return _same(self.model(model.output_, wider).values)

    def leaf_means(self, model: LeafMeansEmbedding, columns: Sequence[_Column]) -> _Answer:
        activation = activation_names(model.settings().activation)
        return _same(self.embedded(model.layer_, activation, columns))

    def embedding(self, model: Any, columns: Sequence[_Column]) -> _Answer:
        layer = model.embedding_.layer_
        is_classifier = hasattr(model, "classes_")
        if hasattr(model, "collapsed_"):
            numbers = self.numbers(layer, columns)
            matrix, intercept = model.collapsed_, model.collapsed_intercept_
        elif hasattr(model, "coef_"):
            numbers = self.embedded(layer, activation_names(model.activation_), columns)
            matrix, intercept = model.coef_, model.intercept_
        else:
            squared = self.append(Distances(self.numbers(layer, columns), layer.anchors))
            return _same(self.append(Nearest(squared, layer.values)))
        scores = self.append(Affine(numbers, matrix, intercept))
        if not is_classifier:
            return _same(scores)
        return _Answer(self.append(Link(scores, "softmax")), scores)

    def numbers(self, layer: AnchorLayer, columns: Sequence[_Column]) -> np.ndarray:
        """The numbers that anchors are means of."""
        self.is_exact = False
        view = layer.view
        sources: list[int] = []
        categories: list[int] = []
        for f, column in enumerate(columns):
            n = view.n_categories.get(f)
            sources += [column.place] * (1 if n is None else n)
            categories += [-1] if n is None else range(n)
        fill_columns = None
        if layer.fills is not None:  # those of the region that the first tree puts the row in
            first, fills = layer.trees[0], layer.fills
            regions = first.regions(np.arange(first.graph.n_nodes))
            fill_columns = self.walk([first.graph], columns, leaves=[lambda values: fills[regions]])
        scaled = view.standardize
        return self.append(
            Numbers(
                sources=np.array(sources, dtype=np.int32),
                categories=np.array(categories, dtype=np.int32),
                fills=view.mean,
                fill_columns=fill_columns,
                mean=view.mean if scaled else None,
                scale=view.scale if scaled else None,
            )
        )

    def embedded(
        self, layer: AnchorLayer, activation: tuple[str, ...], columns: Sequence[_Column]
    ) -> np.ndarray:
        """The columns of an embedding."""
        numbers = self.numbers(layer, columns)
        squared = None
        if not {"distance", "rbf", "softmax"}.isdisjoint(activation):
            squared = self.append(Distances(numbers, layer.anchors))
        factor = -0.5 / layer.bandwidth**2
        groups = tuple(int(start) for start in layer.starts)
        parts = []
        for part in activation:
            if part == "raw":
                parts.append(numbers)
            elif part == "vote":
                parts.append(self.mean(layer.graphs[1:], columns))
            elif part == "leaf":
                parts += [self._membership(tree, columns) for tree in layer.trees]
            elif part in ("linear", "relu"):
                columns_of = self.append(Affine(numbers, layer.anchors.T, layer.bias))
                is_linear = part == "linear"
                parts.append(columns_of if is_linear else self.append(Activate(columns_of, "relu")))
            else:
                assert squared is not None
                name = {"distance": "root", "rbf": "bump", "softmax": "softmax"}[part]
                parts.append(self.append(Activate(squared, name, factor, groups)))
        return np.concatenate(parts)

    def _membership(self, tree: Any, columns: Sequence[_Column]) -> np.ndarray:
        regions = tree.regions(np.arange(tree.graph.n_nodes))
        is_in = np.eye(len(tree.nodes))[np.maximum(regions, 0)]
        return self.walk([tree.graph], columns, leaves=[lambda values: is_in])


def _are_codes(column: _Column) -> bool:
    """Whether a column's categories are their own codes, which can be read as numbers too."""
    return isinstance(column.categories, range)


def _graphs_of(forest: Any) -> list[DecisionGraph]:
    return [forest.graph(place) for place in range(forest.n_members)]


def _votes(values: np.ndarray, chosen: float, other: float) -> np.ndarray:
    """Leaf values as votes for the first of the largest."""
    places = values.argmax(axis=1)[:, None] == np.arange(values.shape[1])
    return np.where(places, chosen, other)


def _voting(chosen: float, other: float) -> Leaves:
    return lambda values: _votes(values, chosen, other)


# The first that fits is taken.
_KINDS: list[tuple[Any, Callable[..., _Answer]]] = [
    (GraphModel, _Reader.graph_model),
    (ForestModel, _Reader.forest),
    (SumModel, _Reader.sum_model),
    (Bag, _Reader.bag),
    (AdaBoostClassifier, _Reader.boosted_classifier),
    (AdaBoostRegressor, _Reader.boosted_regressor),
    (CascadeModel, _Reader.cascade),
    ((TreeNetworkClassifier, TreeNetworkRegressor), _Reader.tree_network),
    (LeafMeansEmbedding, _Reader.leaf_means),
    ((TreeEmbeddingClassifier, TreeEmbeddingRegressor), _Reader.embedding),
]
