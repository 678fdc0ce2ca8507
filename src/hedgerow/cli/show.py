"""``hedgerow show`` and ``hedgerow explain``: what a model learned, and the way of a row."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import hedgerow
from hedgerow import inspect
from hedgerow._files import replacing, write_text
from hedgerow.cli import options
from hedgerow.comparison.sizes import count_bytes, count_splits, find_depth
from hedgerow.datasets.columns import check_columns, conform, reading_of, source_columns
from hedgerow.datasets.files import read_chunks, read_columns


class Form(StrEnum):
    """How a model is shown."""

    TEXT = "text"
    RULES = "rules"
    DOT = "dot"
    PICTURE = "picture"


Member = Annotated[int, typer.Option(min=0, help="Of a forest, the tree with this number.")]


def show(
    model: options.ModelFile,
    form: Annotated[Form, typer.Option("--as", help="How to show it.")] = Form.TEXT,
    out: Annotated[
        Path | None, typer.Option(help="The file to write; a picture may be .svg, .png or .pdf.")
    ] = None,
    max_depth: Annotated[int | None, typer.Option(min=1, help="Deepest level shown.")] = None,
    member: Member = 0,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Show a model as text, as rules, as a graph for Graphviz or as a picture."""
    fitted = hedgerow.load(model)
    if as_json:
        options.print_json(_record(fitted))
        return
    drawn = _one_graph(fitted, member)
    if not hasattr(drawn, "graph_"):
        if form is not Form.TEXT:
            raise ValueError(
                f"'--as {form}' is for models of trees; {type(fitted).__name__} is shown as text."
            )
        print(inspect.overview(fitted))
        return
    if form is Form.PICTURE:
        path = out or Path("model.svg")
        with replacing(path) as file:
            figure = inspect.plot(drawn, max_depth=max_depth).figure
            figure.savefig(file, format=path.suffix.removeprefix(".") or "svg")
        print(f"wrote {path}")
        return
    if form is Form.TEXT:
        text = inspect.export_text(drawn, max_depth=max_depth)
    elif form is Form.RULES:
        text = str(inspect.rules(drawn))
    else:
        text = inspect.export_dot(drawn, max_depth=max_depth)
    if out is None:
        print(text)
    else:
        write_text(out, text.rstrip("\n") + "\n")
        print(f"wrote {out}")


def explain(
    model: options.ModelFile,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="A file with the model's columns.")],
    row: Annotated[
        list[int] | None, typer.Option(min=0, help="Number of a row, from 0; repeatable.")
    ] = None,
    member: Member = 0,
    sep: options.Sep = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    na: options.Na = None,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Say in words which way some rows of a file take through the model."""
    fitted = hedgerow.load(model)
    if not data.is_file():
        raise FileNotFoundError(f"there is no file '{data}'.")
    text = options.text_options(sep, decimal, encoding)
    fitted.reading_ = reading_of(fitted).adapted(text.decimal, options.names_in(na))
    check_columns(fitted, read_columns(data, text), data)
    wanted = sorted(set(row or [0]))
    drawn = _one_graph(fitted, member)
    found: dict[int, Any] = {}
    begin = 0
    texts = fitted.reading_.text_columns()
    for chunk in read_chunks(data, source_columns(fitted), texts, text):
        here = [number for number in wanted if begin <= number < begin + len(chunk)]
        rows = conform(fitted, chunk.iloc[[number - begin for number in here]], begin)
        for place, number in enumerate(here):
            found[number] = inspect.explain(drawn, rows.iloc[place])
        begin += len(chunk)
        if begin > wanted[-1]:
            break
    else:
        raise ValueError(f"'--row' must be less than {begin}, the rows of {data}.")
    if as_json:
        options.print_json(
            [
                {
                    "row": number,
                    "prediction": explanation.prediction,
                    "probabilities": explanation.probabilities,
                    "steps": [str(step) for step in explanation.steps],
                }
                for number, explanation in found.items()
            ]
        )
        return
    for number, explanation in found.items():
        print(f"row {number}")
        print(explanation)


def _one_graph(model: Any, member: int) -> Any:
    """The model itself, or one tree of a forest."""
    if hasattr(model, "graph_") or not hasattr(model, "estimators_"):
        return model
    return inspect.member(model, member)


def _record(model: Any) -> dict[str, Any]:
    return {
        "model": type(model).__name__,
        "parameters": model.get_params(deep=False),
        "features": model.schema_.feature_names,
        "categories": {
            feature: model.schema_.categories[place]
            for place, feature in enumerate(model.schema_.feature_names or [])
            if place in model.schema_.categories
        },
        "classes": model.classes_.tolist() if hasattr(model, "classes_") else None,
        "splits": count_splits(model),
        "bytes": count_bytes(model),
        "depth": find_depth(model),
        "graph": _arrays(model.graph_) if hasattr(model, "graph_") else None,
        "members": [
            _arrays(graph)
            for graph in getattr(model, "estimators_", [])
            if hasattr(graph, "arrays")
        ],
    }


def _arrays(graph: Any) -> dict[str, Any]:
    """The nodes of a graph as lists, as docs/format.md has them."""
    return {
        name: value if isinstance(value, int) else value.tolist()
        for name, value in graph.arrays().items()
    }
