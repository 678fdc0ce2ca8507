"""``hedgerow reproduce``: run a paper's experiments again."""

import importlib
import pkgutil
from types import ModuleType
from typing import Annotated

import typer

import hedgerow.papers
from hedgerow.cli import options


def papers() -> dict[str, ModuleType]:
    """The papers by name: the modules that have a command line of their own, ``main``."""
    modules = (
        importlib.import_module(f"hedgerow.papers.{module.name}")
        for module in pkgutil.iter_modules(hedgerow.papers.__path__)
    )
    return {
        module.__name__.rpartition(".")[2].replace("_", "-"): module
        for module in modules
        if hasattr(module, "main")
    }


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
    known = papers()
    if paper is None:
        lines = {name: (m.__doc__ or "").strip().partition("\n")[0] for name, m in known.items()}
        if as_json:
            options.print_json(lines)
        else:
            for name, text in lines.items():
                print(f"{name:26} {text}")
        return
    module = known.get(paper.replace("_", "-"))
    if module is None:
        raise typer.BadParameter(f"no paper is called {paper!r}; there are {', '.join(known)}.")
    module.main([arg for arg in context.args if arg != "--"])
