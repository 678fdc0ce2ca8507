"""Columns as people export them, understood: `clean` learns how to read a table, and reads it.

A column of text is looked at as its different words, each with the number of its cells. In this
order it is taken for yes and no, numbers, dates, times of day, and else for categories. What can
be read in two ways is left alone, and the reading says so. Columns whose type says what they are
(numbers, times, booleans, categories) stay what they are.

Every rule is in ``docs/tables.md``; that of words with many values is below, in `_categories`.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from hedgerow import _cells as cells
from hedgerow._cells import Number, folded, read_number, tidied
from hedgerow._reading import (
    OTHER,
    PARTS,
    ColumnReading,
    TableReading,
    as_words,
    date_features,
    distinct,
    is_number,
    plain_numbers,
    read_dates,
    typed_times,
    without_numbers,
)

MOST_CATEGORIES = 254  # of a column of words; a code takes one byte up to here
FEWEST_ROWS = 5  # in which a category occurs, where a column has many
MANY = 20  # different words; fewer are categories however rare they are
_SHARE = 0.95  # of the cells that must be numbers or dates for the others to count as missing
_MOST_LISTED = 3  # words in a message
_SENTINELS = {s * n for n in (9, 99, 999, 9999, 99999, 999999) for s in (1, -1)} - {9, 99}


class CleanTable(NamedTuple):
    """A table of numbers and categories, and how it was read.

    Attributes
    ----------
    frame : pandas DataFrame
    reading : TableReading
    """

    frame: Any
    reading: TableReading


def clean(
    frame: Any,
    *,
    target: str | None = None,
    decimal: str | None = None,
    na: Iterable[str] = (),
    keep: Iterable[str] = (),
    notes: Iterable[str] = (),
    is_point_default: bool = True,
) -> CleanTable:
    """Read a table as people export them.

    Parameters
    ----------
    frame : pandas or polars DataFrame
    target : str, default=None
        The column to predict: its rare words are classes, and are not grouped.
    decimal : {".", ","}, default=None
        The decimal mark of all numbers that are text; by default it is found for each column.
    na : iterable of str, default=()
        Further words that mean missing; one with "!" before it never does ("!NA").
    keep : iterable of str, default=()
        Columns that are not left out, although they look like identifiers.
    notes : iterable of str, default=()
        On the file, to be kept with the reading.
    is_point_default : bool, default=True
        Whether "1,234" is a thousand where no other number tells.

    Returns
    -------
    table : CleanTable
        The frame, and the `TableReading` to apply to later tables.

    Examples
    --------
    >>> import pandas as pd
    >>> from hedgerow.datasets import clean
    >>> raw = pd.DataFrame({"paid": ["Yes", "no ", "Yes"], "share": ["5%", "10%", "-"]})
    >>> frame, reading = clean(raw)
    >>> frame["paid"].tolist(), frame["share"].tolist()
    (['Yes', 'no', 'Yes'], [5.0, 10.0, nan])
    """
    if not hasattr(frame, "iloc"):
        frame = frame.to_pandas()
    if decimal not in (None, ".", ","):
        raise ValueError(f"'decimal' must be '.', ',' or None, got {decimal!r}.")
    na = [str(word) for word in na]
    reading = TableReading(
        (),
        target,
        tuple(word for word in na if not word.startswith("!")),
        tuple(word[1:] for word in na if word.startswith("!")),
        tuple(notes),
    )
    names = [str(name) for name in frame.columns]
    frame = frame.set_axis(names, axis=1)
    kept = {*keep, target}
    learners = {
        name: _Column(name, frame[name], reading, name == target, name in kept) for name in names
    }
    mark = decimal or _common_mark(learners.values())
    columns, made = [], {}
    for learner in learners.values():
        entry, features = learner.learn(decimal, mark, is_point_default)
        columns.append(entry)
        made.update(features)
    import pandas as pd

    table = pd.DataFrame(made, index=frame.index)
    return CleanTable(table, replace(reading, columns=tuple(columns)))


def _common_mark(columns: Iterable["_Column"]) -> str | None:
    """The decimal mark of the columns that can be read with one mark only, if they agree."""
    marks = {mark for column in columns if (mark := column.mark()) is not None}
    return marks.pop() if len(marks) == 1 else None


@dataclass
class _Found:
    """What is known of a column so far."""

    changes: Counter = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)

    def entry(self, name: str, kind: str, **facts: Any) -> ColumnReading:
        changes = tuple((text, count) for text, count in self.changes.items() if count)
        return ColumnReading(name, kind, changes=changes, warnings=tuple(self.warnings), **facts)


class _Column:
    """Finds out what a column is."""

    def __init__(
        self, name: str, column: Any, reading: TableReading, is_target: bool, stays: bool
    ) -> None:
        self.name, self.column, self.is_target, self.stays = name, column, is_target, stays
        self.found = _Found()
        self.missing_words = tuple(folded(word) for word in reading.missing)
        self.is_text = not _is_typed(column)
        if not self.is_text:
            return
        self.codes, raw, counts = distinct(column)
        self.tidy = [tidied(word) for word in raw]
        self.counts = counts
        changed = sum(n for a, b, n in zip(raw, self.tidy, counts, strict=True) if a != b and b)
        self.found.changes["stray blanks removed"] = int(changed)
        kept = {folded(word) for word in reading.kept}
        more = set(self.missing_words)
        self.missing_beside_numbers = (cells.MISSING_BESIDE_NUMBERS | more) - kept
        self.missing = (cells.MISSING | more) - kept
        self.is_kept = kept.__contains__
        folds = [word.casefold() for word in self.tidy]
        self.present = [
            place for place, fold in enumerate(folds) if fold not in self.missing_beside_numbers
        ]
        self.folds = folds
        self.numbers = {mark: self._read_numbers(mark) for mark in (".", ",")}

    # What the words are

    def _n(self, places: Iterable[int]) -> int:
        return int(sum(self.counts[place] for place in places))

    def _listed(self, places: Iterable[int]) -> str:
        words = sorted(places, key=lambda place: -self.counts[place])
        some = ", ".join(f"'{self.tidy[place]}'" for place in words[:_MOST_LISTED])
        return some + (", …" if len(words) > _MOST_LISTED else "")

    def _read_numbers(self, mark: str) -> dict[int, Number]:
        """The places of words that are numbers; none where only a few would be."""
        first = self.present[:: max(1, len(self.present) // 200)]
        if sum(read_number(self.tidy[p], mark) is not None for p in first) < len(first) / 4:
            return {}
        parsed = ((place, read_number(self.tidy[place], mark)) for place in self.present)
        return {place: number for place, number in parsed if number is not None}

    def mark(self) -> str | None:
        """The decimal mark, where all numbers can be read with one mark only."""
        if not self.is_text or not self.present:
            return None
        whole = {mark: len(numbers) == len(self.present) for mark, numbers in self.numbers.items()}
        if whole["."] == whole[","]:
            return None
        return "." if whole["."] else ","

    def learn(
        self, decimal: str | None, mark: str | None, is_point_default: bool
    ) -> tuple[ColumnReading, dict[str, Any]]:
        if not self.is_text:
            return self._typed()
        if not self.present:
            return self._no_words()
        return (
            self._answers()
            or self._codes_with_zeros()
            or self._numbers(decimal, mark, is_point_default)
            or self._dates()
            or self._hours()
            or self._categories()
        )

    # Columns whose type says what they are

    def _typed(self) -> tuple[ColumnReading, dict[str, Any]]:
        column, found = self.column, self.found
        times = typed_times(column)
        if times is not None and not self.is_target:
            return self._as_dates(times, "")
        if is_number(column):
            numbers, n_missing = without_numbers(plain_numbers(column), self.missing_words)
            found.changes["the given numbers read as missing"] = n_missing
            _look_at_numbers(numbers, found)
            return found.entry(self.name, "number"), {self.name: numbers}
        if str(column.dtype) == "category" and all(
            isinstance(word, str) for word in column.cat.categories
        ):
            return found.entry(self.name, "words", as_text=True), {self.name: column}
        words = as_words(column).astype("category")
        return found.entry(self.name, "words", as_text=True), {self.name: words}

    def _no_words(self) -> tuple[ColumnReading, dict[str, Any]]:
        import pandas as pd

        self._tell_missing(self.missing_beside_numbers)
        empty = pd.Series(np.nan, index=self.column.index)
        return self.found.entry(self.name, "number"), {self.name: empty}

    # Columns of text

    def _answers(self) -> tuple[ColumnReading, dict[str, Any]] | None:
        """Yes and no, in one spelling each: that of the pair that occurs most."""
        sides = cells.answers_of({self.folds[place] for place in self.present})
        if sides is None:
            return None
        by_pair: Counter = Counter()
        for place in self.present:
            by_pair[cells.answer_pair(self.folds[place])] += int(self.counts[place])
        best = [
            place
            for pair, _ in by_pair.most_common()
            for place in sorted(self.present, key=lambda place: -self.counts[place])
            if cells.answer_pair(self.folds[place]) == pair
        ]
        yes, no = (
            self.tidy[next(place for place in best if sides[self.folds[place]] is side)]
            for side in (True, False)
        )
        values = {p: yes if sides[self.folds[p]] else no for p in self.present}
        other = [p for p in self.present if values[p] != self.tidy[p]]
        if other:
            text = f"{self._listed(other)} read as '{yes}' or '{no}'"
            self.found.changes[text] = self._n(other)
        self._tell_missing(self.missing_beside_numbers)
        words = self._spread(values, object).astype("category")
        entry = self.found.entry(self.name, "yes/no", categories=(yes, no), as_text=True)
        return entry, {self.name: words}

    def _codes_with_zeros(self) -> tuple[ColumnReading, dict[str, Any]] | None:
        """Digits of which some begin with a zero name things: 01234 is no 1234."""
        words = [self.tidy[place] for place in self.present]
        with_zero = [p for p in self.present if cells.LEADING_ZERO.fullmatch(self.tidy[p])]
        if not with_zero or not all(cells.CODE.fullmatch(word) for word in words):
            return None
        self.found.changes["codes with leading zeros kept as words"] = self._n(with_zero)
        return self._categories()

    def _numbers(
        self, decimal: str | None, mark: str | None, is_point_default: bool
    ) -> tuple[ColumnReading, dict[str, Any]] | None:
        chosen = self._choose_mark(decimal, mark, is_point_default)
        if chosen is None:
            return None
        numbers = self.numbers[chosen]
        others = [place for place in self.present if place not in numbers]
        if others and not self._may_be_missing(others, numbers, "numbers"):
            return None
        signs = sorted({number.sign for number in numbers.values()} - {""})
        if len(signs) > 1:
            self._warn(f"its numbers have several units or currencies ({', '.join(signs)})")
            return None
        bare = [p for p, n in numbers.items() if not n.sign and n.value != 0]
        if signs and bare and cells.currency(signs[0]) is None:
            self._warn(f"some of its numbers have a '{signs[0]}' and some have not")
            return None
        changes = self.found.changes
        if signs:
            text = f"'{signs[0]}' dropped"
            changes[text] = self._n(p for p, n in numbers.items() if n.sign)
        changes["thousands separators dropped"] = self._n(
            p for p, n in numbers.items() if n.is_grouped
        )
        if chosen == ",":
            changes["decimal commas read"] = self._n(p for p in numbers if "," in self.tidy[p])
        self._tell_missing(self.missing_beside_numbers, others)
        column = self._spread({place: n.value for place, n in numbers.items()}, float)
        if (
            not self.found.changes.total()
            and (column.dropna() % 1 == 0).all()
            and column.notna().all()
        ):
            column = column.astype("int64") if column.abs().max() < 2**53 else column
        _look_at_numbers(column, self.found)
        entry = self.found.entry(
            self.name,
            "number",
            decimal=chosen,
            signs=tuple(signs),
            missing=tuple(self.folds[place] for place in others),
            as_text=chosen == "," or bool(signs) or changes["thousands separators dropped"] > 0,
        )
        return entry, {self.name: column}

    def _choose_mark(
        self, decimal: str | None, mark: str | None, is_point_default: bool
    ) -> str | None:
        """The decimal mark of the column; None where it holds no numbers, or nobody can tell."""
        point, comma = self.numbers["."], self.numbers[","]
        if max(len(point), len(comma)) == 0 or 2 * self._n(point) < self._n(
            self.present
        ) > 2 * self._n(comma):
            return None
        if decimal is not None:
            return decimal
        if self._n(point) != self._n(comma):
            chosen, other = (".", comma) if self._n(point) > self._n(comma) else (",", point)
            if set(other) - set(self.numbers[chosen]):
                self._warn("some of its numbers have decimal points and some decimal commas")
                return None
            return chosen
        if set(point) != set(comma):
            self._warn("some of its numbers have decimal points and some decimal commas")
            return None
        doubtful = [place for place in point if point[place].value != comma[place].value]
        if not doubtful or mark is not None:
            return mark or "."
        if is_point_default or not any("," in self.tidy[place] for place in doubtful):
            return "."
        self._warn(
            f"{self._listed(doubtful)} may be thousands or have decimal commas: say which with "
            "--decimal (in Python decimal=)"
        )
        return None

    def _may_be_missing(self, others: list[int], read: Iterable[int], what: str) -> bool:
        """Whether words among numbers are so few that they stand for missing values."""
        read = list(read)
        n_others, n_all = self._n(others), self._n(self.present)
        if n_all - n_others >= _SHARE * n_all and len(read) >= MANY:
            self.found.warnings.append(
                f"the words {self._listed(others)} in a column of {what} are read as missing"
            )
            return True
        if 2 * n_others <= n_all and len(read) > 1:
            share = 100 * (n_all - n_others) / n_all
            self._warn(
                f"{share:.0f} % of its cells are {what}, the others are {self._listed(others)}"
            )
        return False

    def _warn(self, text: str) -> None:
        self.found.warnings.append(f"{text}: left as words")

    def _dates(self) -> tuple[ColumnReading, dict[str, Any]] | None:
        if self.is_target:
            return None
        present = [p for p in self.present if not cells.is_no_date(self.tidy[p])]
        if not present:
            return None
        words = [self.tidy[place] for place in present]
        first = words[:: max(1, len(words) // 50)][:50]
        enough = _SHARE * len(first) if len(words) >= MANY else len(first)
        fits: list[tuple[str, np.ndarray]] = []
        for form in cells.date_forms(first[:3]):
            if np.isfinite(read_dates(first, form)).sum() >= enough:
                fits.append((form, read_dates(words, form)))
        if not fits:
            return None
        most = max(int(np.isfinite(seconds).sum()) for _, seconds in fits)
        fits = [(form, s) for form, s in fits if np.isfinite(s).sum() == most]
        form, seconds = fits[0]
        if any(not np.array_equal(seconds, others, equal_nan=True) for _, others in fits[1:]):
            self._warn(
                f"{self._listed(present)} may have the day or the month first: write dates as "
                "2024-12-31"
            )
            return None
        others = [p for p, second in zip(present, seconds, strict=True) if second != second]
        if others and not self._may_be_missing(others, set(present) - set(others), "dates"):
            return None
        import pandas as pd

        dates = {p: s for p, s in zip(present, seconds, strict=True) if s == s}
        without = [p for p in self.present if p not in dates]
        self._tell_missing(self.missing_beside_numbers, without)
        missing = tuple(self.folds[place] for place in others)
        times = pd.to_datetime(self._spread(dates, float), unit="s")
        return self._as_dates(times, form, missing)

    def _as_dates(
        self, times: Any, form: str, missing: tuple[str, ...] = ()
    ) -> tuple[ColumnReading, dict[str, Any]]:
        known = times.dropna()
        made = date_features(known, self.name, PARTS)
        parts = tuple(part for part in PARTS if made[f"{self.name} {part}"].nunique() > 1)
        text = "dates made years" + "".join(f", {part}" for part in parts)
        self.found.changes[text + (f" ({form})" if form else "")] = len(known)
        entry = self.found.entry(
            self.name, "date", form=form or "ISO8601", parts=parts, missing=missing, as_text=True
        )
        return entry, date_features(times, self.name, parts)

    def _hours(self) -> tuple[ColumnReading, dict[str, Any]] | None:
        hours = {place: cells.read_hours(self.tidy[place]) for place in self.present}
        if self.is_target or any(value is None for value in hours.values()):
            return None
        self.found.changes["times made hours"] = self._n(hours)
        self._tell_missing(self.missing_beside_numbers)
        entry = self.found.entry(self.name, "time", as_text=True)
        return entry, {self.name: self._spread(hours, float)}

    def _categories(self) -> tuple[ColumnReading, dict[str, Any]]:
        """Words, one spelling each; those that are rare among many become one category.

        A column of more than 20 words of which more than half are different names or describes its
        rows, and is left out. In one of more than 20 words those in fewer than five rows, and those
        beyond the 254 most frequent, are "(other)", as are words that are not known at prediction.
        """
        present = [p for p, fold in enumerate(self.folds) if fold not in self.missing]
        na = [place for place in present if self.folds[place] == "na"]
        missing: tuple[str, ...] = ()
        if na and not self.is_kept("na"):
            if self._is_abbreviation([p for p in present if p not in na]):
                self.found.warnings.append(
                    f"'NA' is read as a word like {self._listed(p for p in present if p not in na)}"
                    f" in {self._n(na):,} cells; --na NA (in Python na=) reads it as missing"
                )
            else:
                present = [place for place in present if place not in na]
                missing = ("na",)
        nothing = [
            p
            for p in present
            if self.folds[p] in ("none", "nil") and not self.is_kept(self.folds[p])
        ]
        if nothing and len(present) > len(nothing):
            self.found.warnings.append(
                f"{self._listed(nothing)} in {self._n(nothing):,} cells is read as a word"
            )
        self._tell_missing(self.missing | set(missing))
        values = self._merged(present)
        counts: Counter = Counter()
        for place, word in values.items():
            counts[word] += int(self.counts[place])
        n_cells, n_words = counts.total(), len(counts)
        if not self.is_target and n_words > MANY:
            if 2 * n_words > n_cells and not self.stays:
                return self._left_out(n_words, n_cells, values)
            often = [word for word, n in counts.most_common(MOST_CATEGORIES) if n >= FEWEST_ROWS]
            rare = counts.keys() - set(often)
            if not often and not self.stays:
                return self._left_out(n_words, n_cells, values)
            if rare:
                values = {p: OTHER if word in rare else word for p, word in values.items()}
                text = f"{len(rare):,} of {n_words:,} words that are rare read as '{OTHER}'"
                self.found.changes[text] = sum(counts[word] for word in rare)
        words = self._spread(values, object).astype("category")
        entry = self.found.entry(
            self.name,
            "category",
            categories=tuple(words.cat.categories),
            missing=missing,
            as_text=True,
        )
        return entry, {self.name: words}

    def _left_out(
        self, n_words: int, n_cells: int, values: dict[int, str]
    ) -> tuple[ColumnReading, dict[str, Any]]:
        mean_length = np.mean([len(word.split()) for word in values.values()])
        what = "free text" if mean_length >= 3 else "an identifier"
        reason = f"looks like {what}: {n_words:,} different values in {n_cells:,} cells"
        self.found.warnings.append(f"left out: it {reason}")
        return self.found.entry(self.name, "left out"), {}

    def _is_abbreviation(self, places: list[int]) -> bool:
        """Whether most words are like "NA" itself: DE, US; EMEA, EU."""
        like = [
            p
            for p in places
            if 2 <= len(self.tidy[p]) <= 4 and self.tidy[p].isupper() and self.tidy[p].isalpha()
        ]
        return len(like) >= 2 and 2 * len(like) > len(places)

    def _merged(self, present: list[int]) -> dict[int, str]:
        """The words of some places, in the most frequent spelling."""
        by_fold: dict[str, Counter] = {}
        for place in present:
            by_fold.setdefault(self.folds[place], Counter())[self.tidy[place]] += int(
                self.counts[place]
            )
        best = {}
        letters = []
        for fold, spelt in by_fold.items():
            if len(spelt) > 1 and len(fold) == 1:
                letters.append(fold)
            elif len(spelt) > 1:
                most = max(spelt.values())
                best[fold] = min(word for word, n in spelt.items() if n == most)
        if letters:
            pairs = ", ".join(
                f"'{fold}' and '{fold.upper()}'" for fold in sorted(letters)[:_MOST_LISTED]
            )
            self._warn(f"{pairs} may be the same or not")
        values = {place: best.get(self.folds[place], self.tidy[place]) for place in present}
        changed = [place for place in present if values[place] != self.tidy[place]]
        if changed:
            shown = sorted({values[place] for place in changed})
            some = ", ".join(f"'{word}'" for word in shown[:_MOST_LISTED])
            some += ", …" if len(shown) > _MOST_LISTED else ""
            self.found.changes[f"{self._listed(changed)} read as {some}"] = self._n(changed)
        return values

    def _tell_missing(self, missing: Iterable[str], others: Iterable[int] = ()) -> None:
        """Count the cells whose words mean missing; empty ones are no news."""
        missing = set(missing)
        by_word: Counter = Counter()
        for place, fold in enumerate(self.folds):
            if fold in missing and fold:
                by_word[self.tidy[place]] += int(self.counts[place])
        for place in others:
            by_word[self.tidy[place]] += int(self.counts[place])
        for word, count in by_word.most_common(_MOST_LISTED):
            self.found.changes[f"'{word}' read as missing"] = count
        rest = by_word.total() - sum(n for _, n in by_word.most_common(_MOST_LISTED))
        if rest:
            self.found.changes["other words read as missing"] = rest

    def _spread(self, values: dict[int, Any], dtype: Any) -> Any:
        """Values of words as a column."""
        import pandas as pd

        table = np.full(len(self.tidy) + 1, np.nan if dtype is float else None, dtype=dtype)
        for place, value in values.items():
            table[place] = value
        return pd.Series(table[self.codes], index=self.column.index, dtype=dtype)


def _is_typed(column: Any) -> bool:
    """Whether the type of a column says what it holds."""
    from pandas.api import types

    if str(column.dtype) == "category" or types.is_bool_dtype(column):
        return True
    if column.dtype == object:
        kinds = {type(value) for value in column.dropna().head(1000)}
        return kinds == {bool}
    return not types.is_string_dtype(column)


def _look_at_numbers(column: Any, found: _Found) -> None:
    """Warn of numbers that may be something else: dates, or signs for what is missing."""
    values = np.asarray(column.dropna(), dtype=float)
    if len(values) < MANY or not np.isfinite(values).all():
        return
    low, high = values.min(), values.max()
    if low >= 19000101 and high <= 21001231 and (values % 1 == 0).all():
        month, day = values // 100 % 100, values % 100
        if ((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all():
            found.warnings.append("may be dates written as 20241231: read as numbers")
    for end in (low, high):
        n = int((values == end).sum())
        rest = values[values != end]
        if end in _SENTINELS and n >= max(2, 0.005 * len(values)) and len(rest):
            span = rest.max() - rest.min()
            if abs(end - (rest.min() if end == low else rest.max())) > span:
                found.warnings.append(
                    f"{end:g} in {n:,} cells is far from all others: if it means missing, say "
                    f"--na {end:g} (in Python na=)"
                )
