"""A model as one C header: tables or code, without dependencies, memory or calls of a library."""

import re
from typing import Any

import numpy as np

from hedgerow.export import program as p
from hedgerow.export.c_graphs import Graphs, Numbers, has_one_value
from hedgerow.export.c_text import WORDS, Names, literal, table
from hedgerow.export.facts import header, test_rows
from hedgerow.export.parts import functions
from hedgerow.export.reading import ExportError, read
from hedgerow.export.reference import answers, evaluate
from hedgerow.export.rounding import loss, rounded
from hedgerow.export.words import identifiers

_FORMS = ("tables", "goto")
_LEAVES = {"double": "double", "float": "float", "uint8": "uint8_t", "class": "uint8_t"}
_BEGINS = r"static inline \w+"
_N_TESTS = 24

_FILE = """\
{header}
#ifndef {NAME}_H
#define {NAME}_H

#include <stdint.h>
{includes}
{guards}
{enums}
{tables}

{functions}

{api}
#ifdef {NAME}_TEST
{test}
int main(void) {{ return {name}_self_test(); }}
#endif
{ends}#endif
"""
_FLASH = """\
#ifdef __AVR__ /* whose tables stay in flash */
#include <avr/pgmspace.h>
#define {NAME}_FLASH PROGMEM
#define {NAME}_INT(p) \\
  (sizeof *(p) == 1 ? pgm_read_byte(p) : sizeof *(p) == 2 ? pgm_read_word(p) : pgm_read_dword(p))
#define {NAME}_REAL(p) pgm_read_float(p)
#else
#define {NAME}_FLASH
#define {NAME}_INT(p) (*(p))
#define {NAME}_REAL(p) (*(p))
#endif
"""
_NO_FAST_MATH = """\
#ifdef __FAST_MATH__
#error "missing values are NaN: compile without -ffast-math"
#endif
"""
_NO_DOUBLE = """\
#if defined(__SIZEOF_DOUBLE__) && __SIZEOF_DOUBLE__ < 8
#error "double has 32 bits here: export with numbers and leaves of 'float' or whole numbers"
#endif
"""
# A product is rounded before it is added, on every processor.
_UNFUSED = """\
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#endif
"""
_UNFUSED_ENDS = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
"""


def to_c(
    model: Any,
    *,
    name: str = "model",
    form: str = "tables",
    numbers: str = "double",
    leaves: str = "double",
    progmem: bool = False,
) -> str:
    """Write a model as one C header (C99, and C++ too), for microcontrollers and everything else.

    The header needs nothing, reserves no memory and calls no function of a library. It has
    ``NAME_predict(x)``, for classifiers also ``NAME_predict_proba(x, p)``; x has a number for each
    feature: a category is its place in the training table, which enums name, and classes are
    places in ``classes_``.

    Parameters
    ----------
    model : a fitted estimator of hedgerow, or a `Program`
    name : str, default="model"
        Begins every name in the header.
    form : {"tables", "goto"}, default="tables"
        "tables": the smallest. "goto": tests as code, for speed; a node with several parents is a
        label, never copied.
    numbers : {"double", "float", "int16", "int32", "ranks"}, default="double"
        What x holds. "float" goes the way of every single-precision number in double precision.
        "int16", "int32": whole numbers. "ranks": numbers as places among the model's thresholds,
        which ``NAME_code(feature, number)`` finds and which lose nothing. NaN is missing, and in
        whole numbers ``NAME_MISSING``.
    leaves : {"double", "float", "uint8", "class"}, default="double"
        What values are kept in. Those in double precision are the model's, bit by bit; what the
        others lose is written in the header. "class": a tree or graph that knows classes alone,
        without probabilities.
    progmem : bool, default=False
        Whether tables are marked to stay in flash on AVR.

    Returns
    -------
    text : str
        Plain ASCII.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import DecisionTreeClassifier
    >>> from hedgerow.export import to_c
    >>> iris = load_iris(as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=2).fit(iris.data, iris.target)
    >>> text = to_c(tree, name="iris", form="goto", numbers="float", leaves="uint8")
    >>> start = text.index("static inline unsigned iris_graph_0")
    >>> print(text[start : text.index("}", start) + 1])
    static inline unsigned iris_graph_0(const float *x) {
      if (x[IRIS_PETAL_LENGTH_CM] <= 2.4499998092651367f) return 0;
      return !(x[IRIS_PETAL_WIDTH_CM] > 1.75f) ? 1 : 2;
    }
    """
    for what, given, known in (
        ("form", form, _FORMS),
        ("numbers", numbers, Numbers.KINDS),
        ("leaves", leaves, _LEAVES),
    ):
        if given not in known:
            raise ValueError(f"'{what}' must be one of {', '.join(known)}, got {given!r}.")
    if progmem not in (True, False):
        raise ValueError(f"'progmem' must be True or False, got {progmem!r}.")
    exact = read(model)
    writer = _Writer(rounded(exact, leaves), name, form, numbers, leaves, bool(progmem))
    lines = header(exact, name)
    if leaves != "double":
        difference, n_other, n_rows = loss(exact, writer.program)
        lines.append(f"{leaves} leaves: values are within {difference:.2g} of the model's")
        if exact.outputs[0].classes is not None:
            lines.append(f"and {n_other} of {n_rows} rows at its thresholds have another class")
    return writer.text(lines)


class _Writer:
    """One header."""

    def __init__(
        self, program: p.Program, name: str, form: str, numbers: str, leaves: str, progmem: bool
    ) -> None:
        if sum(output.classes is not None for output in program.outputs) > 1:
            raise ExportError(f"{program.model} predicts several classes: C has one for each file.")
        self.program, self.leaves, self.progmem = program, leaves, progmem
        self.name = identifiers([name], keywords=WORDS)[0]
        self.upper = self.name.upper()
        self.is_wide = _reads_features_late(program)
        if self.is_wide and (numbers not in ("double", "float") or leaves != "double"):
            raise ExportError(
                f"{program.model} computes further columns in double precision: take numbers="
                "'double' or 'float', and leaves='double'."
            )
        self.numbers = numbers
        self.tables: list[str] = []
        self._known: dict[str, str] = {}
        self.needed: list[str] = []
        self.names = Names(program, self.upper)
        self.kind = Numbers("double" if self.is_wide else numbers, program, f"{self.upper}_MISSING")
        self.graphs = Graphs(program, self.kind, self.name, self.names.features)
        self.is_code = form == "goto"
        self.walks: list[str] = []
        written = self.graphs.code(_LEAVES[leaves]) if self.is_code else self.graphs.tables()
        self.tables += [self._marked(line) for line in self.graphs.constants]
        self._leaf = written
        self.needed += self.graphs.needed
        self.column = "uint16_t" if program.n_columns < 2**16 else "uint32_t"

    # The parts of the file

    def text(self, lines: list[str]) -> str:
        program = self.program
        api = self._api()
        api = "".join(self.walks) + api
        enums = self.names.lines
        if self.kind.missing is not None:
            enums = [*enums, f"#define {self.upper}_MISSING {self.kind.missing}"]
        coder = self.kind.coder(self.name)
        self.tables += [self._marked(line) for line in coder.tables]
        parts = functions("predict.c", _BEGINS, r"/\*", self.needed)
        is_before = [part for part in parts if re.search(r"_m_(has|term|sum)\(", part)]
        rest = [part for part in parts if part not in is_before]
        code = "\n\n".join([*is_before, self._leaf, *rest, *coder.functions])
        command = f"cc -std=c99 -D{self.upper}_TEST -x c FILE -o test && ./test"
        shown = [*lines, f"{self._about_rows()}; test: {command}"]
        guards = _FLASH.format(NAME=self.upper) if self.progmem else ""
        is_real = self.numbers in ("double", "float")
        if is_real or "NAN" in code:
            guards += _NO_FAST_MATH
        if self.numbers == "double" or (self.leaves == "double"):
            guards += _NO_DOUBLE
        is_arithmetic = self.is_wide or len(program.steps) > 1 or "_m_sum(" in code
        guards += _UNFUSED if is_arithmetic else ""
        test = self._self_test()
        body = "\n".join([code, api, test])
        includes = [
            f"#include <{file}> /* {words}: no function of it is called */"
            for file, words in (("math.h", "NAN and INFINITY"), ("float.h", "DBL_MAX"))
            if re.search(words.replace(" and ", "|"), "\n".join([*self.tables, body]))
        ]
        return _FILE.format(
            header="/* " + "\n * ".join(shown) + "\n */",
            NAME=self.upper,
            name=self.name,
            includes="\n".join(includes),
            guards=guards,
            enums="\n".join(enums),
            tables="\n".join(self.tables),
            functions=self._filled(code),
            api=self._filled(api),
            test=self._filled(test),
            ends=_UNFUSED_ENDS if is_arithmetic else "",
        )

    def _about_rows(self) -> str:
        missing = f"{self.upper}_MISSING" if self.kind.missing is not None else "NaN"
        return f"x: {self.program.n_features} numbers of type {self._given()}, missing: {missing}"

    def _filled(self, code: str) -> str:
        """Code without words in capitals."""
        is_whole = self.leaves == "uint8"
        words = {
            "IS_KNOWN": self.kind.is_known,
            "SET_BITS": str(self.graphs.set_bits),
            "INDEX": self.graphs.index,
            "INPUT": self.kind.type,
            "LEAF": _LEAVES[self.leaves],
            "SUM": "int32_t" if is_whole else "double",
            "COLUMN": self.column,
            "MOST": str(max([1, *(len(s.columns) for s in self.program.steps
                                  if isinstance(s, p.Median))])),
        }  # fmt: skip
        reads = {"NUMBER": "INT" if is_whole else "REAL", "VALUE": "INT" if is_whole else "REAL"}
        for word, taken in (words | reads).items():
            code = re.sub(rf"\b{word}\b", taken, code)
        if self.progmem:
            code = re.sub(r"\b(INT|REAL)\(&", rf"{self.upper}_\1(&", code)
        else:
            code = re.sub(r"\b(?:INT|REAL)\(&((?:[^()]|\([^()]*\))*)\)", r"\1", code)
        return re.sub(r"\b_m_", f"{self.name}_", code)

    def _marked(self, line: str) -> str:
        mark = f" {self.upper}_FLASH =" if self.progmem else " ="
        return line.replace(" FLASH =", mark)

    def _table(self, kind: str, values: Any) -> str:
        """The name of a table; the same numbers are one."""
        values = np.asarray(values)
        text = table(f"{self.name}_@", kind, values)
        if text not in self._known:
            self._known[text] = f"{self.name}_table_{len(self._known)}"
            self.tables.append(self._marked(text.replace(f"{self.name}_@", self._known[text])))
        return self._known[text]

    def _columns(self, columns: Any) -> str:
        shift = 0 if self.is_wide else self.program.n_features
        return self._table(self.column, np.asarray(columns).ravel() - shift)

    # What is called

    def _api(self) -> str:
        program, leaves = self.program, self.leaves
        classes = program.outputs[0].classes
        if leaves == "uint8":
            return self._whole_api()
        if leaves == "class":
            graph = program.graph
            assert graph is not None
            place = "_m_leaf(x, 0)" if graph.n_tests else str(graph.values[0].argmax())
            return _function("int _m_predict(const INPUT *x)", f"return (int){place};")
        if program.graph is not None:
            values = self._table(_LEAVES[leaves], self.graphs.leaves_of(0))
            n = program.n_values
            head = f"const {_LEAVES[leaves]} *said = {values} + _m_leaf(x, 0) * {n};\n"
            copy = f"for (i = 0; i < {n}; i++) p[i] = REAL(&said[i]);"
            if classes is not None:
                best = (
                    "return REAL(&said[1]) > REAL(&said[0]);" if n == 2 else
                    f"INDEX best = 0, i;\n  for (i = 1; i < {n}; i++)\n"
                    "    if (REAL(&said[i]) > REAL(&said[best])) best = i;\n  return (int)best;"
                )  # fmt: skip
                return _function("int _m_predict(const INPUT *x)", head + "  " + best) + _function(
                    "void _m_predict_proba(const INPUT *x, LEAF *p)",
                    f"{head}  INDEX i;\n  {copy}",
                )
            if n == 1:
                return _function(
                    "LEAF _m_predict(const INPUT *x)",
                    f"return REAL(&{values}[_m_leaf(x, 0)]);",
                )
            return _function(
                "void _m_predict(const INPUT *x, LEAF *p)", f"{head}  INDEX i;\n  {copy}"
            )
        run = self._run()
        n = program.n_values
        given = f"const {self._given()} *x"
        if classes is not None:
            return (
                run
                + _function(
                    f"int _m_predict({given})",
                    f"double values[{n}], decisions[{n}];\n"
                    "  _m_run(x, values, decisions);\n"
                    f"  return (int)_m_largest(decisions, {n});",
                )
                + _function(
                    f"void _m_predict_proba({given}, double *p)",
                    f"double decisions[{n}];\n  _m_run(x, p, decisions);",
                )
            )
        if n == 1:
            return run + _function(
                f"double _m_predict({given})",
                "double value, decision;\n  _m_run(x, &value, &decision);\n  return value;",
            )
        return run + _function(
            f"void _m_predict({given}, double *p)",
            f"double decisions[{n}];\n  _m_run(x, p, decisions);",
        )

    def _given(self) -> str:
        """The type of a row's numbers; columns behind it are double."""
        return "float" if self.is_wide and self.numbers == "float" else self.kind.type

    def _whole_api(self) -> str:
        """Sums of 8-bit leaves: one of two classes is enough."""
        walk = self.program.steps[0]
        assert isinstance(walk, p.Walk)
        classes = self.program.outputs[0].classes
        rows, n_graphs = self.graphs.leaves_of(0), len(walk.graphs)
        is_pair = classes is not None and walk.width == 2 and (rows.sum(axis=1) == 255).all()
        if is_pair:
            rows, start = rows[:, 1:], walk.start[1:]
        else:
            start = walk.start
        total, width, factor = 255 * n_graphs, len(start), literal(walk.factor)
        if n_graphs == 1 and classes is not None:
            leaves = self._table("uint8_t", rows)
            score = f"INT(&{leaves}[_m_leaf(x, 0)])"
            sums = (
                f"sums[0] = {score};" if is_pair else
                f"const uint8_t *said = {leaves} + _m_leaf(x, 0) * {width};\n  INDEX i;\n"
                f"  for (i = 0; i < {width}; i++) sums[i] = INT(&said[i]);"
            )  # fmt: skip
        else:
            score = ""
            sums = self._walk(0, walk, start, rows, 0, "x", "sums")
        out = "/* Sums of 8-bit leaves"
        out += f", of the second class alone: of {total}. */\n" if is_pair else ". */\n"
        out += _function("void _m_sums(const INPUT *x, int32_t *sums)", sums)
        taken = f"int32_t sums[{width}];\n"
        call = "  _m_sums(x, sums);\n"
        if classes is None:
            if width == 1:
                return out + _function(
                    "double _m_predict(const INPUT *x)",
                    f"{taken}{call}  return sums[0] * {factor};",
                )
            every = f"  for (i = 0; i < {width}; i++) p[i] = sums[i] * {factor};"
            return out + _function(
                "void _m_predict(const INPUT *x, double *p)", f"{taken}  INDEX i;\n{call}{every}"
            )
        if is_pair:
            choice = (
                f"return {score} > {total // 2};"
                if score
                else f"{taken}{call}  return sums[0] > {total // 2};"
            )
            every = f"  p[0] = ({total} - sums[0]) * {factor};\n  p[1] = sums[0] * {factor};"
            count = ""
        else:
            choice = (
                f"{taken}  INDEX best = 0, i;\n{call}"
                f"  for (i = 1; i < {width}; i++) if (sums[i] > sums[best]) best = i;\n"
                "  return (int)best;"
            )
            every = f"  for (i = 0; i < {width}; i++) p[i] = sums[i] * {factor};"
            count = "  INDEX i;\n"
        return (
            out
            + _function("int _m_predict(const INPUT *x)", choice)
            + _function(
                "void _m_predict_proba(const INPUT *x, double *p)",
                f"{taken}{count}{call}{every}",
            )
        )

    def _run(self) -> str:
        """All steps, one behind the other."""
        program = self.program
        shift = 0 if self.is_wide else program.n_features
        lines = [f"double c[{program.n_columns - shift}];", "INDEX i;"]
        if self.is_wide:
            lines.append(f"for (i = 0; i < {program.n_features}; i++) c[i] = x[i];")
        n_graphs = 0
        for number, (start, step) in enumerate(zip(program.starts, program.steps, strict=True)):
            lines += self._step(number, step, start - shift, n_graphs)
            n_graphs += len(step.graphs) if isinstance(step, p.Walk) else 0
        values, decisions = self._columns(program.values), self._columns(program.decisions)
        for where, columns in (("values", values), ("decisions", decisions)):
            lines.append(
                f"for (i = 0; i < {program.n_values}; i++) {where}[i] = c[INT(&{columns}[i])];"
            )
        self.needed.append("_m_largest")
        return "/* The steps of the model. */\n" + _function(
            f"void _m_run(const {self._given()} *x, double *values, double *decisions)",
            "\n  ".join(lines),
        )

    def _call(self, function: str, *arguments: Any) -> str:
        self.needed.append(f"_m_{function}")
        return f"_m_{function}({', '.join(map(str, arguments))});"

    def _walk(
        self, number: int, step: p.Walk, start: Any, rows: Any, first: int, x: str, out: str
    ) -> str:
        """The call that adds up a step's leaves: of tables, or of a function of its own."""
        n, width = len(step.graphs), len(start)
        kind = "int32_t" if self.leaves == "uint8" else "double"
        is_alone = len(self.graphs.graphs) == 1
        if not self.is_code or is_alone:
            leaves = self._table(_LEAVES[self.leaves], rows)
            starts = self._table(kind, start)
            return self._call("walk", x, first, n, leaves, starts, int(step.in_turns), width, out)
        lines = [] if n else ["(void)x;"]
        lines += [f"sums[{i}] = {literal(value, kind)};" for i, value in enumerate(start)]
        if has_one_value(step):
            lines += [f"sums[{g % width}] += _m_graph_{first + g}(x);" for g in range(n)]
        else:
            leaves = self._table(_LEAVES[self.leaves], rows)
            lines += [
                self._call("add_leaf", f"{leaves} + _m_graph_{first + g}(x) * {width}", width,
                           "sums") for g in range(n)
            ]  # fmt: skip
        name = f"_m_walk_{number}"
        self.walks.append(_function(f"void {name}(const INPUT *x, SUM *sums)", "\n  ".join(lines)))
        return f"{name}({x}, {out});"

    def _step(self, number: int, step: p.Step, at: int, first: int) -> list[str]:
        """The lines that compute a step's columns, from ``c + at`` on."""
        out, n = f"c + {at}", step.width

        def real(values: Any) -> str:
            return self._table("double", np.asarray(values, dtype=np.float64))

        match step:
            case p.Walk():
                rows = self.graphs.leaves_of(number)
                x = "c" if self.is_wide else "x"
                lines = [self._walk(number, step, step.start, rows, first, x, out)]
                if step.factor != 1.0:
                    lines.append(self._call("scale", out, n, literal(step.factor)))
                return lines
            case p.Recode():
                codes = self._table("int32_t", step.table)
                return [self._call("recode", "c", step.column, codes, len(step.table), out)]
            case p.Add():
                return [self._call("add", "c", self._columns(step.parts), len(step.parts), n, out)]
            case p.Divide():
                columns = self._columns(step.columns)
                return [self._call("divide", "c", columns, n, literal(step.divisor), out)]
            case p.Vote():
                votes = literal(step.chosen), literal(step.other)
                return [self._call("vote", "c", self._columns(step.columns), n, *votes, out)]
            case p.Place():
                places = self._table(self.column, step.places)
                columns, n_read = self._columns(step.columns), len(step.columns)
                return [self._call("place", "c", columns, places, n_read, n, out)]
            case p.Round():
                return [self._call("round", "c", self._columns(step.columns), n, out)]
            case p.Link():
                n_read = len(step.columns)
                return [
                    self._call("take", "c", self._columns(step.columns), n_read, out),
                    self._call(f"link_{step.name}", out, n_read),
                ]
            case p.Median():
                columns, n_read = self._columns(step.columns), len(step.columns)
                middle = self._call("median", "c", columns, real(step.weights), n_read)
                return [f"c[{at}] = {middle}"]
            case p.Exit():
                n_read, columns = len(step.columns), self._columns(step.columns)
                taken = self._call("take", "c", columns, n_read, "values")
                best = self._call("largest", "values", n_read).rstrip(";")
                return [
                    taken,
                    f"if (values[{best}] >= {literal(step.gate)}) {{",
                    f"  for (i = 0; i < {n_read}; i++) decisions[i] = values[i];",
                    "  return;",
                    "}",
                ]
            case p.Numbers():
                fills = "0" if step.fill_columns is None else self._columns(step.fill_columns)
                scaled = ["0", "0"] if step.mean is None else [real(step.mean), real(step.scale)]
                categories = self._table("int32_t", step.categories)
                return [
                    self._call("numbers", "c", self._columns(step.sources), categories,
                               real(step.fills), fills, *scaled, n, out)
                ]  # fmt: skip
            case p.Affine():
                parts = real(step.matrix), real(step.intercept)
                columns, n_read = self._columns(step.columns), len(step.columns)
                return [self._call("affine", "c", columns, n_read, *parts, n, out)]
            case p.Distances():
                columns, n_read = self._columns(step.columns), len(step.columns)
                return [self._call("distances", "c", columns, n_read, real(step.points), n, out)]
            case p.Activate():
                return self._activation(step, at)
            case p.Nearest():
                columns, n_read = self._columns(step.columns), len(step.columns)
                return [self._call("nearest", "c", columns, n_read, real(step.values), n, out)]
        raise TypeError(f"unknown step {type(step).__name__}")

    def _activation(self, step: p.Activate, at: int) -> list[str]:
        out, n = f"c + {at}", step.width
        lines = [self._call("take", "c", self._columns(step.columns), n, out)]
        if step.name in ("relu", "root"):
            return [*lines, self._call(f"activate_{step.name}", out, n)]
        lines.append(self._call("scale", out, n, literal(step.factor)))
        if step.name == "bump":
            return [*lines, self._call("link_log", out, n)]
        ends = [*step.groups[1:], n]
        return lines + [
            self._call("link_softmax", f"c + {at + a}", b - a)
            for a, b in zip(step.groups, ends, strict=True)
        ]

    def _self_test(self) -> str:
        """Rows, what is expected of them, and the function that compares."""
        program = self.program
        rows = self.kind.rounded_rows(test_rows(program, _N_TESTS))
        if self.numbers == "float":
            with np.errstate(over="ignore"):
                rows = rows.astype(np.float32).astype(np.float64)
        values, decisions = evaluate(program, rows)
        given, n, n_features = self._given(), program.n_values, program.n_features
        lines = [
            table("_m_rows", given, self.kind.coded(rows)).replace(" FLASH", ""),
            table("_m_answers", "double", values).replace(" FLASH", ""),
        ]
        is_class = program.outputs[0].classes is not None
        kind = _LEAVES[self.leaves] if program.graph is not None else "double"
        if self.leaves == "class":
            kind = "float"
        checks = f"_m_predict{'_proba' if is_class else ''}(x, p);"
        if self.leaves == "class":
            checks = f"for (j = 0; j < {n}; j++) p[j] = j == _m_predict(x);"
        if not is_class and n == 1:
            checks = "p[0] = _m_predict(x);"
        body = [
            f"{kind} p[{n}];",
            "int i, j, is_right, n_wrong = 0;",
            f"for (i = 0; i < {len(rows)}; i++) {{",
            f"  const {given} *x = _m_rows + i * {n_features};",
            f"  {checks}",
            "  is_right = 1;",
        ]
        if is_class:
            chosen = answers(program, values, decisions)[0]
            lines.append(table("_m_chosen", "int32_t", chosen).replace(" FLASH", ""))
            body[-1] = "  is_right = _m_predict(x) == _m_chosen[i];"
        body += [
            f"  for (j = 0; j < {n}; j++) {{",
            f"    const {kind} answer = ({kind})_m_answers[i * {n} + j];",
            "    if (p[j] != answer && (p[j] == p[j] || answer == answer)) is_right = 0;",
            "  }",
            "  n_wrong += !is_right;",
            "}",
            "return n_wrong;",
        ]
        about = "/* The number of rows with another answer than the model's own library gives. */\n"
        lines.append(about + _function("int _m_self_test(void)", "\n  ".join(body)))
        return "\n".join(lines)


def _function(head: str, body: str) -> str:
    return f"static inline {head} {{\n  {body}\n}}\n"


def _reads_features_late(program: p.Program) -> bool:
    """Whether steps read features and columns of other steps alike."""
    n = program.n_features
    for step in program.steps:
        if isinstance(step, p.Recode | p.Numbers):
            return True
        for graph in step.graphs if isinstance(step, p.Walk) else ():
            read = [graph.column, *(oblique.columns for oblique in graph.obliques)]
            places = [table[0] for oblique in graph.obliques for table in oblique.tables]
            if max([-1, *np.concatenate(read).tolist(), *places]) >= n:
                return True
    return False
