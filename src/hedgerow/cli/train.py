"""``hedgerow train`` and ``hedgerow predict``: a table to a model, a model to predictions."""

import sys
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import hedgerow
from hedgerow._files import replacing
from hedgerow.cli import options
from hedgerow.cli.options import note
from hedgerow.comparison.sizes import count_bytes, count_splits, find_depth
from hedgerow.comparison.tables import check_names, drop_columns, guess_task, useless_columns
from hedgerow.datasets import load_data
from hedgerow.datasets.columns import (
    check_columns,
    conform,
    did_you_mean,
    reading_of,
    source_columns,
)
from hedgerow.datasets.files import chunk_writer, read_chunks, read_columns


def train(
    data: options.Data,
    target: options.Target = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    na: options.Na = None,
    model: Annotated[
        str, typer.Option(help="One of hedgerow's models: DecisionTree, RandomForest, ...")
    ] = "DecisionTree",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the model; repeatable."),
    ] = None,
    max_splits: options.MaxSplits = None,
    max_bytes: options.MaxBytes = None,
    max_latency_us: options.MaxLatency = None,
    max_path: options.MaxPath = None,
    budget: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Within a limit, the time to look for it: 90s, 10min."),
    ] = None,
    metric: options.Metric = None,
    positive: options.Positive = None,
    task: options.TaskOption = None,
    drop: options.Drop = None,
    keep: options.Keep = None,
    out: Annotated[Path, typer.Option(help="The model file to write.")] = Path("model.hedgerow"),
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Fit one model on all rows and write it to a file.

    With a limit it is the best of hedgerow's models within it, whatever its kind.
    """
    text = options.text_options(sep, decimal, encoding)
    wanted, words = options.names_in(keep), options.names_in(na)
    table = load_data(data, target, **text._asdict(), na=words, keep=wanted)
    kept = check_names(table.X, options.features_of(table, wanted), "--keep")
    unwanted = check_names(table.X, options.features_of(table, options.names_in(drop)), "--drop")
    dropped = useless_columns(table.X, kept)
    options.note_all(table.notes, data)
    for name, why in dropped.items():
        note(f"left out '{name}': it {why}")
    X, y = drop_columns(table.X, {*dropped, *unwanted}), table.y
    known = options.check_task(task) or guess_task(y)
    limits = {
        "max_splits": max_splits,
        "max_bytes": max_bytes,
        "max_latency_us": max_latency_us,
        "max_path": max_path,
    }
    if any(limit is not None for limit in limits.values()):
        fitted = hedgerow.fit_within(
            X,
            y,
            **limits,  # type: ignore[arg-type]
            task=known,
            scoring=metric,
            positive=positive,
            random_state=seed,
            n_jobs=jobs,
            budget=budget,
            progress=options.listener(),
        )
    elif lonely := [
        name for name, value in (("budget", budget), ("metric", metric)) if value is not None
    ]:
        raise typer.BadParameter(
            f"'--{lonely[0]}' goes with a limit: --max-splits, --max-bytes, ..."
        )
    else:
        names = options.find_models(model, ours=True)
        if len(names) > 1:
            raise typer.BadParameter(f"'{model}' may be {' or '.join(names)}.")
        (entry,) = names.values()
        estimator = entry.make(known, seed=seed, n_jobs=jobs)
        given = options.parse_settings(settings)
        if "callback" in given:
            raise typer.BadParameter("'--set' cannot give 'callback', a function: use Python.")
        fitted = estimator.set_params(**given).fit(X, y)
    if table.reading is not None:
        fitted.reading_ = table.reading
    hedgerow.save(fitted, out)
    record = {
        "model": type(fitted).__name__,
        "task": known,
        "rows": len(y),
        "features": X.shape[1],
        "splits": count_splits(fitted),
        "bytes": count_bytes(fitted),
        "longest_path": find_depth(fitted),
        "file": str(out),
        "file_bytes": out.stat().st_size,
    }
    held_out = getattr(fitted, "held_out_", None)
    if held_out is not None:
        record |= {"held_out": held_out.score, "metric": held_out.metric}
    if as_json:
        options.print_json(record)
    else:
        print(
            f"{record['model']}: {record['rows']:,} rows, {record['features']} features, "
            f"{record['splits']:,} splits, longest path {record['longest_path']}, "
            f"{record['bytes']:,} bytes; wrote {out} ({record['file_bytes']:,} bytes)"
        )
        if held_out is not None:
            print(held_out)


def predict(
    model: options.ModelFile,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A file with the model's columns.")],
    out: Annotated[
        Path | None,
        typer.Option(help="CSV, TSV, Parquet or Feather; without it, CSV to the terminal."),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the class probabilities.")] = False,
    keep: Annotated[
        str | None, typer.Option(metavar="COLS", help="Columns of the file to keep: id,name.")
    ] = None,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    na: options.Na = None,
    jobs: options.Jobs = 1,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Predict every row of a file, a part at a time: the file may be of any size.

    Its columns are read as those of the training file were. It may have more than the model needs,
    in any order; a file that lacks some, or has words where the model wants numbers, is refused.
    """
    fitted = hedgerow.load(model)
    if not data.is_file():
        raise FileNotFoundError(f"there is no file '{data}'.")
    text = options.text_options(sep, decimal, encoding)
    fitted.reading_ = reading_of(fitted).adapted(text.decimal, options.names_in(na))
    kept = [name.strip() for name in keep.split(",")] if keep else []
    names = read_columns(data, text)
    check_columns(fitted, names, data)
    lacking = [name for name in kept if name not in names]
    if lacking:
        raise ValueError(
            f"'--keep' names {lacking[0]!r}, which {data} does not have."
            + did_you_mean(lacking[0], names)
        )
    if proba and not hasattr(fitted, "predict_proba"):
        raise ValueError("'--proba' is for classifiers; this model predicts numbers.")
    if "n_jobs" in fitted.get_params():
        fitted.set_params(n_jobs=jobs)

    wanted = list(dict.fromkeys([*source_columns(fitted), *kept]))
    done = 0
    told: Counter = Counter()
    opened = nullcontext(sys.stdout.buffer) if out is None else replacing(out)
    with opened as file, chunk_writer(file, out or "-.csv") as write:
        for chunk in read_chunks(data, wanted, fitted.reading_.text_columns(), text):
            X = conform(fitted, chunk, done, told)
            write(predictions(fitted, X, chunk[kept], proba))
            done += len(chunk)
    for (name, change), count in told.most_common(options.MOST_NOTES):
        note(f"'{name}': {change} in {count:,} cell{'s' * (count != 1)}")
    if as_json and out is not None:
        options.print_json({"rows": done, "file": str(out)})
    elif out is not None:
        print(f"{done:,} rows predicted; wrote {out}")


def predictions(model: Any, X: Any, kept: Any, proba: bool) -> Any:
    """A frame of what was kept, the prediction and, if wanted, the probabilities."""
    frame = kept.reset_index(drop=True)
    classes = getattr(model, "classes_", None)
    if len(X) == 0:  # a model predicts one row at least
        shares = np.empty((0, 0 if classes is None else len(classes)))
        predicted = np.empty(0, dtype=float if classes is None else classes.dtype)
    elif proba:
        shares = model.predict_proba(X)
        predicted = model.classes_[shares.argmax(axis=1)]
    else:
        predicted = model.predict(X)
    frame = frame.assign(prediction=predicted)
    if not proba:
        return frame
    return frame.assign(
        **{f"p({c})": share for c, share in zip(model.classes_, shares.T, strict=True)}
    )
