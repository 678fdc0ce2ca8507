"""Graphs as C: tables that one function walks, or a function of labels for each graph."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hedgerow.export import program as p
from hedgerow.export.c_text import grouped, literal, table
from hedgerow.export.reading import ExportError

_LEAF_HEAD = """\
/* The leaf of a row in a graph. */
static inline INDEX _m_leaf(const INPUT *x, INDEX graph) {
"""
_WORTH = 12
_WORDS = (("uint8_t", 8), ("uint16_t", 16), ("uint32_t", 32))


def smallest(most: int) -> tuple[str, int]:
    """The smallest type of whole numbers from 0 on, and its bits."""
    return next(word for word in _WORDS if most < 2 ** word[1])


def _narrowest(cuts: np.ndarray, kind: str) -> str:
    """A type for whole numbers that holds them and is not wider than ``kind``."""
    kinds = ("uint8_t", "int8_t", "int16_t", "uint16_t", "int32_t")
    for word in kinds[: kinds.index(kind)]:
        known = np.iinfo(word[:-2])
        if known.min <= cuts.min() and cuts.max() <= known.max:
            return word
    return kind


@dataclass
class Coder:
    """Tables and functions that make a row's numbers."""

    tables: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)


class Numbers:
    """What a row's numbers are, and how they are compared.

    Attributes
    ----------
    type : str
        Of C.
    missing : str or None
        What is missing, as C; None: NaN.
    is_known : str
        Whether a code is below n, as C.
    """

    KINDS = ("double", "float", "int16", "int32", "ranks")

    def __init__(self, kind: str, program: p.Program, missing: str) -> None:
        self.kind, self._missing = kind, missing
        self._program = program
        if kind in ("int16", "int32", "ranks") and any(g.obliques for g in program.graphs):
            raise ExportError(
                f"{program.model} has tests of weighted sums, which need real numbers: take "
                "numbers='double' or 'float'."
            )
        self.missing: str | None = None
        self.is_known = "(INDEX)code < n"
        if kind == "ranks":
            self.cuts = [
                np.empty(0) if feature.categories is not None else self._thresholds(f)
                for f, feature in enumerate(program.features)
            ]
            sizes = [len(feature.categories or ()) for feature in program.features]
            most = max([1, *sizes, *(len(cuts) + 1 for cuts in self.cuts)])
            self.type, bits = smallest(most)
            self.missing = str(2**bits - 1)
        elif kind in ("int16", "int32"):
            self.type = f"{kind}_t"
            self.missing = f"{kind.upper()}_MIN"
            self._most = np.iinfo(kind).max
            if max(len(f.categories or ()) for f in program.features) > self._most:
                raise ExportError(f"{kind} has not as many codes as there are categories.")
        else:
            self.type = kind
            self.is_known = "code >= 0 && code < n"

    def _thresholds(self, feature: int) -> np.ndarray:
        graphs = self._program.graphs
        found = [g.threshold[(g.kind == p.AXIS) & (g.column == feature)] for g in graphs]
        return np.unique(np.concatenate([np.empty(0), *found]))

    def bound(self, column: int, threshold: float) -> float | int:
        """A threshold that sends every number of this kind the way that the model's sends it."""
        if self.kind == "double":
            return threshold
        if self.kind == "float":
            return lower_single(threshold)
        if self.kind == "ranks":
            return int(np.searchsorted(self.cuts[column], threshold))
        return int(min(max(np.floor(threshold), -self._most - 1), self._most))

    def is_left(self, value: str, bound: str, missing_left: bool | None) -> str:
        """Whether a number goes left, as C; None where the word ``is_missing_left`` tells."""
        below = f"{value} <= {bound}"
        lost = f"{value} == {self._missing}"
        if missing_left is None and self.missing is not None:
            return f"{lost} ? is_missing_left : {below}"
        if self.kind == "ranks":
            return f"({below} || {lost})" if missing_left else below
        if self.kind in ("double", "float"):
            if missing_left is None:
                return f"is_missing_left ? !({value} > {bound}) : {below}"
            return f"!({value} > {bound})" if missing_left else below
        return below if missing_left else f"({below} && {lost.replace('==', '!=')})"

    def rounded_rows(self, rows: np.ndarray) -> np.ndarray:
        """Rows that this kind of numbers holds, next to others."""
        if self.kind not in ("int16", "int32"):
            return rows
        return np.clip(np.floor(rows), -self._most, self._most)

    def coded(self, rows: np.ndarray) -> np.ndarray:
        """Rows as the header takes them."""
        if self.kind in ("double", "float"):
            return rows
        out = rows.copy()
        if self.kind == "ranks":
            for f, cuts in enumerate(self.cuts):
                if self._program.features[f].categories is None:
                    out[:, f] = np.searchsorted(cuts, rows[:, f])
        is_missing = np.isnan(rows)
        out[is_missing] = 2 ** (8 * np.dtype(self.type[:-2]).itemsize) - 1 if (
            self.kind == "ranks") else -self._most - 1  # fmt: skip
        return out.astype(np.int64)

    def coder(self, name: str) -> Coder:
        """What makes ranks of numbers."""
        if self.kind != "ranks":
            return Coder()
        firsts = np.cumsum([0, *map(len, self.cuts)])
        word = smallest(int(firsts[-1]))[0]
        cuts = np.concatenate([np.empty(0), *self.cuts])
        is_single = all(lower_single(cut) == cut for cut in cuts.tolist())
        real = "float" if is_single else "double"
        is_word = np.array([f.categories is not None for f in self._program.features])
        code = (
            "/* A feature's number among the model's thresholds: the same side of each. Codes of\n"
            "   categories stay as they are. */\n"
            f"static inline INPUT _m_code(INDEX feature, double number) {{\n"
            "  INDEX i = INT(&_m_first_cuts[feature]);\n"
            "  const INDEX first = i, last = INT(&_m_first_cuts[feature + 1]);\n"
            f"  if (number != number) return {self._missing};\n"
            "  if (INT(&_m_is_category[feature]))\n"
            f"    return number >= 0 && number < {self._missing} ? (INPUT)number\n"
            f"                                                   : {self._missing};\n"
            "  while (i < last && REAL(&_m_cuts[i]) < number) i++;\n"
            "  return (INPUT)(i - first);\n"
            "}"
        )
        tables = [
            table(f"{name}_cuts", real, cuts),
            table(f"{name}_first_cuts", word, firsts),
            table(f"{name}_is_category", "uint8_t", is_word.astype(int)),
        ]
        return Coder(tables, [code])


def has_one_value(step: p.Walk) -> bool:
    """Whether every leaf of a step is one number."""
    return step.in_turns or step.width == 1


def lower_single(threshold: float) -> float:
    """The largest single-precision number that is not above: it parts all others alike."""
    with np.errstate(over="ignore"):
        near = np.float32(threshold)
    return float(np.nextafter(near, np.float32(-np.inf)) if float(near) > threshold else near)


class Graphs:
    """All graphs of a program; tests are numbered through, leaves anew for every step."""

    def __init__(
        self, program: p.Program, kind: Numbers, name: str, features: Sequence[str]
    ) -> None:
        self.program, self.kind, self.name, self._features = program, kind, name, features
        self.graphs = program.graphs
        self.constants: list[str] = []
        self.needed: list[str] = []
        self._leaves: dict[int, np.ndarray] = {}
        self._leaf_numbers: list[np.ndarray] = []
        for number, step in enumerate(program.steps):
            if isinstance(step, p.Walk):
                self._number_leaves(number, step)
        self._sets()
        self._sums()
        n_tests = sum(graph.n_tests for graph in self.graphs)
        n_leaves = max([1, *(len(rows) for rows in self._leaves.values())])
        self._largest = max(n_tests + n_leaves, program.n_columns, len(self._set_words))
        self.index = "unsigned" if self._largest < 2**16 and kind.kind != "int32" else "uint32_t"

    def leaves_of(self, step: int) -> np.ndarray:
        """The distinct leaves of a step."""
        return self._leaves[step]

    def _number_leaves(self, number: int, step: p.Walk) -> None:
        places: dict[bytes, int] = {}
        rows: list[np.ndarray] = []
        for graph in step.graphs:
            found = []
            for row in graph.values:
                key = row.tobytes()
                if key not in places:
                    places[key] = len(rows)
                    rows.append(row)
                found.append(places[key])
            self._leaf_numbers.append(np.array(found, dtype=int))
        self._leaves[number] = np.array(rows)

    def _sets(self) -> None:
        """Sets of codes in words: their number, then a bit for each, and one for the missing."""
        most = max([0, *(len(s) for graph in self.graphs for s in graph.sets)])
        word, self.set_bits = smallest(most)
        words: list[int] = []
        places: dict[bytes, int] = {}
        self._set_of: list[dict[int, int]] = []
        for graph in self.graphs:
            of_test = {}
            for test in np.flatnonzero(graph.kind == p.CATEGORY).tolist():
                bits = np.append(graph.sets[graph.detail[test]], graph.missing_left[test])
                key = bits.tobytes()
                if key not in places:
                    places[key] = len(words)
                    padded = np.zeros(-(-len(bits) // self.set_bits) * self.set_bits, dtype=object)
                    padded[: len(bits)] = bits.astype(int)
                    by_word = padded.reshape(-1, self.set_bits)
                    words += [len(bits) - 1, *(int("".join(map(str, w[::-1])), 2) for w in by_word)]
                of_test[test] = places[key]
            self._set_of.append(of_test)
        self._set_words = words
        if words:
            self.constants.append(table(f"{self.name}_sets", word, np.array(words)))

    def _sums(self) -> None:
        """Weighted sums, and for every test of one its bound."""
        self._sum_of: list[dict[int, int]] = []
        obliques: dict[tuple[p.Oblique, float], int] = {}
        for graph in self.graphs:
            of_test = {}
            for test in np.flatnonzero(graph.kind == p.OBLIQUE).tolist():
                key = graph.obliques[graph.detail[test]], float(graph.threshold[test])
                of_test[test] = obliques.setdefault(key, len(obliques))
            self._sum_of.append(of_test)
        if not obliques:
            return
        self.needed.append("_m_sum")
        rows: list[list[int]] = []
        terms: list[tuple[float, float]] = []
        columns: list[int] = []
        tables: list[list[int]] = []
        weights: list[float] = []
        for oblique, _ in obliques:
            first, first_table = len(columns), len(tables)
            columns += oblique.columns.tolist()
            terms += list(zip(oblique.weights.tolist(), oblique.centres.tolist(), strict=True))
            for column, of_codes, missing in oblique.tables:
                tables.append([column, len(of_codes), len(weights)])
                weights += [*of_codes.tolist(), missing]
            rows.append([first, len(columns), int(oblique.in_lanes), first_table, len(tables)])
        self.constants += [
            grouped(f"{self.name}_sums", "uint32_t", np.array(rows)),
            grouped(f"{self.name}_terms", "double", np.array(terms or [(0.0, 0.0)])),
            table(f"{self.name}_term_columns", "uint32_t", np.array(columns, dtype=int)),
            grouped(f"{self.name}_weight_tables", "uint32_t", np.array(tables or [[0, 0, 0]])),
            table(f"{self.name}_weights", "double", np.array(weights)),
            table(f"{self.name}_sum_bounds", "double", np.array([bound for _, bound in obliques])),
        ]

    def tables(self) -> str:
        """Tables of all tests, and the function that walks them."""
        graphs = self.graphs
        n_tests = sum(graph.n_tests for graph in graphs)
        kinds = {int(kind) for graph in graphs for kind in np.unique(graph.kind)}
        sides = {
            bool(side)
            for graph in graphs
            for side in np.unique(graph.missing_left[graph.kind == p.AXIS])
        }
        bounds: list[float | int] = []
        for graph in graphs:
            bounds += [
                self.kind.bound(int(graph.column[test]), float(graph.threshold[test]))
                for test in np.flatnonzero(graph.kind == p.AXIS)
            ]
        cuts, places, bound = self._places(bounds)
        bound_of = iter(places)
        flags = (len(sides) > 1) + (p.CATEGORY in kinds and len(kinds) > 1) + (
            p.OBLIQUE in kinds and len(kinds) > 1)  # fmt: skip
        rows, roots = [], []
        first = 0
        for g, graph in enumerate(graphs):
            children = [
                np.where(
                    side >= 0,
                    side + first,
                    n_tests + self._leaf_numbers[g][-1 - np.minimum(side, -1)],
                )
                for side in (graph.right, graph.left)
            ]
            roots.append(first if graph.n_tests else n_tests + int(self._leaf_numbers[g][0]))
            for test in range(graph.n_tests):
                kind, mark, detail, column = (
                    int(graph.kind[test]),
                    0,
                    0,
                    max(int(graph.column[test]), 0),
                )
                if len(sides) > 1:
                    mark = int(graph.missing_left[test] and kind == p.AXIS)
                if len(kinds) > 1:
                    if p.CATEGORY in kinds:
                        mark = 2 * mark + (kind == p.CATEGORY)
                    if p.OBLIQUE in kinds:
                        mark = 2 * mark + (kind == p.OBLIQUE)
                if kind == p.AXIS:
                    detail = next(bound_of)
                elif kind == p.CATEGORY:
                    detail = self._set_of[g][test]
                else:
                    detail = self._sum_of[g][test]
                rows.append(
                    [column << flags | mark, detail, int(children[0][test]), int(children[1][test])]
                )
            first += graph.n_tests
        head = _LEAF_HEAD
        if len(graphs) > 1:
            word = smallest(max(roots))[0]
            self.constants.append(table(f"{self.name}_roots", word, np.array(roots)))
            start = "  INDEX at = INT(&_m_roots[graph]);\n"
        else:
            start = "  INDEX at = 0;\n  (void)graph;\n"
        if not n_tests:
            return f"{head}{start}  (void)x;\n  return at;\n}}"
        node = np.array(rows)
        about = "/* Tests: column and marks, threshold or set, second child, first child. */\n"
        words = [smallest(int(part.max()))[0] for part in (node[:, 0], node[:, 1], node[:, 2:])]
        if len(set(words)) == 1:
            self.constants.append(about + grouped(f"{self.name}_tests", words[0], node))
            reads = ("test[0]", "test[1]", "test[2 + is_left]")
        else:  # each as narrow as it can be
            self.constants += [
                about + table(f"{self.name}_columns", words[0], node[:, 0]),
                table(f"{self.name}_places", words[1], node[:, 1]),
                grouped(f"{self.name}_children", words[2], node[:, 2:]),
            ]
            reads = ("_m_columns[at]", "_m_places[at]", "_m_children[at][is_left]")
        if len(cuts):
            is_real = self.kind.kind in ("double", "float")
            word_of_cuts = self.kind.type if is_real else _narrowest(cuts, self.kind.type)
            self.constants.append(table(f"{self.name}_thresholds", word_of_cuts, cuts))
        walker = self._walker(reads, n_tests, kinds, sides, flags, bound)
        if reads[0] == "test[0]":
            row = f"    const {words[0]} *test = _m_tests[at];\n"
            walker = walker.replace("{\n", "{\n" + row, 1)
        return head + start + walker

    def _places(self, bounds: list[float | int]) -> tuple[np.ndarray, list[int], str]:
        """Thresholds of a table, what tests say instead of theirs, and how C finds them.

        Whole numbers that fit are said by the tests themselves; the numbers above are places.
        """
        cuts = np.unique(np.array(bounds, dtype=np.float64 if bounds else int))
        if self.kind.kind in ("double", "float"):
            places = np.searchsorted(cuts, np.array(bounds)).tolist()
            return cuts, places, "REAL(&_m_thresholds[place])"
        most = max([255, *(place for of_test in self._set_of for place in of_test.values())])
        most = 2 ** smallest(most)[1] - 1
        inside = (cuts >= 0) & (cuts <= most - len(cuts))
        if self.kind.kind == "ranks" or inside.all():
            return cuts[:0], [int(bound) for bound in bounds], "(INPUT)place"
        wide = cuts[~inside]
        first = most + 1 - len(wide)
        if 2 * inside.sum() < _WORTH:  # bytes that the choice takes of code
            wide, first = cuts, 0
        place_of = {int(cut): first + i for i, cut in enumerate(wide)}
        places = [place_of.get(int(bound), int(bound)) for bound in bounds]
        if not first:
            return wide, places, "INT(&_m_thresholds[place])"
        of_table = f"INT(&_m_thresholds[place - {first}])"
        return wide, places, f"(place < {first} ? (INPUT)place : (INPUT){of_table})"

    def _walker(
        self,
        reads: tuple[str, str, str],
        n_tests: int,
        kinds: set[int],
        sides: set[bool],
        flags: int,
        bound: str,
    ) -> str:
        """The loop from test to test."""
        missing_left = next(iter(sides)) if len(sides) == 1 else None
        column = f"marks >> {flags}" if flags else "marks"
        lines = [f"  while (at < {n_tests}) {{", f"    const INDEX place = INT(&{reads[1]});"]
        if flags or kinds != {p.OBLIQUE}:
            lines.append(f"    const INDEX marks = INT(&{reads[0]});")
        bit = 0
        is_sum = is_set = ""
        if len(kinds) > 1:
            if p.OBLIQUE in kinds:
                is_sum, bit = f"marks & {1 << bit}", bit + 1
            if p.CATEGORY in kinds:
                is_set, bit = f"marks & {1 << bit}", bit + 1
        ways = []
        if p.OBLIQUE in kinds:
            ways.append((is_sum, "_m_sum(place, x) < REAL(&_m_sum_bounds[place])"))
        if p.CATEGORY in kinds:
            self.needed.append("_m_has")
            ways.append((is_set, f"_m_has(place, x[{column}])"))
        if p.AXIS in kinds:
            ways.append(("", self.kind.is_left("value", bound, missing_left)))
            lines.append(f"    const INPUT value = x[{column}];")
        if missing_left is None and p.AXIS in kinds:
            lines.append(f"    const int is_missing_left = marks >> {bit} & 1;")
        lines.append("    int is_left;")
        for number, (condition, left) in enumerate(ways):
            if number < len(ways) - 1:
                lines.append(f"    if ({condition}) is_left = {left};\n    else")
            else:
                lines.append(f"    is_left = {left};")
        lines += [f"    at = INT(&{reads[2]});", "  }", f"  return at - {n_tests};", "}"]
        return "\n".join(lines)

    def code(self, leaf: str) -> str:
        """A function for each graph: every test once, shared ones as labels.

        It gives the leaf's number, and among several graphs of one value that value, of the type
        ``leaf`` of C.
        """
        if any(self._set_of):
            self.needed.append("_m_has")
        if len(self.graphs) == 1:
            written = self._labels(0, self.graphs[0], "INDEX", self._numbers(0))
            return f"{written}\n\n{_LEAF_HEAD}  (void)graph;\n  return _m_graph_0(x);\n}}"
        functions: list[str] = []
        for number, step in enumerate(self.program.steps):
            if not isinstance(step, p.Walk):
                continue
            for graph in step.graphs:
                g = len(functions)
                if has_one_value(step):
                    ends = [literal(value, leaf) for value in self._leaves[number][:, 0].tolist()]
                    functions.append(self._labels(g, graph, "SUM", ends))
                else:
                    functions.append(self._labels(g, graph, "INDEX", self._numbers(number)))
        return "\n\n".join(functions)

    def _numbers(self, step: int) -> list[str]:
        return [str(number) for number in range(len(self._leaves[step]))]

    def _labels(self, g: int, graph: p.Graph, kind: str, ends: Sequence[str]) -> str:
        head = f"static inline {kind} _m_graph_{g}(const INPUT *x) {{"
        leaf_of = self._leaf_numbers[g]
        if not graph.n_tests:
            return f"{head}\n  (void)x;\n  return {ends[leaf_of[0]]};\n}}"
        lines: list[tuple[int, str]] = []
        called = set()

        def go(node: int) -> str:
            if node < 0:
                return f"return {ends[leaf_of[-1 - node]]};"
            called.add(node)
            return f"goto n{node};"

        for test in range(graph.n_tests):
            condition = self._condition(g, graph, test)
            left, right = int(graph.left[test]), int(graph.right[test])
            if left < 0 and right < 0:
                both = [ends[leaf_of[-1 - side]] for side in (left, right)]
                lines.append((test, f"return {condition} ? {both[0]} : {both[1]};"))
            elif left == test + 1:
                lines.append((test, f"if ({_negated(condition)}) {go(right)}"))
            else:
                lines.append((test, f"if ({condition}) {go(left)}"))
                if right != test + 1:
                    lines.append((-1, go(right)))
        texts = [f"n{test}:\n  {line}" if test in called else f"  {line}" for test, line in lines]
        return "\n".join([head, *texts, "}"])

    def _condition(self, g: int, graph: p.Graph, test: int) -> str:
        if graph.kind[test] == p.OBLIQUE:
            return f"_m_sum({self._sum_of[g][test]}, x) < {literal(graph.threshold[test])}"
        column = int(graph.column[test])
        value = f"x[{self._features[column] if column < len(self._features) else column}]"
        missing_left = bool(graph.missing_left[test])
        if graph.kind[test] == p.AXIS:
            bound = self.kind.bound(column, float(graph.threshold[test]))
            kind = self.kind.kind if self.kind.kind in ("double", "float") else "int"
            return self.kind.is_left(value, literal(bound, kind), missing_left)
        deciding = np.flatnonzero(graph.sets[graph.detail[test]] != missing_left)
        if len(deciding) == 1:
            return f"{value} {'!=' if missing_left else '=='} {deciding[0]}"
        return f"_m_has({self._set_of[g][test]}, {value})"


def _negated(condition: str) -> str:
    if condition.startswith("!(") and condition.endswith(")"):
        return condition[2:-1]
    return f"!({condition})"
