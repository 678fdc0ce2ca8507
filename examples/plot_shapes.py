"""
What each feature adds
======================

A sum of trees with one column each is read curve by curve. Terms of two columns are pictures:
where they matter together, the sum takes them together.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from hedgerow import TreeSumRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = TreeSumRegressor(max_splits=30, max_depth=1).fit(X, y)
print(f"R² {model.score(X, y):.2f} with {model.n_splits_} splits")

# %%

largest = model.terms()[:4]
figure, axes = plt.subplots(1, len(largest), figsize=(11, 3), sharey=True, layout="constrained")
for axis, term in zip(axes, largest, strict=True):
    shape = model.feature_shape(term.features[0])
    low, high = X[shape.feature].min(), X[shape.feature].max()
    axis.stairs(shape.scores[:, 0], [low, *shape.thresholds, high], baseline=None, color="#3a7d44")
    axis.set_title(f"{shape.feature} ({term.share:.0%})")
axes[0].set_ylabel("adds")

# %%
# With two levels, columns may meet:

pairs = TreeSumRegressor(max_splits=30, max_depth=2).fit(X, y)
for term in pairs.terms()[:6]:
    print(f"{term.share:4.0%}  " + " with ".join(term.features))
