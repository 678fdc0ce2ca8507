"""What readers make of an ensemble: graphs that add up to scores, behind a link."""

from dataclasses import dataclass

import numpy as np

from hedgerow._engine import DecisionGraph, GraphSum


class UnreadableError(ValueError):
    """The structure of a model is not to be had, or not one of hedgerow's."""


@dataclass(frozen=True)
class ReadSum:
    """Graphs whose values add up to scores, and the link from scores to predictions.

    Attributes
    ----------
    graphs : list of DecisionGraph
        Those of one output take turns among the scores.
    intercept : ndarray of shape (n_scores,)
    link : {"identity", "log", "logit", "softmax"}
        "identity" with classes: the scores are the class probabilities.
    """

    graphs: list[DecisionGraph]
    intercept: np.ndarray
    link: str

    @property
    def n_splits(self) -> int:
        """Number of tests in all graphs."""
        return sum(graph.n_splits for graph in self.graphs)

    def packed(self, n_features: int) -> GraphSum:
        """The sum, laid out for prediction."""
        return GraphSum(n_features, self.graphs, self.intercept, self.link)


def scaled(graph: DecisionGraph, factor: float) -> DecisionGraph:
    """The graph with its values multiplied."""
    arrays = dict(graph.arrays())
    return DecisionGraph.from_arrays(arrays | {"value": arrays["value"] * factor})


def as_float32_reads(threshold: np.ndarray) -> np.ndarray:
    """The thresholds t' with x <= t' exactly where float32(x) <= t, for every double x.

    Halfway between the last float32 that is not above t and the next one; halfway itself rounds to
    the even of the two.
    """
    with np.errstate(over="ignore"):
        below = np.asarray(threshold).astype(np.float32)
        below = np.where(below > threshold, np.nextafter(below, np.float32(-np.inf)), below)
        above = np.nextafter(below, np.float32(np.inf))
    halfway = (below.astype(np.float64) + above.astype(np.float64)) / 2
    rounds_down = halfway.astype(np.float32) == below
    return np.nan_to_num(np.where(rounds_down, halfway, np.nextafter(halfway, -np.inf)))
