"""
Tests that are revised
======================

CART never looks back at a test. Tree alternating optimisation visits the nodes again and gives
each the test that sends most of the rows right, for the branches that have grown below it
meanwhile.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from hedgerow import DecisionTreeClassifier, TAOTreeClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
depths = range(3, 9)
cart, revised = [], []
for depth in depths:
    cart.append(DecisionTreeClassifier(max_depth=depth).fit(X_train, y_train))
    revised.append(TAOTreeClassifier(max_depth=depth).fit(X_train, y_train))

figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for models, name, style in ((cart, "CART", "s--"), (revised, "revised", "o-")):
    splits = [model.n_splits_ for model in models]
    axes[0].plot(splits, [m.score(X_test, y_test) for m in models], style, label=name)
axes[0].set(xlabel="splits", ylabel="accuracy on new rows")
axes[0].legend()
history = revised[2].history_
axes[1].plot(range(len(history)), history, "o-", color="#3a7d44")
axes[1].set(xlabel="pass", ylabel="training error", title=f"depth {depths[2]}, pass by pass")
