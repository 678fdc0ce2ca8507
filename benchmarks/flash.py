"""Bytes of flash: graphs as C beside emlearn's and m2cgen's C of scikit-learn's trees.

Graphs of Tree in Tree with at most 10, 40, 160 and 1,000 splits, on the official splits, and
scikit-learn's trees with as many splits. Everything is compiled with -Os and linked for a Cortex-M0
and an ATmega328P; what predicts a class is counted, with its tables and with what the compiler's
library adds. Every header of ours runs its self-test on an emulated Cortex-M0.

All read the same whole numbers. Categories are one-hot columns for scikit-learn, because emlearn
and m2cgen have none, and so that emlearn's int16 holds them, adult's largest column is divided by
64 for all.

    python benchmarks/flash.py                  # all sets, some minutes
    python benchmarks/flash.py --sets adult --splits 10 40
    python benchmarks/flash.py --render
"""

import argparse

import measure
import pandas as pd
from measure import markdown
from sklearn.tree import DecisionTreeClassifier

import hedgerow
from hedgerow.export import read, size, to_c
from hedgerow.export.flash import emulated, measured

SETS = ("adult", "letter", "mnist")
SPLITS = (10, 40, 160, 1000)
CHIPS = ("cortex-m0", "avr")
LARGEST = 2**15 - 1
SMALLEST = "hedgerow int16, class"  # what emlearn's integers and classes are compared with
FLASH = 200_000  # of the emulated board, with some room


def whole(table):
    """The frame and the one-hot matrix, in whole numbers of 16 bits."""
    frame = table.frame.copy()
    for column in frame.columns.difference(table.categorical):
        while frame[column].max() > LARGEST:
            frame[column] = frame[column] // 64
    hot = pd.get_dummies(frame, columns=table.categorical)
    return frame, hot.to_numpy("int16")


def theirs(model, chip):
    """Bytes of emlearn's and m2cgen's code of a tree; None where it does not compile."""
    import emlearn
    import m2cgen

    found = {}
    for method in ("inline", "loadable"):
        try:
            code = emlearn.convert(model, dtype="int16_t", method=method).save(name="m", format="c")
        except ValueError:  # more than 127 features
            found[f"emlearn {method}"] = None
            continue
        call = "m_predict(" if "m_predict(const" in code else "eml_trees_predict(&m, "
        use = f"int use(const int16_t *x) {{ return {call}x, {model.n_features_in_}); }}"
        found[f"emlearn {method}"] = compiled(f"{code}\n{use}\n", chip, emlearn.includedir)
    score = m2cgen.export_to_c(model)
    use = "void use(double *x, double *out) { score(x, out); }"
    found["m2cgen"] = compiled(f"{score}\n{use}\n", chip)
    return found


def compiled(source, chip, include="."):
    try:
        return measured(source, chip, include)
    except RuntimeError as error:
        print(f"  {chip}: {str(error)[-200:]}")
        return None


def ours(model, chip):
    """Bytes of the smaller form of each kind, and the forms."""
    found, forms = {}, {}
    for numbers in ("int16", "ranks"):
        for leaves in ("class", "uint8"):
            sizes = {
                form: size(model, target=chip, form=form, numbers=numbers, leaves=leaves)
                for form in ("tables", "goto")
            }
            how = f"hedgerow {numbers}, {leaves}"
            forms[how] = min(sizes, key=sizes.get)
            found[how] = sizes[forms[how]]
    return found, forms


def run(name, sizes, results):
    table = measure.read_table(name)
    frame, hot = whole(table)
    train, test = table.split()
    y = table.y
    X_train = frame.iloc[train].reset_index(drop=True)
    X_test = frame.iloc[test].reset_index(drop=True)
    for n_splits in sizes:
        graph = hedgerow.TreeInTreeClassifier(max_splits=n_splits, random_state=0, n_jobs=1)
        graph.fit(X_train, y[train])
        tree = DecisionTreeClassifier(max_leaf_nodes=n_splits + 1, random_state=0)
        tree.fit(hot[train], y[train])
        fits = len(read(graph).graph.kind) * 8 < FLASH
        for chip in CHIPS:
            found, forms = ours(graph, chip)
            text = to_c(graph, form=forms[SMALLEST], numbers="int16", leaves="class")
            results.add(
                set=name, asked=n_splits, chip=chip, splits=graph.n_splits_,
                score=100 * float((graph.predict(X_test) == y[test]).mean()),
                tree_splits=int(tree.tree_.node_count // 2),
                tree_score=100 * float((tree.predict(hot[test]) == y[test]).mean()),
                bytes=found | theirs(tree, chip), forms=forms,
                wrong=emulated(text) if fits else None,
            )  # fmt: skip
            print(name, n_splits, chip, results.measurements()[-1]["bytes"], flush=True)


def render(results):
    """The page from all stored measurements."""
    records = sorted(results.measurements(), key=lambda r: (SETS.index(r["set"]), r["asked"]))
    body = [
        "What is counted is said in the script. Of our forms, tables and code, the smaller is "
        "shown. Graphs are Tree in Tree, trees scikit-learn's of "
        "as many splits as the graph was allowed. `uint8` has 8-bit probabilities of all classes "
        "as well, which emlearn's form has not; `ranks` leaves the coding of the inputs to the "
        "caller. m2cgen computes in double precision. A dash: it cannot be written (emlearn takes "
        "at most 127 features), or does not fit on this chip. Each fit is a single run; sizes do "
        "not vary.",
        verdict(records),
    ]
    if missing := [name for name in SETS if not any(r["set"] == name for r in records)]:
        body.append(f"Not measured yet: {', '.join(missing)}.")
    for chip, title in (("cortex-m0", "Cortex-M0"), ("avr", "ATmega328P")):
        rows = [r for r in records if r["chip"] == chip]
        names = list(rows[0]["bytes"])
        head = [
            "set",
            "splits",
            "accuracy",
            "tree's splits",
            "tree's accuracy",
            *names,
            "to emlearn",
        ]
        lines = []
        for r in rows:
            least = smallest_of_emlearn(r)
            lines.append(
                [r["set"], r["splits"], measure.points(r["score"]), r["tree_splits"],
                 measure.points(r["tree_score"]), *r["bytes"].values(),
                 least and f"{r['bytes'][SMALLEST] / least:.2f}"]
            )  # fmt: skip
        body += [f"## {title}", markdown(head, lines)]
    tested = [r for r in records if r["chip"] == "cortex-m0"]
    right = sum(r["wrong"] == 0 for r in tested)
    body.append(
        f"Self-tests on the emulated Cortex-M0 without a wrong row: {right} of {len(tested)}."
    )
    results.write("Bytes of flash", body)


def smallest_of_emlearn(record):
    """The smaller of emlearn's forms."""
    found = [n for name, n in record["bytes"].items() if name.startswith("emlearn") and n]
    return min(found, default=None)


def verdict(records):
    """The goals, and whether they are met."""
    small = [r for r in records if (r["set"], r["asked"], r["chip"]) == ("adult", 40, "cortex-m0")]
    lines = ["## Goals", ""]
    for r in small:
        n = r["bytes"]["hedgerow int16, uint8"]
        met = "met" if n <= 512 else "missed"
        lines.append(
            f"- adult within 40 splits in at most 512 bytes on a Cortex-M0: {n} bytes, {met}."
        )
    missed = [
        f"{r['set']} at {r['asked']:,} on {r['chip']}"
        for r in records
        if (least := smallest_of_emlearn(r)) and r["bytes"][SMALLEST] > least / 2
    ]
    lines.append(
        "- never more than half of emlearn's smaller form (int16, classes alone): "
        + (f"missed for {', '.join(missed)}." if missed else "met everywhere.")
    )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--splits", nargs="+", type=int, default=list(SPLITS))
    parser.add_argument("--render", action="store_true", help="the page alone")
    arguments = parser.parse_args()
    results = measure.Results("flash")
    if not arguments.render:
        chosen = [(name, n) for name in arguments.sets for n in arguments.splits]
        results.drop(lambda m: (m["set"], m["asked"]) in chosen)
        for name in arguments.sets:
            run(name, arguments.splits, results)
    render(results)


if __name__ == "__main__":
    main()
