"""
Shapley values of a graph
=========================

What did each column add to the answer for one row? Shapley values are exact here, for trees,
graphs, forests and sums, and they add up to the prediction.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from hedgerow import TreeInTreeClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
graph = TreeInTreeClassifier(max_splits=12, random_state=0).fit(X, y)
values = graph.shap_values(X)[:, :, 1]
total = values.sum(axis=1) + graph.shap_expected()[1]
print("add up to the probabilities:", np.allclose(total, graph.predict_proba(X)[:, 1]))

# %%

order = np.argsort(-np.abs(values).mean(axis=0))[:6]
figure, axis = plt.subplots(figsize=(7.4, 3.8), layout="constrained")
for line, column in enumerate(order):
    spread = np.random.default_rng(0).uniform(-0.25, 0.25, len(X))
    rank = X.iloc[:, column].rank(pct=True)
    drawn = axis.scatter(values[:, column], line + spread, c=rank, cmap="BrBG_r", s=6)
axis.set(yticks=range(len(order)), yticklabels=X.columns[order], xlabel="adds to p(benign)")
axis.invert_yaxis()
figure.colorbar(drawn, label="low to high values")
