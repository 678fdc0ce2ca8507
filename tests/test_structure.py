"""The house keeps its walls: who may import whom, and whose private names are whose.

Read from the sources, without importing them.
"""

import ast
from pathlib import Path

import pytest

import hedgerow

SOURCES = Path(hedgerow.__file__).parent
MODULES = sorted(SOURCES.rglob("*.py"))
# Of named tuples, where the underscore does not mean private; and scikit-learn's, which tells the
# size of its boosting in no other way.
NOT_OURS = {"_replace", "_asdict", "_fields", "_predictors"}

# Room -> rooms that it may import from. The core is all modules of the package whose names begin
# with an underscore; every room may import from the core and from itself.
MODELS = {"tree", "graph", "forest", "additive", "embedding", "cascade", "compression"}
ALLOWED = {
    "core": set(),
    "tree": set(),
    "graph": {"tree"},
    "forest": {"tree"},
    "additive": {"tree", "graph", "forest"},
    "embedding": {"tree"},
    "cascade": {"tree", "forest"},
    "compression": {"tree", "forest", "additive"},
    "batches": set(),
    "dask": MODELS | {"batches"},
    "inspect": {"tree", "forest", "additive"},
    "storage": MODELS,
    "export": MODELS | {"storage"},
    "datasets": set(),
    "model_selection": set(),
    "comparison": MODELS | {"inspect", "storage", "export", "datasets", "model_selection"},
    "papers": MODELS | {"front door", "inspect", "datasets", "model_selection", "comparison"},
    "cli": MODELS
    | {"front door", "inspect", "storage", "export", "datasets", "comparison", "papers", "batches"},
}


def room_of(name: str) -> str:
    """The room of a dotted module name such as hedgerow.tree.cart."""
    first = [*name.split("."), "front door"][1]
    return "core" if first.startswith("_") else first


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCES.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imported(tree: ast.Module):
    """Dotted names of all of hedgerow's modules that a file imports, with the names taken."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "hedgerow":
                    yield alias.name, []
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "hedgerow":
            names = [alias.name for alias in node.names]
            if node.module == "hedgerow":  # a module, as in "from hedgerow import _parameters"
                rooms = {name_of(path) for path in MODULES}
                for name in names:
                    yield (f"hedgerow.{name}" if f"hedgerow.{name}" in rooms else "hedgerow"), []
            else:
                yield node.module, names


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def private_uses(tree: ast.Module):
    """Private attributes of objects other than self, unless this very file defines them."""
    defined = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
               and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
               and isinstance(node.ctx, ast.Store)}  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Assign):
            defined |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            defined.add(node.target.id)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not is_private(node.attr):
            continue
        owner = node.value
        is_own = isinstance(owner, ast.Name) and owner.id in ("self", "cls")
        is_parents = isinstance(owner, ast.Call) and getattr(owner.func, "id", "") == "super"
        if not is_own and not is_parents and node.attr not in defined | NOT_OURS:
            yield node.lineno, node.attr


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_go_from_the_models_to_the_tools(path):
    room = room_of(name_of(path))
    if name_of(path) == "hedgerow" or room == "__main__":
        return  # the front door leads everywhere
    for module, _ in imported(ast.parse(path.read_text())):
        target = room_of(module)
        assert target in ALLOWED[room] | {room, "core"}, (
            f"{name_of(path)} imports {module}: '{room}' may not know of '{target}'"
        )


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_private_names_stay_in_their_file(path):
    tree = ast.parse(path.read_text())
    taken = [name for _, names in imported(tree) for name in names if is_private(name)]
    assert not taken, f"private names of other modules are imported: {taken}"
    assert not list(private_uses(tree))


def test_every_room_is_listed():
    rooms = {room_of(name_of(path)) for path in MODULES if name_of(path) != "hedgerow"}
    assert rooms - {"__main__"} == set(ALLOWED)
