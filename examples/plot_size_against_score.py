"""
Score against size
==================

How much does another split buy? Every family is grown at every size, and judged on rows left
out. A sum of trees asks once what a tree has to ask below every branch.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.model_selection import cross_val_score

from hedgerow import DecisionTreeRegressor, TAOTreeRegressor, TreeSumRegressor

tables = {"friedman1": make_friedman1(1500, noise=1.0, random_state=0)}
tables["diabetes"] = load_diabetes(return_X_y=True)
limits = (3, 6, 12, 25, 50, 100)
families = {
    "TreeSum": lambda limit: TreeSumRegressor(max_splits=limit),
    "TAOTree": lambda limit: TAOTreeRegressor(max_leaf_nodes=limit + 1),
    "DecisionTree": lambda limit: DecisionTreeRegressor(max_leaf_nodes=limit + 1),
}

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for axis, (name, (X, y)) in zip(axes, tables.items(), strict=True):
    for (family, model), style in zip(families.items(), ("o-", "^-", "s--"), strict=True):
        scores = [cross_val_score(model(limit), X, y, cv=3).mean() for limit in limits]
        axis.semilogx(limits, scores, style, label=family)
    axis.set(title=name, xlabel="splits", ylabel="R²", xticks=limits, xticklabels=limits)
    axis.minorticks_off()
axes[0].legend()
