"""A sum of trees read term by term: members of the same features belong together.

Members that test one feature add up to a step function of it, the shape of the feature; members
that test several say how these interact. What no term mentions does not matter.
"""

from typing import NamedTuple

import numpy as np

from hedgerow._engine import DecisionGraph


class Term(NamedTuple):
    """The members of a sum that test the same features.

    Attributes
    ----------
    features : tuple of str or int
        Names of the features, or their numbers where the table had no names.
    members : tuple of int
        Which members they are.
    n_splits : int
        Splits of these members.
    share : float
        Share of the variance of all members' scores on the training rows.
    """

    features: tuple
    members: tuple[int, ...]
    n_splits: int
    share: float


class Shape(NamedTuple):
    """What the members of one feature alone add to the scores.

    Attributes
    ----------
    feature : str or int
    thresholds : ndarray of shape (n_steps - 1,) or None
        Between which the scores are constant; the first score holds up to the first threshold,
        included. None for a category.
    categories : list or None
        None for numbers.
    scores : ndarray of shape (n_steps, n_scores)
        One row for each step, or for each category.
    missing : ndarray of shape (n_scores,)
        What a missing value adds.
    """

    feature: str | int
    thresholds: np.ndarray | None
    categories: list | None
    scores: np.ndarray
    missing: np.ndarray


def tested_features(graph: DecisionGraph) -> tuple[int, ...]:
    """The features that a graph tests, in rising order."""
    return tuple(np.unique(graph.feature[graph.feature >= 0]).tolist())


def terms_of(graphs: list[DecisionGraph], names: list) -> list[Term]:
    """The terms of a sum, the largest share first."""
    spread = np.array([graph.weight[0] * graph.impurity[0] for graph in graphs])
    shares = spread / spread.sum() if spread.sum() > 0 else spread
    by_features: dict[tuple[int, ...], list[int]] = {}
    for place, graph in enumerate(graphs):
        by_features.setdefault(tested_features(graph), []).append(place)
    terms = [
        Term(
            tuple(names[feature] for feature in features),
            tuple(places),
            sum(graphs[place].n_splits for place in places),
            float(sum(shares[place] for place in places)),
        )
        for features, places in by_features.items()
    ]
    return sorted(terms, key=lambda term: -term.share)


def shape_of(
    graphs: list[DecisionGraph], n_scores: int, feature: int, name: str | int, known: list | None
) -> Shape:
    """The shape of a feature; ``known`` are its categories, None for numbers."""
    alone = [graph for graph in graphs if tested_features(graph) == (feature,)]
    n_features = graphs[0].n_features if graphs else feature + 1
    thresholds: np.ndarray | None = None
    if known is None:
        at = [graph.threshold[graph.feature == feature] for graph in alone]
        thresholds = np.unique(np.concatenate([*at, []]))
        thresholds = thresholds[np.isfinite(thresholds)]
        # Beyond the last threshold every number is as good as the next one.
        beyond = np.nextafter(thresholds[-1], np.inf) if len(thresholds) else 0.0
        places = np.append(thresholds, beyond)
    else:
        places = np.arange(len(known), dtype=float)
    rows = np.zeros((len(places) + 1, n_features))
    rows[:, feature] = np.append(places, np.nan)
    scores = np.zeros((len(rows), n_scores))
    for graph in alone:
        scores += graph.value[graph.apply(rows, 1)]
    return Shape(name, thresholds, known, scores[:-1], scores[-1])
