"""Words of a table in a source file: never code, whatever they are.

Names and categories come from data. In comments they are printable ASCII without anything that a
compiler looks for; in identifiers letters, digits and underscores. As strings every writer quotes
them by its language's own rules.
"""

import re
from collections.abc import Iterable

_LONGEST = 60


def in_comment(word: object) -> str:
    """A word for a comment of any language: one line, no end of comment, no trigraph, no quote."""
    text = str(word).encode("ascii", "backslashreplace").decode()
    text = re.sub(r"[^ -~]", lambda found: f"\\x{ord(found[0]):02x}", text)
    text = text.replace("\\", "|").replace("`", "'")
    for mark in ("*/", "/*", "??", "--", "<!", "]]", "</", "//", "${"):
        while mark in text:
            text = text.replace(mark, f"{mark[0]} {mark[1]}")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def identifiers(words: Iterable[object], prefix: str = "", keywords: Iterable[str] = ()) -> list:
    """Different identifiers for words, as like them as letters, digits and underscores can be."""
    taken = {word.casefold() for word in keywords}
    out = []
    for number, word in enumerate(words):
        core = re.sub(r"[^A-Za-z0-9]+", "_", str(word)).strip("_")[:_LONGEST]
        name = f"{prefix}{core}" if core else f"{prefix}{number}"
        if not re.match(r"[A-Za-z]", name):
            name = f"x{name}"
        if name.casefold() in taken:
            name = f"{name}_{number}"
        while name.casefold() in taken:
            name += "_"
        taken.add(name.casefold())
        out.append(name)
    return out
