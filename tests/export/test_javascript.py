"""JavaScript in Node: the same classes, leaves and bits as the model."""

import shutil

import numpy as np
import pytest
from export.models import NAMES, example, hostile_model, streets
from export.rows import N_ROWS, adversarial

import hedgerow
from hedgerow.export import ExportError, read, to_javascript
from hedgerow.export.reference import answers, evaluate
from hedgerow.export.running import run_javascript

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")


@pytest.mark.parametrize("name", NAMES)
def test_every_model_says_the_same_bits_in_node(name):
    program = read(example(name)[0])
    matrix = adversarial(program, N_ROWS)
    values, decisions = evaluate(program, matrix)
    ran = run_javascript(to_javascript(program), program, matrix)
    assert ran.values.tobytes() == values.tobytes()
    if ran.chosen is not None:
        assert (ran.chosen == answers(program, values, decisions)[0]).all()


def test_infinite_numbers_go_the_way_of_large_ones():
    model, _ = example("decision-tree-classifier")
    program = read(model)
    matrix = adversarial(program, 500)
    for f, sign in ((0, np.inf), (1, -np.inf)):
        matrix[::2, f] = sign
    ran = run_javascript(to_javascript(program), program, matrix)
    assert ran.values.tobytes() == evaluate(program, matrix)[0].tobytes()


def test_text_of_the_table_is_never_code():
    program = read(hostile_model())
    matrix = adversarial(program, 500)
    text = to_javascript(program, name="*/ alert(1) \n alert(2)")
    assert text.isascii() and "</script" not in text
    assert all(line.startswith("//") for line in text.splitlines()[: text.count("checksum")])
    ran = run_javascript(text, program, matrix)
    assert ran.values.tobytes() == evaluate(program, matrix)[0].tobytes()


def test_ten_thousand_categories_are_kept_apart():
    program = read(streets())
    matrix = np.append(np.arange(10_000.0), np.nan)[:, None]
    ran = run_javascript(to_javascript(program), program, matrix)
    assert ran.values.tobytes() == evaluate(program, matrix)[0].tobytes()


def test_whole_numbers_that_javascript_cannot_hold_are_refused():
    y = np.array([2**60, 2**60 + 1] * 5)
    model = hedgerow.DecisionTreeClassifier().fit(np.arange(10.0)[:, None], y)
    with pytest.raises(ExportError, match="use text"):
        to_javascript(model)
