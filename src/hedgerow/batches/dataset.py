"""`Dataset`: a training table as codes, read in batches, in memory or in a file.

The table is read twice, a batch at a time: a survey of the columns, then their codes. What stays is
one byte a cell (two beyond 255 bins), the targets and the weights. Every estimator's ``fit`` takes
it in place of ``X, y``.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow._engine import Dataset as Codes
from hedgerow._parameters import MAX_BINS, resolve_n_jobs
from hedgerow._progress import reading_progress
from hedgerow._table import Schema, Table
from hedgerow.batches.coding import Coder
from hedgerow.batches.columns import Report
from hedgerow.batches.reader import Reader
from hedgerow.batches.sources import Source, csv_source, parquet_source, source_of
from hedgerow.batches.store import InFile, InMemory, open_file
from hedgerow.batches.survey import Survey, check_labels

RANK_ERROR = 1e-4


class Dataset(Table):
    """A training table of any size, as codes; `fit` takes it in place of ``X, y``.

    Make one with :meth:`from_parquet`, :meth:`from_csv` or :meth:`from_batches`; open one that was
    made with ``file=`` with :meth:`open`.

    Attributes
    ----------
    n_rows, n_features : int
    max_bins : int or None
        What the columns were cut into; models of the table have the same ``max_bins``.
    rank_error : float
        By how much, as a share of the rows, the border of a bin may be off; 0 where no column has
        more than 65,535 distinct values, and then the codes are those of a fit in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import Dataset, DecisionTreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> batches = [(X, X[:, 0] > 0.5) for X in rng.random((5, 100, 3))]
    >>> data = Dataset.from_batches(batches)
    >>> data.n_rows
    500
    >>> DecisionTreeClassifier().fit(data).n_splits_
    1
    """

    def __init__(
        self,
        arrays: Mapping[str, np.ndarray],
        facts: dict[str, Any],
        *,
        has_classes: bool | None = None,
        codes: Codes | None = None,
        path: Path | None = None,
    ) -> None:
        self._arrays, self._facts, self._path = arrays, facts, path
        self.max_bins: int | None = facts["max_bins"]
        labels = _labels_of(facts)
        stored = arrays["targets"]
        if has_classes is None:  # as the labels say: words and whole numbers are classes
            has_classes = labels is not None and labels.dtype.kind != "f"
        self._has_classes = has_classes
        targets = stored
        if has_classes:
            if labels is None:
                raise ValueError(
                    "y has more than 65,535 distinct values: these are no classes; use a regressor."
                )
            check_labels(labels)
        elif labels is not None:
            if labels.dtype == object:
                raise ValueError(f"could not convert string to float: {labels[0]!r}")
            targets = labels.astype(np.float64)[stored]
        names = facts["names"]
        known = enumerate(facts["columns"])
        categories = {f: c["categories"] for f, c in known if c["categories"] is not None}
        super().__init__(
            None,
            Schema(names, len(facts["columns"]), categories),
            {},
            targets,
            labels if has_classes else None,
            arrays.get("weights"),
            None if names is None else np.array(names, dtype=object),
        )
        self._data = codes or _codes_of(arrays, facts)
        self._bins[self.max_bins or 0] = self._data

    @classmethod
    def from_batches(
        cls,
        batches: Any,
        *,
        target: str | None = None,
        weight: str | None = None,
        columns: list[str] | None = None,
        max_bins: int | None = 255,
        categorical_features: Any = "auto",
        rank_error: float = RANK_ERROR,
        file: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callable[[int, int], None] | None = None,
    ) -> "Dataset":
        """Read a table in batches.

        Parameters
        ----------
        batches : list, function, frame, Arrow table or data set, or DuckDB relation
            What gives batches, twice: a list, or a function that returns an iterator. A batch is a
            pandas or polars frame, an Arrow table or record batch with the target in a column, or
            ``(X, y)`` or ``(X, y, weight)``.
        target : str, default=None
            The column of the targets, where batches are frames.
        weight : str, default=None
            The column of the weights of the rows.
        columns : list of str, default=None
            The features; None takes all other columns.
        max_bins : int or None, default=255
            As in the models that will be fitted.
        categorical_features : "auto", list or None, default="auto"
            As in the models.
        rank_error : float, default=1e-4
            For columns with more than 65,535 distinct values: by how much, as a share of the rows,
            the border of a bin may be off.
        file : path, default=None
            Keep codes, targets and weights in this new file, which is mapped into memory; None
            keeps them in memory.
        n_jobs : int, default=None
            Threads.
        verbose : int, default=0
            Show a bar with rows and bytes (needs rich).
        callback : callable, default=None
            Called with the rows and the bytes read so far, of both readings.

        Returns
        -------
        data : Dataset
        """
        MAX_BINS.check("max_bins", max_bins)
        if not 1e-6 <= rank_error < 1:
            raise ValueError(f"'rank_error' must be from 1e-6 to below 1, got {rank_error!r}.")
        source = source_of(batches)
        store = InMemory() if file is None else InFile(Path(file))
        try:
            with reading_progress(verbose, callback, source.n_rows, source.n_bytes) as report:
                reader = Reader(target, weight, columns, resolve_n_jobs(n_jobs))
                survey = Survey(rank_error, categorical_features)
                rows, n_bytes = 0, 0
                for batch, y, weights, size in reader.read(source):
                    survey.add(batch, y, weights, rows, reader.n_jobs)
                    rows, n_bytes = rows + batch.n_rows, n_bytes + size
                    report(rows, n_bytes)
                arrays, facts = _coded(survey, max_bins, source, reader, store, report, n_bytes)
        except BaseException:
            store.drop()
            raise
        return cls(arrays, facts, path=None if file is None else Path(file).absolute())

    @classmethod
    def from_parquet(
        cls,
        path: Any,
        *,
        target: str,
        columns: list[str] | None = None,
        weight: str | None = None,
        batch_rows: int | None = None,
        **options: Any,
    ) -> "Dataset":
        """Read Parquet files: a path, a pattern such as ``part-*.parquet``, a folder or a list.

        ``batch_rows`` is the most rows read at one time, by default as many as take 64 MB; for the
        others see :meth:`from_batches`.
        """
        wanted = _wanted(columns, target, weight)
        source = parquet_source(path, wanted, batch_rows)
        return cls.from_batches(source, target=target, weight=weight, columns=columns, **options)

    @classmethod
    def from_csv(
        cls,
        path: Any,
        *,
        target: str,
        columns: list[str] | None = None,
        weight: str | None = None,
        types: dict[str, Any] | None = None,
        **options: Any,
    ) -> "Dataset":
        """Read CSV files with a header; as :meth:`from_parquet`.

        ``types`` gives the pyarrow types of columns that would be misread: they are found in the
        first 16 MB of a file.
        """
        source = csv_source(path, _wanted(columns, target, weight), types)
        return cls.from_batches(source, target=target, weight=weight, columns=columns, **options)

    @classmethod
    def open(cls, path: Any) -> "Dataset":
        """Open a file that was made with ``file=``; it is mapped, not read."""
        arrays, facts = open_file(Path(path))
        return cls(arrays, facts, path=Path(path).absolute())

    def with_targets(self, has_classes: bool) -> "Dataset":
        """The same table with its targets as classes, or as numbers."""
        if has_classes == self._has_classes:
            return self
        return Dataset(
            self._arrays, self._facts, has_classes=has_classes, codes=self._data, path=self._path
        )

    @property
    def rank_error(self) -> float:
        """By how much, as a share of the rows, the border of a bin may be off."""
        return max((c["slack"] for c in self._facts["columns"]), default=0) / self.n_rows

    @property
    def facts_of_codes(self) -> dict[str, Any]:
        """What the codes mean, as plain data: another data set may have the same."""
        return self._facts

    @property
    def nbytes(self) -> int:
        """Bytes of codes, targets and weights, in memory or in the file."""
        return sum(array.nbytes for array in self._arrays.values())

    @property
    def source(self) -> Any:
        return self.matrix()

    def __reduce__(self) -> tuple:
        if self._path is not None:
            return _opened, (self._path, self._has_classes)
        return _made, (dict(self._arrays), self._facts, self._has_classes)

    def _binned(self, most: int, n_jobs: int) -> Codes:
        if any(
            c["categories"] is None and not (c["every_value"] and c["n_bins"] <= (most or 65_535))
            for c in self._facts["columns"]
        ):
            raise ValueError(
                f"the data set was cut with max_bins={self.max_bins}, and the model has "
                f"max_bins={most or None}: give both the same."
            )
        return self._data

    def _matrix(self) -> np.ndarray:
        """Each cell as the smallest value of its bin, categories as their codes.

        A graph of tests on single features sends it where it sends the row itself.
        """
        dtype = np.float64 if self._facts["wide"] else np.float32
        matrix = np.empty((self.n_rows, self.n_features), dtype)
        for feature in range(self.n_features):
            codes = self._data.codes(feature)
            n_bins = self._data.n_bins(feature)
            numbers = (
                np.arange(n_bins) if feature in self.categories else self._data.smallest(feature)
            )
            matrix[:, feature] = np.append(numbers, np.nan).astype(dtype)[codes]
        return matrix


def _coded(
    survey: Survey,
    max_bins: int | None,
    source: Source,
    reader: Reader,
    store: InMemory | InFile,
    report: Report,
    bytes_before: int,
) -> tuple[Mapping[str, np.ndarray], dict[str, Any]]:
    """The second reading: codes, targets and weights, and what they mean."""
    plan = survey.plan(max_bins)
    del survey  # and its sketches
    coder = Coder(plan)
    names = [str(feature) for feature in range(len(plan.columns))]
    for name, column in zip(names, plan.columns, strict=True):
        store.make(name, plan.n_rows, column.dtype)
    store.make("targets", plan.n_rows, np.float64 if plan.labels is None else np.int32)
    if plan.weighted:
        store.make("weights", plan.n_rows, np.float64)
    row, n_bytes = 0, bytes_before
    for batch, y, weights, size in reader.read(source):
        if row + batch.n_rows > plan.n_rows:
            break
        codes = [store.piece(name, row, batch.n_rows) for name in names]
        coder.code(batch, codes, reader.n_jobs)
        for name, piece in zip(names, codes, strict=True):
            store.keep(name, row, piece)
        store.keep("targets", row, coder.targets(y))
        if plan.weighted:
            store.keep("weights", row, np.ones(batch.n_rows) if weights is None else weights)
        row, n_bytes = row + batch.n_rows, n_bytes + size
        report(plan.n_rows + row, n_bytes)
    else:
        if row == plan.n_rows:
            facts = facts_of(coder)
            return store.finish(facts), facts
    raise ValueError(
        f"the batches had {plan.n_rows} rows when they were first read, and another number when "
        "they were read again: they must be the same both times."
    )


def facts_of(coder: Coder) -> dict[str, Any]:
    """What codes mean, as plain data."""
    plan = coder.plan
    columns = []
    for feature, column in enumerate(plan.columns):
        smallest, largest = coder.bins(feature)
        columns.append(
            {
                "n_bins": column.n_bins,
                "categories": None
                if column.categories is None
                else np.array(column.categories, dtype=object).tolist(),
                "smallest": smallest.tolist(),
                "largest": largest.tolist(),
                "every_value": column.every_value,
                "slack": int(column.slack),
            }
        )
    labels = plan.labels
    return {
        "names": plan.names,
        "columns": columns,
        "labels": None if labels is None else [labels.dtype.str, labels.tolist()],
        "max_bins": plan.max_bins,
        "wide": plan.wide,
    }


def _labels_of(facts: dict[str, Any]) -> np.ndarray | None:
    if facts["labels"] is None:
        return None
    kind, values = facts["labels"]
    return np.array(values, dtype=object if kind == "|O" else kind)


def _codes_of(arrays: Mapping[str, np.ndarray], facts: dict[str, Any]) -> Codes:
    codes = Codes(len(arrays["targets"]))
    for feature, column in enumerate(facts["columns"]):
        codes.append_coded(
            np.asarray(arrays[str(feature)]),
            column["n_bins"],
            column["categories"] is not None,
            column["smallest"],
            column["largest"],
        )
    return codes


def _wanted(columns: list[str] | None, target: str, weight: str | None) -> list[str] | None:
    if columns is None:
        return None
    if target in columns or weight in columns:
        raise ValueError("'columns' must not hold the target or the weights.")
    return [*columns, target, *([] if weight is None else [weight])]


def _opened(path: Path, has_classes: bool) -> Dataset:
    return Dataset.open(path).with_targets(has_classes)


def _made(arrays: dict[str, np.ndarray], facts: dict[str, Any], has_classes: bool) -> Dataset:
    return Dataset(arrays, facts, has_classes=has_classes)
