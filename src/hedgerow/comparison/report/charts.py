"""The pictures of the report: each function turns a part of the summary into SVG text."""

from collections.abc import Sequence
from typing import Any

from hedgerow.comparison.report.svg import (
    WIDTH,
    Axis,
    clip,
    label_points,
    picture,
    short,
    tag,
    text,
    title,
)

LEFT, RIGHT, TOP, BOTTOM = 46, 12, 10, 40
ROW = 34  # height of a row with its name above


def _frame(
    x: Axis,
    y: Axis,
    height: float,
    x_name: str,
    y_name: str,
    ticks: list[tuple[float, str]] | None = None,
) -> list[str]:
    """Return grid lines, ticks (those of x may be given) and the names of both axes."""
    bottom = height - BOTTOM
    parts = []
    for place, label in y.ticks(7):
        parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=place, y2=place, class_="grid"))
        parts.append(text(label, LEFT - 6, place + 4, class_="tick", text_anchor="end"))
    for place, label in ticks or x.ticks(5):
        parts.append(tag("line", x1=place, x2=place, y1=TOP, y2=bottom, class_="grid"))
        parts.append(text(label, place, bottom + 15, class_="tick", text_anchor="middle"))
    middle = (TOP + bottom) / 2
    parts.append(
        text(x_name, (LEFT + WIDTH - RIGHT) / 2, height - 6, class_="axis", text_anchor="middle")
    )
    turn = f"rotate(-90 11 {middle:.0f})"
    parts.append(text(y_name, 11, middle, class_="axis", text_anchor="middle", transform=turn))
    return parts


def _mark(x: float, y: float, is_ours: bool, tip: str, class_: str = "") -> str:
    """Return a disc for a model of hedgerow, a square for a peer."""
    name = f"mark {'ours' if is_ours else 'peer'} {class_}".strip()
    if is_ours:
        return tag("circle", title(tip), cx=x, cy=y, r=4.5, class_=name)
    return tag("rect", title(tip), x=x - 4, y=y - 4, width=8, height=8, class_=name)


def pareto(front: dict[str, Any], metric: str, higher: bool = True) -> str:
    """Draw score against cost, the better the higher; the front as a line, others as marks."""
    points, height = front["points"], 270
    # A model without splits costs nothing, which a logarithmic axis has no place for.
    cheapest = min((p["cost"] for p in points if p["cost"] > 0), default=1.0)
    points = [p | {"cost": p["cost"] or cheapest / 2} for p in points]
    x = Axis([p["cost"] for p in points], LEFT, WIDTH - RIGHT, log=True)
    ends = (height - BOTTOM, TOP) if higher else (TOP, height - BOTTOM)
    y = Axis([p["score"] for p in points], *ends)
    on_front = [p for p in points if p["on_front"]]
    corners = [(f"{x(p['cost']):.1f}", f"{y(p['score']):.1f}") for p in on_front]
    parts = _frame(x, y, height, front["name"], metric)
    if corners:  # none where no model is better than a constant
        start, *steps = corners
        path = f"M{start[0]} {start[1]}" + "".join(f"H{a}V{b}" for a, b in steps)
        parts.append(tag("path", d=f"{path}H{WIDTH - RIGHT}", class_="front"))
    for p in points:
        tip = f"{p['name']}: {metric} {p['score']:.4f}, {p['cost_text']}"
        parts.append(
            _mark(x(p["cost"]), y(p["score"]), p["ours"], tip, "" if p["on_front"] else "off")
        )
    ordered = sorted(points, key=lambda p: (not p["on_front"], not p["ours"]))
    places = [(x(p["cost"]), y(p["score"]), p["short"]) for p in ordered]
    box = (LEFT, 0.0, float(WIDTH), float(height - BOTTOM))
    for px, py, anchor, name in label_points(places, box):
        parts.append(text(name, px, py, text_anchor=anchor, class_="name"))
    label = f"{metric} against {front['name']}; on the front: " + ", ".join(
        p["name"] for p in on_front
    )
    return picture(parts, height, label)


def sizes(ways: Sequence[dict[str, Any]], metric: str, higher: bool = True) -> str:
    """Draw every model's way through the sizes as a line, and as a heavy one what is best."""
    height = 340
    points = [(p["splits"], p["score"], way) for way in ways for p in way["points"]]
    x = Axis([splits for splits, _, _ in points], LEFT, WIDTH - RIGHT, log=True)
    # A model of one split may be far below: the picture is of what the others have.
    ranked = sorted((score for _, score, _ in points), reverse=higher)
    worst = ranked[int(0.85 * (len(ranked) - 1))]
    seen = [(s, v, way) for s, v, way in points if (v >= worst if higher else v <= worst)]
    ends = (height - BOTTOM, TOP) if higher else (TOP, height - BOTTOM)
    y = Axis([score for _, score, _ in seen], *ends)
    parts = _frame(x, y, height, "splits", metric)
    for way in reversed(ways):
        line = [(s, v) for s, v, of in seen if of is way]
        corners = " ".join(f"{x(s):.1f},{y(v):.1f}" for s, v in line)
        class_ = f"way {'ours' if way['ours'] else 'peer'}"
        parts.append(tag("polyline", title(way["name"]), points=corners, class_=class_))
        for s, v in line:
            tip = f"{way['name']}: {metric} {v:.4f}, {s:,} splits"
            parts.append(_mark(x(s), y(v), way["ours"], tip, "off"))
    best: list[tuple[float, float]] = []
    for s, v, _ in sorted(seen, key=lambda p: (p[0], -p[1] if higher else p[1])):
        if not best or (v > best[-1][1] if higher else v < best[-1][1]):
            best.append((s, v))
    path = f"M{x(best[0][0]):.1f} {y(best[0][1]):.1f}"
    path += "".join(f"H{x(s):.1f}V{y(v):.1f}" for s, v in best[1:])
    parts.append(tag("path", d=f"{path}H{WIDTH - RIGHT}", class_="front"))
    last = {way["name"]: (x(s), y(v), way["short"]) for s, v, way in seen}
    places = [last[way["name"]] for way in ways if way["name"] in last]
    box = (LEFT, 0.0, float(WIDTH), float(height - BOTTOM))
    for px, py, anchor, name in label_points(places, box):
        parts.append(text(name, px, py, text_anchor=anchor, class_="name"))
    return picture(parts, height, f"{metric} of every model from one split to its full size")


def folds(rows: Sequence[dict[str, Any]], metric: str, higher: bool = True) -> str:
    """Draw the score of each fold as a dot, a row per model, the mean as a line."""
    height = ROW * len(rows) + 24
    sign = 1 if higher else -1
    values = [value for row in rows for value in row["scores"] if value is not None]
    # A model far behind would press all others into one place.
    middle = sorted(row["score"] for row in rows)[len(rows) // 2]
    room = 5 * max(sign * (value - middle) for value in values)

    def is_near(value: float) -> bool:
        return sign * (value - middle) >= -room

    x = Axis([v if is_near(v) else middle - sign * room for v in values], 8, WIDTH - 8, pad=0.03)
    parts = _columns(x, height)
    for i, row in enumerate(rows):
        y = ROW * i + 24
        parts.append(text(clip(row["model"], WIDTH - 70), 4, y - 9, class_="name"))
        parts.append(text(f"{row['score']:.4f}", WIDTH - 4, y - 9, class_="value"))
        parts.append(tag("line", x1=8, x2=WIDTH - 8, y1=y, y2=y, class_="grid"))
        for fold, value in enumerate(row["scores"]):
            if value is not None and is_near(value):
                tip = f"{row['model']}, fold {fold + 1}: {value:.4f}"
                parts.append(_mark(x(value), y, row["ours"], tip, "fold"))
        if is_near(row["score"]):
            place = x(row["score"])
            parts.append(tag("line", x1=place, x2=place, y1=y - 7, y2=y + 7, class_="mean"))
        elif higher:
            parts.append(text("◂ further left", 8, y + 4, class_="tick"))
        else:
            end = {"class_": "tick", "text_anchor": "end"}
            parts.append(text("further right ▸", WIDTH - 8, y + 4, **end))
    return picture(parts, height, f"{metric} of each fold, by model")


def times(rows: Sequence[dict[str, Any]]) -> str:
    """Draw the time that a model takes to fit as a bar, a row per model, the fastest first."""
    rows = sorted(rows, key=lambda row: row["fit_seconds"])
    height = ROW * len(rows) + 4
    values = [max(row["fit_seconds"], 1e-6) for row in rows]
    x = Axis([min(values) / 2, *values], 4, WIDTH - 4, log=True, pad=0)
    parts = []
    for i, (row, value) in enumerate(zip(rows, values, strict=True)):
        y = ROW * i + 24
        shown = f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"
        parts.append(text(clip(row["model"], WIDTH - 80), 4, y - 9, class_="name"))
        parts.append(text(shown, WIDTH - 4, y - 9, class_="value"))
        size = {"x": 4, "y": y - 4, "width": max(x(value) - 4, 1), "height": 8, "rx": 2}
        side = "bar ours" if row["ours"] else "bar peer"
        parts.append(tag("rect", title(f"{row['model']}: {shown}"), class_=side, **size))
    return picture(parts, height, "Time to fit, by model")


def importance(rows: Sequence[dict[str, Any]], metric: str) -> str:
    """Draw what each feature is worth as a bar, and the interval as a line on it."""
    height = ROW * len(rows) + 24
    ends = [v for row in rows for v in (row["low"], row["high"], 0.0)]
    x = Axis(ends, 8, WIDTH - 8, pad=0.03)
    parts = _columns(x, height)
    zero = x(0.0)
    parts.append(tag("line", x1=zero, x2=zero, y1=8, y2=height - 18, class_="zero"))
    for i, row in enumerate(rows):
        y = ROW * i + 24
        parts.append(text(clip(row["name"], WIDTH - 70), 4, y - 9, class_="name"))
        parts.append(text(f"{row['mean']:.4f}", WIDTH - 4, y - 9, class_="value"))
        end = x(row["mean"])
        tip = f"{row['name']}: {row['mean']:.4f} (from {row['low']:.4f} to {row['high']:.4f})"
        size = {"x": min(zero, end), "y": y - 4, "width": max(abs(end - zero), 1), "height": 8}
        parts.append(tag("rect", title(tip), rx=2, class_="bar ours", **size))
        span = {"x1": x(row["low"]), "x2": x(row["high"])}
        parts.append(tag("line", y1=y, y2=y, class_="interval", **span))
    return picture(parts, height, f"Loss of {metric} when a feature is shuffled")


def dependence(curve: dict[str, Any], what: str) -> str:
    """Draw the answer against a feature: some rows as thin lines, the mean as a heavy one."""
    height = 240
    values = [v for line in (*curve["rows"], curve["mean"]) for v in line]
    places = curve["grid"] if curve["is_number"] else list(range(len(curve["grid"])))
    x = Axis(places, LEFT, WIDTH - RIGHT, pad=0.02 if curve["is_number"] else 0.08)
    y = Axis(values, height - BOTTOM, TOP)
    words = None
    if not curve["is_number"]:
        room = (WIDTH - LEFT - RIGHT) / len(places)
        words = [(x(p), clip(w, room, 11)) for p, w in zip(places, curve["grid"], strict=True)]
    parts = _frame(x, y, height, curve["name"], what, words)

    def path(line: list[float]) -> str:
        return " ".join(f"{x(p):.0f},{y(v):.0f}" for p, v in zip(places, line, strict=True))

    parts += [tag("polyline", points=path(line), class_="one") for line in curve["rows"]]
    parts.append(tag("polyline", points=path(curve["mean"]), class_="front"))
    return picture(parts, height, f"{what} by {curve['name']}")


def contributions(found: dict[str, Any]) -> str:
    """Draw Shapley values as dots, a row per feature, dark where the feature's value is high."""
    rows = found["features"]
    height = ROW * len(rows) + 24
    x = Axis([v for row in rows for v in (*row["values"], 0.0)], 8, WIDTH - 8, pad=0.03)
    parts = _columns(x, height)
    parts.append(tag("line", x1=x(0.0), x2=x(0.0), y1=8, y2=height - 18, class_="zero"))
    for i, row in enumerate(rows):
        y = ROW * i + 25
        parts.append(text(clip(row["name"], WIDTH - 70), 4, y - 10, class_="name"))
        parts.append(text(short(row["worth"]), WIDTH - 4, y - 10, class_="value"))
        dots: dict[str, list[str]] = {}
        beside: dict[int, int] = {}
        heights = row["heights"] or [None] * len(row["values"])
        for value, rank in zip(row["values"], heights, strict=True):
            place = round(x(value))
            n = beside[place // 3] = beside.get(place // 3, -1) + 1
            shift = (n + 1) // 2 * (1 if n % 2 else -1)
            shade = "none" if rank is None else ("low", "middle", "high")[min(int(3 * rank), 2)]
            dots.setdefault(shade, []).append(f"M{place} {y + max(min(2 * shift, 9), -6)}h0")
        parts += [tag("path", d="".join(d), class_=f"dots {shade}") for shade, d in dots.items()]
    return picture(parts, height, f"Shapley values of {found['what']}, by feature")


def confusion(table: dict[str, Any]) -> str:
    """Draw the confusion matrix: a row per actual class, shaded by its share of the row."""
    labels, counts = table["labels"], table["counts"]
    n = len(labels)
    left = min(max(max(len(label) for label in labels) * 7.0 + 14, 44.0), 130.0)
    size = min((WIDTH - left - 4) / n, 84.0)
    font = max(min(size * 0.5, 12.0), 6.5)
    height = 56 + n * size + 4
    step = 1 if size >= 11 else 2
    parts = [
        text("predicted", left + n * size / 2, 12, class_="axis", text_anchor="middle"),
        text("actual", 0, 50, class_="axis"),
    ]
    for i, row in enumerate(counts):
        total = sum(row) or 1
        y = 56 + i * size
        if i % step == 0:
            name = clip(labels[i], left - 6, font)
            place = {"x": left - 5, "y": y + size / 2 + font * 0.35}
            parts.append(text(name, **place, class_="name", text_anchor="end", font_size=font))
        for j, count in enumerate(row):
            share = count / total
            x = left + j * size
            kind = "right" if i == j else "wrong"
            tip = f"actual {labels[i]}, predicted {labels[j]}: {count} ({share:.1%})"
            cell = {"x": x, "y": y, "width": size - 1, "height": size - 1}
            opacity = 0.0 if count == 0 else max(share, 0.06)
            parts.append(tag("rect", class_="cell", **cell))
            parts.append(tag("rect", title(tip), class_=kind, fill_opacity=opacity, **cell))
            shown = short(count)
            if count and len(shown) * font * 0.6 < size - 3:
                middle = {"x": x + size / 2 - 0.5, "y": y + size / 2 + font * 0.35}
                name = "count strong" if share > 0.55 else "count"
                parts.append(text(shown, **middle, class_=name, font_size=font))
    for j in range(0, n, step):
        x = left + (j + 0.5) * size
        name = clip(labels[j], 36 if size < 36 else size - 2, font)
        if len(name) * font * 0.57 <= size:
            parts.append(text(name, x, 50, class_="name", text_anchor="middle", font_size=font))
        else:
            turn = f"rotate(-90 {x + font * 0.35:.1f} 52)"
            parts.append(
                text(name, x + font * 0.35, 52, class_="name", transform=turn, font_size=font)
            )
    return picture(parts, height, "Confusion matrix, out of fold")


def calibration(curve: dict[str, Any]) -> str:
    """Draw how often the model is right against how sure it is."""
    height = 300
    x = Axis([0, 1], LEFT, WIDTH - RIGHT, pad=0.02)
    y = Axis([0, 1], height - BOTTOM, TOP, pad=0.02)
    parts = _frame(x, y, height, curve["x_name"], curve["y_name"])
    parts.append(tag("line", x1=x(0), y1=y(0), x2=x(1), y2=y(1), class_="zero"))
    line = " ".join(f"{x(b['mean']):.1f},{y(b['rate']):.1f}" for b in curve["bins"])
    parts.append(tag("polyline", points=line, class_="front"))
    for b in curve["bins"]:
        tip = f"{b['rows']} rows at {b['mean']:.3f} on average: {b['rate']:.3f}"
        place = x(b["mean"])
        parts.append(
            tag("line", x1=place, x2=place, y1=y(b["low"]), y2=y(b["high"]), class_="interval")
        )
        parts.append(_mark(place, y(b["rate"]), True, tip))
    return picture(parts, height, "Calibration, out of fold")


def scatter(points: dict[str, Any]) -> str:
    """Draw predicted against actual numbers, with the line where both are equal."""
    height = 300
    values = [*points["actual"], *points["predicted"]]
    x = Axis(values, LEFT, WIDTH - RIGHT)
    y = Axis(values, height - BOTTOM, TOP)
    parts = _frame(x, y, height, "predicted", "actual")
    for actual, predicted in zip(points["actual"], points["predicted"], strict=True):
        parts.append(tag("circle", cx=x(predicted), cy=y(actual), r=2.2, class_="row"))
    ends = (min(values), max(values))
    line = {"x1": x(ends[0]), "y1": y(ends[0]), "x2": x(ends[1]), "y2": y(ends[1])}
    parts.append(tag("line", class_="zero", **line))
    return picture(parts, height, "Actual against predicted, out of fold")


def histogram(counts: Sequence[int], edges: Sequence[float], name: str) -> str:
    """Draw how often each range of values occurs."""
    height = 300
    x = Axis(edges, LEFT, WIDTH - RIGHT, pad=0.02)
    y = Axis([0, max(counts)], height - BOTTOM, TOP, pad=0)
    parts = _frame(x, y, height, name, "rows")
    for i, count in enumerate(counts):
        start, end = x(edges[i]), x(edges[i + 1])
        tip = f"{short(edges[i])} to {short(edges[i + 1])}: {count} rows"
        size = {"x": start, "y": y(count), "width": max(end - start - 1, 1)}
        parts.append(
            tag("rect", title(tip), class_="bar ours", height=max(y(0) - y(count), 0.0), **size)
        )
    parts.append(tag("line", x1=x(0), x2=x(0), y1=TOP, y2=height - BOTTOM, class_="zero"))
    return picture(parts, height, f"Histogram of {name}")


def bars(counts: Sequence[int], labels: Sequence[str], name: str) -> str:
    """Draw a small histogram of a column, for a table."""
    width, height, top = 10.0, 26.0, max(counts)
    parts = []
    for i, (count, label) in enumerate(zip(counts, labels, strict=True)):
        size = max(1.0, (height - 2) * count / top) if count else 0.0
        rect = {"x": i * width, "y": height - size, "width": width - 1.5, "height": size}
        parts.append(tag("rect", title(f"{label}: {count:,} cells"), **rect))
    return tag(
        "svg",
        "".join(parts),
        viewBox=f"0 0 120 {height:.0f}",
        role="img",
        aria_label=f"Distribution of {name}",
        class_="bars",
        xmlns="http://www.w3.org/2000/svg",
    )


def line(values: Sequence[float], x_name: str, y_name: str) -> str:
    """Draw a value by step, from step 1 on."""
    height = 260
    x = Axis([1, max(len(values), 2)], LEFT, WIDTH - RIGHT)
    y = Axis(values, height - BOTTOM, TOP)
    parts = _frame(x, y, height, x_name, y_name)
    path = " ".join(f"{x(i):.1f},{y(v):.1f}" for i, v in enumerate(values, 1))
    parts.append(tag("polyline", points=path, class_="front"))
    parts += [_mark(x(i), y(v), True, f"{x_name} {i}: {v:.4f}") for i, v in enumerate(values, 1)]
    return picture(parts, height, f"{y_name} by {x_name}")


def plane(view: dict[str, Any]) -> str:
    """Draw the rows of an embedding as dots and its anchors as rings, in two dimensions."""
    height = 340
    points = [*view["rows"], *view["anchors"]]
    x = Axis([p["x"] for p in points], LEFT, WIDTH - RIGHT)
    y = Axis([p["y"] for p in points], height - BOTTOM, TOP)
    parts = _frame(x, y, height, view["x_name"], view["y_name"])
    for p in view["rows"]:
        parts.append(tag("circle", cx=x(p["x"]), cy=y(p["y"]), r=2, fill=p["colour"], class_="dot"))
    for p in view["anchors"]:
        ring = {"cx": x(p["x"]), "cy": y(p["y"]), "r": 2.5 + 7 * p["share"] ** 0.5}
        parts.append(tag("circle", title(p["tip"]), fill=p["colour"], class_="anchor", **ring))
    return picture(parts, height, "Rows and anchors in two dimensions")


def _columns(x: Axis, height: float) -> list[str]:
    """Return the vertical grid of a chart of rows, its ticks below."""
    parts = []
    for place, label in x.ticks(5):
        inside = min(max(place, 14), WIDTH - 14)
        parts.append(tag("line", x1=place, x2=place, y1=4, y2=height - 18, class_="grid"))
        parts.append(text(label, inside, height - 4, class_="tick", text_anchor="middle"))
    return parts
