"""Rows and anchors of the best embedding model in the plane of their two main directions."""

from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow._columns import take_rows
from hedgerow.comparison.report.model import fitted
from hedgerow.comparison.report.patience import Patience
from hedgerow.inspect.colours import class_colours, node_colours

if TYPE_CHECKING:
    from hedgerow.comparison.comparison import Comparison

MOST_ROWS = 500
MOST_ANCHORS = 150


def look_at_embedding(
    comparison: "Comparison", X: Any, y: np.ndarray, refit: bool, patience: Patience
) -> dict[str, Any] | None:
    """Return places and colours of some rows and of the largest anchors; None if there are none."""
    result = next(
        (r for r in comparison.ranked if r.is_ours and r.family == "embedding"),
        None,
    )
    if result is None:
        return None
    embedding = getattr(fitted(comparison, result, refit, patience), "embedding_", None)
    if embedding is None:
        return None
    sample = np.random.default_rng(comparison.random_state).permutation(len(y))[:MOST_ROWS]
    rows = np.asarray(embedding.numeric(take_rows(X, sample)), dtype=float)
    counts = embedding.anchor_counts_
    largest = np.argsort(-counts, kind="stable")[:MOST_ANCHORS]
    anchors, values = embedding.anchors_[largest], embedding.anchor_values_[largest]

    # Columns of equal size, or the one with the largest unit would be the picture.
    centre, scale = rows.mean(axis=0), rows.std(axis=0)
    scale[scale == 0] = 1.0
    rows, anchors = (rows - centre) / scale, (anchors - centre) / scale
    _, strength, directions = np.linalg.svd(rows, full_matrices=False)
    if len(directions) < 2:
        return None
    shares = strength**2 / (strength**2).sum()
    if comparison.classes is None:
        values = np.vstack([values, y[sample].astype(float)[:, None]])
        colours = node_colours(values, is_classifier=False)
        anchor_colours, row_colours = colours[: len(anchors)], colours[len(anchors) :]
        tips = [f"{value[0]:.4g}" for value in values[: len(anchors)]]
    else:
        palette = class_colours(len(comparison.classes))
        place = {label: k for k, label in enumerate(comparison.classes)}
        row_colours = [palette[place[label]] for label in y[sample].tolist()]
        anchor_colours = node_colours(values, is_classifier=True)
        tips = [str(comparison.classes[k]) for k in values.argmax(axis=1)]
    places, anchor_places = rows @ directions[:2].T, anchors @ directions[:2].T
    return {
        "model": result.name,
        "n_anchors": len(counts),
        "x_name": f"first direction ({shares[0]:.0%})",
        "y_name": f"second direction ({shares[1]:.0%})",
        "rows": [
            {"x": round(float(a), 3), "y": round(float(b), 3), "colour": colour}
            for (a, b), colour in zip(places, row_colours, strict=True)
        ],
        "anchors": [
            {
                "x": round(float(a), 3),
                "y": round(float(b), 3),
                "colour": colour,
                "share": float(counts[k] / counts.max()),
                "tip": f"anchor of {counts[k]:.0f} rows: {tip}",
            }
            for (a, b), colour, k, tip in zip(
                anchor_places, anchor_colours, largest, tips, strict=True
            )
        ],
        "classes": None
        if comparison.classes is None or len(comparison.classes) > 10
        else [
            {"name": str(label), "colour": colour}
            for label, colour in zip(comparison.classes, palette, strict=True)
        ],
    }
