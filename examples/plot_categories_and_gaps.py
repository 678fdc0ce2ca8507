"""
Categories and missing values without a pipeline
================================================

A frame goes in as it is. Categories are split as sets, and a missing value goes to the side
where it belongs: here it says something by itself.
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_score

from hedgerow import DecisionTreeClassifier
from hedgerow.inspect import explain, plot

rng = np.random.default_rng(0)
n = 1500
X = pd.DataFrame(
    {
        "town": pd.Categorical(rng.choice(["York", "Leeds", "Hull", "Bath", "Ely"], n)),
        "income": rng.gamma(4, 8000, n).round(-2),
        "years": rng.integers(0, 30, n),
    }
)
pays = (X["income"] > 24_000) | X["town"].isin(["Bath", "Ely"])
X.loc[rng.uniform(size=n) < np.where(pays, 0.05, 0.3), "income"] = np.nan  # who owes, says less
y = np.where(pays ^ (rng.uniform(size=n) < 0.05), "pays", "owes")

tree = DecisionTreeClassifier(max_leaf_nodes=6)
print(f"accuracy {cross_val_score(tree, X, y).mean():.3f}")

# %%

plot(tree.fit(X, y))

# %%
# The way of one row, of a town that the training table did not have:

print(explain(tree, {"town": "Wells", "income": None, "years": 3}))
