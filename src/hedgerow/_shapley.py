"""Shapley values: how much each feature adds to what a model says of a row.

Models made of graphs say which graphs are added up (:meth:`ShapleyModel.summands`); the engine
computes exact values (``cpp/explain``), with categories and missing values as graphs route them.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from hedgerow import _parameters as parameters
from hedgerow._engine import DecisionGraph, PackedGraphs, shapley_by_paths, shapley_by_rows
from hedgerow._table_model import TableModel


class Summands(NamedTuple):
    """Graphs that add up to a model's output."""

    start: np.ndarray  # of each output
    graphs: list[list[DecisionGraph]]  # those of all outputs together, or a list for each output
    scale: float


class ShapleyModel(TableModel):
    """A model whose output is a sum or a mean of graphs."""

    def summands(self) -> Summands:
        """The graphs whose values add up to the output that is explained."""
        raise NotImplementedError

    def shap_values(
        self, X: Any, background: Any = None, *, by: str | None = None, interactions: bool = False
    ) -> np.ndarray:
        """Exact Shapley values: what each feature adds to the output of each row.

        With the expected output (``shap_expected``) they sum to the output: class probabilities
        of trees, graphs and forests, scores before the link of sums and boosting, or numbers.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        background : array-like or data frame, default=None
            Rows that stand for what is not known. A hundred or so are enough.
        by : {"paths", "rows"}, default=None
            "rows" puts the background's values in place of features that are not known
            (interventional values). "paths" divides a row at tests of such features as the rows
            of the background were divided, or those of the fit (path-dependent values). None
            takes "rows" where there is a background.
        interactions : bool, default=False
            Share the values out to pairs of features; by paths only. Rows sum to the values.

        Returns
        -------
        values : ndarray of shape (n_samples, n_features) or (n_samples, n_features, n_outputs)
            With ``interactions`` (n_samples, n_features, n_features) or with outputs behind. Two
            classes have two outputs in trees and forests, one in sums.
        """
        check_is_fitted(self)
        matrix = self.schema_.encode(self, X)
        return self._shapley(matrix, self._background(background), by, interactions)[0]

    def shap_expected(self, background: Any = None, *, by: str | None = None) -> Any:
        """The expected output that Shapley values start from.

        Parameters
        ----------
        background, by : as in :meth:`shap_values`

        Returns
        -------
        expected : float or ndarray of shape (n_outputs,)
        """
        check_is_fitted(self)
        others = self._background(background)
        kind = np.float64 if others is None else others.dtype
        return self._shapley(np.zeros((0, self.n_features_in_), dtype=kind), others, by)[1]

    def shap_explanation(self, X: Any, background: Any = None, *, by: str | None = None) -> Any:
        """Shapley values as a ``shap.Explanation``, which the plots of the package shap take.

        Parameters
        ----------
        X, background, by : as in :meth:`shap_values`

        Returns
        -------
        explanation : shap.Explanation
        """
        try:
            import shap
        except ImportError:
            raise ImportError(
                "shap_explanation needs the package shap: pip install shap; shap_values does not."
            ) from None
        check_is_fitted(self)
        matrix = self.schema_.encode(self, X)
        values, expected = self._shapley(matrix, self._background(background), by)
        return shap.Explanation(
            values,
            base_values=np.broadcast_to(expected, (len(values), *np.shape(expected))),
            data=np.asarray(X),
            feature_names=self.schema_.feature_names,
            output_names=[str(label) for label in getattr(self, "classes_", [])] or None,
        )

    def _background(self, background: Any) -> np.ndarray | None:
        return None if background is None else self.schema_.encode(self, background)

    def _shapley(
        self,
        matrix: np.ndarray,
        background: np.ndarray | None,
        by: str | None,
        interactions: bool = False,
    ) -> tuple[np.ndarray, Any]:
        """Values of encoded rows, and the expected output."""
        if by is None:
            by = "paths" if background is None or interactions else "rows"
        parameters.check_option("by", by, ("paths", "rows"))
        if by == "rows" and background is None:
            raise ValueError("by='rows' needs 'background': rows that stand for what is unknown.")
        if by == "rows" and interactions:
            raise ValueError("interactions are computed by paths: leave 'by' out.")
        start, members, scale = self.summands()
        n_jobs = parameters.resolve_n_jobs(self.n_jobs)
        values, expected = [], []
        for graphs in members:
            if by == "paths":
                found, mean = shapley_by_paths(graphs, matrix, background, interactions, n_jobs)
            else:
                assert background is not None
                found = shapley_by_rows(graphs, matrix, background, n_jobs)
                mean = PackedGraphs(graphs).predict(background, n_jobs).mean(axis=0) * len(graphs)
            values.append(found)
            expected.append(mean)
        summed = np.concatenate(values, axis=-1) * scale
        base = start + np.concatenate(expected) * scale
        return (summed[..., 0], float(base[0])) if len(base) == 1 else (summed, base)
