"""The picture of the front page: score against size, from the figures of a benchmark."""

import re
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "benchmarks/results/sizes.md"
OURS = ("TreeSum",)
PEERS = ("FIGS", "LightGBM", "XGBoost", "CatBoost", "CART")
LEFT, RIGHT, TOP, BOTTOM = 44, 470, 16, 300


def read(name: str) -> tuple[list[float], dict[str, list[float | None]]]:
    """The limits of splits and the mean scores of each model on a set."""
    text = RESULTS.read_text(encoding="utf-8")
    part = text.split(f"## {name} ")[1].split("| bytes")[0]
    rows = [
        [cell.strip(" *") for cell in line.strip("|").split("|")]
        for line in part.splitlines()
        if line.startswith("|")
    ]
    limits = [float(cell) for cell in rows[0][1:]]
    scores = {}
    for row in rows[2:]:
        found = [re.match(r"-?[\d.]+", cell) for cell in row[1:]]
        scores[row[0]] = [float(match[0]) if match else None for match in found]
    return limits, scores


def draw(name: str) -> str:
    """An SVG whose colours are those of the page."""
    limits, scores = read(name)
    shown = {model: scores[model] for model in (*PEERS, *OURS) if model in scores}
    values = [value for line in shown.values() for value in line if value is not None]
    low, high = 5 * (min(values) // 5), 5 * -(-max(values) // 5)

    def x(i: int) -> float:
        return LEFT + i * (RIGHT - LEFT) / (len(limits) - 1)

    def y(value: float) -> float:
        return BOTTOM - (value - low) * (BOTTOM - TOP) / (high - low)

    parts = [
        '<svg class="size-front" viewBox="0 0 580 350" role="img" '
        'xmlns="http://www.w3.org/2000/svg">',
        f"<title>Score against splits on {name}</title>",
    ]
    for value in range(int(low), int(high) + 1, 10):
        parts.append(f'<path class="grid" d="M{LEFT} {y(value):.1f}H{RIGHT}"/>')
        parts.append(f'<text class="tick" x="{LEFT - 8}" y="{y(value) + 4:.1f}">{value}</text>')
    for i, limit in enumerate(limits):
        parts.append(f'<text class="limit" x="{x(i):.1f}" y="{BOTTOM + 20}">{limit:.0f}</text>')
    parts.append(f'<text class="limit" x="{(LEFT + RIGHT) / 2}" y="{BOTTOM + 42}">splits</text>')
    ends: list[float] = []
    for model in sorted(shown, key=lambda m: -(shown[m][-1] or low)):
        points = [(x(i), y(v)) for i, v in enumerate(shown[model]) if v is not None]
        kind = "ours" if model in OURS else "peer"
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        end = max(points[-1][1] + 4, (ends[-1] + 15) if ends else 0)  # names do not overlap
        ends.append(end)
        parts.append(f'<path class="{kind}" d="M{path}"/>')
        parts += [f'<circle class="{kind}" cx="{a:.1f}" cy="{b:.1f}" r="3"/>' for a, b in points]
        parts.append(f'<text class="name {kind}" x="{RIGHT + 10}" y="{end:.1f}">{model}</text>')
    return "\n".join([*parts, "</svg>", ""])
