"""The libraries that are compared, each made to grow the same kind of tree or forest.

All grow full trees with one row enough for a leaf unless a benchmark says otherwise. YDF and
LightGBM have other defaults (depth 16 and five rows per leaf; 31 leaves and twenty rows); YDF is
set to scikit-learn's, LightGBM as close to them as it goes (255 leaves).
"""

import importlib

import numpy as np

MODULES = {
    "scikit-learn": "sklearn",
    "hedgerow": "hedgerow",
    "YDF": "ydf",
    "LightGBM": "lightgbm",
}
SEVERAL = 100  # trees in a forest


def missing():
    """Libraries that cannot be imported, with the reason."""
    reasons = {}
    for library, module in MODULES.items():
        try:
            importlib.import_module(module)
        except ImportError as error:
            reasons[library] = str(error)
    return reasons


def make_tree(library, task, seed, n_jobs=1, min_samples_leaf=1):
    """An unfitted decision tree."""
    if library == "YDF":
        return Ydf(
            "CartLearner", task, n_jobs, random_seed=seed, validation_ratio=0.0, max_depth=-1,
            min_examples=min_samples_leaf,
        )  # fmt: skip
    name = "DecisionTreeClassifier" if task == "classification" else "DecisionTreeRegressor"
    options = {"random_state": seed, "min_samples_leaf": min_samples_leaf}
    if library == "hedgerow":
        return getattr(importlib.import_module("hedgerow"), name)(n_jobs=n_jobs, **options)
    return getattr(importlib.import_module("sklearn.tree"), name)(**options)


def make_forest(library, kind, task, seed, n_jobs=1):
    """An unfitted forest of 100 trees; `kind` is "random forest" or "extra trees"."""
    classify = task == "classification"
    if library == "YDF":
        # scikit-learn's candidate features: the square root for classes, all for numbers.
        features = {} if classify else {"num_candidate_attributes_ratio": 1.0}
        return Ydf(
            "RandomForestLearner", task, n_jobs, random_seed=seed, num_trees=SEVERAL,
            max_depth=-1, min_examples=1, winner_take_all=False, compute_oob_performances=False,
            **features,
        )  # fmt: skip
    if library == "LightGBM":
        return LightGbmForest(task, seed, n_jobs)
    name = {"random forest": "RandomForest", "extra trees": "ExtraTrees"}[kind]
    module = "hedgerow" if library == "hedgerow" else "sklearn.ensemble"
    maker = getattr(
        importlib.import_module(module), name + ("Classifier" if classify else "Regressor")
    )
    return maker(n_estimators=SEVERAL, random_state=seed, n_jobs=n_jobs)


class Ydf:
    """A YDF learner with scikit-learn's `fit` and `predict`; X is a dict of arrays."""

    def __init__(self, learner, task, n_jobs, **options):
        self.learner, self.task, self.n_jobs, self.options = learner, task, n_jobs, options

    def fit(self, X, y):
        import ydf
        from absl import logging

        logging.set_verbosity(logging.ERROR)
        ydf.verbose(0)
        learner = getattr(ydf, self.learner)(
            label="target",
            task=getattr(ydf.Task, self.task.upper()),
            num_threads=self.n_jobs,
            **self.options,
        )
        self.model = learner.train({**X, "target": y}, verbose=0)
        if self.task == "classification":
            self.classes = np.array(self.model.label_classes()).astype(int)
        return self

    def predict(self, X):
        scores = self.model.predict(X, num_threads=self.n_jobs)
        if self.task == "regression":
            return scores
        chosen = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0.5).astype(int)
        return self.classes[chosen]


class LightGbmForest:
    """LightGBM's random-forest mode; with K > 2 classes it grows K trees where others grow one."""

    def __init__(self, task, seed, n_jobs):
        self.task, self.seed, self.n_jobs = task, seed, n_jobs

    def fit(self, X, y):
        import lightgbm

        cls = lightgbm.LGBMClassifier if self.task == "classification" else lightgbm.LGBMRegressor
        share = X.shape[1] ** -0.5 if self.task == "classification" else 1.0
        self.model = cls(
            boosting_type="rf", n_estimators=SEVERAL, num_leaves=255, min_child_samples=1,
            subsample=0.632, subsample_freq=1, feature_fraction_bynode=share,
            random_state=self.seed, n_jobs=self.n_jobs, verbose=-1,
        )  # fmt: skip
        self.model.fit(X, y)
        return self

    def predict(self, X):
        return self.model.predict(X)
