"""
The layers of a deep forest
===========================

Each layer of a cascade reads the table and what the layer before it said of the row. Two small
layers give most of the gain, and later ones little or none: the fit stops there by itself.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from hedgerow import CascadeForestClassifier, RandomForestClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
forest = RandomForestClassifier(100, random_state=0).fit(X_train, y_train)
cascade = CascadeForestClassifier("light", random_state=0).fit(X_train, y_train)
layers = [np.mean(stage == y_test) for stage in cascade.staged_predict(X_test)]
print(f"{cascade.n_layers_} layers are kept, {cascade.n_trees_} trees")

# %%

figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
axis.plot(range(1, len(layers) + 1), layers, "o-", color="#3a7d44", label="on new rows")
scores = cascade.layer_scores_
axis.plot(range(1, len(scores) + 1), scores, "s--", color="#a8763e", label="while growing")
axis.axhline(forest.score(X_test, y_test), color="0.5", label="one forest of 100 trees")
axis.set(xlabel="layer", ylabel="accuracy", xticks=range(1, len(scores) + 1))
axis.legend()
