"""
Why a second tree helps: the chessboard
=======================================

On a chessboard a deep tree has few rows in each square and answers with their noise. A second
tree that reads what the first one said pools all squares of a colour, and has two means to
learn: the analysis of deep forests in one picture.
"""

import matplotlib.pyplot as plt
import numpy as np

from hedgerow import CentredTreeNetworkRegressor, CentredTreeRegressor
from hedgerow.datasets import make_chessboard

X, y = make_chessboard(1500, k=6, p=0.8, random_state=0)
models = {
    "one tree": CentredTreeRegressor(6, bounds=(0, 1)),
    "two trees": CentredTreeNetworkRegressor(6, bounds=(0, 1)),
}

side = (np.arange(64) + 0.5) / 64
grid = np.column_stack([axis.ravel() for axis in np.meshgrid(side, side)])
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
axes[0].scatter(*X.T, c=y, cmap="BrBG", s=4)
axes[0].set(title="rows", xlim=(0, 1), ylim=(0, 1), aspect="equal")
for axis, (name, model) in zip(axes[1:], models.items(), strict=True):
    answers = model.fit(X, y).predict(grid).reshape(64, 64)
    axis.imshow(answers, cmap="BrBG", vmin=0, vmax=1, origin="lower", extent=(0, 1, 0, 1))
    axis.set_title(f"{name}: {len(np.unique(answers.round(6)))} different answers")
