"""The functions of a template: each target takes those that a model needs."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path


@cache
def _parts(template: str, begins: str, comment: str) -> dict[str, tuple[str, str]]:
    """The functions, by name: each with its comment, and its code alone."""
    text = (Path(__file__).parent / "templates" / template).read_text()
    found = {}
    for part in re.split(r"\n\n+(?=\S)", text.strip())[1:]:
        name = re.search(rf"^{begins} (\w+)", part, re.MULTILINE)
        assert name is not None
        found[name[1]] = part, re.sub(f"{comment}.*", "", part)
    return found


def functions(template: str, begins: str, comment: str, wanted: Iterable[str]) -> list[str]:
    """Some functions and all that they call, in the order of the template.

    Parameters
    ----------
    template : str
        A file of ``templates``: after a first comment functions, with empty lines between them.
    begins, comment : str
        The word that begins a function, and the mark that begins a comment.
    wanted : iterable of str
    """
    parts = _parts(template, begins, comment)
    needed, waiting = set(), list(wanted)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            code = parts[name][1]
            waiting += [other for other in parts if re.search(rf"\b{other}\b[(,)]", code)]
    return [part for name, (part, _) in parts.items() if name in needed]
