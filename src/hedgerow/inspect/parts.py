"""Any model in words, also one that is no single tree or graph: its parts, and what it looks at."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

MOST_FEATURES = 10
MOST_PARTS = 10
BAR = 24  # characters of the longest bar


def overview(model: Any) -> str:
    """Say what a fitted model consists of.

    Parameters
    ----------
    model : estimator
        Any of hedgerow's: a tree or graph, a forest, a sum, an embedding, a network or a cascade.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import TreeNetworkClassifier
    >>> from hedgerow.inspect import overview
    >>> X, y = load_iris(return_X_y=True)
    >>> print(overview(TreeNetworkClassifier(random_state=0).fit(X, y)).splitlines()[0])
    TreeNetworkClassifier: 4 features, 3 classes (0, 1, 2)
    """
    check_is_fitted(model)
    return "\n".join([_facts(model), *_parts(model), *_importances(model)])


def _facts(model: Any) -> str:
    classes = getattr(model, "classes_", None)
    target = "a number" if model.n_outputs_ == 1 else f"{model.n_outputs_} numbers"
    if isinstance(classes, list):
        counts = ", ".join(str(len(known)) for known in classes[:MOST_PARTS])
        more = ", ..." if len(classes) > MOST_PARTS else ""
        target = f"{len(classes)} outputs ({counts}{more} classes)"
    elif classes is not None:
        shown = ", ".join(map(str, classes[:MOST_PARTS]))
        more = ", ..." if len(classes) > MOST_PARTS else ""
        target = f"{len(classes)} classes ({shown}{more})"
    sizes = [f"{model.n_splits_:,} splits"] if hasattr(model, "n_splits_") else []
    sizes += [f"{model.nbytes_:,} bytes"] if hasattr(model, "nbytes_") else []
    first = f"{type(model).__name__}: {model.n_features_in_} features, {target}"
    return "\n".join([first, ", ".join(sizes)]) if sizes else first


def _parts(model: Any) -> Iterator[str]:
    if hasattr(model, "embedding_"):
        yield from _anchors(model)
    elif hasattr(model, "encoder_"):
        yield ""
        yield "two trees, one after the other:"
        yield f"  the first, of depth {model.encoding_depth_}, says in which cell a row lies"
        yield f"  the second, of depth {model.output_depth_}, sees the row and the cell"
    elif hasattr(model, "layers_"):
        yield ""
        yield f"{len(model.layers_)} layers, each of which sees the row and the layer before:"
        scores = getattr(model, "layer_scores_", ())
        for place, layer in enumerate(model.layers_):
            score = f", score {scores[place]:.4g}" if place < len(scores) else ""
            yield f"  layer {place + 1}: {len(layer.load().members)} forests{score}"
    elif hasattr(model, "estimators_"):
        sizes = [graph.n_splits for graph in model.estimators_ if hasattr(graph, "n_splits")]
        yield ""
        spread = f" of {min(sizes):,} to {max(sizes):,} splits" if sizes else ""
        yield f"{len(model.estimators_):,} members{spread}; 'member' shows one of them"


def _anchors(model: Any) -> Iterator[str]:
    """The anchors with the most rows: what they predict, and where they lie."""
    embedding = model.embedding_
    counts, values = embedding.anchor_counts_, embedding.anchor_values_
    centre = np.average(embedding.anchors_, axis=0, weights=counts)
    spread = np.sqrt(np.average((embedding.anchors_ - centre) ** 2, axis=0, weights=counts))
    names = embedding.column_names()
    yield ""
    yield f"{len(counts):,} anchors, the means of leaves; those with the most rows:"
    for k in np.argsort(-counts, kind="stable")[:MOST_PARTS]:
        if values.shape[1] > 1:
            best = int(values[k].argmax())
            told = f"{model.classes_[best]} ({values[k, best]:.0%})"
        else:
            told = f"{values[k, 0]:.4g}"
        away = (embedding.anchors_[k] - centre) / np.where(spread > 0, spread, 1.0)
        far = np.argsort(-np.abs(away), kind="stable")[:3]
        place = ", ".join(
            f"{'high' if away[c] > 0 else 'low'} {names[c]}" for c in far if abs(away[c]) > 0.5
        )
        yield f"  {counts[k]:,.0f} rows: {told}" + (f"; {place}" if place else "")


def _importances(model: Any) -> Iterator[str]:
    shares = getattr(model, "feature_importances_", None)
    if shares is None or not np.isfinite(shares).all() or not np.max(shares, initial=0) > 0:
        return
    names = getattr(model, "feature_names_in_", [f"x{i}" for i in range(len(shares))])
    yield ""
    yield "what it looks at (share of what its splits gain):"
    largest = np.argsort(-shares, kind="stable")[:MOST_FEATURES]
    width = max(len(str(names[f])) for f in largest)
    for f in largest:
        if shares[f] > 0:
            bar = "█" * max(round(BAR * shares[f] / shares[largest[0]]), 1)
            yield f"  {names[f]!s:<{width}}  {shares[f]:.3f}  {bar}"
