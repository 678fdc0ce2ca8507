"""The still picture of the model: what is seen on paper and without JavaScript."""

from typing import Any

from hedgerow.comparison.report.svg import clip, picture, tag, text, title
from hedgerow.inspect.layout import lay_out

ROOM, LEVEL = 136.0, 98.0  # of a node, centre to centre
WIDTH, HEIGHT = 124.0, 58.0
LINE = 14


def draw(model: dict[str, Any]) -> str:
    """Draw the nodes that are open at first, as `graph.js` does."""
    nodes, is_open = model["nodes"], set(model["open"])
    children: dict[int, list[int]] = {}
    pending = [0]
    while pending:
        node = pending.pop()
        if node not in children:
            children[node] = nodes[node]["children"] if node in is_open else []
            pending += children[node]
    layout = lay_out(children)

    def x(place: float) -> float:
        return place * ROOM + ROOM / 2

    def y(layer: int) -> float:
        return layer * LEVEL + HEIGHT / 2 + 6

    parts = []
    for (_, side), route in layout.routes.items():
        points = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in route)
        parts.append(tag("polyline", points=points, class_="branch" if side == 0 else "branch no"))
    for node, place in layout.x.items():
        parts.append(
            _box(nodes[node], x(place), y(layout.layer[node]), bool(children[node]), model)
        )
    width = (layout.width + 1) * ROOM
    height = layout.depth * LEVEL + HEIGHT + 30
    return picture(parts, height, f"{model['name']}, its upper part", width)


def _box(node: dict[str, Any], x: float, y: float, is_open: bool, model: dict[str, Any]) -> str:
    """Return a node: its test or its prediction, its rows, and a bar of its classes."""
    top, left = y - HEIGHT / 2, x - WIDTH / 2
    is_leaf = "yes" not in node
    said = node["outcome"] if is_leaf else node.get("question", node["yes"])
    lines = [("label strong", clip(line, WIDTH - 10, 13)) for line in _lines(node, said, model)]
    lines.append(("label", _share(node, model) if is_leaf else f"{node['rows']:,} rows"))
    first = y + 8 - LINE * len(lines) / 2
    frame = {"x": left, "y": top, "width": WIDTH, "height": HEIGHT, "rx": 7}
    style = f"box{' leaf' if is_leaf else ''}{' shared' if node.get('shared') else ''}"
    parts = [
        tag("rect", title(said), style=f"--colour:{node['colour']}", class_=style, **frame),
        *(text(line, x, first + LINE * k, class_=way) for k, (way, line) in enumerate(lines)),
    ]
    if model["classes"]:
        start = left + 8
        for k, p in node["value"]:
            width = p * (WIDTH - 16)
            place = {"x": start, "y": top + 50, "width": width, "height": 4}
            parts.append(tag("rect", fill=model["colours"][k], class_="share", **place))
            start += width
    if not is_leaf and not is_open:
        more = node.get("rest") or "more below"
        parts.append(text(f"⋯ {more}", x, top + HEIGHT + 14, class_="more"))
    return "".join(parts)


def _lines(node: dict[str, Any], said: str, model: dict[str, Any]) -> list[str]:
    """Return what a node says in two lines: the feature, and what is asked of it."""
    name = str(model["names"][node["feature"]]) if "feature" in node else ""
    is_named = said.startswith(f"{name} ")
    return [name, said.removeprefix(f"{name} ")] if is_named else [said]


def _share(node: dict[str, Any], model: dict[str, Any]) -> str:
    if not model["classes"]:
        return f"{node['rows']:,} rows"
    p = node["value"][0][1] if node["value"] else 0.0
    return f"{p:.0%} of {node['rows']:,} rows"
