"""
Oblique against axis tests
==========================

A test that weighs columns needs one split where a test of one column needs a staircase. Cross-
validated trees hold a small contest between the two kinds and keep the winner.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from hedgerow import (
    CrossValidatedTreeClassifier,
    DecisionTreeClassifier,
    MeanMarginTreeClassifier,
)

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (500, 2))
tables = {
    "a slope": X[:, 0] + X[:, 1] > 0.2,
    "a box": (np.abs(X[:, 0]) < 0.6) & (np.abs(X[:, 1]) < 0.6),
}
models = (
    DecisionTreeClassifier(),
    MeanMarginTreeClassifier(),
    CrossValidatedTreeClassifier(random_state=0),
)

figure, axes = plt.subplots(2, 3, figsize=(10, 6.6), layout="constrained")
for line, (name, y) in zip(axes, tables.items(), strict=True):
    for axis, model in zip(line, models, strict=True):
        model.fit(X, y)
        DecisionBoundaryDisplay.from_estimator(
            model, X, response_method="predict", plot_method="pcolormesh", cmap="BrBG", ax=axis
        )
        axis.scatter(*X.T, c=y, cmap="BrBG", s=6, edgecolor="k", linewidth=0.2)
        kind = getattr(model, "selected_", type(model).__name__.replace("Classifier", ""))
        axis.set_title(f"{name}: {kind}", fontsize=10)
