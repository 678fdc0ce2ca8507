"""From a first layer to the head on it: which head, on which columns, as one matrix if possible.

With the linear activation both layers are linear, and so is the model: the head is fitted in
rank(W) dimensions without forming the embedding, where that is the same.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import qr

from hedgerow._estimator import Settings
from hedgerow._parameters import resolve_n_jobs
from hedgerow.embedding import heads
from hedgerow.embedding.blending import (
    Blend,
    Part,
    blend,
    multiples_of_numbers,
    multiples_of_scores,
)
from hedgerow.embedding.growth import TrainingRows
from hedgerow.embedding.heads import Head
from hedgerow.embedding.layer import ON_ANCHORS, AnchorLayer, activation_names
from hedgerow.embedding.numeric import check_numbers
from hedgerow.embedding.penalised import Layer, penalised_lda, ridge


@dataclass(frozen=True)
class SecondLayer:
    """A fitted head.

    Attributes
    ----------
    activation : str or tuple of str
        The first layer that it is on.
    head : Head or None
        On the columns of the first layer; None for the nearest anchor's class.
    collapsed : Head or None
        Both layers as one matrix, on the numbers, where the first layer is linear.
    blend : Blend or None
        The heads that it is the sum of.
    """

    activation: Any
    head: Head | None
    collapsed: Head | None = None
    blend: Blend | None = None


@dataclass(frozen=True)
class HeadLearner(ABC):
    """Fits a head on a first layer; it writes to nothing.

    Attributes
    ----------
    settings : Settings
    blends : bool
        Whether heads on the whole layer and on its parts are added up.
    """

    settings: Settings
    blends: bool

    def fit(self, layer: AnchorLayer, rows: TrainingRows) -> SecondLayer:
        """The head for some training rows."""
        rows, activation = rows.used(), self.settings.activation
        if activation == "linear":
            return self._collapsed(layer, rows)
        names, n_jobs = activation_names(activation), resolve_n_jobs(self.settings.n_jobs)
        Z = layer.embed(rows.encoded, rows.numbers, rows.votes, names, n_jobs)
        if not layer.view.standardize and not {"linear", "relu"}.isdisjoint(names):
            remedy = "divide X by a constant or set 'standardize' to True"
            check_numbers("The embedding", Z, Z.dtype, remedy)
        if self.blends:
            return self._blended(layer, rows, Z)
        head = self._head(Z, rows.targets, rows.weights)
        return SecondLayer(activation, head, head if names == ("raw",) else None)

    def _blended(self, layer: AnchorLayer, rows: TrainingRows, Z: np.ndarray) -> SecondLayer:
        """Blend heads on the whole layer and on its parts; without trees if they are of no use.

        The numbers alone are taken in the units of the table and in those of their spread, which
        matters because a penalty is the same for all columns.
        """
        width, n_anchors = rows.numbers.shape[1], len(layer.anchors)
        units = layer.view.scale if layer.view.standardize else np.ones(width)
        parts = {
            "raw, unscaled": Part(slice(width), 1 / units),
            "raw": Part(slice(width)),
            "all": Part(slice(None)),
        }
        if "vote" in self.settings.activation:
            parts["vote"] = Part(slice(width + n_anchors, None))
        blended = self._blend(Z, rows.targets, rows.weights, parts)
        straight = not any(blended.multiples[name] for name in list(parts)[2:])
        if getattr(self.settings, "head", "ridge") != "ridge":
            head = self._head(rows.numbers if straight else Z, rows.targets, rows.weights)
        else:
            coef = blended.coef[:width] if straight else blended.coef
            head = Head(coef, blended.intercept)
        if straight:
            return SecondLayer("raw", head, head, blended)
        return SecondLayer(self.settings.activation, head, None, blended)

    def _collapsed(self, layer: AnchorLayer, rows: TrainingRows) -> SecondLayer:
        """Fit the head on the rows' coordinates in the row space of the anchors W.

        A linear head on Z = X W' + b sees of X just that, and cannot see b.
        """
        anchors = layer.anchors
        # Columns of equal size first: a small unit must not look like a missing dimension.
        size = np.abs(anchors).max(axis=0)
        size[size == 0] = 1.0
        left, values, right = np.linalg.svd(anchors / size, full_matrices=False)
        kept = values > max(anchors.shape) * np.spacing(values[0])
        basis = None
        if kept.sum() < anchors.shape[1]:
            basis = _basis(right[kept].T * size[:, None], layer)
        head = self._head_in_span(rows, basis)
        if head is None:
            return self._formed(layer, rows)
        collapsed = head if basis is None else Head(basis @ head.coef, head.intercept)
        inner = right[kept] @ (collapsed.coef / size[:, None])
        coef = left[:, kept] @ (inner / values[kept, None])
        return SecondLayer("linear", Head(coef, collapsed.intercept - layer.bias @ coef), collapsed)

    def _formed(self, layer: AnchorLayer, rows: TrainingRows) -> SecondLayer:
        """Fit the head on the embedding itself, for a head that depends on its coordinates."""
        centre = layer.view.centre
        head = self._head(
            (rows.numbers - centre) @ layer.anchors.T, rows.targets, rows.weights
        )  # b is of no account
        coef = layer.anchors.T @ head.coef
        collapsed = Head(coef, head.intercept - centre @ coef)
        at_b = collapsed.intercept - layer.bias @ head.coef
        return SecondLayer("linear", Head(head.coef, at_b), collapsed)

    def _head_in_span(self, rows: TrainingRows, basis: np.ndarray | None) -> Head | None:
        """The head on the coordinates of the anchors' span; None where others would give another.

        Without a basis the span is the whole space.
        """
        return self._head(rows.numbers, rows.targets, rows.weights, basis)

    @abstractmethod
    def _head(
        self, Z: np.ndarray, targets: np.ndarray, weights: Any, basis: np.ndarray | None = None
    ) -> Head:
        """The head that the parameters ask for, on ``Z @ basis`` if there is a basis."""

    @abstractmethod
    def _blend(
        self, Z: np.ndarray, targets: np.ndarray, weights: Any, parts: dict[str, Part]
    ) -> Blend:
        """The sum of the heads on the given parts."""


def _basis(spanning: np.ndarray, layer: AnchorLayer) -> np.ndarray:
    """A basis of the same span, orthogonal for columns of unit variance.

    Rows in the order of their size and pivoted columns keep a QR decomposition exact in every
    row, whatever the units of measurement.
    """
    if spanning.shape[1] == 0:  # all anchors are zero
        return np.zeros((len(spanning), 1))
    spread = np.ones(len(spanning)) if layer.view.standardize else layer.view.scale
    rows = spanning * spread[:, None]
    order = np.argsort(-np.abs(rows).max(axis=1))
    orthogonal = np.empty_like(rows)
    orthogonal[order] = qr(rows[order], mode="economic", pivoting=True)[0]
    return orthogonal / spread[:, None]


@dataclass(frozen=True)
class ClassHeadLearner(HeadLearner):
    """Heads that score classes."""

    n_classes: int

    def fit(self, layer: AnchorLayer, rows: TrainingRows) -> SecondLayer:
        if self.settings.head == "indicator":
            return SecondLayer(self.settings.activation, None)
        if self.settings.head == "class_sum":
            return self._class_sum(layer)
        # A class whose rows all have weight zero is known, but impossible.
        present = np.unique(rows.used().targets)
        fitted = super().fit(layer, replace(rows, targets=np.searchsorted(present, rows.targets)))
        return replace(
            fitted,
            head=self._of_all_classes(fitted.head, present),
            collapsed=self._of_all_classes(fitted.collapsed, present),
        )

    def _class_sum(self, layer: AnchorLayer) -> SecondLayer:
        activation = self.settings.activation
        names = activation_names(activation)
        if not set(names) <= ON_ANCHORS:
            raise ValueError(
                "The head 'class_sum' adds up columns of anchors: 'activation' must be one or "
                f"several of {', '.join(sorted(ON_ANCHORS))}, got {activation!r}."
            )
        head = heads.class_sum(layer.values, len(names))
        collapsed = None
        if activation == "linear":
            collapsed = Head(layer.anchors.T @ head.coef, layer.bias @ head.coef)
        return SecondLayer(activation, head, collapsed)

    def _head_in_span(self, rows: TrainingRows, basis: np.ndarray | None) -> Head | None:
        n_classes, settings = rows.targets.max() + 1, self.settings
        if settings.head == "lda" and settings.n_components is None and n_classes > 1:
            return heads.regular_lda(rows.numbers, rows.targets, rows.weights, n_classes, basis)
        return super()._head_in_span(rows, basis)

    def _of_all_classes(self, head: Head | None, present: np.ndarray) -> Head | None:
        if head is None:
            return None
        coef = np.zeros((len(head.coef), self.n_classes))
        coef[:, present] = head.coef
        intercept = np.full(self.n_classes, -np.inf)
        intercept[present] = head.intercept
        return Head(coef, intercept)

    def _moments(self, Z: np.ndarray, y: np.ndarray, weights: Any) -> Layer:
        return Layer(Z, np.eye(y.max() + 1)[y], weights, self.settings.n_components)

    def _head(self, Z, targets, weights, basis=None):
        n_classes, n_components = targets.max() + 1, self.settings.n_components
        name, penalty = self.settings.head, self.settings.penalty
        if name == "lda" and n_components is None and n_classes > 1:
            return heads.pseudo_linear_lda(Z, targets, weights, n_classes, basis)
        if basis is not None:
            Z = Z @ basis
        if n_classes == 1:
            return Head(np.zeros((Z.shape[1], 1)), np.zeros(1))
        if name == "ridge":
            judged = penalised_lda(self._moments(Z, targets, weights), targets, penalty)
            return Head(judged.coef, judged.intercept)
        if n_components is not None:
            moments = self._moments(Z, targets, weights)
            axes = moments.coordinates[-1]
            Z = (Z - moments.centre) @ axes
        if name == "lda":
            head = heads.pseudo_linear_lda(Z, targets, weights, n_classes)
        elif name == "shrunken_lda":
            head = heads.shrunken_lda(Z, targets, weights, n_classes, self.settings.shrinkage)
        else:
            head = heads.logistic(Z, targets, weights, n_classes, penalty)
        if n_components is None:
            return head
        coef = axes @ head.coef
        return Head(coef, head.intercept - moments.centre @ coef)

    def _blend(self, Z, targets, weights, parts):
        return blend(
            self._moments(Z, targets, weights),
            parts,
            lambda part: penalised_lda(part, targets, self.settings.penalty),
            multiples_of_scores,
        )


class NumberHeadLearner(HeadLearner):
    """Ridge regression."""

    def _moments(self, Z: np.ndarray, targets: np.ndarray, weights: Any) -> Layer:
        return Layer(Z, targets[:, None], weights, self.settings.n_components)

    def _head(self, Z, targets, weights, basis=None):
        moments = self._moments(Z if basis is None else Z @ basis, targets, weights)
        judged = ridge(moments, self.settings.penalty)
        return Head(judged.coef, judged.intercept)

    def _blend(self, Z, targets, weights, parts):
        moments = self._moments(Z, targets, weights)
        blended = blend(
            moments, parts, lambda part: ridge(part, self.settings.penalty), multiples_of_numbers
        )
        rest = 1 - sum(blended.multiples.values())  # of the mean, which every head is relative to
        return replace(blended, intercept=blended.intercept + rest * moments.level)
