"""ONNX in ONNX Runtime: the same classes and leaves, in double precision the same bits."""

from dataclasses import replace

import numpy as np
import pytest
from export.models import NAMES, example, hostile_model, streets
from export.rows import N_ROWS, adversarial

from hedgerow.export import ExportError, read, to_onnx
from hedgerow.export.reference import answers, evaluate
from hedgerow.export.running import run_onnx

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


def same(program, matrix, numbers="double", **settings):
    """Whether ONNX Runtime says of all rows what a program says."""
    values, decisions = evaluate(program, matrix)
    content = to_onnx(program, numbers=numbers, **settings)
    onnx.checker.check_model(onnx.load_from_string(content))
    ran = run_onnx(content, program, matrix, numbers=numbers)
    sure = np.ones(len(matrix), dtype=bool)
    if not program.is_exact:
        common = np.abs(np.nan_to_num(matrix)).max(axis=1) < 1e6
        tolerance = 1e-9 if numbers == "double" else 1e-4
        np.testing.assert_allclose(
            ran.values[common], values[common], rtol=tolerance, atol=tolerance
        )
        sure = common & (np.diff(np.sort(decisions, axis=1)[:, -2:], axis=1).ravel() > 1e-9
                         if decisions.shape[1] > 1 else True)  # fmt: skip
    elif numbers == "double":
        assert ran.values.tobytes() == values.tobytes()
    else:
        with np.errstate(over="ignore"):
            assert ran.values.astype(np.float32).tobytes() == values.astype(np.float32).tobytes()
    if ran.chosen is not None:
        assert (ran.chosen == answers(program, values, decisions)[0])[sure].all()


@pytest.mark.parametrize("name", NAMES)
def test_every_model_says_the_same_bits_in_double_precision(name):
    program = read(example(name)[0])
    same(program, adversarial(program, N_ROWS))


@pytest.mark.parametrize("name", NAMES)
def test_every_row_of_single_precision_goes_the_same_way(name):
    program = read(example(name)[0])
    opset = (3, 5)[NAMES.index(name) % 2]
    same(program, adversarial(program, N_ROWS, single=True), numbers="float", opset=opset)


@pytest.mark.parametrize("numbers", ["float", "double"])
@pytest.mark.parametrize(
    "name", ["tree-in-tree-classifier", "decision-tree-regressor", "oblique", "binary boosting",
             "random-forest-classifier", "one leaf"],
)  # fmt: skip
def test_older_runtimes_have_nodes_of_opset_3(name, numbers):
    program = read(example(name)[0])
    matrix = adversarial(program, N_ROWS, single=numbers == "float")
    same(program, matrix, numbers=numbers, opset=3)


def test_infinite_numbers_go_the_way_of_large_ones():
    program = read(example("decision-tree-classifier")[0])
    matrix = adversarial(program, 500)
    for f, sign in ((0, np.inf), (1, -np.inf)):
        matrix[::2, f] = sign
    same(program, matrix)


@pytest.mark.parametrize("opset", [3, 5])
def test_text_of_the_table_stays_text(opset):
    program = read(hostile_model())
    same(program, adversarial(program, 500), opset=opset)


@pytest.mark.parametrize("opset", [3, 5])
def test_ten_thousand_categories_are_kept_apart(opset):
    program = read(streets())
    same(program, np.append(np.arange(10_000.0), np.nan)[:, None], opset=opset)


def test_shared_nodes_stay_shared():
    model, _ = example("centred-tree-network-regressor")
    graph = read(model).graph
    loaded = onnx.load_from_string(to_onnx(model))
    (node,) = (node for node in loaded.graph.node if node.op_type == "TreeEnsemble")
    (modes,) = (a for a in node.attribute if a.name == "nodes_modes")
    assert len(onnx.numpy_helper.to_array(modes.t)) == graph.n_tests
    assert (graph.n_parents > 1).any()


def test_a_file_says_what_it_is_and_has_rows_to_test_it_with():
    model, _ = example("binary tree")
    facts = {f.key: f.value for f in onnx.load_from_string(to_onnx(model)).metadata_props}
    assert facts["model"] == "DecisionTreeClassifier" and len(facts["checksum"]) == 16
    assert "values" in facts["self_test"]


def test_what_onnx_cannot_hold_is_refused_with_a_reason():
    model, _ = example("binary tree")
    with pytest.raises(ValueError, match="'numbers' must be one of float, double, got 'half'."):
        to_onnx(model, numbers="half")
    with pytest.raises(ValueError, match="'opset' must be one of 5, 3, got 4."):
        to_onnx(model, opset=4)
    program = read(model)
    large = replace(program.outputs[0], classes=(2**70, 2**71))
    with pytest.raises(ExportError, match="ONNX has classes of text"):
        to_onnx(replace(program, outputs=(large,)))
