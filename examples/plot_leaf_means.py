"""
Leaf means as anchors
=====================

A decision tree cuts space into boxes. Decision tree embedding keeps of each box only the mean
of its rows, an *anchor*, and describes a row by how near it is to each. A linear head on that
has curved borders where the tree has corners.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from hedgerow import DecisionTreeClassifier, TreeEmbeddingClassifier

X, y = make_moons(400, noise=0.25, random_state=0)
tree = DecisionTreeClassifier(max_leaf_nodes=12).fit(X, y)
embedding = TreeEmbeddingClassifier(random_state=0).fit(X, y)
layer = embedding.embedding_

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True, layout="constrained")
for axis, model, name in zip(axes, (tree, embedding), ("tree", "embedding"), strict=True):
    DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict_proba", plot_method="pcolormesh", cmap="BrBG", ax=axis
    )
    axis.scatter(*X.T, c=y, cmap="BrBG", s=10, edgecolor="k", linewidth=0.3)
    axis.set_title(name)

# %%
# The anchors live in the numbers that the layer computes from a row. Here these are the two
# columns, standardised; a star is an anchor.

rows = layer.numeric(X)
figure, axis = plt.subplots(figsize=(6, 4.4), layout="constrained")
axis.scatter(*rows.T, c=y, cmap="BrBG", s=10)
axis.scatter(*layer.anchors_.T, marker="*", color="#c2410c", s=60)
axis.set_title(f"{len(layer.anchors_)} anchors of {len(np.unique(y))} classes")
