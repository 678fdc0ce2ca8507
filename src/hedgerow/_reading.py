"""How the columns of a table were read, so that later tables are read in the same way.

A `TableReading` is learnt from a training table (``hedgerow.datasets.clean``), stored with the
model and applied to every later table. It never changes.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hedgerow import _cells as cells
from hedgerow._columns import year_fractions

OTHER = "(other)"  # the category of words that are rare, or were never seen
KINDS = ("number", "date", "time", "yes/no", "category", "words", "left out")
PARTS = ("month", "weekday", "hour")
_NEW = ""  # a word that no category is known for


@dataclass(frozen=True)
class ColumnReading:
    """How one column is read.

    Attributes
    ----------
    name : str
    kind : {"number", "date", "time", "yes/no", "category", "words", "left out"}
        Times are numbers of hours. Words are categories that stay as they are written.
    decimal : {".", ","}
        The decimal mark of its numbers.
    signs : tuple of str
        Currencies, "%" and units that stand beside its numbers.
    missing : tuple of str
        Words that mean missing in this column, beside those that do everywhere.
    form : str
        Of its dates, as ``strptime`` has it, or "ISO8601".
    parts : tuple of str
        What is made of a date beside its year and fraction: "month", "weekday", "hour".
    categories : tuple of str
        The known words, after spellings were merged; the yes and the no of such a column.
    as_text : bool
        Whether its cells must be read as text, however they look.
    changes : tuple of (str, int)
        What was done to how many cells of the training table.
    warnings : tuple of str
        What was left alone because it is ambiguous, or looks odd.
    """

    name: str
    kind: str
    decimal: str = "."
    signs: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    form: str = ""
    parts: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    as_text: bool = False
    changes: tuple[tuple[str, int], ...] = ()
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS or self.decimal not in (".", ","):
            raise ValueError(f"the column {self.name!r} has an unknown kind or decimal mark")
        if not set(self.parts) <= set(PARTS) or self.form not in ("", *cells.DATE_FORMATS):
            raise ValueError(f"the column {self.name!r} has dates of an unknown form")
        if self.kind == "yes/no" and len(self.categories) != 2:
            raise ValueError(f"the column {self.name!r} has no yes and no")

    @property
    def features(self) -> list[str]:
        """The columns that it becomes."""
        if self.kind == "left out":
            return []
        return [self.name, *(f"{self.name} {part}" for part in self.parts)]

    def told(self) -> list[str]:
        """What was done, in words."""
        return [f"{text} in {count:,} cell{'s' * (count != 1)}" for text, count in self.changes]

    @cached_property
    def spellings(self) -> dict[str, str]:
        """Categories by their folded words; those that differ in case alone are not there."""
        if self.kind == "yes/no":
            return cells.answer_spellings(*self.categories)
        shared = Counter(cells.folded(word) for word in self.categories)
        found = {cells.folded(word): word for word in self.categories}
        return {fold: word for fold, word in found.items() if shared[fold] == 1}


@dataclass(frozen=True)
class TableReading:
    """How all columns of a table are read.

    Attributes
    ----------
    columns : tuple of ColumnReading
    target : str or None
        The column that was predicted.
    missing : tuple of str
        Words that mean missing everywhere, by the user's own word.
    kept : tuple of str
        Words that never do.
    notes : tuple of str
        On the file: its encoding, its separator, its header.

    Examples
    --------
    >>> import pandas as pd
    >>> from hedgerow.datasets import clean
    >>> frame, reading = clean(pd.DataFrame({"price": ["€1,200", "€900", "?"]}))
    >>> frame["price"].tolist()
    [1200.0, 900.0, nan]
    >>> reading.apply(pd.DataFrame({"price": ["€2,000"]}))["price"].tolist()
    [2000.0]
    """

    columns: tuple[ColumnReading, ...]
    target: str | None = None
    missing: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> ColumnReading:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"the table had no column {name!r}.")

    def apply(self, frame: Any) -> Any:
        """A later table, read in the same way.

        Parameters
        ----------
        frame : pandas DataFrame
            With the columns as they were written, in any order; others are left out.

        Returns
        -------
        frame : pandas DataFrame
        """
        return self.read(frame)[0]

    def read(self, frame: Any, first_row: int = 0) -> tuple[Any, Counter]:
        """As `apply`, with what was done to how many cells, by column and words.

        Parameters
        ----------
        frame : pandas DataFrame
        first_row : int, default=0
            Number of the first row, for messages.

        Returns
        -------
        frame : pandas DataFrame
        told : Counter of (str, str)
        """
        import pandas as pd

        told: Counter = Counter()
        made: dict[str, Any] = {}
        for entry in self.columns:
            if entry.name in frame.columns and entry.kind != "left out":
                reader = _ColumnReader(self, entry, first_row, told)
                made.update(reader.read(frame[entry.name]))
        return pd.DataFrame(made, index=frame.index), told

    def told(self) -> list[str]:
        """What was done to the table, and what was left alone, a line for each column."""
        lines = list(self.notes)
        for column in self.columns:
            done = ", ".join(column.told())
            if done:
                lines.append(f"'{column.name}' ({column.kind}): {done}")
            lines += [f"'{column.name}': {text}" for text in column.warnings]
        return lines

    def adapted(self, decimal: str | None = None, na: Iterable[str] = ()) -> "TableReading":
        """The reading for a table that has another decimal mark, or further words for missing."""
        columns = [
            replace(column, decimal=decimal, as_text=True)
            if decimal is not None and column.kind == "number"
            else column
            for column in self.columns
        ]
        return replace(self, columns=tuple(columns), missing=(*self.missing, *na))

    def sources(self, features: Iterable[str]) -> list[str]:
        """The columns of a raw table that some features are made of."""
        wanted = set(features)
        return [column.name for column in self.columns if wanted & set(column.features)]

    def left_out(self) -> dict[str, str]:
        """The columns that no feature was made of, with the reason."""
        return {
            column.name: column.warnings[-1].removeprefix("left out: it ")
            for column in self.columns
            if column.kind == "left out" and column.warnings
        }

    def text_columns(self) -> list[str]:
        """The columns whose cells must be read as text."""
        return [column.name for column in self.columns if column.as_text]

    def missing_words(self, entry: ColumnReading) -> frozenset[str]:
        """The folded words of a column that mean that a value is not known."""
        known = cells.MISSING
        if entry.kind not in ("category", "words"):
            known = cells.MISSING_BESIDE_NUMBERS
        more = {cells.folded(word) for word in (*self.missing, *entry.missing)}
        return (known | more) - {cells.folded(word) for word in self.kept}


def read_as(schema: Any) -> TableReading:
    """The reading of a model that was fitted on a frame: numbers, and words as they are."""
    columns = [
        ColumnReading(name, "words", as_text=True)
        if feature in schema.categories
        else ColumnReading(name, "number")
        for feature, name in enumerate(schema.feature_names)
    ]
    return TableReading(tuple(columns))


class _ColumnReader:
    """Reads one column of a later table."""

    def __init__(self, reading: TableReading, entry: ColumnReading, first_row: int, told: Counter):
        self.entry, self.first_row, self.told = entry, first_row, told
        self.missing = reading.missing_words(entry)
        self.given = (*reading.missing, *entry.missing)

    def read(self, column: Any) -> dict[str, Any]:
        entry = self.entry
        if entry.kind == "words":
            return {entry.name: as_words(column).astype("category")}
        if entry.kind == "date":
            return date_features(self._times(column), entry.name, entry.parts)
        if entry.kind in ("category", "yes/no"):
            return {entry.name: self._categories(column)}
        if is_number(column):
            numbers, n_missing = without_numbers(plain_numbers(column), self.given)
            if n_missing:
                self._tell("the given numbers read as missing", n_missing)
            return {entry.name: numbers}
        parse = self._number if entry.kind == "number" else cells.read_hours
        return {entry.name: self._mapped(column, lambda words: list(map(parse, words)), float)}

    def _number(self, word: str) -> float | None:
        if self.entry.decimal == "." and word[-1:].isdigit() and "_" not in word:
            with suppress(ValueError):
                return float(word)
        found = cells.read_number(word, self.entry.decimal)
        if found is None or found.sign not in ("", *self.entry.signs):
            return None
        return found.value

    def _times(self, column: Any) -> Any:
        import pandas as pd

        times = typed_times(column)
        if times is not None:
            return times
        seconds = self._mapped(
            column,
            lambda words: [None if s != s else s for s in read_dates(words, self.entry.form)],
            float,
        )
        return pd.to_datetime(seconds, unit="s")

    def _categories(self, column: Any) -> Any:
        import pandas as pd

        known, spellings = set(self.entry.categories), self.entry.spellings
        unknown = OTHER if OTHER in known else _NEW

        def find(word: str) -> str:
            return word if word in known else spellings.get(word.casefold(), unknown)

        words = self._mapped(column, lambda words: list(map(find, words)), object)
        known_words = pd.CategoricalDtype(sorted(self.entry.categories))
        return words.where(words != _NEW, None).astype(known_words)

    def _mapped(self, column: Any, parse: Callable[[list[str]], list], dtype: Any) -> Any:
        """Each different cell parsed once; a word that does not fit is refused by its row."""
        import pandas as pd

        codes, words, counts = distinct(column)
        tidy = [cells.tidied(word) for word in words]
        is_missing = [
            word.casefold() in self.missing
            or (self.entry.kind == "date" and cells.is_no_date(word))
            for word in tidy
        ]
        places = [place for place, missing in enumerate(is_missing) if not missing]
        found = np.full(len(words) + 1, np.nan if dtype is float else None, dtype=dtype)
        for place, value in zip(places, parse([tidy[place] for place in places]), strict=True):
            if value is None:
                row = self.first_row + int(np.flatnonzero(codes == place)[0])
                raise ValueError(
                    f"the column {self.entry.name!r} does not fit the model: it must hold "
                    f"{self._expected()} as in training, row {row} has {words[place]!r}."
                    + self._hint(tidy[place])
                )
            if value == _NEW or (value == OTHER and tidy[place] != OTHER):
                read_as = "missing" if value == _NEW else OTHER
                self._tell("words that training did not have read as " + read_as, counts[place])
            found[place] = value
        for place, word in enumerate(tidy):
            if is_missing[place] and word:
                self._tell(f"'{word}' read as missing", counts[place])
        return pd.Series(found[codes], index=column.index, dtype=dtype)

    def _tell(self, text: str, count: int) -> None:
        self.told[self.entry.name, text] += int(count)

    def _hint(self, word: str) -> str:
        """What to do about a number with the other decimal mark."""
        mark = "," if self.entry.decimal == "." else "."
        if self.entry.kind != "number" or cells.read_number(word, mark) is None:
            return ""
        return f" If this table has the other decimal mark, say so with --decimal {mark}"

    def _expected(self) -> str:
        entry = self.entry
        if entry.kind == "date":
            return "dates" if entry.form == "ISO8601" else f"dates like {entry.form}"
        if entry.kind == "time":
            return "times"
        return "numbers" if entry.decimal == "." else "numbers with decimal commas"


def distinct(column: Any) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Codes of the cells (-1 for what is missing), the different words, and how often each is."""
    codes, words = as_words(column).factorize()
    codes = np.asarray(codes)
    return (
        codes,
        [str(word) for word in words],
        np.bincount(codes[codes >= 0], minlength=len(words)),
    )


def as_words(column: Any) -> Any:
    """The column as str; missing values stay missing."""
    from pandas.api import types

    if types.is_string_dtype(column) and column.dtype != object:
        return column
    return column.astype(object).where(column.notna(), None).map(str, na_action="ignore")


def is_number(column: Any) -> bool:
    """Whether the type of a column says numbers."""
    from pandas.api import types

    return types.is_numeric_dtype(column) and not types.is_bool_dtype(column)


def plain_numbers(column: Any) -> Any:
    """A column of numbers in NumPy's own types."""
    return column if isinstance(column.dtype, np.dtype) else column.astype("float64")


def without_numbers(column: Any, words: Iterable[str]) -> tuple[Any, int]:
    """A column of numbers without those that some words are, and how many they were."""
    found = []
    for word in words:
        with suppress(ValueError):
            found.append(float(word))
    if not found or not (is_missing := column.isin(found)).any():
        return column, 0
    return column.astype("float64").mask(is_missing), int(is_missing.sum())


def typed_times(column: Any) -> Any:
    """A column whose type says times, in UTC and without a zone; None for others."""
    import pandas as pd
    from pandas.api import types

    if isinstance(column.dtype, pd.DatetimeTZDtype):
        return column.dt.tz_convert("UTC").dt.tz_localize(None)
    return column if types.is_datetime64_dtype(column) else None


def read_dates(words: list[str], form: str) -> np.ndarray:
    """Seconds since 1970 of each word, NaN where it is no date of the form."""
    import pandas as pd

    fitting = [word if form and cells.may_be_date(word, form) else None for word in words]
    times = pd.to_datetime(
        pd.Series(fitting, dtype=object), format=form or None, errors="coerce", utc=True
    )
    return (times.dt.tz_localize(None) - pd.Timestamp(0)).dt.total_seconds().to_numpy()


def years_of(times: Any) -> Any:
    """Years with the day and its time as a fraction: noon of 2 July 2023 is 2023.5."""
    import pandas as pd

    return pd.Series(year_fractions(times.to_numpy()), index=times.index)


def date_features(times: Any, name: str, parts: Iterable[str]) -> dict[str, Any]:
    """Years and parts of the date, as numbers; weekdays from 1 for Monday."""
    made = {name: years_of(times).astype("float64")}
    for part in parts:
        values = times.dt.day_of_week + 1 if part == "weekday" else getattr(times.dt, part)
        made[f"{name} {part}"] = values.astype("float64")
    return made
