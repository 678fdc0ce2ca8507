"""How the fit time of a tree grows with rows, columns and classes, on made data.

python benchmarks/growth.py
python benchmarks/growth.py --quick               # smaller sizes
python benchmarks/growth.py --contender scikit-learn
"""

import argparse
import sys

import measure
import numpy as np
import peers
from measure import markdown

ROWS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
COLUMNS = (5, 10, 20, 50, 100, 200, 500)
CLASSES = (2, 5, 10, 20, 50, 100)
DEPTH = 8
NOTE = (
    "One thread, binning included. Exponents are slopes of log(seconds) over log(size), by least "
    "squares: 1 is linear. A tree grown out has about log(n) levels, so a little more than 1 in n "
    "is what n log n looks like; the tree of fixed depth has no such factor."
)


def make_data(n_rows, n_columns, n_classes, seed=0):
    """Uniform float32 columns; the target is a smooth function of five of them, with noise.

    `n_classes` 0 gives the number itself, else classes of equal size, cut from it by rank.
    """
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_columns), dtype="float32")
    signal = np.sin(6 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] - X[:, 4]
    y = signal + rng.normal(0, 0.2, n_rows)
    if n_classes == 0:
        return X, y
    return X, (y.argsort().argsort() * n_classes // n_rows).astype("int64")


def fit_seconds(library, sizes, max_depth=None):
    """Seconds of a fit on made data of the given (rows, columns, classes)."""
    X, y = make_data(*sizes)
    task = "classification" if sizes[2] else "regression"

    def fit():
        model = peers.make_tree(library, task, seed=0)
        return model.set_params(max_depth=max_depth).fit(X, y)

    fit()
    taken = measure.seconds(fit, at_least=0.5, most=9)
    limit = f"depth {max_depth}" if max_depth else "grown out"
    rows, columns, classes = sizes
    print(
        f"{rows:>9,} rows {columns:>4} columns {classes:>4} classes, {limit}: "
        f"{measure.show(taken)} s",
        flush=True,
    )
    return taken


def exponent(sizes, taken):
    """Slope of log(taken) over log(sizes)."""
    return float(np.polyfit(np.log(sizes), np.log(taken), 1)[0])


def section(title, note, names, sizes, columns):
    """A table of seconds with one row per size, and the exponents below them."""
    upper = len(sizes) // 2
    rows = [[f"{size:,}", *(c[i] for c in columns)] for i, size in enumerate(sizes)]
    rows.append(["**exponent**", *(f"**{exponent(sizes, c):.2f}**" for c in columns)])
    rows.append(
        ["exponent, upper half", *(f"{exponent(sizes[upper:], c[upper:]):.2f}" for c in columns)]
    )
    return [f"## {title}\n\n{note} Seconds.", markdown(names, rows)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--contender", choices=("hedgerow", "scikit-learn"), default="hedgerow")
    parser.add_argument("--quick", action="store_true", help="smaller sizes")
    arguments = parser.parse_args()
    absent = peers.missing()
    if arguments.contender in absent:
        sys.exit(f"{arguments.contender} cannot be imported: {absent[arguments.contender]}")

    some = slice(0, 5 if arguments.quick else None)
    n_rows, n_columns, n_classes = ROWS[some], COLUMNS[some], CLASSES[some]
    wide, many = (2_000, 5_000) if arguments.quick else (20_000, 50_000)

    def over(sizes, max_depth=None):
        return [fit_seconds(arguments.contender, size, max_depth) for size in sizes]

    body = [
        f"Fit of one {arguments.contender} tree on made data. {NOTE}",
        *section(
            "Rows", "20 columns; 2 classes or a number to predict.",
            ["rows", "classifier", "regressor", f"classifier, depth {DEPTH}"], n_rows,
            [over([(n, 20, 2) for n in n_rows]), over([(n, 20, 0) for n in n_rows]),
             over([(n, 20, 2) for n in n_rows], DEPTH)],
        ),
        *section(
            "Columns", f"{wide:,} rows, 2 classes.",
            ["columns", "grown out", f"depth {DEPTH}"], n_columns,
            [over([(wide, p, 2) for p in n_columns]),
             over([(wide, p, 2) for p in n_columns], DEPTH)],
        ),
        *section(
            "Classes", f"{many:,} rows, 10 columns.",
            ["classes", "grown out", f"depth {DEPTH}"], n_classes,
            [over([(many, 10, k) for k in n_classes]),
             over([(many, 10, k) for k in n_classes], DEPTH)],
        ),
    ]  # fmt: skip
    suffix = "" if arguments.contender == "hedgerow" else f"-{arguments.contender}"
    suffix += "-quick" if arguments.quick else ""
    measure.write_page(
        f"growth{suffix}",
        "Fit time against rows, columns and classes",
        [measure.environment()],
        body,
    )


if __name__ == "__main__":
    main()
