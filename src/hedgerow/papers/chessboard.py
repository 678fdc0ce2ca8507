"""The theory in "Analyzing the tree-layer structure of Deep Forests": risks and their bounds.

`risk` is what centred trees and networks have on a chessboard: exact for a given sample, averaged
over samples. `tree_risk` is the same for a tree, averaged over all samples by binomial sums.
`bounds` hold for every size of sample and number of black cells; `printed_bounds` are the paper's
Propositions 3 and 4, of which three do not hold (see there).
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

from hedgerow.datasets.chessboard import chessboard, make_chessboard
from hedgerow.papers import study
from hedgerow.tree import CentredTreeNetworkRegressor, CentredTreeRegressor


class Risk(NamedTuple):
    """Mean squared distance to the true probability, over samples, with its standard error."""

    mean: float
    error: float


def risk(
    k: int,
    k_star: int,
    p: float,
    n: int,
    *,
    network: bool,
    n_black: int | None = None,
    repetitions: int = 100,
    n_features: int = 2,
) -> Risk:
    """The risk of a centred tree, or of a network with one second cut, on a board.

    The board is balanced, or one with ``n_black`` black cells.
    """
    pattern = _pattern(n_black)
    truth, cells = _truth(chessboard(k_star, n_features, **pattern), p, k)
    regressor = CentredTreeNetworkRegressor if network else CentredTreeRegressor
    model = regressor(k, bounds=(0, 1))
    found = []
    for seed in range(repetitions):
        X, y = make_chessboard(
            n, k=k_star, p=p, n_features=n_features, random_state=seed, **pattern
        )
        predicted = model.fit(X, y).predict(cells)
        found.append(np.mean((predicted - truth) ** 2))
    return Risk(float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(repetitions)))


def _pattern(n_black: int | None) -> dict[str, Any]:
    return {} if n_black is None else {"pattern": "generalized", "n_black": n_black}


def _truth(board: np.ndarray, p: float, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The probability of label 1 in the cells of a grid as fine as board and tree, and their
    centres: predictor and truth are constant on such a cell."""
    n_features, width = board.ndim, board.shape[0]
    side = max(width, 2 ** -(-k // n_features))
    cells = np.indices((side,) * n_features).reshape(n_features, -1).T
    black = board[tuple((cells * width // side).T)]
    return np.where(black, p, 1 - p), (cells + 0.5) / side


def tree_risk(k: int, board: np.ndarray, p: float, n: int) -> float:
    """The exact risk of a centred tree of depth ``k`` on any board.

    A leaf of ``N`` rows, binomial, predicts their mean, and 0 where it is empty. With the leaf's
    share m of ones, that errs by ``m (1 - m) / N``, or by ``m**2``, beside what the truth varies
    within the leaf.
    """
    truth, cells = _truth(board, p, k)
    leaf = CentredTreeRegressor(k, bounds=(0, 1)).fit(cells, truth)
    share = leaf.predict(cells)  # every cell is there once: the mean is that of the leaf
    q = 2.0**-k
    noise = np.mean(share * (1 - share)) * inverse_moment(n, q)
    return float(np.mean((truth - share) ** 2) + noise + np.mean(share**2) * (1 - q) ** n)


def inverse_moment(n: int, q: float) -> float:
    """The mean of ``1 / N`` where ``N > 0``, and of 0 elsewhere, for a binomial N of n and q."""
    counts = np.arange(1, n + 1)
    return float(np.sum(binom.pmf(counts, n, q) / counts))


def bounds(
    k: int, k_star: int, p: float, n: int, *, network: bool, n_black: int | None = None
) -> tuple[float, float]:
    """Lower and upper bound of `risk`, for every size of sample.

    For a tree both are the exact risk. For a network with ``k >= k_star``, any number ``n_black``
    of black cells: leaves without rows err by what they should have predicted, and while all the
    others are on their colour's side of 1/2, these predict the means of the rows of both colours,
    whose risk is a binomial sum. It is off by at most the probability, bounded leaf by leaf, that
    one of them is not. For ``k < k_star`` the board
    must be balanced: every predictor that is constant on the leaves has the risk ``(p - 1/2)**2``
    and, with values from 0 to 1, at most 1/4 more; the upper bound is that or the printed one.
    """
    _check_board(k, k_star, n_black)
    if not network:
        exact = tree_risk(k, chessboard(k_star, **_pattern(n_black)), p, n)
        return exact, exact
    if k < k_star:
        low, high = printed_bounds(k, k_star, p, n, network=True)
        return low, min(high, low + 0.25)
    leaves, counts = 2.0**k, np.arange(1, n + 1)
    black = 0.5 if n_black is None else n_black / 2**k_star
    apart, empty = 0.0, _empty(k, p, n, black)
    reach = binom.pmf(counts, n, 1 / leaves)  # of a leaf by so many rows
    half = np.ceil(counts / 2) - 1  # most ones below the mean 1/2
    wrong = 0.0
    for share, is_low in ((black, binom.cdf(half, counts, p)),
                          (1 - black, binom.sf(half, counts, 1 - p))):  # fmt: skip
        if share == 0:
            continue
        seen = 1 - (1 - 1 / (leaves * share)) ** counts  # share of the colour's leaves with rows
        apart += share * p * (1 - p) * np.sum(binom.pmf(counts, n, share) / counts * seen)
        wrong += leaves * share * np.sum(reach * is_low)
    wrong = min(wrong, 1.0)
    return float(empty + max(apart - wrong, 0.0)), float(empty + min(apart + wrong, 1.0))


def _empty(k: int, p: float, n: int, black: float) -> float:
    """What leaves without rows, which predict 0, add to the risk."""
    return (black * p**2 + (1 - black) * (1 - p) ** 2) * (1 - 2.0**-k) ** n


def _check_board(k: int, k_star: int, n_black: int | None) -> None:
    if k < k_star and n_black is not None:
        raise ValueError(
            "Below the depth of the board its risk depends on where the black cells are: leave "
            "'n_black' at None, or ask 'tree_risk' about a board."
        )


def printed_bounds(
    k: int, k_star: int, p: float, n: int, *, network: bool, n_black: int | None = None
) -> tuple[float, float]:
    """The bounds as printed: Proposition 3 for ``k < k_star``, else Proposition 4.

    Two terms of lower order that the paper leaves unspecified are left out: epsilon in the
    network's upper bound of Proposition 3, rho in its lower bound of Proposition 4. The latter
    is for samples of at least ``2**(k + 1) (k + 1)`` rows; for others the bound is 0.

    They do not all hold. With N rows in a leaf, ``E[1/N; N > 0]`` lies between ``(1 - e)**2 2**k /
    n`` and nearly twice ``2**k / n``, where e is the probability of an empty leaf. The upper bound
    of a tree in Proposition 4 has ``2**k / (n + 1)``, too little for many sizes. The lower bounds
    of a tree in both propositions lack the ``1 - e``, and fail where n is less than about
    ``2**k``. The network's upper bound in Proposition 4 has ``1 / (n + 1)`` for each colour, whose
    risk is at least ``1 / n``.
    """
    _check_board(k, k_star, n_black)
    leaves, empty, variance = 2.0**k, (1 - 2.0**-k) ** n, p * (1 - p)
    squares = p**2 + (1 - p) ** 2
    if k < k_star:
        bias = (p - 0.5) ** 2
        if network:
            first = 2 ** (k / 2 + 3) * (p - 0.5) / np.sqrt(np.pi * n)
            second = 7 * 2.0 ** (2 * k + 2) / (np.pi**2 * (n + 1))
            return bias, bias + first + second + squares / 2 * empty
        low = leaves / (4 * (n + 1)) + empty / 4 * (1 - leaves / (n + 1))
        return bias + low, bias + leaves / (2 * (n + 1)) + empty / 4
    if network:
        missed = _empty(k, p, n, 0.5 if n_black is None else n_black / 2**k_star)
        wrong_side = n * (1 - (1 - np.exp(-2 * (p - 0.5) ** 2)) / leaves) ** n
        low = 2 * variance / n + missed if n >= 2 * leaves * (k + 1) else 0.0
        return low, 2 * variance / (n + 1) + 2 * leaves * wrong_side / n + missed
    low = leaves / 2 * variance / (n + 1)
    low += (squares - leaves * variance / (n + 1)) * empty / 2
    return low, leaves * variance / (n + 1) + squares * empty / 2


def infinite_sample_risk(
    model: CentredTreeRegressor | CentredTreeNetworkRegressor, probability: np.ndarray
) -> float:
    """The risk when the truth of every finest cell is known: one row for each, without noise."""
    n_features, side = probability.ndim, probability.shape[0]
    X = (np.indices(probability.shape).reshape(n_features, -1).T + 0.5) / side
    truth = probability.ravel()
    return float(np.mean((model.fit(X, truth).predict(X) - truth) ** 2))


def lemma_1(k: int, repetitions: int = 100) -> tuple[float, float]:
    """Risk of a network, and its lower bound, where every cell has a probability of its own."""
    rng = np.random.default_rng(0)
    network = CentredTreeNetworkRegressor(k, bounds=(0, 1))
    boards = rng.uniform(size=(repetitions, 2 ** (k // 2), 2 ** (k // 2)))
    found = float(np.mean([infinite_sample_risk(network, board) for board in boards]))
    return found, 1 / 48 * (1 - 8 / (2**k - 1)) + 9 / 24 / 2 ** (2 * k)


def lemma_2(k: int, k_star: int, p: float, board: np.ndarray | None = None) -> dict[str, float]:
    """Infinite-sample risks, on a balanced board or another one, of a tree, of a network, and of
    a second tree that cuts raw features alone."""
    truth, cells = _truth(chessboard(k_star) if board is None else board, p, max(k, k_star))
    models: dict[str, Any] = {
        "tree of depth k": CentredTreeRegressor(k, bounds=(0, 1)),
        "network, one cut on the new feature": CentredTreeNetworkRegressor(k, bounds=(0, 1)),
        "second tree of k* raw cuts": CentredTreeNetworkRegressor(
            k, k_star, bounds=(0, 1), cuts="raw"
        ),
    }
    return {
        name: float(np.mean((model.fit(cells, truth).predict(cells) - truth) ** 2))
        for name, model in models.items()
    }


# --- the study ------------------------------------------------------------------------------------

SIZES = (10, 30, 100, 300, 1000, 3000, 10_000)
# k, k*, black cells (None: balanced), p
BOARDS = (
    (2, 4, None, 0.8),
    (3, 4, None, 0.8),
    (4, 4, None, 0.8),
    (4, 4, 5, 0.8),
    (6, 4, None, 0.8),
    (6, 6, None, 0.7),
)


def units(repetitions: int) -> Iterator[dict[str, Any]]:
    """The keys of all simulated risks, and of the lemmas."""
    for (k, k_star, n_black, p), network, n in product(BOARDS, (False, True), SIZES):
        yield {"study": "chessboard", "k": k, "k_star": k_star, "n_black": n_black, "p": p,
               "network": network, "n": n, "repetitions": repetitions}  # fmt: skip
    for k in (2, 4, 6, 8):
        yield {"study": "lemma 1", "k": k, "repetitions": repetitions}
    for k, k_star in product((2, 4, 6), (2, 4)):
        yield {"study": "lemma 2", "k": k, "k_star": k_star, "boards": repetitions}


def run(key: dict[str, Any]) -> dict[str, Any]:
    """One simulated risk, or one lemma."""
    if key["study"] == "lemma 1":
        biased, least = lemma_1(key["k"], key["repetitions"])
        return {"risk": biased, "bound": least}
    if key["study"] == "lemma 2":
        rng = np.random.default_rng(0)
        shape = (2 ** (key["k_star"] // 2),) * 2
        boards = [rng.uniform(size=shape) < rng.uniform() for _ in range(key["boards"])]
        found = [lemma_2(key["k"], key["k_star"], 0.8, board) for board in boards]
        return {
            name: [min(r[name] for r in found), max(r[name] for r in found)] for name in found[0]
        }
    mean, error = risk(key["k"], key["k_star"], key["p"], key["n"], network=key["network"],
                       n_black=key["n_black"], repetitions=key["repetitions"])  # fmt: skip
    return {"mean": mean, "error": error}


class _Row(NamedTuple):
    """A simulated risk beside its bounds."""

    key: dict[str, Any]
    mean: float
    error: float
    printed: tuple[float, float]
    correct: tuple[float, float]

    def is_within(self, low: float, high: float) -> bool:
        """Whether the risk can be there: exact where it is known, else within three errors."""
        if not self.key["network"]:
            exact = self.correct[0]
            return low - 1e-12 <= exact <= high + 1e-12
        return low - 3 * self.error <= self.mean <= high + 3 * self.error


def _rows(journal: study.Journal) -> list[_Row]:
    out = []
    for key, found in journal.find(study="chessboard"):
        given = {name: key[name] for name in ("k", "k_star", "p", "n")}
        more = {"network": key["network"], "n_black": key["n_black"]}
        out.append(_Row(key, found["mean"], found["error"], printed_bounds(**given, **more),
                        bounds(**given, **more)))  # fmt: skip
    return out


def claims(journal: study.Journal) -> list[study.Claim]:
    """Propositions and lemmas, each with what speaks for or against it."""
    rows, out = _rows(journal), []
    for text, network, is_deep in (("Proposition 3.1, tree", False, False),
                                   ("Proposition 3.2, network", True, False),
                                   ("Proposition 4.1, tree", False, True),
                                   ("Proposition 4.2, network", True, True)):  # fmt: skip
        mine = [r for r in rows if r.key["network"] == network
                and (r.key["k"] >= r.key["k_star"]) == is_deep]  # fmt: skip
        for side, way in ((0, "lower"), (1, "upper")):
            kept = [r.is_within(*((r.printed[0], np.inf) if side == 0 else (-np.inf, r.printed[1])))
                    for r in mine]  # fmt: skip
            out.append(_claim(f"{text}, {way} bound as printed", kept))
    first = [found["risk"] >= found["bound"] for _, found in journal.find(study="lemma 1")]
    out.append(_claim("Lemma 1: with a probability for each cell, a network is biased", first))
    tiny, deep, shallow = 1e-12, list[bool](), list[bool]()
    for key, found in journal.find(study="lemma 2"):
        network = found["network, one cut on the new feature"][1]
        if key["k"] >= key["k_star"]:
            deep.append(network <= tiny)
        else:
            shallow.append(found["second tree of k* raw cuts"][1] <= tiny < network)
    out.append(_claim("Lemma 2 (i): below k* only k* raw cuts fit every board", shallow))
    out.append(_claim("Lemma 2 (ii): from k* on one cut on the new feature fits every board", deep))
    return out


def _claim(text: str, kept: list[bool]) -> study.Claim:
    """A claim about all settings, and in which of them it was kept."""
    found = f"in {sum(kept)} of {len(kept)} settings"
    return study.Claim(text, "always", found, all(kept) if kept else None)


def page(journal: study.Journal, out: Path) -> str:
    """The theory's part of the page, with its picture; empty before anything has run."""
    rows = _rows(journal)
    if not rows:
        return ""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown = [board for board in BOARDS if any(_board_of(r) == board for r in rows)]
    figure, axes = plt.subplots(1, len(shown), figsize=(3 * len(shown), 3), layout="constrained",
                                squeeze=False)  # fmt: skip
    lines = []
    for axis, board in zip(axes[0], shown, strict=True):
        for network, colour in ((False, "tab:blue"), (True, "tab:orange")):
            mine = sorted((r for r in rows if _board_of(r) == board
                           and r.key["network"] == network), key=lambda r: r.key["n"])  # fmt: skip
            sizes = [r.key["n"] for r in mine]
            axis.errorbar(sizes, [r.mean for r in mine], [2 * r.error for r in mine], color=colour,
                          label="network" if network else "tree")  # fmt: skip
            low, high = np.array([r.correct for r in mine]).T
            axis.fill_between(sizes, np.maximum(low, 1e-6), high, color=colour, alpha=0.15)
            lines += [_line(r) for r in mine if r.key["n"] in (30, 300, 3000)]
        black = "" if board[2] is None else f", {board[2]} black"
        axis.set(xscale="log", yscale="log", xlabel="rows",
                 title=f"k = {board[0]}, k* = {board[1]}{black}")  # fmt: skip
    axes[0][0].legend()
    figure.savefig(out / "deep_forest_chessboard.png")
    plt.close(figure)
    header = ["k", "k*", "black cells", "p", "model", "rows", "risk ± standard error",
              "correct bounds", "printed bounds", "printed ones"]  # fmt: skip
    biased = sorted((key["k"], found) for key, found in journal.find(study="lemma 1"))
    second = sorted(
        (key["k_star"], key["k"], found) for key, found in journal.find(study="lemma 2")
    )
    names = ["tree of depth k", "network, one cut on the new feature", "second tree of k* raw cuts"]
    return (
        "## Chessboards: risks and bounds\n\n"
        f"Risks simulated with {rows[0].key['repetitions']} samples each. For trees the correct "
        "bounds are the exact risk, a binomial sum, which decides about the printed ones; about "
        "those of networks the simulation does, within three standard errors. The bands of the "
        "picture are the correct bounds. The supplement's Proposition S8 (random boards) is not at "
        "hand; `tree_risk` gives the exact risk on any board.\n\n"
        + study.markdown(header, lines)
        + "\n\n![Risks and bounds](deep_forest_chessboard.png)\n\n"
        "Lemma 1, a probability of its own in every cell, infinite sample, k = k*: a tree has risk "
        "0, a network does not.\n\n"
        + study.markdown(["k*", "network's risk", "lower bound"],
                         [[k, f"{f['risk']:.4f}", f"{f['bound']:.4f}"] for k, f in biased])
        + "\n\nLemma 2, infinite sample, over random boards with any share of black cells: the "
        "least and the largest risk.\n\n"
        + study.markdown(["k*", "k", *names],
                         [[k_star, k, *(f"{found[name][0]:.4f} to {found[name][1]:.4f}"
                                        for name in names)] for k_star, k, found in second])
        + "\n"
    )  # fmt: skip


def _board_of(row: _Row) -> tuple[int, int, int | None, float]:
    return row.key["k"], row.key["k_star"], row.key["n_black"], row.key["p"]


def _line(row: _Row) -> list[str]:
    key = row.key
    ranges = [f"{low:.5f} to {high:.5f}" for low, high in (row.correct, row.printed)]
    if not key["network"]:
        ranges[0] = f"{row.correct[0]:.5f}"
    black = 2 ** (key["k_star"] - 1) if key["n_black"] is None else key["n_black"]
    return [key["k"], key["k_star"], black, key["p"], "network" if key["network"] else "tree",
            key["n"], f"{row.mean:.5f} ± {row.error:.5f}", *ranges,
            "hold" if row.is_within(*row.printed) else "**do not hold**"]  # fmt: skip
