"""Monotone constraints by brute force: what a model says in every cell of its own thresholds.

A cell is a box that no threshold of the model cuts: all rows in it get the same prediction. Along
a constrained feature the cells stand in rising order, one line for every cell of all the others,
missing values and categories among them.
"""

from itertools import product

import numpy as np


def graphs_of(model):
    """The graphs of a tree, a decision graph or a forest."""
    if hasattr(model, "graph_"):
        return [model.graph_]
    return [model.forest_.graph(i) for i in range(model.forest_.n_members)]


def points_of(model, feature):
    """A number in each cell of a numeric feature, in rising order."""
    cuts = [
        graph.threshold[(graph.feature == feature) & (graph.kind == 1)]
        for graph in graphs_of(model)
    ]
    cuts = np.unique(np.concatenate(cuts))
    cuts = cuts[np.isfinite(cuts)]
    return np.concatenate([cuts, [np.nextafter(cuts[-1], np.inf)]]) if cuts.size else np.zeros(1)


def assert_monotone(model, directions, values=None, categories=None, n_lines=3000, seed=0):
    """Assert that predictions keep to the directions in every cell, or in many lines of cells.

    Parameters
    ----------
    directions : list of int, by feature
    values : function from rows to what is constrained; None takes the second of two classes'
        probability, or the prediction.
    categories : dict of feature: list of its values
    n_lines : int
        All lines are looked at if there are no more, else so many drawn ones.
    """
    if values is None:
        classifies = hasattr(model, "predict_proba")
        values = (lambda X: model.predict_proba(X)[:, 1]) if classifies else model.predict
    categories = categories or {}
    points = [
        np.array(categories[f], dtype=float) if f in categories else points_of(model, f)
        for f in range(len(directions))
    ]
    rng = np.random.default_rng(seed)
    for feature, direction in enumerate(directions):
        if direction == 0 or len(points[feature]) < 2:
            continue
        others = [[np.nan] if f == feature else [*cells, np.nan] for f, cells in enumerate(points)]
        if np.prod([float(len(cells)) for cells in others]) <= n_lines:
            starts = np.array(list(product(*others)))
        else:
            starts = np.column_stack([rng.choice(cells, n_lines) for cells in others])
        line = points[feature]
        rows = np.repeat(starts, len(line), axis=0)
        rows[:, feature] = np.tile(line, len(starts))
        steps = direction * np.diff(values(rows).reshape(len(starts), len(line)), axis=1)
        worst = np.unravel_index(np.argmin(steps), steps.shape)
        assert steps[worst] >= 0, (
            f"feature {feature} falls by {-steps[worst]:g} between {line[worst[1]]!r} and "
            f"{line[worst[1] + 1]!r} at {starts[worst[0]]}"
        )
