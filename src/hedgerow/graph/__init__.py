"""Decision graphs: models whose nodes may have several parents."""

from hedgerow.graph.fine_tune import fine_tune
from hedgerow.graph.naive import NaiveDecisionGraphClassifier

__all__ = ["NaiveDecisionGraphClassifier", "fine_tune"]
