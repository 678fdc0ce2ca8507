"""
A booster made small
====================

`compress` takes a fitted model of any library, reads its trees where it can, and makes a sum of
few trees of it within an exact limit. Here the teacher is scikit-learn's gradient boosting.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split

import hedgerow

X, y = make_friedman1(1000, noise=1.0, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
booster = HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=8, random_state=0).fit(
    X_train, y_train
)

limits = (10, 30)
small = [hedgerow.compress(booster, X_train, y_train, max_splits=limit) for limit in limits]
alone = [hedgerow.DecisionTreeRegressor(max_leaf_nodes=limit + 1) for limit in limits]

# %%
# The dotted line is the teacher, whose trees have 420 splits.

figure, axis = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
axis.axhline(booster.score(X_test, y_test), ls=":", color="0.4", label="booster")
axis.semilogx(
    limits,
    [model.score(X_test, y_test) for model in small],
    "o-",
    color="#3a7d44",
    label="compressed",
)
axis.semilogx(
    limits,
    [model.fit(X_train, y_train).score(X_test, y_test) for model in alone],
    "s--",
    color="#a8763e",
    label="one tree of that size",
)
axis.set(xlabel="splits", ylabel="R² on new rows", xticks=limits, xticklabels=limits)
axis.minorticks_off()
axis.legend()
