"""
A limit, and a measure of one's own
===================================

`compare` takes any scorer and any limit of size. Here a missed tumour costs ten times a false
alarm, the model may have six splits, and every family has to choose within that.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import make_scorer

import hedgerow

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = (y == 0).astype(int)  # 1: malignant


def cost(y_true, y_pred):
    """Misses cost ten, false alarms one; per hundred patients."""
    misses = np.sum((y_true == 1) & (y_pred == 0))
    alarms = np.sum((y_true == 0) & (y_pred == 1))
    return 100 * (10 * misses + alarms) / len(y_true)


comparison = hedgerow.compare(
    X,
    y,
    models=["hedgerow DecisionTree", "hedgerow TAOTree", "hedgerow NaiveDecisionGraph"],
    scoring=make_scorer(cost, greater_is_better=False),
    max_splits=6,
    cv=3,
    progress=False,
)
costs = {r.name: -np.mean(r.scores[comparison.metric]) for r in comparison.ranked}
for name, value in costs.items():
    print(f"{name:28} {value:6.2f}")

# %%

figure, axis = plt.subplots(figsize=(7, 2.8), layout="constrained")
axis.barh(list(costs), list(costs.values()), color="#3a7d44")
axis.set_xlabel("cost of a hundred patients")
axis.invert_yaxis()
