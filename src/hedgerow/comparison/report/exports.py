"""The shown model in other languages, to be copied out of the page."""

from collections.abc import Callable
from typing import Any

from hedgerow.export import ExportError, read, to_c, to_python, to_sql

_FORMATS: tuple[tuple[str, str, Callable[..., str], dict[str, str]], ...] = (
    ("C", "c", to_c, {"form": "goto"}),
    ("SQL for DuckDB", "sql", to_sql, {"dialect": "duckdb"}),
    ("Python", "python", to_python, {}),
)
_MOST = 80_000  # characters of one text in the page
_MOST_SPLITS = _MOST // 20  # whose text is longer in any language, and takes seconds to write


def exported(model: Any) -> list[dict[str, Any]]:
    """Return the texts of a model, and why there is none where there is none.

    Parameters
    ----------
    model : fitted estimator, or a member of one

    Returns
    -------
    texts : list of dict
        Empty for what is no model that can be exported, such as one tree of a forest.
    """
    try:
        program = read(model)
    except ExportError:
        return []
    found = []
    for title, to, write, settings in _FORMATS:
        chosen = "".join(f" --set {name}={value}" for name, value in settings.items())
        entry: dict[str, Any] = {
            "title": title,
            "command": f"hedgerow export MODEL --to {to}{chosen}",
        }
        if model.n_splits_ > _MOST_SPLITS:
            reason = f"It has {model.n_splits_:,} splits, too many for this page."
            found.append(entry | {"text": None, "reason": reason})
            continue
        try:
            text = write(program, **settings)
        except ExportError as error:
            found.append(entry | {"text": None, "reason": str(error)})
            continue
        if len(text) > _MOST:
            reason = f"It has {len(text):,} characters, too many for this page."
            found.append(entry | {"text": None, "reason": reason})
        else:
            found.append(entry | {"text": text, "reason": None})
    return found
