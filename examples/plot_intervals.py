"""
Intervals that keep their promise
=================================

Nine intervals of ten hold the truth: `predict_interval` is calibrated on rows that the members
did not draw. Quantiles of a forest say besides where it is surer and where less.
"""

import matplotlib.pyplot as plt
import numpy as np

from hedgerow import RandomForestRegressor

rng = np.random.default_rng(0)


def draw(n):
    """Rows whose noise grows to the right."""
    x = np.sort(rng.uniform(0, 3, n))
    return x[:, None], np.sin(2 * x) + (0.1 + 0.3 * x) * rng.normal(size=n)


(X, y), (X_new, y_new) = draw(1500), draw(800)
forest = RandomForestRegressor(
    min_samples_leaf=20, oob_score=True, keep_targets=True, random_state=0
).fit(X, y)
ways = {
    "predict_interval": forest.predict_interval(X_new, coverage=0.9).T,
    "predict_quantiles": forest.predict_quantiles(X_new, [0.05, 0.95]).T,
}

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True, layout="constrained")
for axis, (name, (low, high)) in zip(axes, ways.items(), strict=True):
    inside = np.mean((low <= y_new) & (y_new <= high))
    axis.scatter(X_new, y_new, s=5, color="0.4")
    axis.fill_between(X_new[:, 0], low, high, color="#3a7d44", alpha=0.3)
    axis.set_title(f"{name}: {inside:.1%} inside")
