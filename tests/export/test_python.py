"""Python: the same classes and bits as the model, in CPython and in MicroPython."""

import ast
import json
import os
import shutil
import subprocess

import numpy as np
import pytest
from export.models import NAMES, example, hostile_model, streets
from export.rows import N_ROWS, adversarial

import hedgerow
from hedgerow.export import read, to_python
from hedgerow.export.facts import as_written
from hedgerow.export.reference import answers, evaluate
from hedgerow.export.running import run_python

_MICROPYTHON = """\
import {readFileSync} from "node:fs";
const {loadMicroPython} = await import(process.argv[3] + "/micropython.mjs");
const lines = [];
const python = await loadMicroPython({stdout: (line) => lines.push(line), heapsize: 64 << 20});
python.runPython(readFileSync(process.argv[2], "utf8"));
console.log(lines.join("\\n"));
"""


def loaded(text):
    names = {"__name__": "model"}
    exec(compile(text, "model.py", "exec"), names)
    return names


@pytest.mark.parametrize("form", ["code", "tables"])
@pytest.mark.parametrize("name", NAMES)
def test_every_model_says_the_same_bits(name, form):
    program = read(example(name)[0])
    matrix = adversarial(program, N_ROWS)
    values, decisions = evaluate(program, matrix)
    ran = run_python(to_python(program, form=form), program, matrix)
    assert ran.values.tobytes() == values.tobytes()
    if ran.chosen is not None:
        assert (ran.chosen == answers(program, values, decisions)[0]).all()


@pytest.mark.parametrize("name", ["tree-in-tree-classifier", "several numbers", "binary boosting"])
def test_micropython_says_the_same_bits(name, tmp_path):
    folder = os.environ.get("MICROPYTHON_WASM")
    if folder is None or shutil.which("node") is None:
        pytest.skip("MICROPYTHON_WASM names no folder of micropython.mjs, or Node is missing")
    program = read(example(name)[0])
    matrix = adversarial(program, 300)
    rows = as_written(program, matrix)
    (tmp_path / "run.mjs").write_text(_MICROPYTHON)
    (tmp_path / "model.py").write_text(
        to_python(program) + f"\nimport json\nanswer = [list(run(r)[0]) for r in {rows!r}]\n"
        "print(json.dumps([[repr(v) for v in values] for values in answer]))\n"
    )
    ran = subprocess.run(
        ["node", tmp_path / "run.mjs", tmp_path / "model.py", folder],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    report, said = ran.stdout.strip().splitlines()
    assert report == "24 rows are right"
    found = np.array(json.loads(said), dtype=float)
    # MicroPython prints 16 digits; the self-test compares bits.
    np.testing.assert_allclose(found, evaluate(program, matrix)[0], rtol=1e-15)


def test_a_row_is_a_dict_or_a_list_and_what_it_lacks_is_missing():
    model, X = example("decision-tree-classifier")
    names = loaded(to_python(model))
    row = {"size": 1.0, "age": 50.0, "kind": "holly", "cut": True}
    assert names["predict"](row) == names["predict"](list(row.values())) == "keep"
    del row["age"]
    assert names["predict_proba"](row) == model.predict_proba(X[:1].assign(age=np.nan))[0].tolist()
    with pytest.raises(ValueError, match="a row has 4 values, got 1"):
        names["predict"]([1.0])
    with pytest.raises(TypeError, match="feature 'age' is a number or None, got 'x'"):
        names["predict"]({"age": "x"})


def test_infinite_numbers_go_the_way_of_large_ones():
    program = read(example("decision-tree-classifier")[0])
    matrix = adversarial(program, 500)
    for f, sign in ((0, np.inf), (1, -np.inf)):
        matrix[::2, f] = sign
    ran = run_python(to_python(program), program, matrix)
    assert ran.values.tobytes() == evaluate(program, matrix)[0].tobytes()


def test_shared_nodes_are_functions_and_no_test_is_written_twice():
    model, _ = example("centred-tree-network-regressor")
    graph = read(model).graph
    text = to_python(model, form="code")
    code = text[text.index("def graph_0") : text.index("# The first columns")]
    assert code.count("    if ") == graph.n_tests
    assert code.count("def ") == 1 + (graph.n_parents > 1).sum() > 1


def test_deep_trees_are_not_nested_beyond_what_python_reads():
    X = np.arange(400.0)[:, None]
    model = hedgerow.DecisionTreeRegressor().fit(X, 2.0 ** (np.arange(400) / 8))
    text = to_python(model, form="code")
    depth = max(len(line) - len(line.lstrip()) for line in text.splitlines()) // 4
    assert depth <= 12
    found = [loaded(text)["predict"]([x]) for x in X[:, 0]]
    assert found == model.predict(X).tolist()


@pytest.mark.parametrize("form", ["code", "tables"])
def test_text_of_the_table_is_never_code(form):
    program = read(hostile_model())
    matrix = adversarial(program, 500)
    text = to_python(program, name='"""\n import os \n', form=form)
    assert text.isascii()
    assert not any(
        isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(ast.parse(text))
    )
    ran = run_python(text, program, matrix)
    assert ran.values.tobytes() == evaluate(program, matrix)[0].tobytes()


def test_ten_thousand_categories_are_kept_apart():
    program = read(streets())
    matrix = np.append(np.arange(10_000.0), np.nan)[:, None]
    ran = run_python(to_python(program), program, matrix)
    assert ran.values.tobytes() == evaluate(program, matrix)[0].tobytes()
