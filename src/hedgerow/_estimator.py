"""What an estimator declares: its parameters and its fitted attributes, each in one place.

A parameter has a name, a default, a rule and a text; the constructor, its signature, the checks
and the docstring follow from that. So does what a file of the model holds: the parameters and the
fitted attributes, nothing else. Estimators are ordinary dataclasses, so scikit-learn, editors
and type checkers see plain constructors; a family's parameters are inherited, and overridden where
a default differs::

    class StumpClassifier(GraphClassifier):
        '''A tree of one test.'''

        criterion: str = parameter("gini", option("gini", "entropy"), "What the split decreases.")
        graph_: DecisionGraph = fitted("DecisionGraph", "The fitted tree.")
"""

import textwrap
from dataclasses import Field, dataclass, field, fields
from typing import Any, ClassVar, Literal, dataclass_transform

from sklearn.base import BaseEstimator

from hedgerow._parameters import Rule
from hedgerow._version import DOCUMENTATION

_SCIKIT_LEARNS = ("_sklearn", "_metadata_request")  # private attributes that are not caches
_WIDTH = 92  # of a line of a docstring, less its indentation


def parameter(default: Any, rule: Rule, text: str, *, kw_only: bool = True) -> Any:
    """A parameter of the constructor; ``kw_only=False`` lets it be given by its place."""
    return field(default=default, kw_only=kw_only, metadata={"rule": rule, "text": text})


def fitted(
    words: str, text: str = "", *, optional: bool = False, init: Literal[False] = False
) -> Any:
    """An attribute that ``fit`` sets: its type in words, and what it is.

    Arrays whose shape stands in the words are held against it when they come out of a file; an
    ``optional`` attribute may be missing there.
    """
    metadata = {"words": words, "text": text, "optional": optional}
    return field(init=init, repr=False, metadata=metadata)


class Settings:
    """The parameters of an estimator at one moment; they cannot be set."""

    def __init__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name!r} cannot be set: settings are frozen.")

    def __getattr__(self, name: str) -> Any:  # for type checkers: the names are an estimator's
        raise AttributeError(f"there is no setting {name!r}.")


# Type checkers see defaults of field specifiers only as ``default=``: a parameter is a plain value
# to them, and may be given by its place.
@dataclass_transform(eq_default=False, field_specifiers=(fitted,))
class Estimator(BaseEstimator):
    """An estimator whose parameters are declared."""

    _rules: ClassVar[dict[str, Rule]]  # of the parameters, by name

    # The picture of an estimator in a notebook leads to its page.
    _doc_link_module = "hedgerow"
    _doc_link_template = DOCUMENTATION + "reference/hedgerow.{estimator_name}.html"

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        own = cls.__dict__.get("__doc__") or ""
        dataclass(eq=False, repr=False, match_args=False, kw_only=True)(cls)
        # Read by every fit: scikit-learn, and `fields`, gather them anew each time.
        cls._rules = {f.name: f.metadata["rule"] for f in fields(cls) if f.init}
        cls.__doc__ = _documented(own, cls)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with ``deep`` also those of estimators among them.

        Parameters
        ----------
        deep : bool, default=True

        Returns
        -------
        params : dict
        """
        if deep:
            return super().get_params(deep)
        return {name: getattr(self, name) for name in self._rules}

    def __getstate__(self) -> dict:
        """Parameters and fitted attributes; private ones are caches, made again when needed."""
        state = super().__getstate__()
        return {k: v for k, v in state.items() if k[0] != "_" or k.startswith(_SCIKIT_LEARNS)}

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self.rebuild()

    def rebuild(self) -> None:
        """Make what follows from the fitted attributes, after these came out of a file."""

    def check_fitted(self) -> None:
        """Refuse fitted attributes that do not fit each other, after these came out of a file."""

    def check_parameters(self) -> None:
        """Refuse values that break a parameter's rule, whatever the data."""
        for name, rule in self._rules.items():
            rule.check(name, getattr(self, name))

    def settings(self) -> Settings:
        """The parameters, checked and frozen."""
        self.check_parameters()
        return Settings(self.get_params(deep=False))


def _documented(doc: str, cls: type) -> str:
    """The docstring with sections on parameters and attributes before its first section."""
    lines = doc.splitlines()
    body = textwrap.dedent("\n".join(lines[1:])).splitlines()
    first = next((at for at in range(1, len(body)) if body[at] and not body[at].strip("-")), None)
    before, after = (body, []) if first is None else (body[: first - 1], body[first - 1 :])
    order = {name: at for at, base in enumerate(reversed(cls.__mro__))
             for name in vars(base).get("__annotations__", ())}  # fmt: skip
    # What is the model's own comes first, what all models have last.
    declared = sorted(fields(cls), key=lambda f: (f.kw_only is True, -order[f.name]))
    parts = [lines[:1], before]
    parameters = [line for f in declared if f.init for line in _parameter_lines(f)]
    attributes = [line for f in declared if not f.init for line in _attribute_lines(f)]
    attributes += _property_lines(cls)
    for title, entries in (("Parameters", parameters), ("Attributes", attributes)):
        if entries:
            parts.append([title, "-" * len(title), *entries])
    parts.append(after)
    blocks = ["\n".join(part).strip("\n") for part in parts]
    summary, rest = blocks[0], "\n\n".join(block for block in blocks[1:] if block)
    return f"{summary}\n\n{textwrap.indent(rest, '    ')}\n    " if rest else summary


def _parameter_lines(declared: Field) -> list[str]:
    default = declared.default
    shown = f'"{default}"' if isinstance(default, str) else repr(default)
    head = f"{declared.name} : {declared.metadata['rule'].words}, default={shown}"
    return [head, *_indented(declared.metadata["text"])]


def _attribute_lines(declared: Field) -> list[str]:
    head = f"{declared.name} : {declared.metadata['words']}"
    return [head, *_indented(declared.metadata["text"])]


def _property_lines(cls: type) -> list[str]:
    """Entries of the properties that end in an underscore, those of the bases first."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, property) and name.endswith("_") and name[0] != "_":
                found[name] = value
    lines = []
    for name, value in found.items():
        words = getattr(value.fget, "__annotations__", {}).get("return", "object")
        lines.append(f"{name} : {getattr(words, '__name__', words)}")
        lines += _indented((value.__doc__ or "").splitlines()[0] if value.__doc__ else "")
    return lines


def _indented(text: str) -> list[str]:
    """A text as indented lines; what stands in lines of its own, such as a list, keeps them."""
    paragraphs = textwrap.dedent(text).strip("\n").split("\n\n") if text else []
    lines: list[str] = []
    for at, paragraph in enumerate(paragraphs):
        lines += [""] if at else []
        if paragraph.lstrip().startswith("- "):
            lines += paragraph.splitlines()
        else:
            lines += textwrap.wrap(paragraph, _WIDTH - 4, break_on_hyphens=False)
    return [f"    {line}".rstrip() for line in lines]
