"""The constant that every model has to beat: it stands in every table."""

from typing import Any

from sklearn.dummy import DummyClassifier, DummyRegressor

from hedgerow.comparison.models import Model
from hedgerow.comparison.records import CONSTANT


class Constant(Model):
    """The line of the constant: it needs no reading of the table."""

    @property
    def library(self) -> str:
        """It belongs to no library."""
        return "none"

    def make(self, task: Any, *, seed: int = 0, n_jobs: Any = None, settings: Any = None) -> Any:
        """A new estimator.

        Parameters
        ----------
        task : {"classification", "regression"}
        seed, n_jobs, settings : not needed

        Returns
        -------
        estimator : object
            For classes the commonest, with the share of each as its probability.
        """
        return DummyClassifier() if task == "classification" else DummyRegressor(**self.parameters)


def constant_for(metric: str) -> Constant:
    """The best constant by a metric: the mean, or the quantile that the metric asks for."""
    quantile = 0.5 if metric in ("mae", "mape") else None
    if metric.startswith("pinball_"):
        quantile = float(metric.removeprefix("pinball_"))
    of_numbers = {} if quantile is None else {"strategy": "quantile", "quantile": quantile}
    return Constant("hedgerow.comparison.baseline.Constant", CONSTANT, of_numbers)
