"""What databases spell differently: numbers, texts, names and a few functions."""

import math
import sqlite3
from collections.abc import Sequence
from typing import Any

from hedgerow.export.reading import ExportError


class Dialect:
    """DuckDB, and what all of them share. Text of a table is quoted, never code."""

    name = "DuckDB"
    _real, _text = "DOUBLE", "VARCHAR"

    def identifier(self, name: str) -> str:
        return '"' + self._checked(name).replace('"', '""') + '"'

    def string(self, text: str) -> str:
        return "'" + self._checked(text).replace("'", "''") + "'"

    def _checked(self, text: str) -> str:
        if "\0" in text or text.encode("utf-8", "ignore").decode() != text:
            raise ExportError(
                f"{text!r} has a character that no text of {self.name} can hold: rename it before "
                "the fit."
            )
        return text

    def folded(self, name: str) -> str:
        """Names that are alike for the database."""
        return name.casefold()

    def number(self, number: float) -> str:
        """A double, exactly; negative ones in brackets, so that no two minus signs meet."""
        number = float(number)
        if math.isinf(number):
            return f"CAST('{'-' if number < 0 else ''}infinity' AS {self._real})"
        text = self._digits(abs(number))
        return f"(-{text})" if number < 0 else text

    def _digits(self, number: float) -> str:
        text = repr(number)
        return text if "e" in text else f"{text}e0"

    def label(self, value: Any) -> str:
        """A class as an answer."""
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, str):
            return self.string(value)
        return str(value) if isinstance(value, int) else self.number(value)

    def word(self, value: Any) -> str:
        """A category where it is compared: text, or a number."""
        if isinstance(value, str):
            return self.string(value)
        return str(int(value)) if isinstance(value, bool | int) else self.number(value)

    def cell(self, value: Any, categories: Sequence[Any] | None) -> str:
        """A value of a row that is written out."""
        kind = self._kind(categories)
        if value is None:
            return f"CAST(NULL AS {kind})"
        return self.number(value) if categories is None else self.word(value)

    def _kind(self, categories: Sequence[Any] | None) -> str:
        if categories is None:
            return self._real
        if all(isinstance(value, str) for value in categories):
            return self._text
        if all(isinstance(value, bool | int) for value in categories):
            return "BIGINT"
        if any(isinstance(value, str) for value in categories):
            raise ExportError(
                "A feature has texts and numbers as categories, which no column of a database "
                "has: make them all texts before the fit."
            )
        return self._real

    def feature(self, column: str, categories: Sequence[Any] | None) -> str:
        """A column of the table as tests read it: no NaN, texts as text."""
        kind = self._kind(categories)
        if kind == self._text:
            return f"CAST({column} AS {kind})"
        if kind == "BIGINT":
            # Numbers other than whole ones are no category, and must not become one.
            is_bool = all(isinstance(value, bool) for value in categories or ())
            return f"CAST({column} AS {'INTEGER' if is_bool else self._real})"
        return f"NULLIF(CAST({column} AS {kind}), CAST('NaN' AS {kind}))"

    def greatest(self, columns: Sequence[str]) -> str:
        return columns[0] if len(columns) == 1 else f"greatest({', '.join(columns)})"

    def single(self, column: str) -> str:
        return f"CAST(CAST({column} AS REAL) AS {self._real})"

    def exponential(self, score: str) -> str:
        """e^x, without the errors that some databases raise where it is 0 or infinite."""
        high, low, zero = self.number(709.0), self.number(-700.0), self.number(0.0)
        infinite = self.number(math.inf)
        return (
            f"CASE WHEN {score} > {high} THEN {infinite} WHEN {score} < {low} THEN {zero} "
            f"ELSE exp({score}) END"
        )


class PostgreSQL(Dialect):
    name = "PostgreSQL"
    _real, _text = "DOUBLE PRECISION", "TEXT"
    _LONGEST = 63

    def identifier(self, name: str) -> str:
        if len(name.encode("utf-8", "replace")) > self._LONGEST:
            raise ExportError(
                f"PostgreSQL cuts names after {self._LONGEST} bytes: rename {name!r} before the "
                "fit."
            )
        return super().identifier(name)

    def string(self, text: str) -> str:
        quoted = super().string(text)
        # Whatever standard_conforming_strings is.
        return "E" + quoted.replace("\\", "\\\\") if "\\" in quoted else quoted

    def folded(self, name: str) -> str:
        return name

    def _digits(self, number: float) -> str:
        return f"{number!r}::float8"


class SQLite(Dialect):
    name = "SQLite"
    _real, _text = "REAL", "TEXT"

    def number(self, number: float) -> str:
        if math.isinf(number):
            return "9e999" if number > 0 else "(-9e999)"
        return super().number(number)

    def _digits(self, number: float) -> str:
        """Digits where SQLite reads them exactly, else a whole number over powers of two."""
        text = repr(number)
        if _connection.execute(f"SELECT {text}").fetchone()[0] == number:
            return text
        fraction, exponent = math.frexp(number)
        whole, exponent = int(fraction * 2**53), exponent - 53
        factors, sign = "", " / " if exponent < 0 else " * "
        for part in [60] * (abs(exponent) // 60) + [abs(exponent) % 60]:
            factors += f"{sign}{2.0**part:.1f}"
        return f"({whole}.0{factors})"

    def label(self, value: Any) -> str:
        return str(int(value)) if isinstance(value, bool) else super().label(value)

    def feature(self, column: str, categories: Sequence[Any] | None) -> str:
        kind = self._kind(categories)
        return f"CAST({column} AS {self._text if kind == self._text else self._real})"

    def greatest(self, columns: Sequence[str]) -> str:
        return columns[0] if len(columns) == 1 else f"max({', '.join(columns)})"

    def single(self, column: str) -> str:
        raise ExportError(
            "SQLite has no numbers of single precision, which cascades keep probabilities in: "
            "take the dialect 'duckdb' or 'postgresql'."
        )


_connection = sqlite3.connect(":memory:", check_same_thread=False)
DIALECTS: dict[str, Dialect] = {
    "duckdb": Dialect(),
    "postgresql": PostgreSQL(),
    "sqlite": SQLite(),
}
