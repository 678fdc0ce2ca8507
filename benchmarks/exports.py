"""Nanoseconds a row: our exports beside m2cgen, TL2cgen, lleaves and ONNX Runtime.

One graph of Tree in Tree with 40, 160 and 1,000 splits on letter beside scikit-learn's tree with
as many, and a forest of 100 trees of 255 splits on california_housing beside scikit-learn's and
LightGBM's of the same size. One thread. C is compiled by gcc -O2 and called row by row in C; what
is called from Python is called for every row (single) and for all rows at once (batch). Every
export is compared with its own model first.

    python benchmarks/exports.py              # some minutes, most of them compiling
    python benchmarks/exports.py --render
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import measure
import numpy as np
from measure import markdown
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier

import hedgerow
from hedgerow.export import read, to_c, to_onnx
from hedgerow.export.running import run_c

SPLITS = (40, 160, 1000)
N_TREES, N_LEAVES = 100, 256
N_SINGLE = 300
TURNS = 3
C = ["gcc", "-O2", "-std=c99"]
HARNESS = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(void) {{
  FILE *in = fopen("rows", "rb"), *out = fopen("values", "wb");
  double *x = malloc(sizeof(double) * {n} * {width}), p[{outputs}];
  if (fread(x, sizeof(double), {n} * {width}, in) != {n} * {width}) return 1;
  volatile double kept = 0;
  for (long i = 0; i < {n}; i++) {{ {call}; kept = p[0]; }}
  clock_t began = clock();
  for (long i = 0; i < {n}; i++) {{ {call}; kept = p[0]; }}
  double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
  (void)kept;
  for (long i = 0; i < {n}; i++) {{ {call}; fwrite(p, sizeof(double), {outputs}, out); }}
  printf("%.9g", seconds);
  return fclose(out);
}}
"""


def in_c(code, call, X, outputs):
    """Seconds for all rows, and what the code says."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        harness = HARNESS.format(n=len(X), width=X.shape[1], outputs=outputs, call=call)
        (place / "run.c").write_text(f"{code}\n{harness}")
        np.ascontiguousarray(X, dtype=float).tofile(place / "rows")
        subprocess.run([*C, "run.c", "-o", "run", "-lm"], cwd=folder, check=True)
        ran = subprocess.run(["./run"], cwd=folder, capture_output=True, text=True, check=True)
        return json.loads(ran.stdout), np.fromfile(place / "values").reshape(len(X), outputs)


def same(found, truth, how):
    if not np.allclose(np.ravel(found), np.ravel(truth), rtol=1e-4, atol=1e-5):
        raise ValueError(f"{how} says something else than its model")


def answer(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def timed(call, X):
    """Nanoseconds a row: row by row, and all at once."""
    rows = [X[i : i + 1] for i in range(min(N_SINGLE, len(X)))]
    single = 1e3 * measure.row_microseconds(call, rows)
    return {"single": single, "batch": 1e9 * measure.seconds(lambda: call(X)) / len(X)}


def ours(model, X):
    program, truth = read(model), answer(model, X)
    for form in ("tables", "goto"):
        for numbers in ("double", "float"):
            text = to_c(program, form=form, numbers=numbers)
            ran = run_c(text, program, X.astype(float), numbers=numbers, compiler=C)
            same(ran.values, truth, form)
            yield f"our C, {form}, {numbers}", {"single": 1e9 * ran.seconds / len(X)}
    yield "our ONNX", onnx(to_onnx(program), X, truth)
    yield "our predictor", timed(lambda rows: answer(model, rows), X)
    predict_row = model.row_predictor()
    rows = list(np.ascontiguousarray(X[:N_SINGLE], dtype=float))
    yield "our row_predictor", {"single": 1e3 * measure.row_microseconds(predict_row, rows)}


def onnx(content, X, truth):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, ["CPUExecutionProvider"])
    name, out = session.get_inputs()[0].name, session.get_outputs()[-1].name
    same(session.run([out], {name: X})[0], truth, "ONNX")
    return timed(lambda rows: session.run([out], {name: rows}), X)


def as_forest(model, X):
    """A forest of one tree, because Treelite reads no single one."""
    if not isinstance(model, DecisionTreeClassifier):
        return model
    forest = RandomForestClassifier(1, bootstrap=False).fit(X[:1], [0])
    forest.estimators_ = [model]
    for name in ("classes_", "n_classes_", "n_outputs_", "n_features_in_"):
        setattr(forest, name, getattr(model, name))
    return forest


def theirs(model, X):
    """Exports of scikit-learn's models."""
    truth = answer(model, X)
    outputs = truth.size // len(X)
    import m2cgen

    code = m2cgen.export_to_c(model)
    call = (
        f"score(x + i * {X.shape[1]}, p)" if outputs > 1 else f"p[0] = score(x + i * {X.shape[1]})"
    )
    seconds, values = in_c(code, call, X, outputs)
    same(values, truth, "m2cgen")
    yield "m2cgen", {"single": 1e9 * seconds / len(X)}
    import tl2cgen
    import treelite

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.so"
        forest = treelite.sklearn.import_model(as_forest(model, X))
        tl2cgen.export_lib(forest, toolchain="gcc", libpath=path,
                           params={"parallel_comp": 8})  # fmt: skip
        predictor = tl2cgen.Predictor(path, nthread=1)
        call = lambda rows: predictor.predict(tl2cgen.DMatrix(rows))  # noqa: E731
        same(call(X), truth, "TL2cgen")
        yield "TL2cgen", timed(call, X)
    from skl2onnx import to_onnx as converted

    options = {"zipmap": False} if outputs > 1 else {}
    content = converted(model, X[:1], options={type(model): options} if options else None)
    yield "skl2onnx", onnx(content.SerializeToString(), X, truth)


def boosted(X_train, y, X, results, name):
    """LightGBM's model by lleaves."""
    import lightgbm
    import lleaves

    model = lightgbm.LGBMRegressor(n_estimators=N_TREES, num_leaves=N_LEAVES, n_jobs=1, verbose=-1)
    model.fit(X_train, y)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model.txt"
        model.booster_.save_model(path)
        compiled = lleaves.Model(model_file=path)
        compiled.compile()
        same(compiled.predict(X, n_jobs=1), model.predict(X), "lleaves")
        results.add(model=name, how="lleaves", **timed(lambda r: compiled.predict(r, n_jobs=1), X))
    results.add(model=name, how="LightGBM", **timed(lambda r: model.predict(r, num_threads=1), X))


def run(results, wanted):
    letter, house = measure.read_table("letter"), measure.read_table("california_housing")
    train, test = letter.split()
    X = letter.view("codes")
    for n in SPLITS:
        name = f"{n} splits, letter"
        if name not in wanted:
            continue
        graph = hedgerow.TreeInTreeClassifier(max_splits=n, random_state=0, n_jobs=1)
        tree = DecisionTreeClassifier(max_leaf_nodes=n + 1, random_state=0)
        graph.fit(X[train], letter.y[train])
        tree.fit(X[train], letter.y[train])
        record(results, name, graph, tree, X[test])
    name = f"{N_TREES} trees, california_housing"
    if name not in wanted:
        return
    train, test = house.split()
    X = house.view("codes")
    sizes = {"max_leaf_nodes": N_LEAVES, "random_state": 0, "n_jobs": 1}
    forest = hedgerow.RandomForestRegressor(N_TREES, **sizes).fit(X[train], house.y[train])
    peer = RandomForestRegressor(N_TREES, **sizes).fit(X[train], house.y[train])
    record(results, name, forest, peer, X[test])
    attempt(results, name, "lleaves",
            lambda: boosted(X[train], house.y[train], X[test], results, name))  # fmt: skip


def record(results, name, model, peer, X):
    for found in (ours(model, X), theirs(peer, X)):
        while True:
            try:
                how, taken = next(found)
            except StopIteration:
                break
            except Exception as error:
                print(f"{name}: {type(error).__name__} {str(error)[:200]}", flush=True)
                results.add(model=name, how=f"failed: {type(error).__name__}")
                break
            results.add(model=name, how=how, **taken)
            print(f"{name:32} {how:22} {taken}", flush=True)


def attempt(results, name, how, work):
    try:
        work()
    except Exception as error:
        print(f"{how}: {type(error).__name__} {str(error)[:200]}", flush=True)
        results.add(model=name, how=f"{how} failed: {type(error).__name__}")


def render(results):
    """The page from all stored measurements."""
    records = results.measurements()
    body = [
        "Nanoseconds a row, one thread; C is called row by row in C, all others from Python, row "
        "by row and all rows at once. Graphs are Tree in Tree, trees scikit-learn's with as many "
        "splits; forests have 100 trees of 255 splits, LightGBM's 100 of them. A dash: does not "
        "exist for this."
    ]
    body.append(verdict(records))
    for name in dict.fromkeys(r["model"] for r in records):
        found = [r for r in records if r["model"] == name]
        lines = [[r["how"], r.get("single"), r.get("batch")] for r in found]
        body += [f"## {name}", markdown(["", "single rows", "batch"], lines)]
    results.write("Nanoseconds a row", body)


def verdict(records):
    """The goals, and whether they are met: peers count by the better of their two figures."""
    lines = ["## Goals", ""]
    for name in dict.fromkeys(r["model"] for r in records):
        least = {
            r["how"]: min(n for n in (r.get("single"), r.get("batch")) if n)
            for r in records
            if r["model"] == name and r.get("single")
        }
        ours = min(n for how, n in least.items() if how.startswith("our C"))
        theirs = {how: n for how, n in least.items() if not how.startswith("our")}
        how = min(theirs, key=theirs.get)
        goal, most = ("level with", 1.05) if "trees" in name else ("faster than", 1.0)
        met = "met" if ours <= most * theirs[how] else "missed"
        lines.append(
            f"- {name}: our C is to be {goal} the fastest peer, {how}: {ours:.3g} ns beside "
            f"{theirs[how]:.3g}, {met}."
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = [*(f"{n} splits, letter" for n in SPLITS), f"{N_TREES} trees, california_housing"]
    parser.add_argument("--models", nargs="+", default=every, choices=every)
    parser.add_argument("--render", action="store_true", help="the page alone")
    arguments = parser.parse_args()
    results = measure.Results("exports")
    if not arguments.render:
        results.drop(lambda m: m["model"] in arguments.models)
        run(results, arguments.models)
    render(results)


if __name__ == "__main__":
    main()
