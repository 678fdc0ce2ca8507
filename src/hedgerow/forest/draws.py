"""What the members of a bag are fitted on: rows, features and seeds.

Everything follows from the bag's seed and the member's number, so nothing is stored, members can
be fitted in any order, and a bag can be continued.
"""

from dataclasses import dataclass

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
        )

    def forest_params(self, tree: GrowParams) -> ForestParams:
        """The engine's parameters of a forest with these draws."""
        return ForestParams(
            tree, seed=self.seed, bootstrap=self.bootstrap, n_draws=self.n_drawn_rows
        )

    def bag(self, member: int) -> np.ndarray:
        """How often each row is drawn."""
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
