"""
A table in the plane
====================

Rows that a forest's leaves keep together are alike, whatever the units of their columns. The
embedding's affinities, laid out by their two main directions, show what the model tells apart.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA

from hedgerow import LeafMeansEmbedding

wine = load_wine(as_frame=True)
embedding = LeafMeansEmbedding(10, random_state=0, standardize=True)
affinities = embedding.fit_transform(wine.data, wine.target)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for axis, rows, name in zip(
    axes, (wine.data, affinities), ("the columns", "the affinities"), strict=True
):
    plane = PCA(2).fit_transform(rows)
    drawn = axis.scatter(*plane.T, c=wine.target, cmap="viridis", s=18)
    axis.set_title(f"{name}, in two dimensions")
axes[0].legend(drawn.legend_elements()[0], wine.target_names)
