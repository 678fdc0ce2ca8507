"""Numbers, tables and names as C, and the words that C and C++ keep for themselves."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.export import program as p
from hedgerow.export.words import identifiers, in_comment

# Of C and C++, and what compilers define.
_KEPT = (
    "alignas alignof and and_eq asm atomic auto bitand bitor bool break case catch char class "
    "compl concept const const_cast consteval constexpr constinit continue co_await co_return "
    "co_yield decltype default delete do double dynamic_cast else enum explicit export extern "
    "false float for friend goto if inline int long main mutable namespace new noexcept not "
    "not_eq nullptr operator or or_eq private protected public register reinterpret_cast "
    "requires restrict return short signed sizeof static static_assert static_cast struct "
    "switch template this thread_local throw true try typedef typeid typename typeof union "
    "unsigned using virtual void volatile wchar_t while xor xor_eq unix linux "
)
WORDS = _KEPT.split()
_WIDTH = 100


def literal(number: float, kind: str = "double") -> str:
    """A number as C; NAN and INFINITY are those of math.h."""
    if kind not in ("double", "float"):
        return _whole(int(number))
    number = float(number)
    if not np.isfinite(number):
        return "NAN" if number != number else "INFINITY" if number > 0 else "-INFINITY"
    return repr(number) + ("f" if kind == "float" else "")


def _whole(number: int) -> str:
    # The smallest has no literal of its own: -2147483648 is a long.
    return "(-2147483647 - 1)" if number == -(2**31) else str(number)


def table(name: str, kind: str, values: np.ndarray) -> str:
    """A constant table of one dimension, or of rows of a few numbers."""
    values = np.asarray(values)
    size = "[]"
    if name.endswith("]"):
        size = ""
    texts = [literal(value, kind) for value in values.ravel().tolist()] or ["0"]
    lines, line = [], " "
    for text in texts:
        if len(line) + len(text) > _WIDTH:
            lines.append(line)
            line = " "
        line += f" {text},"
    lines.append(line)
    return f"static const {kind} {name}{size} FLASH = {{\n" + "\n".join(lines) + "\n};"


def grouped(name: str, kind: str, rows: np.ndarray) -> str:
    """A constant table of rows."""
    texts = ["{" + ",".join(literal(value, kind) for value in row) + "}" for row in rows.tolist()]
    lines, line = [], " "
    for text in texts:
        if len(line) + len(text) > _WIDTH:
            lines.append(line)
            line = " "
        line += f" {text},"
    lines.append(line)
    width = rows.shape[1]
    return f"static const {kind} {name}[][{width}] FLASH = {{\n" + "\n".join(lines) + "\n};"


class Names:
    """Enums of features, categories and classes."""

    def __init__(self, program: p.Program, upper: str) -> None:
        words: list[str] = []
        groups: list[tuple[str, Sequence[Any]]] = []
        if program.features and program.features[0].name is not None:
            groups.append(("", [feature.name for feature in program.features]))
        for f, feature in enumerate(program.features):
            if feature.categories:
                groups.append((f"{feature.name or f'x{f}'} ", feature.categories))
        classes = program.outputs[0].classes
        if classes is not None:
            groups.append(("class ", classes))
        for before, members in groups:
            words += [f"{before}{member}" for member in members]
        taken = [f"{upper}_{word}" for word in ("H", "TEST", "FLASH", "INT", "REAL", "MISSING")]
        found = [word.upper() for word in identifiers(words, f"{upper}_", taken)]
        self.lines: list[str] = []
        place = 0
        for before, members in groups:
            self.lines.append(f"enum {{ /* {in_comment(before.strip()) or 'places in x'} */")
            for number, member in enumerate(members):
                self.lines.append(
                    f"  {found[place + number]} = {number}, /* {in_comment(member)} */"
                )
            self.lines.append("};")
            place += len(members)
        has_names = bool(groups) and groups[0][0] == ""
        self.features = found[: program.n_features] if has_names else []
