"""``hedgerow reproduce``: run a paper's experiments again."""

import importlib
import importlib.util
import pkgutil
from typing import Annotated

import typer

import hedgerow.papers
from hedgerow.cli import options

NO_PAPERS = {"study"}  # what the papers share


def papers() -> dict[str, str]:
    """The papers by name, with the first line of what their module says."""
    found = {}
    for module in pkgutil.iter_modules(hedgerow.papers.__path__):
        if module.name not in NO_PAPERS:
            text = importlib.import_module(f"hedgerow.papers.{module.name}").__doc__ or ""
            found[module.name.replace("_", "-")] = text.strip().partition("\n")[0]
    return found


def reproduce(
    context: typer.Context,
    paper: Annotated[
        str | None, typer.Argument(metavar="[PAPER]", help="Without one, the papers are listed.")
    ] = None,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Run a paper's tables and figures again, beside the published numbers.

    What follows the paper goes to it: --table 1, --figure 2, --quick, --seeds 5, --data FOLDER,
    --out FOLDER; 'hedgerow reproduce PAPER -- --help' tells them all.
    """
    if paper is None:
        known = papers()
        if as_json:
            options.print_json(known)
        else:
            for name, text in known.items():
                print(f"{name:26} {text}")
        return
    module = paper.replace("-", "_")
    path = f"hedgerow.papers.{module}"
    if module in NO_PAPERS or not module.isidentifier() or not importlib.util.find_spec(path):
        raise typer.BadParameter(f"no paper is called {paper!r}; there are {', '.join(papers())}.")
    importlib.import_module(path).main([arg for arg in context.args if arg != "--"])
