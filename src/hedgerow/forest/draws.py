"""What the members of a bag are fitted on: rows, features and seeds.

Everything follows from the bag's seed and the member's number, so nothing is stored, members can
be fitted in any order, and a bag can be continued.
"""

from dataclasses import dataclass, field

import numpy as np

from hedgerow._engine import ForestParams, GrowParams


@dataclass(frozen=True)
class Draws:
    """The draws of all members."""

    seed: int
    n_rows: int
    n_drawn_rows: int
    bootstrap: bool
    n_features: int
    n_drawn_features: int
    bootstrap_features: bool
    weights: np.ndarray | None = field(default=None, compare=False)  # rows are drawn by, if any

    def continues(self, other: "Draws") -> bool:
        """Whether its members are those of other draws, and more."""
        return self == other and np.array_equal(
            () if self.weights is None else self.weights,
            () if other.weights is None else other.weights,
        )

    @property
    def draws_features(self) -> bool:
        return self.bootstrap_features or self.n_drawn_features < self.n_features

    @property
    def are_possible(self) -> bool:
        """Whether a bag can have drawn so."""
        return (
            0 <= self.seed < 2**31
            and self.n_drawn_rows >= 1
            and 1 <= self.n_rows < 2**31
            and self.n_drawn_features >= 1
            and (self.bootstrap_features or self.n_drawn_features <= self.n_features)
            and (self.weights is None or self._can_draw_by(self.weights))
        )

    def _can_draw_by(self, weights: np.ndarray) -> bool:
        n_needed = 1 if self.bootstrap else self.n_drawn_rows
        are_weights = weights.shape == (self.n_rows,) and weights.dtype == np.float64
        return are_weights and bool(
            (weights >= 0).all()
            and np.isfinite(weights.sum())
            and np.count_nonzero(weights) >= n_needed
        )

    def forest_params(self, tree: GrowParams) -> ForestParams:
        """The engine's parameters of a forest with these draws."""
        return ForestParams(
            tree, seed=self.seed, bootstrap=self.bootstrap, n_draws=self.n_drawn_rows
        )

    def bag(self, member: int) -> np.ndarray:
        """How often each row is drawn."""
        if self.weights is not None:
            rows = self._random(member, 3).choice(
                self.n_rows,
                self.n_drawn_rows,
                replace=self.bootstrap,
                p=self.weights / self.weights.sum(),
            )
            return np.bincount(rows, minlength=self.n_rows).astype(np.uint32)
        return self.forest_params(GrowParams()).bag(self.n_rows, member)

    def rows(self, member: int) -> np.ndarray:
        """The rows drawn, ascending."""
        return np.repeat(np.arange(self.n_rows), self.bag(member))

    def features(self, member: int) -> np.ndarray:
        """The features drawn, ascending, each once: frames have no two columns of one name."""
        if not self.draws_features:
            return np.arange(self.n_features)
        random, replace = self._random(member, 1), self.bootstrap_features
        return np.unique(random.choice(self.n_features, self.n_drawn_features, replace=replace))

    def seed_of(self, member: int) -> int:
        """The seed of what is random in the member itself."""
        return int(self._random(member, 2).integers(2**31 - 1))

    def _random(self, member: int, what: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, member, what))
