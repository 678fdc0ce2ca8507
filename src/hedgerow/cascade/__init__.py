"""Deep forests: layers of forests, each reading what the one before it said."""

from hedgerow.cascade.cascade_forest import CascadeForestClassifier, CascadeForestRegressor

__all__ = ["CascadeForestClassifier", "CascadeForestRegressor"]
