"""From a teacher to models of any size: what is made once, and what is made for each limit.

Once: the teacher's predictions for the rows, rows beside them, the sums of trees to prune (the
teacher's own where they can be read, and trees grown on its predictions), and the order in which
their splits go. For each limit: the largest cut of each that keeps it, its leaves fitted together
with a ridge and a mixture of targets (the teacher's word and the truth) that held-out rows choose,
and the better of the two.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import vstack
from sklearn.base import BaseEstimator
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state

from hedgerow import _parameters as parameters
from hedgerow._columns import take_rows
from hedgerow._engine import DecisionGraph, GraphSum
from hedgerow._engine import link as linked
from hedgerow._parameters import resolve_n_jobs
from hedgerow._table import Table
from hedgerow._targets import read_targets
from hedgerow._timing import ROWS_TIMED, time_row
from hedgerow.additive import TreeSumClassifier, TreeSumRegressor
from hedgerow.compression.generated import generate_rows
from hedgerow.compression.imitation import imitate
from hedgerow.compression.pruning import MOST_LEAVES, own_order, pruning_order
from hedgerow.compression.reading import read_sum
from hedgerow.compression.refit import fit_values, log_loss, log_odds
from hedgerow.compression.structure import Structure, indicators
from hedgerow.compression.sums import ReadSum, UnreadableError
from hedgerow.compression.teacher import Teacher

MOST_ROWS = 20_000  # of a larger table some are drawn
MOST_GENERATED = 5_000
GENERATED_WEIGHT = 0.3  # of a generated row beside a given one
HELD_OUT = 0.2
LEAST_WEIGHT = 0.02  # of a row whose class is certain, in the order of pruning
MOST_LOG_ODDS = 4.0
RIDGE = 10.0  # of the order
RIDGES = (3.0, 1.0, 10.0, 50.0)  # of the values; the first is that of the choice of a mixture
MIXTURES = (0.5, 0.0, 1.0)  # share of the truth
GROWN_MIXTURES = (0.5, 1.0)
MOST_SPLITS = 5_000  # that are tried for a model that is near enough
MOST_GROWN = 100  # splits of sums that are grown at their size; beyond, that takes too long


@dataclass(frozen=True)
class Limits:
    """What the small model may cost."""

    max_splits: int | None = None
    max_bytes: int | None = None
    max_latency_us: float | None = None

    def __post_init__(self) -> None:
        parameters.check_int("max_splits", self.max_splits, low=0, optional=True)
        parameters.check_int("max_bytes", self.max_bytes, low=1, optional=True)
        parameters.real(0, optional=True).check("max_latency_us", self.max_latency_us)

    def __bool__(self) -> bool:
        return any(limit is not None for limit in asdict(self).values())

    def required(self) -> "Limits":
        """Themselves, if one is set."""
        if self:
            return self
        raise ValueError(
            "'max_splits', 'max_bytes' or 'max_latency_us' must be given, or 'tolerance' in "
            "hedgerow.compress."
        )

    def __str__(self) -> str:
        known = {name: limit for name, limit in asdict(self).items() if limit is not None}
        return ", ".join(f"{name}={limit:g}" for name, limit in known.items())


@dataclass(frozen=True)
class Rows:
    """Encoded rows, what the teacher says of them and what is true."""

    matrix: np.ndarray
    said: np.ndarray  # class probabilities or numbers in one column
    true: np.ndarray | None  # in the same form

    def __len__(self) -> int:
        return len(self.matrix)

    def take(self, rows: np.ndarray) -> "Rows":
        true = None if self.true is None else self.true[rows]
        return Rows(self.matrix[rows], self.said[rows], true)

    def mixed(self, share: float) -> np.ndarray:
        """Targets between the teacher's word and the truth."""
        return self.said if self.true is None else (1 - share) * self.said + share * self.true


@dataclass
class Pruning:
    """Trees and the order in which their splits go."""

    origin: str
    structure: Structure
    order: np.ndarray

    def cut(self, n_splits: int) -> Structure:
        """The trees with so many splits left."""
        collapsed = np.zeros(self.structure.n_nodes, dtype=bool)
        collapsed[self.order[: max(0, len(self.order) - n_splits)]] = True
        return self.structure.without(collapsed)[0]


class Candidate(NamedTuple):
    """A model within the limits."""

    held_loss: float
    seen_loss: float
    facts: dict[str, Any]
    share: float | None = None  # of the truth, where it was grown at its size


class Compressor:
    """A teacher and rows, ready to be compressed to any limit; see `hedgerow.compress`.

    Attributes
    ----------
    teacher : Teacher
    reason : str or None
        Why the teacher's own trees are not pruned.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        categorical_features: Any = "auto",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        parameters.SEED.check("random_state", random_state)
        self._n_jobs = resolve_n_jobs(n_jobs)
        self.teacher = Teacher(model)
        classes = self.teacher.classes
        true = None if y is None else _read_truth(y, classes)
        n_rows = len(true) if true is not None else X.shape[0] if hasattr(X, "shape") else len(X)
        self._table = Table.read(
            BaseEstimator(),
            X,
            np.zeros(n_rows),
            has_classes=False,
            categorical_features=categorical_features,
        )
        self._random = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        drawn = np.arange(self._table.n_rows)
        self._source = self._table.source
        if len(drawn) > MOST_ROWS:
            drawn = np.sort(self._random.choice(drawn, MOST_ROWS, replace=False))
            self._source = take_rows(self._source, drawn)
        self._rows = Rows(
            self._table.matrix()[drawn],
            self.teacher.values(self._source),
            None if true is None else true[drawn],
        )
        self._held, self._rest = self._held_out(len(drawn))
        self.reason: str | None = None

    def _held_out(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows to judge by and rows to fit on; the same where there are too few."""
        order = self._random.permutation(n)
        n_held = round(HELD_OUT * n)
        if n_held < 2 or n - n_held < 2:
            return order, order
        return order[:n_held], order[n_held:]

    def facts(self) -> dict[str, Any]:
        """The fitted attributes that follow from the table."""
        facts = self._table.facts() | {"n_outputs_": 1}
        classes = self.teacher.classes
        return facts if classes is None else facts | {"classes_": classes,
                                                      "n_classes_": len(classes)}  # fmt: skip

    @property
    def _n_features(self) -> int:
        return self._table.n_features

    @cached_property
    def _read(self) -> ReadSum | None:
        """The teacher's own trees."""
        try:
            return read_sum(self.teacher, self._table.schema, self._rows.matrix, self._rows.said)
        except UnreadableError as error:
            self.reason = str(error)
            return None

    @cached_property
    def _generated(self) -> Rows:
        """Rows beside the given ones, with the teacher's word and no truth."""
        n = min(len(self._rest), MOST_GENERATED)
        X = take_rows(self._source, self._rest)
        made = generate_rows(X, self._rows.matrix[self._rest], n, self._random)
        matrix = self._table.schema.encode(_Reader(self.facts()), made)
        return Rows(matrix, self.teacher.values(made), None)

    @property
    def _has_classes(self) -> bool:
        return self.teacher.classes is not None

    @cached_property
    def _prunings(self) -> list[Pruning]:
        """The sums of trees to cut: the teacher's own, if they were read, and an imitation."""
        sources: list[tuple[str, list[DecisionGraph]]] = []
        if self._read is not None and self._read.graphs:
            sources.append(("pruned", self._read.graphs))
        imitation = imitate(*self._lesson, schema=self._table.schema, n_jobs=self._n_jobs)
        sources.append(("distilled", imitation))
        return [
            pruning
            for origin, graphs in sources
            if (pruning := self._pruning(origin, graphs)) is not None
        ]

    @cached_property
    def _lesson(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows, the teacher's scores for them, and what each of them counts."""
        matrix, said, weights = self._mixed(self._rows.take(self._rest), 0.0)
        if not self._has_classes:
            return matrix, said, weights
        curvature = np.maximum((said * (1 - said)).sum(axis=1), LEAST_WEIGHT)
        return matrix, log_odds(said, MOST_LOG_ODDS), weights * curvature

    def _pruning(self, origin: str, graphs: list[DecisionGraph]) -> Pruning | None:
        try:
            structure = Structure(graphs)
        except UnreadableError as error:
            self.reason = str(error)
            return None
        matrix, scores, weights = self._lesson
        leaves = structure.leaves(matrix)
        structure = structure.without(own_order(structure, leaves, min(MOST_LEAVES, len(matrix))))[
            0
        ]
        order = pruning_order(structure, structure.leaves(matrix), scores, weights, RIDGE)
        return Pruning(origin, structure, order)

    def within(self, limits: Limits) -> dict[str, Any]:
        """The fitted attributes of the best model that keeps the limits."""
        found = self._copy(limits) or self._certain() or self._best(limits)
        if self._read is not None:
            found["teacher_n_splits_"] = self._read.n_splits
        if limits.max_latency_us is not None:
            found["latency_us_"] = self._latency(found)
        return found

    def within_tolerance(self, tolerance: float, limits: Limits) -> dict[str, Any]:
        """The fitted attributes of the smallest model, in steps of a half, that is near enough."""
        n_splits, lacks = 1, np.inf
        while True:
            most = n_splits if limits.max_splits is None else min(n_splits, limits.max_splits)
            found = self.within(replace(limits, max_splits=most))
            lacks = min(lacks, _lack(found))
            if lacks <= tolerance:
                return found
            has_more = sum(graph.n_splits for graph in found["graphs_"]) > n_splits // 3
            if most < n_splits or not has_more or n_splits >= MOST_SPLITS:
                kept = f" that keeps the limits {limits}" if limits else ""
                raise ValueError(
                    f"no model{kept} is within tolerance={tolerance:g} of the teacher on held-out "
                    f"rows: the nearest lacks {lacks:.2g}; give a larger tolerance, larger limits "
                    "or more rows."
                )
            n_splits = max(n_splits + 1, n_splits * 3 // 2)

    def _copy(self, limits: Limits) -> dict[str, Any] | None:
        """The teacher itself, if it keeps the limits."""
        read = self._read
        if read is None or not self._keeps(limits, read.graphs, read.intercept, read.link):
            return None
        facts = {"graphs_": read.graphs, "intercept_": read.intercept, "link_": read.link}
        held = self._rows.take(self._held)
        values = read.packed(self._n_features).predict(held.matrix, self._n_jobs)
        return facts | {"origin_": "copy"} | self._judged(values, held)

    def _certain(self) -> dict[str, Any] | None:
        """The model of a single class."""
        if self.teacher.classes is None or len(self.teacher.classes) > 1:
            return None
        held = self._rows.take(self._held)
        facts = {"graphs_": [], "intercept_": np.zeros(1), "link_": "softmax"}
        return facts | {"origin_": "copy"} | self._judged(np.ones((len(held), 1)), held)

    def _best(self, limits: Limits) -> dict[str, Any]:
        candidates = [self._fitted(pruning, limits) for pruning in self._prunings]
        n_splits = self._largest(self._prunings[-1], limits)
        if 0 < n_splits <= MOST_GROWN:
            for share in GROWN_MIXTURES if self._rows.true is not None else (0.0,):
                if (grown := self._grown(n_splits, share, self._rest)) is not None:
                    candidates.append(self._fitted(grown, limits)._replace(share=share))
        best = min(candidates, key=partial(self._expected_loss, candidates))
        if best.share is None:
            return best.facts
        # What was grown without the held-out rows grows again with them; its score stays.
        grown = self._grown(n_splits, best.share, np.arange(len(self._rows)))
        assert grown is not None
        sum_of_all = self._fitted(grown, limits).facts
        return best.facts | {name: sum_of_all[name] for name in _SUM}

    def _expected_loss(self, candidates: list["Candidate"], candidate: "Candidate") -> float:
        """The loss of rows that nothing has seen.

        The held-out rows are no strangers to the teacher's own trees where it was fitted on them.
        They are taken to lose as much from seen to unseen rows as the best of the others.
        """
        strangers = [other for other in candidates if other.facts["origin_"] != "pruned"]
        if self._rows.true is None or candidate.facts["origin_"] != "pruned" or not strangers:
            return candidate.held_loss
        best = min(strangers, key=lambda other: other.held_loss)
        rise = best.held_loss / max(best.seen_loss, np.finfo(float).tiny)
        return max(candidate.held_loss, candidate.seen_loss * rise)

    def _grown(self, n_splits: int, share: float, rows: np.ndarray) -> Pruning | None:
        """A sum that was grown a little above its size, on a mixture of word and truth."""
        n_splits += n_splits // 4
        matrix, targets, weights = self._mixed(self._rows.take(rows), share)
        counts = weights > 0
        matrix, targets, weights = matrix[counts], targets[counts], weights[counts]
        schema = self._table.schema
        if self._has_classes:
            n_classes = targets.shape[1]
            # A row once for each class, as probable as it is.
            weights = (weights[:, None] * targets).ravel()
            row, code = np.divmod(np.flatnonzero(weights), n_classes)
            weights, codes = weights[weights > 0], code.astype(np.int32)
            table = Table.encoded(matrix[row], schema, codes, np.arange(n_classes), weights)
            learner = TreeSumClassifier(n_splits, min_gain=0, n_jobs=self._n_jobs).learner()
        else:
            table = Table.encoded(matrix, schema, targets[:, 0], None, weights)
            learner = TreeSumRegressor(n_splits, min_gain=0, n_jobs=self._n_jobs).learner()
        return self._pruning("distilled", learner.grow(table)["graphs_"])

    def _mixed(self, given: Rows, share: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Given and generated rows, their targets and weights for a share of the truth."""
        made = self._generated
        truth = share if given.true is not None else 0.0
        return (
            np.vstack([given.matrix, made.matrix]),
            np.vstack([given.mixed(truth), made.said]),
            np.concatenate(
                [np.ones(len(given)), np.full(len(made), GENERATED_WEIGHT * (1 - truth))]
            ),
        )

    def _fitted(self, pruning: Pruning, limits: Limits) -> "Candidate":
        n_splits = self._largest(pruning, limits)
        while True:
            structure = pruning.cut(n_splits)
            losses, values, facts = self._refitted(structure)
            if n_splits == 0 or self._keeps(limits, *(facts[n] for n in _SUM)):
                break
            n_splits = n_splits * 19 // 20  # the clock, or values that are no longer shared
        if not self._keeps(limits, *(facts[n] for n in _SUM)):
            size = GraphSum(self._n_features, *(facts[n] for n in _SUM)).nbytes
            raise ValueError(
                f"no model keeps the limits {limits}: a constant alone takes {size} bytes and "
                f"{self._latency(facts):.2g} microseconds a row."
            )
        facts["origin_"] = pruning.origin
        return Candidate(*losses, facts | self._judged(values, self._rows.take(self._held)))

    def _refitted(
        self, structure: Structure
    ) -> tuple[tuple[float, float], np.ndarray, dict[str, Any]]:
        """Losses of held-out and of seen rows, what is said of the former, the sum of all rows."""
        is_leaf = structure.left < 0
        column = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1)
        n_leaves = int(is_leaf.sum())

        def columns(rows: Rows) -> Any:
            return indicators(structure.leaves(rows.matrix), column, n_leaves)

        given, held = self._rows.take(self._rest), self._rows.take(self._held)
        whole = columns(self._rows)
        seen, unseen = whole[self._rest], whole[self._held]
        beside = columns(self._generated)
        stack = _stacked(seen, beside)
        start: np.ndarray | None = None

        def fit(share: float, ridge: float) -> tuple[float, float, np.ndarray]:
            nonlocal start
            _, targets, weights = self._mixed(given, share)
            intercept, values = fit_values(
                stack, targets, weights, ridge, self._has_classes, start, "rough"
            )
            start = np.vstack([intercept, values])
            scores = intercept + unseen @ values
            return self._loss(scores, held), self._loss(intercept + seen @ values, given), scores

        mixtures = MIXTURES if given.true is not None else (0.0,)
        trials = {(share, RIDGES[0]): fit(share, RIDGES[0]) for share in mixtures}
        share = min(trials, key=lambda at: trials[at][0])[0]
        trials |= {(share, ridge): fit(share, ridge) for ridge in RIDGES[1:]}
        chosen = min(trials, key=lambda at: trials[at][0])
        *losses, scores = trials[chosen]
        share, ridge = chosen
        _, targets, weights = self._mixed(self._rows, share)
        intercept, values = fit_values(
            _stacked(whole, beside), targets, weights, ridge, self._has_classes, start
        )
        node_values = np.zeros((structure.n_nodes, values.shape[1]))
        node_values[is_leaf] = values
        link = ("logit" if values.shape[1] == 1 else "softmax") if self._has_classes else "identity"
        facts = {
            "graphs_": structure.with_values(node_values),
            "intercept_": np.ascontiguousarray(intercept, dtype=np.float64),
            "link_": link,
        }
        said = linked(np.ascontiguousarray(scores), link)
        return (losses[0], losses[1]), said, facts

    def _loss(self, scores: np.ndarray, held: Rows) -> float:
        targets = held.said if held.true is None else held.true
        if self._has_classes:
            return float(log_loss(scores, targets).mean())
        return float(((scores - targets) ** 2).mean())

    def _judged(self, values: np.ndarray, held: Rows) -> dict[str, Any]:
        """How near held-out predictions are to the teacher's, and how right both are."""
        facts = {"fidelity_": _r2(held.said, values)}
        if self._has_classes:
            best, teachers = values.argmax(axis=1), held.said.argmax(axis=1)
            facts["agreement_"] = float((best == teachers).mean())
            if held.true is not None:
                true = held.true.argmax(axis=1)
                facts |= {
                    "score_": float((best == true).mean()),
                    "teacher_score_": float((teachers == true).mean()),
                }
        elif held.true is not None:
            facts |= {
                "score_": _r2(held.true, values),
                "teacher_score_": _r2(held.true, held.said),
            }
        return facts

    def _largest(self, pruning: Pruning, limits: Limits) -> int:
        """The most splits with which a pruning keeps the limits; 0 if none does."""
        most = len(pruning.order)
        if limits.max_splits is not None:
            most = min(most, limits.max_splits)
        if limits.max_bytes is None and limits.max_latency_us is None:
            return most
        n_values = self._rows.said.shape[1]
        n_scores = n_values if n_values > 2 else 1

        def keeps(n_splits: int) -> bool:
            structure = pruning.cut(n_splits)
            apart = np.arange(structure.n_nodes * n_scores, dtype=float)  # no two values are shared
            graphs = structure.with_values(apart.reshape(-1, n_scores))
            return self._keeps(limits, graphs, np.zeros(n_scores), "identity")

        return _last(most, keeps)

    def _keeps(
        self, limits: Limits, graphs: list[DecisionGraph], intercept: np.ndarray, link: str
    ) -> bool:
        n_splits = sum(graph.n_splits for graph in graphs)
        if limits.max_splits is not None and n_splits > limits.max_splits:
            return False
        if limits.max_bytes is not None:
            packed = GraphSum(self._n_features, graphs, intercept, link)
            if packed.nbytes > limits.max_bytes:
                return False
        if limits.max_latency_us is None:
            return True
        facts = {"graphs_": graphs, "intercept_": intercept, "link_": link}
        return self._latency(facts) <= limits.max_latency_us

    def _latency(self, facts: dict[str, Any]) -> float:
        """Microseconds a row, the reading of the table included."""
        n = min(self._rows.matrix.shape[0], ROWS_TIMED)
        model = _Reader(self.facts(), GraphSum(self._n_features, *(facts[n] for n in _SUM)))
        return time_row(model, take_rows(self._source, np.arange(n)))


_SUM = ("graphs_", "intercept_", "link_")


class _Reader(BaseEstimator):
    """What reads tables as the compressed model will, and predicts as it will."""

    def __init__(self, facts: dict[str, Any], packed: GraphSum | None = None) -> None:
        self.__dict__.update(facts)
        self._packed = packed

    def predict(self, X: Any) -> np.ndarray:
        assert self._packed is not None
        return self._packed.predict(self.schema_.encode(self, X, finite=False))


def _lack(facts: dict[str, Any]) -> float:
    """What held-out predictions lack beside the teacher's: accuracy or R², or agreement."""
    if "score_" in facts:
        return facts["teacher_score_"] - facts["score_"]
    return 1 - facts.get("agreement_", facts["fidelity_"])


def _read_truth(y: Any, classes: np.ndarray | None) -> np.ndarray:
    """Targets in the form of a teacher's predictions."""
    if classes is None:
        return read_targets(y, has_classes=False)[0][:, None]
    codes, found = read_targets(y, has_classes=True)
    assert found is not None
    place = {label: code for code, label in enumerate(classes.tolist())}
    # YDF has all labels as words.
    places = [place.get(label, place.get(str(label))) for label in found.tolist()]
    if None in places:
        raise ValueError(
            f"y holds {found.tolist()[places.index(None)]!r}, which is no class of the model."
        )
    return np.eye(len(classes))[np.array(places)[codes]]


def _stacked(first: Any, second: Any) -> Any:
    return vstack([first, second], format="csr")


def _r2(true: np.ndarray, values: np.ndarray) -> float:
    if len(true) < 2 or np.ptp(true) == 0:
        return float(np.allclose(true, values))
    return float(r2_score(true, values, multioutput="variance_weighted"))


def _last(most: int, keeps: Callable[[int], bool]) -> int:
    """The largest number up to ``most`` that keeps a limit, by bisection; 0 if none does."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if keeps(middle) else (low, middle - 1)
    return low
