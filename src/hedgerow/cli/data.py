"""From what the user names, a bundled data set or a file, to X and y."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sklearn import datasets

BUNDLED: dict[str, Callable] = {
    "breast_cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}


def load(source: str, target: str | None) -> tuple[Any, Any]:
    """Read a bundled data set by name, or a CSV or Parquet file whose column `target` is y."""
    if source in BUNDLED:
        if target is not None:
            raise ValueError(f"'--target' goes with a file; '{source}' has its own target.")
        return BUNDLED[source](return_X_y=True)

    frame = _read(Path(source))
    if target is None:
        raise ValueError(f"'--target' must name a column of {source}: {_list(frame.columns)}.")
    if target not in frame.columns:
        raise ValueError(f"{source} has no column '{target}', only {_list(frame.columns)}.")
    y = frame.pop(target)
    if y.isna().any():
        raise ValueError(f"'{target}' is missing in {y.isna().sum()} rows; remove them first.")
    for name in frame.columns:
        frame[name] = _number_or_category(frame[name])
    return frame, y


def _read(path: Path) -> Any:
    readers = {".csv": "read_csv", ".parquet": "read_parquet"}
    if not path.exists():
        raise ValueError(f"'{path}' is neither a file nor one of {_list(BUNDLED)}.")
    if path.suffix not in readers:
        raise ValueError(f"'{path}' must be a .csv or a .parquet file.")
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise ValueError(
            'reading a file needs pandas; install it with: pip install "hedgerow[cli]"'
        ) from None
    return getattr(pd, readers[path.suffix])(path)


def _number_or_category(column: Any) -> Any:
    """Numbers stay, times become seconds since the first, everything else is a category."""
    import pandas as pd
    from pandas.api import types

    if types.is_string_dtype(column):  # a CSV file has no type for times
        times = pd.to_datetime(column, format="ISO8601", errors="coerce")
        if times.notna().any() and times.notna().equals(column.notna()):
            column = times
    if types.is_bool_dtype(column) or not (
        types.is_numeric_dtype(column) or types.is_datetime64_any_dtype(column)
    ):
        return column.astype("category")
    if types.is_datetime64_any_dtype(column):
        return (column - column.min()).dt.total_seconds()
    return column.astype("float64")


def _list(names: Any) -> str:
    names = [str(name) for name in names]
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
