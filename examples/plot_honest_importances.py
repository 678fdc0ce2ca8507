"""
Honest importances
==================

The usual importance adds up how much the splits of a column gained on the rows they were made
from. A column of noise with many values can always gain something. Out of bag, on rows that the
trees did not see, it gains nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from hedgerow import RandomForestClassifier

rng = np.random.default_rng(0)
n = 400
X = pd.DataFrame({"switch": rng.integers(0, 2, n), "weak": rng.integers(0, 4, n)})
for k in range(3):
    X[f"noise {k + 1}"] = rng.normal(size=n)
y = rng.uniform(size=n) < 0.2 + 0.45 * X["switch"] + 0.07 * X["weak"]

forest = RandomForestClassifier(max_features=2, random_state=0).fit(X, y)
honest = forest.oob_permutation_importance(X, y)

figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
axes[0].barh(X.columns, forest.feature_importances_, color="#a8763e")
axes[0].set_title("gain on the training rows")
axes[1].barh(X.columns, honest.importances_mean, xerr=honest.importances_std, color="#3a7d44")
axes[1].set_title("loss out of bag, when shuffled")
axes[0].invert_yaxis()
