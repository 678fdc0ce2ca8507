"""
Sets of classes
===============

Where a classifier hesitates it should say so: `predict_set` gives a set of classes that holds
the true one as often as promised, and is one class where that is enough.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from hedgerow import RandomForestClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
forest = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X_train, y_train)

promises = (0.8, 0.9, 0.95, 0.99)
found = [forest.predict_set(X_test, coverage=promise) for promise in promises]
for promise, sets in zip(promises, found, strict=True):
    held = sets[np.arange(len(y_test)), y_test].mean()
    print(f"promised {promise:.0%}, held {held:.1%}, {sets.sum(axis=1).mean():.2f} classes a row")

# %%
# The digits with the largest sets at 99 %:

largest = np.argsort(-found[-1].sum(axis=1), kind="stable")[:5]
figure, axes = plt.subplots(1, 5, figsize=(10, 2.6), layout="constrained")
for axis, row in zip(axes, largest, strict=True):
    axis.imshow(X_test[row].reshape(8, 8), cmap="Greys")
    axis.set_axis_off()
    axis.set_title("{" + ", ".join(map(str, np.flatnonzero(found[-1][row]))) + "}")
