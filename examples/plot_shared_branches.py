"""
Trees that share branches
=========================

One class sits in the four corners of a square. A tree has to ask the same question on the left
and on the right; a decision graph asks it once, and both branches lead to it.
"""

import matplotlib.pyplot as plt
import numpy as np

from hedgerow import DecisionTreeClassifier, TreeInTreeClassifier
from hedgerow.inspect import export_text, plot

x1, x2 = (axis.ravel() for axis in np.meshgrid(np.arange(12.0), np.arange(12.0)))
X = np.column_stack([x1, x2])
y = np.where(((x1 < 3) | (x1 > 8)) & ((x2 < 3) | (x2 > 8)), "corner", "rest")

tree = DecisionTreeClassifier().fit(X, y)
graph = TreeInTreeClassifier(max_splits=4).fit(X, y)
print(f"tree  {tree.n_splits_} splits, accuracy {tree.score(X, y):.2f}")
print(f"graph {graph.n_splits_} splits, accuracy {graph.score(X, y):.2f}")

# %%
# The node with the heavy border has two parents.

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for axis, model, name in zip(axes, (tree, graph), ("tree", "graph"), strict=True):
    plot(model, axis)
    axis.set_title(f"{name}: {model.n_splits_} splits")

# %%
# In words:

print(export_text(graph))
