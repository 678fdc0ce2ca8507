"""``hedgerow compress``: a model file to a smaller one."""

from pathlib import Path
from typing import Annotated

import typer

import hedgerow
from hedgerow.cli import options
from hedgerow.comparison.sizes import count_bytes, count_splits
from hedgerow.comparison.tables import drop_columns, useless_columns
from hedgerow.datasets import load_data


def compress(
    model: options.ModelFile,
    data: options.Data,
    target: options.Target = None,
    max_splits: Annotated[
        int | None, typer.Option(min=0, help="Most tests; 0 is a constant.")
    ] = None,
    max_bytes: options.MaxBytes = None,
    max_latency_us: options.MaxLatency = None,
    tolerance: Annotated[
        float | None,
        typer.Option(min=0, help="The smallest that lacks no more than this of the score."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The model file to write.")] = Path("small.hedgerow"),
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Make a small model of a large one, within exact limits or a tolerance.

    The table is the one that the model was trained on, or another one with its columns and target.
    """
    teacher = hedgerow.load(model)
    table = load_data(data, target)
    for text in table.notes:
        options.note(text)
    X = drop_columns(table.X, useless_columns(table.X))
    small = hedgerow.compress(
        teacher,
        X,
        table.y,
        max_splits=max_splits,
        max_bytes=max_bytes,
        max_latency_us=max_latency_us,
        tolerance=tolerance,
        random_state=seed,
        n_jobs=jobs,
    )
    hedgerow.save(small, out)
    record = {
        "model": type(teacher).__name__,
        "origin": small.origin_,
        "splits": small.n_splits_,
        "bytes": small.nbytes_,
        "teacher_splits": count_splits(teacher),
        "teacher_bytes": count_bytes(teacher),
        "fidelity": small.fidelity_,
        "score": small.score_,
        "teacher_score": small.teacher_score_,
        "file": str(out),
    }
    if as_json:
        options.print_json(record)
    else:
        print(
            f"{record['model']}: {record['teacher_bytes']:,} bytes → {record['bytes']:,} bytes, "
            f"{record['splits']:,} splits ({record['origin']}); held-out score "
            f"{record['score']:.3f} beside the teacher's {record['teacher_score']:.3f}, R² to it "
            f"{record['fidelity']:.3f}; wrote {out}"
        )
