"""
How many rounds?
================

Too few rounds know too little, too many learn the noise. By default the number is chosen on
folds of the training rows, and the model is then fitted to all of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.model_selection import train_test_split

from hedgerow import GradientBoostingRegressor

X, y = make_friedman1(1200, noise=2.0, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
chosen = GradientBoostingRegressor(random_state=0).fit(X_train, y_train)
long = GradientBoostingRegressor(
    max_iter=600, early_stopping=False, learning_rate=chosen.learning_rate, random_state=0
).fit(X_train, y_train)
errors = [np.sqrt(np.mean((stage - y_test) ** 2)) for stage in long.staged_predict(X_test)]

figure, axis = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
axis.plot(range(1, len(errors) + 1), errors, color="#a8763e")
axis.axvline(chosen.n_iter_, color="#3a7d44", label=f"chosen: {chosen.n_iter_} rounds")
axis.set(xlabel="rounds", ylabel="root mean squared error on new rows", ylim=(2, 4))
axis.legend()
