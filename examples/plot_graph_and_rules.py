"""
A small graph and its rules
===========================

`fit_within` looks through all families for the best model of a few splits. What comes out is
drawn, and put into rules that can be read aloud.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import hedgerow
from hedgerow.inspect import plot, rules

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

graph = hedgerow.TreeInTreeClassifier(max_splits=8, random_state=0).fit(X_train, y_train)
forest = hedgerow.RandomForestClassifier(random_state=0).fit(X_train, y_train)
for model in (graph, forest):
    print(f"{type(model).__name__:24} {model.score(X_test, y_test):.3f} {model.nbytes_:9,} bytes")

# %%

plot(graph)

# %%

print(rules(graph))
