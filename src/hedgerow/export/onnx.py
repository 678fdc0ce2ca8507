"""A model as ONNX: graphs find leaves, standard operators do the rest."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.export import program as p
from hedgerow.export.arithmetic import DIVISORS, LN2_LOWER, LN2_UPPER, LOG2_E
from hedgerow.export.facts import checksum, header, self_test
from hedgerow.export.onnx_graph import Builder, Tensor
from hedgerow.export.onnx_trees import trees
from hedgerow.export.reading import ExportError, read

_OPSETS = (3, 5)


def to_onnx(model: Any, *, name: str = "model", numbers: str = "float", opset: int = 5) -> bytes:
    """Write a model as ONNX, for ONNX Runtime and other runtimes of ``ai.onnx.ml``.

    Where all features are numbers there is one input, ``X``; else every feature is an input of its
    name, of shape (n, 1): numbers, booleans as numbers, texts as text. NaN and every text that is
    no category are missing. Classifiers give ``label`` and ``probabilities``, others
    ``variable``. Needs the package onnx.

    Parameters
    ----------
    model : a fitted estimator of hedgerow, or a `Program`
    name : str, default="model"
    numbers : {"float", "double"}, default="float"
        The type of inputs and of probabilities. Every single-precision row goes the way that it
        goes in double precision; values are computed in double precision and rounded at the end.
    opset : {5, 3}, default=5
        Of ``ai.onnx.ml``: 5 has TreeEnsemble with sets of categories, 3 is for older runtimes.

    Returns
    -------
    content : bytes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import DecisionTreeClassifier
    >>> from hedgerow.export import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> content = to_onnx(DecisionTreeClassifier(max_depth=2).fit(X, y))
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession(content)
    >>> session.run(["label"], {"X": X[::50].astype("float32")})[0].tolist()
    [0, 1, 2]
    """
    if numbers not in ("float", "double"):
        raise ValueError(f"'numbers' must be one of float, double, got {numbers!r}.")
    if opset not in _OPSETS:
        raise ValueError(f"'opset' must be one of 5, 3, got {opset!r}.")
    program = read(model)
    writer = _Writer(program, numbers, opset)
    writer.write()
    test = self_test(program)
    rows = [[None if x != x else x for x in row] for row in test.matrix.tolist()]
    facts = {
        "model": program.model,
        "about": "; ".join(header(program, name)),
        "checksum": checksum(program),
        "self_test": json.dumps({"codes": rows, "values": test.values.tolist()}),
    }
    return writer.builder.content(name, facts)


class _Writer:
    """Columns of a program as tensors of shape (n, width)."""

    def __init__(self, program: p.Program, numbers: str, opset: int) -> None:
        self.program, self.numbers, self.opset = program, numbers, opset
        self.builder = Builder(opset)
        self.columns: list[tuple[Tensor, int]] = []  # the tensor that has a column, and its place
        self.is_late = False
        self.exits: list[tuple[Tensor, Tensor]] = []

    def write(self) -> None:
        self._inputs()
        for step in self.program.steps:
            if isinstance(step, p.Exit):
                read = self.take(step.columns)
                most = self.op("ReduceMax", read, axes=[1], keepdims=1)
                self.exits.append((self.op("GreaterOrEqual", most, np.array(step.gate)), read))
                continue
            made = self._made(step)
            self.columns += [(made, place) for place in range(step.width)]
        values, decisions = self.take(self.program.values), self.take(self.program.decisions)
        for condition, early in reversed(self.exits):
            values = self.op("Where", condition, early, values)
            decisions = self.op("Where", condition, early, decisions)
        self._outputs(values, decisions)

    # What comes in and goes out

    def op(self, operator: str, *inputs: Any, **attributes: Any) -> Tensor:
        return self.builder.op(operator, *inputs, **attributes)

    def _inputs(self) -> None:
        """The features, in double precision."""
        features = self.program.features
        self._given: list[Tensor] = []
        if all(feature.categories is None for feature in features):
            self.single = self.builder.input("X", self.numbers, len(features))
            wide = (
                self.op("Cast", self.single, to="double")
                if self.numbers == "float"
                else self.single
            )
            self.columns = [(wide, f) for f in range(len(features))]
            return
        names: set[str] = set()
        parts = []
        for f, feature in enumerate(features):
            name = feature.name or f"x{f}"
            if name in names or name in ("label", "probabilities", "variable"):
                raise ExportError(f"The feature {name!r} has the name of an output: rename it.")
            names.add(name)
            parts.append(self._input(name, feature.categories))
        matrix = self.op("Concat", *parts, axis=1)
        self.single = matrix
        if self.numbers == "float":  # categories are codes, which float32 holds
            self.single = self.op("Cast", matrix, to="float")
        self.columns = [(matrix, f) for f in range(len(features))]

    def _input(self, name: str, categories: Sequence[Any] | None) -> Tensor:
        """A feature as a column of numbers in double precision, or of codes."""
        if categories is None:
            given = self.builder.input(name, self.numbers, 1)
            return self.op("Cast", given, to="double") if self.numbers == "float" else given
        if all(isinstance(category, str) for category in categories):
            given = self.builder.input(name, "string", 1)
            code = self.op(
                "LabelEncoder", given, domain="ai.onnx.ml", keys_strings=list(categories),
                values_int64s=list(range(len(categories))), default_int64=-1,
            )  # fmt: skip
        elif any(isinstance(category, str) for category in categories):
            raise ExportError(
                f"The categories of {name!r} are texts and numbers, which no tensor has: make them "
                "all texts before the fit."
            )
        else:
            given = self.builder.input(name, self.numbers, 1)
            wide = self.op("Cast", given, to="double")
            known = np.array([[float(category) for category in categories]])
            if self.numbers == "float" and (known != known.astype(np.float32)).any():
                raise ExportError(
                    f"Categories of {name!r} are no numbers of single precision: take "
                    "numbers='double'."
                )
            hits = self.op("Cast", self.op("Equal", wide, known), to="int64")
            place = self.op("ArgMax", hits, axis=1, keepdims=1)
            found = self.op("ReduceMax", hits, axes=[1], keepdims=1)
            code = self.op("Where", self.op("Cast", found, to="bool"), place, np.array(-1))
        number = self.op("Cast", code, to="double")
        return self.op("Where", self.op("Less", number, np.array(0.0)), np.array(np.nan), number)

    def _outputs(self, values: Tensor, decisions: Tensor) -> None:
        rounded = self.op("Cast", values, to=self.numbers) if self.numbers == "float" else values
        classes = self.program.outputs[0].classes
        n = self.program.n_values
        if classes is None:
            self.builder.output("variable", rounded, self.numbers, n)
            return
        listed = _labels(classes)
        label = self.op("Gather", listed, self.op("ArgMax", decisions, axis=1, keepdims=0), axis=0)
        kind = {"U": "string", "O": "string", "b": "bool", "f": "double"}.get(
            listed.dtype.kind, "int64"
        )
        self.builder.output("label", label, kind, None)
        self.builder.output("probabilities", rounded, self.numbers, n)

    # Columns

    def take(self, columns: Any) -> Tensor:
        """Some columns, side by side."""
        wanted = [self.columns[c] for c in np.asarray(columns).tolist()]
        parts, at = [], 0
        while at < len(wanted):
            tensor, places = wanted[at][0], []
            while at < len(wanted) and wanted[at][0] is tensor:
                places.append(wanted[at][1])
                at += 1
            if places == list(range(tensor.width)):
                parts.append(tensor)
            else:
                part = self.op("Gather", tensor, np.array(places), axis=1)
                parts.append(part)
            parts[-1].width = len(places)
        return parts[0] if len(parts) == 1 else self._joined(parts)

    def _joined(self, parts: list[Tensor]) -> Tensor:
        out = self.op("Concat", *parts, axis=1)
        out.width = sum(part.width for part in parts)
        return out

    def _made(self, step: p.Step) -> Tensor:
        out = self._computed(step)
        out.width = step.width
        return out

    def _in_order(self, terms: Tensor, axis: int) -> Tensor:
        """A sum from the first to the last: what CumSum says last."""
        sums = self.op("CumSum", terms, np.array(axis))
        return self.op("Gather", sums, np.array(-1), axis=axis)

    def _computed(self, step: p.Step) -> Tensor:
        match step:
            case p.Walk():
                return self._walk(step)
            case p.Recode():
                table = np.where(step.table < 0, np.nan, step.table)
                return self._looked_up(self.take([step.column]), np.append(table, np.nan))
            case p.Add():
                total = self.take(step.parts[0])
                for part in step.parts[1:]:
                    total = self.op("Add", total, self.take(part))
                return self.op("Identity", total)
            case p.Divide():
                return self.op("Div", self.take(step.columns), np.array(step.divisor))
            case p.Vote():
                best = self.op("ArgMax", self.take(step.columns), axis=1, keepdims=1)
                is_best = self.op("Equal", best, np.arange(step.width)[None])
                return self.op("Where", is_best, np.array(step.chosen), np.array(step.other))
            case p.Place():
                read = self.take(step.columns)
                zeros = self.op(
                    "Mul", self.op("Gather", read, np.array([0]), axis=1), np.array(0.0)
                )
                places = np.full(step.total, len(step.columns))
                places[step.places] = np.arange(len(step.columns))
                return self.op("Gather", self.op("Concat", read, zeros, axis=1), places, axis=1)
            case p.Round():
                single = self.op("Cast", self.take(step.columns), to="float")
                return self.op("Cast", single, to="double")
            case p.Link():
                return self._linked(step)
            case p.Median():
                return self._median(step)
            case p.Numbers():
                return self._numbers(step)
            case p.Affine():
                product = self.op("MatMul", self.take(step.columns), step.matrix)
                return self.op("Add", product, step.intercept[None])
            case p.Distances():
                apart = self.op("Sub", self._cubed(self.take(step.columns)), step.points[None])
                squares = self.op("Mul", apart, apart)
                return self.op("ReduceSum", squares, np.array([2]), keepdims=0)
            case p.Activate():
                return self._activated(step)
            case p.Nearest():
                best = self.op("ArgMin", self.take(step.columns), axis=1, keepdims=0)
                return self.op("Gather", step.values, best, axis=0)
        raise TypeError(f"unknown step {type(step).__name__}")

    def _cubed(self, matrix: Tensor) -> Tensor:
        return self.op("Unsqueeze", matrix, np.array([1]))

    def _looked_up(self, codes: Tensor, table: np.ndarray) -> Tensor:
        """``table[code]``; its last row is for what is missing or beyond."""
        last = len(table) - 1
        is_known = self.op(
            "And",
            self.op("GreaterOrEqual", codes, np.array(0.0)),
            self.op("Less", codes, np.array(float(last))),
        )
        place = self.op("Where", is_known, codes, np.array(float(last)))
        return self.op("Gather", table, self.op("Cast", place, to="int64"), axis=0)

    # Graphs

    def _walk(self, step: p.Walk) -> Tensor:
        """Leaves by trees, their values by their numbers, sums in order."""
        n_graphs, width = len(step.graphs), step.width
        if not n_graphs:
            first = self.op("Mul", self.take([0]), np.array(0.0))
            zero = self.op("Where", self.op("IsNaN", first), np.array(0.0), np.array(0.0))
            return self.op("Add", zero, step.start[None])
        leaves = self._leaves(step)
        n_per = 1 if step.in_turns else width
        rows = [graph.values.reshape(graph.n_leaves, n_per) for graph in step.graphs]
        firsts = np.cumsum([0, *(len(row) for row in rows)])[:-1]
        places = self.op("Add", leaves, firsts[None].astype(np.int64))
        said = self.op("Gather", np.concatenate(rows), places, axis=0)  # (n, graphs, n_per)
        if step.in_turns and width > 1:
            if n_graphs % width:
                raise ExportError(f"{self.program.model} has an unfinished round of graphs.")
            said = self.op("Reshape", said, np.array([0, n_graphs // width, width]))
        if n_graphs == (width if step.in_turns else 1) and not step.start.any():
            total = self.op("Gather", said, np.array(0), axis=1)
        else:
            if step.start.any():
                first = self.op("Gather", said, np.array([0]), axis=1)
                zero = self.op("Mul", first, np.array(0.0))
                start = self.op("Add", zero, step.start[None, None])
                said = self.op("Concat", start, said, axis=1)
            total = self._in_order(said, 1)
        return total if step.factor == 1.0 else self.op("Mul", total, np.array(step.factor))

    def _leaves(self, step: p.Walk) -> Tensor:
        """The number of each graph's leaf, (n, graphs)."""
        n_features = self.program.n_features
        read = {int(c) for graph in step.graphs for c in graph.column if c >= 0}
        sums = [oblique for graph in step.graphs for oblique in graph.obliques]
        is_early = not sums and all(column < n_features for column in read)
        if is_early:
            matrix, places = self.single, {column: column for column in read}
            kind = self.numbers
        else:
            listed = sorted(read)
            parts = [self.take(listed)] if listed else []
            for oblique in sums:
                parts.append(self._sum(oblique))
                parts[-1].width = 1
            matrix = parts[0] if len(parts) == 1 else self._joined(parts)
            places = {column: place for place, column in enumerate(listed)}
            kind = "double"
        if not any(graph.n_tests for graph in step.graphs):
            n = self.op("Shape", self.single, start=0, end=1)
            shape = self.op("Concat", n, np.array([len(step.graphs)]), axis=0)
            return self.op("Expand", np.zeros((1, 1), dtype=np.int64), shape)
        forest = trees(step.graphs, places, len(read), kind, self.opset)
        ends = self.op("Cast", self.builder.tree(forest.attributes, matrix), to="int64")
        if forest.n_trees == len(step.graphs):
            return ends
        at = self.op("Gather", ends, np.array(forest.roots), axis=1)
        for _ in range(forest.n_turns):
            goes_on = self.op("Less", at, np.array(0))
            tree = self.op("Where", goes_on, self.op("Sub", np.array(-1), at), np.array(0))
            at = self.op("Where", goes_on, self.op("GatherElements", ends, tree, axis=1), at)
        return at

    def _sum(self, oblique: p.Oblique) -> Tensor:
        """The sum of an oblique test, (n, 1)."""
        n = len(oblique.columns)
        tables = [
            self._looked_up(self.take([column]), np.append(weights, missing))
            for column, weights, missing in oblique.tables
        ]
        if n:
            apart = self.op("Sub", self.take(oblique.columns), oblique.centres[None])
            terms = self.op("Mul", apart, oblique.weights[None])
            is_known = self.op("Not", self.op("IsNaN", apart))
            known = self._summed(self.op("Where", is_known, terms, np.array(0.0)))
            total = known
            if oblique.in_lanes:
                total = self._in_lanes(terms, n)
                total = self.op("Where", self.op("IsNaN", total), known, total)
        else:
            total = self.op("Mul", tables[0], np.array(0.0))
        for table in tables:
            total = self.op("Add", total, table)
        return total

    def _summed(self, terms: Tensor) -> Tensor:
        return self.op("Unsqueeze", self._in_order(terms, 1), np.array([1]))

    def _in_lanes(self, terms: Tensor, n: int) -> Tensor:
        """Eight sums side by side, then these, then the rest."""
        grouped = n - n % 4
        total = None
        if grouped:
            eights = -(-grouped // 8)
            places = np.arange(grouped)
            part = self.op("Gather", terms, places, axis=1)
            if grouped % 8:
                four = self.op("Mul", self.op("Gather", terms, np.arange(4), axis=1), np.array(0.0))
                zeros = self.op("Where", self.op("IsNaN", four), np.array(0.0), four)
                part = self.op("Concat", part, zeros, axis=1)
            lanes = self._in_order(self.op("Reshape", part, np.array([0, eights, 8])), 1)
            for half in (4, 2, 1):
                lanes = self.op(
                    "Add",
                    self.op("Gather", lanes, np.arange(half), axis=1),
                    self.op("Gather", lanes, np.arange(half, 2 * half), axis=1),
                )
            total = lanes
        for i in range(grouped, n):
            term = self.op("Gather", terms, np.array([i]), axis=1)
            total = term if total is None else self.op("Add", total, term)
        assert total is not None
        return total

    # Functions

    def _linked(self, step: p.Link) -> Tensor:
        scores = self.take(step.columns)
        if step.name == "log":
            return self._exponential(scores)
        if step.name == "softmax":
            return self._softmax(scores)
        both = self.op("Concat", scores, self.op("Neg", scores), axis=1)
        below = self.op("Add", np.array(1.0), self._exponential(both))
        return self.op("Div", np.array(1.0), below)

    def _softmax(self, scores: Tensor) -> Tensor:
        most = self.op("ReduceMax", scores, axes=[1], keepdims=1)
        powers = self._exponential(self.op("Sub", scores, most))
        return self.op("Div", powers, self._summed(powers))

    def _exponential(self, x: Tensor) -> Tensor:
        """The engine's exponential, operation by operation."""
        half = self.op("Where", self.op("Less", x, np.array(0.0)), np.array(-0.5), np.array(0.5))
        safe = self.op("Clip", x, np.array(-746.0), np.array(710.0))
        scaled = self.op("Add", self.op("Mul", safe, np.array(LOG2_E)), half)
        whole = self.op("Cast", scaled, to="int64")
        k = self.op("Cast", whole, to="double")
        upper = self.op("Sub", safe, self.op("Mul", k, np.array(LN2_UPPER)))
        lower = self.op("Mul", k, np.array(LN2_LOWER))
        r = self.op("Sub", upper, lower)
        series: Any = np.array(1.0 / DIVISORS[0])
        for divisor in DIVISORS[1:]:
            series = self.op("Add", np.array(1.0 / divisor), self.op("Mul", r, series))
        square = self.op("Mul", r, r)
        rest = self.op("Sub", self.op("Mul", square, series), lower)
        power = self.op("Add", np.array(1.0), self.op("Add", upper, rest))
        halved = self.op("Cast", self.op("Div", whole, np.array(2)), to="double")
        two = np.array(2.0)
        found = self.op("Mul", power, self.op("Pow", two, halved))
        found = self.op("Mul", found, self.op("Pow", two, self.op("Sub", k, halved)))
        is_large = self.op("Greater", x, np.array(710.0))
        found = self.op("Where", is_large, np.array(np.inf), found)
        is_small = self.op("Less", x, np.array(-746.0))
        found = self.op("Where", is_small, np.array(0.0), found)
        return self.op("Where", self.op("IsNaN", x), x, found)

    def _median(self, step: p.Median) -> Tensor:
        numbers = self.take(step.columns)
        n = np.array([len(step.columns)])
        ordered, order = self.builder.ops("TopK", 2, numbers, n, axis=1, largest=0, sorted=1)
        sums = self.op("CumSum", self.op("Gather", step.weights, order, axis=0), np.array(1))
        half = self.op("Mul", self.op("Gather", sums, np.array([-1]), axis=1), np.array(0.5))
        is_past = self.op("Cast", self.op("GreaterOrEqual", sums, half), to="int64")
        place = self.op("ArgMax", is_past, axis=1, keepdims=1)
        return self.op("GatherElements", ordered, place, axis=1)

    def _numbers(self, step: p.Numbers) -> Tensor:
        found = self.take(step.sources)
        is_missing = self.op("IsNaN", found)
        if (step.categories >= 0).any():
            is_it = self.op("Equal", found, step.categories[None].astype(np.float64))
            one_hot = self.op("Cast", is_it, to="double")
            found = self.op("Where", (step.categories >= 0)[None], one_hot, found)
        fills: Any = step.fills[None]
        if step.fill_columns is not None:
            fills = self.take(step.fill_columns)
        found = self.op("Where", is_missing, fills, found)
        if step.mean is None or step.scale is None:
            return found
        return self.op("Div", self.op("Sub", found, step.mean[None]), step.scale[None])

    def _activated(self, step: p.Activate) -> Tensor:
        x = self.take(step.columns)
        if step.name in ("relu", "root"):
            is_more = self.op("Greater", x, np.array(0.0))
            positive = self.op("Where", is_more, x, np.array(0.0))
            return positive if step.name == "relu" else self.op("Sqrt", positive)
        scaled = self.op("Mul", x, np.array(step.factor))
        if step.name == "bump":
            return self._exponential(scaled)
        ends = [*step.groups[1:], step.width]
        parts = []
        for start, end in zip(step.groups, ends, strict=True):
            parts.append(self._softmax(self.op("Gather", scaled, np.arange(start, end), axis=1)))
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=1)


def _labels(classes: Sequence[Any]) -> np.ndarray:
    """The classes as a tensor: texts, booleans, whole numbers or numbers."""
    if all(isinstance(label, str) for label in classes):
        return np.array(classes, dtype=object)
    if all(type(label) is bool for label in classes):
        return np.array(classes, dtype=bool)
    if all(type(label) is int and -(2**63) <= label < 2**63 for label in classes):
        return np.array(classes, dtype=np.int64)
    if all(type(label) is float for label in classes):
        return np.array(classes, dtype=np.float64)
    raise ExportError(
        "ONNX has classes of text, booleans, whole numbers of 64 bits or numbers: make them all "
        "one of these."
    )
