"""A model as one query: tests as CASE, shared nodes as columns of earlier steps, never copied."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.export import program as p
from hedgerow.export.columns import categories_of, columns_of_step, sides
from hedgerow.export.facts import header, self_test
from hedgerow.export.reading import ExportError, read
from hedgerow.export.sql_dialects import DIALECTS, Dialect
from hedgerow.export.words import identifiers

_DEEPEST = 8  # CASEs inside each other: SQLite's parser has room for little more
_AT_ONCE = 20  # graphs of one step: SQLite joins 64 tables
_MOST = 400  # columns that a step adds: SQLite has 2,000, PostgreSQL 1,600


def to_sql(
    model: Any,
    *,
    name: str = "model",
    dialect: str = "duckdb",
    table: str = "rows",
    keep: str | Sequence[str] = (),
    test: bool = False,
) -> str:
    """Write a model as one query, for DuckDB, PostgreSQL or SQLite.

    The query reads a table whose columns have the names of the features (``x0``, ``x1``, ... where
    there are none) and gives ``prediction``, for classifiers also a probability for each class.
    NULL and NaN are missing, and so is a category that the training table did not have. Categories
    are compared as they are. Steps are common table expressions: a node with several parents is a
    column of one of them.

    Parameters
    ----------
    model : a fitted estimator of hedgerow, or a `Program`
    name : str, default="model"
        Named in the first comment.
    dialect : {"duckdb", "postgresql", "sqlite"}, default="duckdb"
    table : str, default="rows"
        The table, or view, that is read.
    keep : str or sequence of str, default=()
        Columns of the table that come along, such as its key; several in one text are parted by
        commas.
    test : bool, default=False
        Write the self-test instead: a query that reads no table and gives the number of wrong
        rows.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import DecisionTreeClassifier
    >>> from hedgerow.export import to_sql
    >>> iris = load_iris(as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=1).fit(iris.data, iris.target > 0)
    >>> text = to_sql(tree, dialect="sqlite", table="flowers", keep="id")
    >>> print(text[text.index("step_1") : text.index("step_2")].rstrip())
    step_1 AS MATERIALIZED (
      SELECT "_k0", "petal_length_cm",
        CASE WHEN "petal_length_cm" <= 2.45 THEN 0 ELSE 1 END AS "_g0"
      FROM step_0
    ),
    """
    if dialect not in DIALECTS:
        raise ValueError(f"'dialect' must be one of {', '.join(DIALECTS)}, got {dialect!r}.")
    if test not in (True, False):
        raise ValueError(f"'test' must be True or False, got {test!r}.")
    kept = [part.strip() for part in keep.split(",") if part.strip()] if isinstance(
        keep, str) else list(keep)  # fmt: skip
    program = read(model)
    writer = _Writer(program, DIALECTS[dialect], kept)
    body = writer.test() if test else writer.query(table)
    comments = [*header(program, name), f"{dialect}; NULL is missing"]
    return "\n".join(f"-- {line}" for line in comments) + "\n" + body


class _Writer:
    """One query: expressions for columns, and the steps that make them."""

    def __init__(self, program: p.Program, dialect: Dialect, keep: list[str]) -> None:
        self.program, self.sql, self.keep = program, dialect, keep
        self.categories = categories_of(program)
        self.sources = [feature.name or f"x{f}" for f, feature in enumerate(program.features)]
        self._refuse_alike(self.sources)
        aliases = identifiers(self.sources)
        n_further = program.n_columns - program.n_features
        self.columns = [f'"{alias}"' for alias in aliases]
        self.columns += [f'"_c{number}"' for number in range(n_further)]
        self.kept = [f'"_k{number}"' for number in range(len(keep))]
        self.steps: list[str] = []
        self.exits: list[tuple[str, list[str]]] = []
        self._last = ""
        self._live = [f for f in range(program.n_features) if self._is_read(f)]

    def _refuse_alike(self, names: list[str]) -> None:
        seen: dict[str, str] = {}
        for name in names:
            other = seen.setdefault(self.sql.folded(name), name)
            if other != name:
                raise ExportError(
                    f"{self.sql.name} cannot tell the columns {other!r} and {name!r} apart: rename "
                    "one before the fit."
                )

    def _is_read(self, column: int, since: int = 0) -> bool:
        """Whether a step from ``since`` on, or the answer, reads a column."""
        if column in self.program.values or column in self.program.decisions:
            return True
        return any(column in columns_of_step(step) for step in self.program.steps[since:])

    # The query

    def query(self, table: str) -> str:
        return self._text(f"FROM {self.sql.identifier(table)}", self.keep)

    def _text(self, source: str, keep: list[str], before: Sequence[str] = ()) -> str:
        self._source(source, keep)
        for number, (start, step) in enumerate(
            zip(self.program.starts, self.program.steps, strict=True)
        ):
            self._step(step, start, number)
        final = self._final(*self._answers(), keep)
        return "WITH\n" + ",\n".join([*before, *self.steps]) + f"\n{final};\n"

    def _source(self, source: str, keep: list[str]) -> None:
        lines = [
            f"{self.sql.identifier(name)} AS {alias}"
            for name, alias in zip(keep, self.kept, strict=True)
        ]
        for f in self._live:
            given = self.sql.identifier(self.sources[f])
            kept = self.sql.feature(given, self.categories[f])
            lines.append(f"{kept} AS {self.columns[f]}")
        self._add(lines or ["1 AS _one"], source)

    def _add(self, lines: Sequence[str], source: str) -> None:
        name = f"step_{len(self.steps) - self._n_leaf_tables}"
        shown = ",\n    ".join(lines)
        self.steps.append(f"{name} AS MATERIALIZED (\n  SELECT {shown}\n  {source}\n)")
        self._last = name

    _n_leaf_tables = 0

    def _carried(self, further: Sequence[str] = ()) -> list[str]:
        """What every step hands on, in one line."""
        live = [*self.kept, *(self.columns[f] for f in self._live), *further]
        live += [condition for condition, _ in self.exits]
        return [", ".join(live)] if live else []

    def _append(self, start: int, expressions: Sequence[str], since: int) -> None:
        """A step that adds columns, and drops those that nothing reads later."""
        fresh = range(start, start + len(expressions))
        lines = [
            f"{expression} AS {self.columns[column]}"
            for column, expression in zip(fresh, expressions, strict=True)
        ]
        self._add([*self._carried(), *lines], f"FROM {self._last}")
        self._live = [c for c in [*self._live, *fresh] if self._is_kept(c, since)]

    def _is_kept(self, column: int, since: int) -> bool:
        in_exits = any(self.columns[column] in columns for _, columns in self.exits)
        return in_exits or self._is_read(column, since)

    def _answers(self) -> tuple[list[str], list[str]]:
        """The columns of values and decisions, where a program may end early."""
        found = [self.columns[c] for c in self.program.values]
        chosen = [self.columns[c] for c in self.program.decisions]
        if not self.exits:
            return found, chosen
        names, lines = [], []
        for prefix, late in (("_v", found), ("_d", chosen)):
            names.append([f'"{prefix}{i}"' for i in range(len(late))])
            for i, name in enumerate(names[-1]):
                ways = " ".join(f"WHEN {end} = 1 THEN {early[i]}" for end, early in self.exits)
                lines.append(f"CASE {ways} ELSE {late[i]} END AS {name}")
        self._add([*self.kept, *lines], f"FROM {self._last}")
        self._live, self.exits = [], []
        self.kept += [*names[0], *names[1]]
        return names[0], names[1]

    def _final(self, values: list[str], decisions: list[str], keep: list[str]) -> str:
        classes = self.program.outputs[0].classes
        lines = [
            f"{alias} AS {self.sql.identifier(name)}"
            for name, alias in zip(keep, self.kept, strict=False)
        ]
        if classes is not None:
            largest = self._largest(decisions)
            chosen = self._places(decisions, largest, [self.sql.label(c) for c in classes])
            lines.append(f"{chosen} AS prediction")
        names = value_names(self.program)
        lines += [f'{value} AS "{name}"' for value, name in zip(values, names, strict=True)]
        return "SELECT\n  " + ",\n  ".join(lines) + f"\nFROM {self._last}"

    def _largest(self, columns: list[str]) -> str:
        """The largest of some columns, in a step of its own."""
        if len(columns) == 1:
            return columns[0]
        line = f"{self.sql.greatest(columns)} AS _most"
        self._add([*self._carried(), line], f"FROM {self._last}")
        return "_most"

    @staticmethod
    def _places(columns: list[str], largest: str, texts: Sequence[str]) -> str:
        """A text for the first of the largest."""
        if len(columns) == 1:
            return texts[0]
        ways = " ".join(
            f"WHEN {column} = {largest} THEN {text}"
            for column, text in zip(columns[:-1], texts[:-1], strict=True)
        )
        return f"CASE {ways} ELSE {texts[-1]} END"

    # Steps

    def _step(self, step: p.Step, start: int, number: int) -> None:
        if isinstance(step, p.Walk):
            self._walk(step, start, number)
        elif isinstance(step, p.Exit):
            columns = [self.columns[c] for c in step.columns]
            condition = f'"_e{len(self.exits)}"'
            gate = f"{self.sql.greatest(columns)} >= {self.sql.number(step.gate)}"
            self._add(
                [*self._carried(), f"CASE WHEN {gate} THEN 1 ELSE 0 END AS {condition}"],
                f"FROM {self._last}",
            )
            self.exits.append((condition, columns))
        elif isinstance(step, p.Median):
            raise ExportError(
                f"{self.program.model} takes a weighted median, which a query cannot: export to C, "
                "JavaScript, Python or ONNX."
            )
        else:
            self._append(start, self._expressions(step), number + 1)

    def _expressions(self, step: p.Step) -> list[str]:
        """The columns of a step, as expressions of those before."""
        number = self.sql.number

        def read(columns: Any) -> list[str]:
            return [self.columns[c] for c in columns]

        match step:
            case p.Recode():
                words = self.categories[step.column]
                assert words is not None
                ways = [
                    f"WHEN {self.sql.word(words[code])} THEN {step.table[code]}"
                    for code in np.flatnonzero(step.table >= 0).tolist()
                ]
                if not ways:
                    return ["NULL"]
                return [f"CASE {self.columns[step.column]} {' '.join(ways)} END"]
            case p.Add():
                return [" + ".join(read(parts)) for parts in step.parts.T]
            case p.Divide():
                return [f"{column} / {number(step.divisor)}" for column in read(step.columns)]
            case p.Vote():
                columns = read(step.columns)
                most = self._largest(columns)
                chosen, other = number(step.chosen), number(step.other)
                return [
                    f"CASE WHEN {self._is_first(columns, i, most)} THEN {chosen} ELSE {other} END"
                    for i in range(len(columns))
                ]
            case p.Place():
                out = [number(0.0)] * step.total
                for place, column in zip(step.places, read(step.columns), strict=True):
                    out[place] = column
                return out
            case p.Round():
                return [self.sql.single(column) for column in read(step.columns)]
            case p.Link():
                return self._linked(step.name, read(step.columns))
            case p.Numbers():
                return self._numbers(step)
            case p.Affine():
                columns = read(step.columns)
                return [
                    " + ".join(f"{c} * {number(w)}" for c, w in zip(columns, weights, strict=True))
                    + f" + {number(intercept)}"
                    for weights, intercept in zip(step.matrix.T, step.intercept, strict=True)
                ]
            case p.Distances():
                columns = read(step.columns)
                return [
                    " + ".join(
                        f"({c} - {number(x)}) * ({c} - {number(x)})"
                        for c, x in zip(columns, point, strict=True)
                    )
                    for point in step.points
                ]
            case p.Activate():
                return self._activated(step, read(step.columns))
            case p.Nearest():
                columns = read(step.columns)
                least = self._largest([f"-{column}" for column in columns])
                return [
                    self._places([f"-{c}" for c in columns], least, [number(v) for v in values])
                    for values in step.values.T
                ]
        raise TypeError(f"unknown step {type(step).__name__}")

    @staticmethod
    def _is_first(columns: list[str], place: int, most: str) -> str:
        before = [f"{column} < {most}" for column in columns[:place]]
        return " AND ".join([f"{columns[place]} = {most}", *before])

    def _linked(self, name: str, scores: list[str]) -> list[str]:
        one = self.sql.number(1.0)
        if name == "log":
            return [self.sql.exponential(score) for score in scores]
        if name == "logit":
            return [
                f"{one} / ({one} + {self.sql.exponential(f'({sign}{scores[0]})')})"
                for sign in ("", "-")
            ]
        return self._softmax(scores)

    def _softmax(self, scores: list[str]) -> list[str]:
        most = self._largest(scores)
        powers = [self.sql.exponential(f"({score} - {most})") for score in scores]
        names = [f'"_p{i}"' for i in range(len(powers))]
        lines = [f"{power} AS {name}" for power, name in zip(powers, names, strict=True)]
        self._add([*self._carried(), *lines], f"FROM {self._last}")
        total = " + ".join(names)
        return [f"{name} / ({total})" for name in names]

    def _numbers(self, step: p.Numbers) -> list[str]:
        number, out = self.sql.number, []
        for j, (source, category) in enumerate(
            zip(step.sources.tolist(), step.categories.tolist(), strict=True)
        ):
            column = self.columns[source]
            fill = number(step.fills[j])
            if step.fill_columns is not None:
                fill = self.columns[step.fill_columns[j]]
            words = self.categories[source]
            if category < 0:
                found = f"COALESCE({column}, {fill})"
            else:
                assert words is not None
                listed = ", ".join(map(self.sql.word, words))
                one, zero = number(1.0), number(0.0)
                found = (
                    f"CASE WHEN {column} = {self.sql.word(words[category])} THEN {one} "
                    f"WHEN {column} IN ({listed}) THEN {zero} ELSE {fill} END"
                )
            if step.mean is not None and step.scale is not None:
                found = f"({found} - {number(step.mean[j])}) / {number(step.scale[j])}"
            out.append(found)
        return out

    def _activated(self, step: p.Activate, columns: list[str]) -> list[str]:
        zero, factor = self.sql.number(0.0), self.sql.number(step.factor)
        if step.name == "relu":
            return [f"CASE WHEN {c} > {zero} THEN {c} ELSE {zero} END" for c in columns]
        if step.name == "root":
            return [f"CASE WHEN {c} > {zero} THEN sqrt({c}) ELSE {zero} END" for c in columns]
        scaled = [f"({factor} * {c})" for c in columns]
        if step.name == "bump":
            return [self.sql.exponential(c) for c in scaled]
        raise ExportError(
            f"{self.program.model} with the activation 'softmax' cannot be written as SQL: take "
            "another activation, or export to C, JavaScript or Python."
        )

    # Graphs

    def _walk(self, step: p.Walk, start: int, number: int) -> None:
        fresh = list(range(start, start + step.width))
        is_direct = step.in_turns or step.width == 1
        leaves, numbers = _distinct_leaves(step)
        if not is_direct:
            self._leaf_table(number, leaves)
        sums = [self.sql.number(value) for value in step.start]
        at = 0
        heads = [_heads(graph) for graph in step.graphs]
        for group in _groups([len(found) for found in heads]):
            named = [f'"_g{g}"' for g in group]
            self._levels(step, group, heads, numbers, is_direct, fresh if at else [])
            joins = ""
            parts: list[list[str]] = [[] for _ in fresh]
            for place, g in enumerate(group):
                if is_direct:
                    parts[g % step.width if step.in_turns else 0].append(named[place])
                    continue
                joins += f"\n    JOIN leaves_{number} AS l{g} ON l{g}.leaf = {named[place]}"
                for i in range(step.width):
                    parts[i].append(f"l{g}.v{i}")
            sums = [self.columns[c] for c in fresh] if at else sums
            zero = self.sql.number(0.0)  # adds nothing: no leaf says -0.0
            added = [
                " + ".join([s, *more] if s != zero or not more else more)
                for s, more in zip(sums, parts, strict=True)
            ]
            at += len(group)
            if at == len(step.graphs):
                self._live = [c for c in self._live if self._is_kept(c, number + 1)]
            if at == len(step.graphs) and step.factor != 1.0:
                added = [f"({text}) * {self.sql.number(step.factor)}" for text in added]
            lines = [f"{text} AS {self.columns[c]}" for text, c in zip(added, fresh, strict=True)]
            self._add([*self._carried(), *lines], f"FROM {self._last}{joins}")
        self._live = [c for c in [*self._live, *fresh] if self._is_kept(c, number + 1)]

    def _leaf_table(self, number: int, leaves: np.ndarray) -> None:
        rows = ",\n    ".join(
            f"({leaf}, {', '.join(map(self.sql.number, row))})" for leaf, row in enumerate(leaves)
        )
        names = ", ".join(f"v{i}" for i in range(leaves.shape[1]))
        self.steps.append(
            f"leaves_{number} (leaf, {names}) AS MATERIALIZED (\n  VALUES\n    {rows}\n)"
        )
        self._n_leaf_tables += 1

    def _levels(
        self,
        step: p.Walk,
        group: Sequence[int],
        heads_of: list[dict[int, int]],
        numbers: list[np.ndarray],
        is_direct: bool,
        sums: list[int],
    ) -> None:
        """Steps whose columns are nodes that others refer to, the last of them the roots."""
        n_levels = max([0, *(level for g in group for level in heads_of[g].values())])
        done: list[str] = []
        carried = [self.columns[c] for c in sums]
        for level in range(n_levels + 1):
            lines = []
            for g in group:
                graph, heads = step.graphs[g], heads_of[g]
                for head, its_level in heads.items():
                    is_root = head == graph.root
                    if level != (n_levels if is_root else its_level):
                        continue
                    text = self._case(graph, g, head, heads, numbers[g], is_direct)
                    name = f'"_g{g}"' if is_root else f'"_g{g}n{head}"'
                    lines.append(f"{text} AS {name}")
            fresh = [line.rsplit(" AS ", 1)[1] for line in lines]
            if len(done) + len(lines) > _MOST:
                raise ExportError(
                    f"{self.program.model} has a graph with more than {_MOST} nodes that others "
                    "refer to, which databases have no room for: limit its splits or depth."
                )
            self._add([*self._carried([*carried, *done]), *lines], f"FROM {self._last}")
            done += fresh

    def _case(
        self,
        graph: p.Graph,
        g: int,
        head: int,
        heads: dict[int, int],
        numbers: np.ndarray,
        is_direct: bool,
    ) -> str:
        """A node as CASE; other heads are columns."""
        out: list[str] = []
        stack: list[int | str] = [head]
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                out.append(node)
            elif node < 0:
                value = graph.values[-1 - node][0] if is_direct else 0.0
                out.append(self.sql.number(value) if is_direct else str(numbers[-1 - node]))
            elif node != head and node in heads:
                out.append(f'"_g{g}n{node}"')
            else:
                condition, is_swapped = self._condition(graph, node)
                first, second = int(graph.left[node]), int(graph.right[node])
                if is_swapped:
                    first, second = second, first
                out.append(f"CASE WHEN {condition} THEN ")
                stack += [" END", second, " ELSE ", first]
        return "".join(out)

    def _condition(self, graph: p.Graph, test: int) -> tuple[str, bool]:
        """A condition, and whether those that keep it go right. NULL never keeps one."""
        bound = self.sql.number(graph.threshold[test])
        if graph.kind[test] == p.OBLIQUE:
            return f"{self._sum(graph.obliques[graph.detail[test]])} < {bound}", False
        column = int(graph.column[test])
        name, words = self.columns[column], self.categories[column]
        if graph.kind[test] == p.AXIS:
            if graph.missing_left[test]:
                return f"{name} > {bound}", True
            return f"{name} <= {bound}", False
        assert words is not None
        chosen, are_left = sides(graph, test, words)
        if not chosen:
            return "1 = 0", not are_left
        listed = ", ".join(map(self.sql.word, chosen))
        return (f"{name} IN ({listed})" if len(chosen) > 1 else f"{name} = {listed}"), not are_left

    def _sum(self, oblique: p.Oblique) -> str:
        number = self.sql.number
        terms = [
            f"({self.columns[c]} - {number(centre)}) * {number(weight)}"
            for c, weight, centre in zip(
                oblique.columns, oblique.weights, oblique.centres, strict=True
            )
        ]
        zero = number(0.0)
        total = " + ".join([zero, *(f"COALESCE({term}, {zero})" for term in terms)])
        if oblique.in_lanes and terms:
            total = f"COALESCE({_lanes(terms, zero)}, {total})"
        for column, weights, missing in oblique.tables:
            words = self.categories[column]
            assert words is not None
            ways = " ".join(
                f"WHEN {self.sql.word(word)} THEN {number(weight)}"
                for word, weight in zip(words, weights, strict=True)
            )
            total += f" + CASE {self.columns[column]} {ways} ELSE {number(missing)} END"
        return f"({total})"

    # The self-test

    def test(self) -> str:
        """The same steps on rows of their own, whose answers are known."""
        test = self_test(self.program)
        classes = self.program.outputs[0].classes
        n = self.program.n_values
        rows = []
        for number, row in enumerate(test.rows):
            cells = [str(number)]
            for f, value in enumerate(row):
                cells.append(self.sql.cell(value, self.program.features[f].categories))
            cells += [self.sql.number(v) for v in test.values[number]]
            if classes is not None:
                cells.append(self.sql.label(classes[test.answers[0][number]]))
            rows.append(f"({', '.join(cells)})")
        expected = [f"_expected{i}" for i in range(n)] + ["_class"] * (classes is not None)
        names = ["_row", *self.sources, *expected]
        listed = ", ".join(map(self.sql.identifier, names))
        source = (
            f"test_rows ({listed}) AS MATERIALIZED (\n  VALUES\n    " + ",\n    ".join(rows) + "\n)"
        )
        self.keep = ["_row", *expected]
        self.kept = [f'"_k{i}"' for i in range(len(self.keep))]
        text = self._text("FROM test_rows", self.keep, [source])
        head, final = text.rsplit("\nSELECT", 1)
        answer = f"answers AS MATERIALIZED (\nSELECT{final.rstrip().rstrip(';')}\n)"
        found = value_names(self.program)
        wrong = [
            f'abs("{name}" - "_expected{i}") > 1e-9 * (1 + abs("_expected{i}"))'
            for i, name in enumerate(found)
        ]
        if classes is not None:
            wrong.append('prediction <> "_class"')
        count = f"SELECT count(*) AS wrong FROM answers WHERE {' OR '.join(wrong)};"
        return f"{head},\n{answer}\n{count}\n"


def has_own_functions(program: p.Program) -> bool:
    """Whether the database's own exponentials and roots have a part in what is predicted."""
    return any(isinstance(step, p.Link | p.Activate) for step in program.steps)


def value_names(program: p.Program) -> list[str]:
    """What a query calls its probabilities, or its numbers."""
    classes = program.outputs[0].classes
    if classes is not None:
        return identifiers([f"probability {label}" for label in classes], keywords=["prediction"])
    if len(program.outputs) == 1:
        return ["prediction"]
    return identifiers([f"prediction {output.name}" for output in program.outputs])


def _distinct_leaves(step: p.Walk) -> tuple[np.ndarray, list[np.ndarray]]:
    """The distinct leaves of a step, and for each graph the place of its leaves there."""
    places: dict[bytes, int] = {}
    rows: list[np.ndarray] = []
    numbers = []
    for graph in step.graphs:
        found = []
        for row in graph.values:
            if row.tobytes() not in places:
                places[row.tobytes()] = len(rows)
                rows.append(row)
            found.append(places[row.tobytes()])
        numbers.append(np.array(found, dtype=int))
    return np.array(rows), numbers


def _groups(n_columns: list[int]) -> list[list[int]]:
    """Graphs that are walked at the same time."""
    groups: list[list[int]] = [[]]
    total = 0
    for g, n in enumerate(n_columns):
        if groups[-1] and (len(groups[-1]) == _AT_ONCE or total + n > _MOST):
            groups.append([])
            total = 0
        groups[-1].append(g)
        total += n
    return groups


def _heads(graph: p.Graph) -> dict[int, int]:
    """Nodes that become columns, and the steps that must come before theirs.

    These are shared nodes, nodes that lie too deep, and the root.
    """
    heads: dict[int, int] = {}
    depth = np.zeros(graph.n_tests, dtype=int)  # of the CASEs that a node needs
    level = np.zeros(graph.n_tests, dtype=int)  # steps that must come before a node's
    for test in range(graph.n_tests - 1, -1, -1):  # children stand behind
        for child in (int(graph.left[test]), int(graph.right[test])):
            if child < 0:
                continue
            is_head = graph.n_parents[child] > 1 or depth[child] >= _DEEPEST
            if is_head:
                heads[child] = int(level[child])
            depth[test] = max(depth[test], 0 if is_head else depth[child])
            level[test] = max(level[test], level[child] + is_head)
        depth[test] += 1
    heads[graph.root] = int(level[0]) if graph.n_tests else 0
    return heads


def _lanes(terms: list[str], zero: str) -> str:
    """Eight sums side by side, as a matrix product has them; NULL where a term is."""
    lanes = [[zero] for _ in range(8)]
    i = 0
    while i + 4 <= len(terms):
        n = 8 if i + 8 <= len(terms) else 4
        for lane in range(n):
            lanes[lane].append(terms[i + lane])
        i += n
    s = [f"({' + '.join(lane)})" if len(lane) > 1 else zero for lane in lanes]
    total = f"((({s[0]} + {s[4]}) + ({s[2]} + {s[6]})) + (({s[1]} + {s[5]}) + ({s[3]} + {s[7]})))"
    return " + ".join([total, *terms[i:]])
