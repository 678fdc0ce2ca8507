"""The pictures of the papers' ideas, drawn from fitted models in the colours of the page.

Each paper has a function that returns figures in HTML; `site.css` colours them, in light and dark.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from html import escape
from itertools import groupby

import numpy as np
from sklearn.datasets import make_moons

from hedgerow import (
    CentredTreeNetworkRegressor,
    CentredTreeRegressor,
    DecisionTreeClassifier,
    MeanMarginTreeClassifier,
    TreeEmbeddingClassifier,
    TreeInTreeClassifier,
)
from hedgerow.datasets import make_chessboard
from hedgerow.inspect.drawing import drawing
from hedgerow.inspect.layout import lay_out

SIDE = 300
CLASSES = "ab"


def figures(*shown: tuple) -> str:
    """Pictures side by side, or below each other on a phone: marks, caption[, width, height]."""
    parts = []
    for marks, caption, width, height in (((*one, SIDE, SIDE))[:4] for one in shown):
        box = f"{(width - SIDE) / 2:g} {(height - SIDE) / 2:g} {SIDE} {SIDE}"
        parts.append(
            f'<figure><svg viewBox="{box}" role="img" aria-label="{escape(caption)}" '
            f'xmlns="http://www.w3.org/2000/svg">{marks}</svg>'
            f"<figcaption>{escape(caption)}</figcaption></figure>"
        )
    return '<div class="idea">\n' + "\n".join(parts) + "\n</div>\n"


def card(pictures: str) -> str:
    """The last picture of the first row, by itself."""
    picture = re.findall("<svg.*?</svg>", pictures.partition("</div>")[0])[-1]
    return f'<div class="idea card-picture">{picture}</div>\n'


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """Words around a point."""
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}">{escape(words)}</text>'


def line(kind: str, *points: Iterable[float]) -> str:
    """A line through points."""
    return f'<path class="{kind}" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>'


class Plane:
    """A square of two features, its first axis to the right and its second one upwards."""

    def __init__(self, X: np.ndarray, margin: float = 0.04) -> None:
        low, high = X.min(axis=0), X.max(axis=0)
        self.low, self.high = low - margin * (high - low), high + margin * (high - low)

    def at(self, X: np.ndarray) -> np.ndarray:
        """Rows as points of the picture."""
        share = (np.asarray(X) - self.low) / (self.high - self.low)
        return np.column_stack([share[:, 0], 1 - share[:, 1]]) * SIDE

    def rows(self, X: np.ndarray, kinds: Iterable[str], radius: float = 3.5) -> str:
        """A dot for each row."""
        return "".join(
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'
            for (x, y), kind in zip(self.at(X), kinds, strict=True)
        )

    def answers(self, answer: Callable[[np.ndarray], np.ndarray], cells: int = 60) -> str:
        """The answers in [0, 1] everywhere: the first class where they are below a half."""
        steps = (np.arange(cells) + 0.5) / cells
        size = SIDE / cells
        marks: dict[float, str] = defaultdict(str)
        for i, v in enumerate(steps):
            row = np.column_stack([steps, np.full(cells, 1 - v)])
            found = np.round(10 * answer(self.low + row * (self.high - self.low))) / 10
            begin = 0
            for value, run in groupby(found):
                n = len(list(run))
                marks[value] += (
                    f"M{begin * size:g} {i * size:g}h{n * size:g}v{size:g}h-{n * size:g}z"
                )
                begin += n
        return "".join(
            f'<path class="{CLASSES[int(value > 0.5)]}" d="{d}" '
            f'fill-opacity="{abs(value - 0.5):.1f}"/>'
            for value, d in marks.items()
            if value != 0.5
        )

    def borders(self, graph, node: int = 0, low=None, high=None) -> str:
        """The tests of a tree, each drawn where it is asked."""
        low, high = (self.low, self.high) if low is None else (low, high)
        if graph.left[node] < 0:
            return ""
        feature, threshold = graph.feature[node], graph.threshold[node]
        first, last, below, above = low.copy(), high.copy(), high.copy(), low.copy()
        first[feature] = last[feature] = below[feature] = above[feature] = threshold
        return (
            line("test", *self.at(np.array([first, last])))
            + self.borders(graph, graph.left[node], low, below)
            + self.borders(graph, graph.right[node], above, high)
        )


def nodes(model, names: list[str], heavy: Iterable[int] = ()) -> tuple[str, int, int]:
    """A tree or graph with its tests; leaves have the colours of the classes."""
    drawn = drawing(model, None, None, names, None)
    layout = lay_out(drawn.children)
    unit, step = 46, 56

    def place(x: float, layer: float) -> tuple[float, float]:
        return 32 + unit * x, 18 + step * layer

    parts = [
        line("branch", *(place(*point) for point in route)) for route in layout.routes.values()
    ]
    shared = drawn.model.shared | set(heavy)
    for node, children in drawn.children.items():
        x, y = place(layout.x[node], layout.layer[node])
        kind = "shared" if node in shared else ""
        if children:
            parts.append(
                f'<rect class="node {kind}" x="{x - 30:.0f}" y="{y - 15:.0f}" width="60" '
                'height="30" rx="8"/>'
            )
            parts.append(text(x, y + 4, drawn.model.question(node).replace("<=", "≤")))
        else:
            value = CLASSES[int(np.argmax(drawn.model.value(node)))]
            parts.append(f'<circle class="leaf {value} {kind}" cx="{x:.0f}" cy="{y:.0f}" r="11"/>')
    width, height = place(layout.width, layout.depth)
    return "".join(parts), round(width + 32), round(height + 18)


def tree_in_tree() -> str:
    """Corners of a square: a tree, a graph, and the step from one to the other."""
    names = ["x", "y"]
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(12.0), np.arange(12.0)))
    X = np.column_stack([x, y])
    outside = (x < 3) | (x > 8), (y < 3) | (y > 8)
    corner = outside[0] & outside[1]
    tree = DecisionTreeClassifier().fit(X, corner)
    graph = TreeInTreeClassifier(max_splits=4).fit(X, corner)
    # A first test whose left child knows the corners by y, and whose right one says "rest".
    left, right = outside[1] == corner, ~corner
    cares = left != right
    router = DecisionTreeClassifier().fit(X[cares], right[cares])
    plane = Plane(X)
    kinds = [
        ("b" if side else "a") if one else "idle" for one, side in zip(cares, right, strict=True)
    ]
    marks, width, height = nodes(tree, names)
    shared, *size = nodes(graph, names)
    routed, *routed_size = nodes(router, names)
    return figures(
        (
            plane.rows(X, [CLASSES[1 - k] for k in corner.astype(int)], 7),
            "To be learnt: one class in the four corners of a square.",
        ),
        (
            marks,
            f"A tree asks the same thing left and right: {tree.n_splits_} splits.",
            width,
            height,
        ),
        (
            shared,
            f"A graph asks it once: {graph.n_splits_} splits. Two branches lead to the node with "
            "the heavy border.",
            *size,
        ),
    ) + figures(
        (
            line("branch", (150, 60), (60, 170))
            + line("branch", (150, 60), (240, 170))
            + '<rect class="node" x="110" y="45" width="80" height="30" rx="8"/>'
            + text(150, 64, "x ≤ 2.5")
            + '<rect class="node a" x="10" y="155" width="110" height="44" rx="8"/>'
            + text(65, 174, "corner where")
            + text(65, 190, "y is outside")
            + '<rect class="node b" x="190" y="155" width="100" height="44" rx="8"/>'
            + text(240, 182, "rest"),
            "1. A node as it stands, with what its two children say.",
            SIDE,
            240,
        ),
        (
            plane.rows(X, kinds, 7),
            f"2. Rows that only one child predicts right care ({cares.sum()} of {len(X)}): green "
            "wants to go left, brown right. The others do not mind.",
        ),
        (
            routed,
            "3. A small tree is grown on the rows that care, and takes the node's place: all its "
            "green leaves lead to the left child, all brown ones to the right. Now they are "
            "shared.",
            *routed_size,
        ),
    )


def decision_tree_embedding() -> str:
    """Moons: boxes, their means, and a linear head on the affinities with them."""
    X, y = make_moons(220, noise=0.2, random_state=0)
    settings = {"n_estimators": 1, "standardize": False, "max_anchors": 7, "random_state": 0}
    linear = TreeEmbeddingClassifier(activation="linear", **settings).fit(X, y)
    curved = TreeEmbeddingClassifier(activation="rbf", **settings).fit(X, y)
    layer = linear.embedding_
    tree = DecisionTreeClassifier(max_leaf_nodes=7).fit(X, y)
    plane = Plane(X)
    rows = plane.rows(X, (CLASSES[k] for k in y), 3)
    anchors = plane.rows(layer.anchors_, ["anchor"] * len(layer.anchors_), 7)
    row = np.array([[0.9, 0.1]])
    ways = "".join(line("way", *plane.at(np.array([row[0], anchor]))) for anchor in layer.anchors_)
    return figures(
        (
            plane.borders(tree.graph_) + rows,
            "1. A small tree cuts the space into boxes.",
        ),
        (
            ways + rows + anchors + plane.rows(row, ["query"], 6),
            f"2. Of each box only the mean of its rows is kept: {len(layer.anchors_)} anchors. A "
            "row is described by its affinity with each.",
        ),
    ) + figures(
        *(
            (
                plane.answers(lambda Z, m=model: m.predict_proba(Z)[:, 1]) + rows + anchors,
                f"{words} ({100 * model.score(X, y):.0f} % of these rows).",
            )
            for model, words in (
                (linear, "3. The paper's affinity is a product, so the whole model is linear"),
                (curved, "4. Ours falls with the distance: still one linear head, a curved border"),
            )
        )
    )


def deep_forest() -> str:
    """A cascade in boxes, and the chessboard on which a second tree pays."""

    def box(x: float, y: float, width: float, words: str, kind: str = "") -> str:
        return (
            f'<rect class="node {kind}" x="{x}" y="{y}" width="{width}" height="36" rx="8"/>'
            + text(x + width / 2, y + 23, words)
        )

    def layer(*given: tuple[float, float, str, str]) -> str:
        middle = [x + width / 2 for x, width, _, _ in given]
        return (
            "".join(line("branch", (x, 40), (to, 112)) for x in middle for to in (75, 225))
            + "".join(line("branch", (x, 130), (x, 202)) for x in (75, 225))
            + "".join(box(x, 10, width, words, kind) for x, width, words, kind in given)
            + box(10, 100, 130, "random forest")
            + box(160, 100, 130, "extra trees")
            + box(10, 190, 130, "p₁  p₂  p₃", "a")
            + box(160, 190, 130, "p₁  p₂  p₃", "b")
        )

    X, y = make_chessboard(900, k=6, p=0.8, random_state=0)
    one = CentredTreeRegressor(6, bounds=(0, 1)).fit(X, y)
    two = CentredTreeNetworkRegressor(6, bounds=(0, 1)).fit(X, y)
    plane = Plane(np.array([[0.0, 0.0], [1.0, 1.0]]), margin=0)
    truth = plane.answers(lambda Z: 0.5 + 0.3 * (1 - 2 * (np.floor(Z * 8).sum(axis=1) % 2)))
    different = [len(np.unique(model.predict(X).round(6))) for model in (one, two)]
    return figures(
        (
            layer((20, 260, "the row's features", "")),
            "Layer 1: each forest says how likely each class is. A training row hears only trees "
            "that did not see it.",
            SIDE,
            240,
        ),
        (
            layer(
                (5, 138, "the row's features", ""),
                (151, 70, "p₁ p₂ p₃", "a"),
                (228, 70, "p₁ p₂ p₃", "b"),
            ),
            "Layer 2 reads the features and what layer 1 said. The mean of the last layer is the "
            "answer.",
            SIDE,
            240,
        ),
    ) + figures(
        (
            truth + plane.rows(X, (CLASSES[int(k)] for k in y), 2),
            "A chessboard: 900 rows, each with the colour of its square four times in five.",
        ),
        (
            plane.answers(one.predict, 64),
            f"One deep tree answers each square by its few rows: {different[0]} different answers.",
        ),
        (
            plane.answers(two.predict, 64),
            f"A second tree pools what the first one says: {different[1]} different answers.",
        ),
    )


def mean_margins() -> str:
    """The rule of a mean-margin tree, and its border beside that of tests of one feature."""
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(260, 2))
    y = (0.8 * X[:, 0] + X[:, 1] + rng.normal(scale=0.06, size=260) > 0.95).astype(int)
    plane = Plane(np.array([[0.0, 0.0], [1.0, 1.0]]), margin=0.02)
    rows = plane.rows(X, (CLASSES[k] for k in y), 3)
    means = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
    middle, across = means.mean(axis=0), means[1] - means[0]
    along = np.array([-across[1], across[0]]) / np.hypot(*across)
    border = plane.at(middle + np.array([[-0.62], [0.62]]) * along)
    tree = DecisionTreeClassifier(min_samples_leaf=3, random_state=0).fit(X, y)
    oblique = MeanMarginTreeClassifier(max_depth=2, standardize=False).fit(X, y)
    return figures(
        (
            rows
            + line("test", *border)
            + line("way strong", *plane.at(means))
            + plane.rows(means, ["anchor"] * 2, 7),
            "The rule: half-way between the means of two groups, at right angles to the line that "
            "joins them. Nothing is searched for.",
        ),
        (
            plane.answers(tree.predict) + rows,
            f"Tests of one feature climb a slope in steps: {tree.n_splits_} splits.",
        ),
        (
            plane.answers(oblique.predict) + rows,
            f"Mean-margin tests lean with it: {oblique.n_splits_} splits.",
        ),
    )


IDEAS = (tree_in_tree, decision_tree_embedding, deep_forest, mean_margins)
