"""The estimators that compression gives: sums of graphs with what is known of their teacher."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from hedgerow import _parameters as parameters
from hedgerow._estimator import fitted, parameter
from hedgerow._table_model import TableClassifier, TableRegressor
from hedgerow.additive.sum_model import SumModel
from hedgerow.compression.compressor import Compressor, Limits
from hedgerow.forest import RandomForestClassifier, RandomForestRegressor

_LINKS = ("identity", "log", "logit", "softmax")


class CompressedModel(SumModel):
    """A small sum of graphs in place of a large model."""

    teacher: Any = parameter(
        None,
        parameters.anything("estimator or None"),
        "The large model, not fitted; None takes a random forest. Models that `compress` returned "
        "do not keep theirs.",
        kw_only=False,
    )
    max_splits: int | None = parameter(
        100, parameters.integer(0, optional=True), "Most tests in all members; None for no limit."
    )
    max_bytes: int | None = parameter(
        None, parameters.integer(1, optional=True), "Most bytes of the form that predicts."
    )
    max_latency_us: float | None = parameter(
        None,
        parameters.real(0, optional=True),
        "Most microseconds a row, predicting a thousand rows at once, on the machine of the fit.",
    )
    random_state: Any = parameter(
        None, parameters.SEED, "Of the rows held out, of rows generated and of the forest."
    )

    link_: str = fitted(
        '{"identity", "log", "logit", "softmax"}', "How sums become probabilities or numbers."
    )
    origin_: str = fitted(
        "str",
        '"copy": the teacher itself, which keeps the limits; "pruned": its own trees; "distilled": '
        "trees grown on its predictions.",
    )
    fidelity_: float = fitted(
        "float", "R² of held-out predictions (of probabilities, for classes) to the teacher's."
    )
    score_: float = fitted(
        "float", "Held-out accuracy or R², where targets were given.", optional=True
    )
    teacher_score_: float = fitted(
        "float", "The teacher's on the same rows, which it may have been fitted on.", optional=True
    )
    teacher_n_splits_: int = fitted(
        "int", "Tests in all of the teacher's trees, where these were read.", optional=True
    )
    latency_us_: float = fitted(
        "float", "Microseconds a row, where they were limited.", optional=True
    )

    @property
    def link(self) -> str:
        return self.link_

    def check_fitted(self) -> None:
        if self.link_ not in _LINKS:
            raise ValueError("the link is not known")
        super().check_fitted()

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.teacher is not None and not isinstance(self.teacher, BaseEstimator):
            raise ValueError(
                f"'teacher' must be an estimator with a fit method, got {self.teacher!r}."
            )

    def _new_teacher(self) -> Any:
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None):
        """Fit the teacher and compress it.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self : object
        """
        self.check_parameters()
        limits = Limits(self.max_splits, self.max_bytes, self.max_latency_us).required()
        table = self.read_table(X, y)
        teacher = self._new_teacher() if self.teacher is None else clone(self.teacher)
        teacher.fit(table.source, table.labels)
        compressor = Compressor(
            teacher,
            table.source,
            table.labels,
            categorical_features=self.categorical_features,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        self.become(table.facts() | compressor.within(limits))
        return self

    def become(self, facts: dict[str, Any]) -> None:
        for name in ("score_", "teacher_score_", "teacher_n_splits_", "latency_us_", "agreement_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        super().become(facts)


class CompressedClassifier(CompressedModel, TableClassifier):
    """A classifier of few splits that was made out of a large one; see `hedgerow.compress`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import CompressedClassifier, RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(random_state=0)
    >>> small = CompressedClassifier(forest, max_splits=8, random_state=0).fit(X, y)
    >>> small.n_splits_ <= 8
    True
    """

    agreement_: float = fitted("float", "Share of held-out rows with the teacher's class.")

    def _new_teacher(self) -> RandomForestClassifier:
        return RandomForestClassifier(
            categorical_features=self.categorical_features,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )


class CompressedRegressor(CompressedModel, TableRegressor):
    """A regressor of few splits that was made out of a large one; see `hedgerow.compress`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import CompressedRegressor, RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(random_state=0)
    >>> small = CompressedRegressor(forest, max_splits=8, random_state=0).fit(X, y)
    >>> small.n_splits_ <= 8
    True
    """

    def _new_teacher(self) -> RandomForestRegressor:
        return RandomForestRegressor(
            categorical_features=self.categorical_features,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )


def compress(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    max_splits: int | None = None,
    max_bytes: int | None = None,
    max_latency_us: float | None = None,
    tolerance: float | None = None,
    categorical_features: Any = "auto",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> CompressedClassifier | CompressedRegressor:
    """Make a small model of a large one, within exact limits.

    Trees of scikit-learn, LightGBM, XGBoost, CatBoost and hedgerow are read, proved equal on X and
    pruned together, all their leaves fitted again; any other model is imitated by trees that are
    grown on its predictions of given and generated rows, and pruned likewise. What does better on
    held-out rows is returned.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor of any library, with ``predict`` and, for classes,
        ``predict_proba`` and ``classes_``.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows as the model takes them, such as those it was fitted on.
    y : array-like of shape (n_samples,), default=None
        Their targets. Leaves are then fitted to both, and the choice is made by them.
    max_splits : int, default=None
        Most tests in all trees. 0 is a constant.
    max_bytes : int, default=None
        Most bytes of the form that predicts (``nbytes_``).
    max_latency_us : float, default=None
        Most microseconds a row, predicting a thousand rows at once, measured here and now.
    tolerance : float, default=None
        What the small model may lack on held-out rows beside the teacher: 0.002 is 0.2 points of
        accuracy (R² for numbers). The smallest model that lacks no more is returned, out of sizes
        that grow by half. Without ``y`` it is the share of rows with another class than the
        teacher's, or what the R² to its numbers lacks to 1.
    categorical_features : "auto", None or list, default="auto"
        As in hedgerow's estimators.
    random_state : int, RandomState instance or None, default=0
        Of the rows held out and of rows generated.
    n_jobs : int, default=None
        Threads.

    Returns
    -------
    small : CompressedClassifier or CompressedRegressor
        Fitted; its attributes say how near it is to the model (``fidelity_``, ``agreement_``) and
        how good beside it (``score_``, ``teacher_score_``), on held-out rows.

    Examples
    --------
    >>> import hedgerow
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
    >>> small = hedgerow.compress(forest, X, y, max_splits=6)
    >>> small.n_splits_ <= 6
    True
    """
    limits = Limits(max_splits, max_bytes, max_latency_us)
    parameters.real(0, optional=True).check("tolerance", tolerance)
    if tolerance is None:
        limits.required()
    compressor = Compressor(
        model,
        X,
        y,
        categorical_features=categorical_features,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    if tolerance is None:
        facts = compressor.within(limits)
    else:
        facts = compressor.within_tolerance(tolerance, limits)
        max_splits = sum(graph.n_splits for graph in facts["graphs_"])
    cls = CompressedRegressor if compressor.teacher.classes is None else CompressedClassifier
    small: Any = cls(
        max_splits=max_splits,
        max_bytes=max_bytes,
        max_latency_us=max_latency_us,
        categorical_features=categorical_features,
        random_state=random_state if isinstance(random_state, int | np.integer) else None,
        n_jobs=n_jobs,
    )
    small.become(compressor.facts() | facts)
    return small
