"""The reader: a program says what its model says, bit by bit."""

import numpy as np
import pandas as pd
import pytest
from export.models import NAMES, example
from export.rows import adversarial
from sklearn.tree import DecisionTreeClassifier as ForeignTree
from small_models import answers, fitted

import hedgerow
from hedgerow.export import ExportError, read
from hedgerow.export.facts import as_written, checksum, self_test
from hedgerow.export.reference import answers as said
from hedgerow.export.reference import evaluate, leaves
from hedgerow.export.words import identifiers, in_comment

N_ROWS = 3000


def frame_of(program, rows, X):
    """Rows as a frame of the training table's types."""
    frame = pd.DataFrame(rows, columns=list(X.columns))
    for name in X.columns:
        if X[name].dtype == bool:
            frame[name] = frame[name].astype("object")
        elif X[name].dtype == float:
            frame[name] = frame[name].astype(float)
    return frame


def values_of(model, X):
    found = answers(model, X)
    values = found.get("predict_proba", found.get("transform", found.get("predict")))
    return np.asarray(values, dtype=np.float64).reshape(len(X), -1), found.get("predict")


@pytest.mark.parametrize("name", NAMES)
def test_a_program_says_what_its_model_says(name):
    model, X = example(name)
    program = read(model)
    matrix = adversarial(program, N_ROWS)
    rows = frame_of(program, as_written(program, matrix), X)
    truth, predicted = values_of(model, rows)
    values, decisions = evaluate(program, matrix)
    if program.is_exact:
        assert values.tobytes() == truth.tobytes()
    else:
        is_common = np.abs(np.nan_to_num(matrix)).max(axis=1) < 1e6
        np.testing.assert_allclose(values[is_common], truth[is_common], rtol=1e-9, atol=1e-6)
        assert is_common.any()
        values, decisions, predicted = (a[is_common] for a in (values, decisions, truth[:, 0]))
        return
    for output, found in zip(program.outputs, said(program, values, decisions), strict=True):
        if output.classes is not None:
            assert (np.array(output.classes)[found] == predicted).all()


@pytest.mark.parametrize("name", ["tree-in-tree-classifier", "random-forest-regressor"])
def test_leaves_are_those_of_the_graph_in_single_precision_too(name):
    model, _ = example(name)
    program = read(model)
    matrix = adversarial(program, N_ROWS, single=True).astype(np.float32)
    graph = model.graph_ if hasattr(model, "graph_") else model.forest_.graph(0)
    found = program.graphs[0].values[leaves(program.graphs[0], matrix.astype(np.float64))]
    assert (found == graph.value[graph.apply(matrix)]).all()


def test_shared_nodes_stay_shared_and_nothing_is_kept_twice():
    model, _ = example("centred-tree-network-regressor")
    graph = read(model).graph
    assert graph.n_tests == model.graph_.n_splits
    assert graph.n_leaves == len(np.unique(graph.values, axis=0))
    for side in (graph.left, graph.right):
        assert (side[side >= 0] > np.flatnonzero(side >= 0)).all()  # behind their parents


def test_what_cannot_leave_python_is_refused_with_a_reason():
    scanner, _ = fitted("multi-grained-scanner")
    with pytest.raises(ExportError, match="MultiGrainedScanner cannot be exported"):
        read(scanner)
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    with pytest.raises(ExportError, match="no model of hedgerow"):
        read(ForeignTree().fit(X, y))
    bag = hedgerow.BaggingClassifier(ForeignTree(), 3).fit(X, y)
    with pytest.raises(ExportError, match="fit the ensemble with members of hedgerow"):
        read(bag)
    with pytest.raises(ValueError, match="not fitted"):
        read(hedgerow.DecisionTreeClassifier())


def test_a_checksum_changes_with_the_model_and_with_nothing_else():
    model, _ = example("decision-tree-classifier")
    assert checksum(read(model)) == checksum(read(model))
    assert checksum(read(model)) != checksum(read(example("tao-tree-classifier")[0]))


def test_rows_of_a_self_test_have_missing_unseen_and_threshold_values():
    model, _ = example("decision-tree-classifier")
    program = read(model)
    test = self_test(program)
    again = self_test(program)
    assert test.matrix.tobytes() == again.matrix.tobytes() and test.rows == again.rows
    assert np.isnan(test.matrix).any() and any(None in row for row in test.rows)
    assert any("(never seen)" in row for row in test.rows)
    graph = program.graph
    columns = test.matrix[:, graph.column[graph.kind == 1]]
    assert (columns == graph.threshold[graph.kind == 1]).any()
    assert len(np.unique(test.values, axis=0)) > 1


HOSTILE = ["*/ int x; /*", "a\nb", "nul\0", "??/", "`${1}`", "--", "'\"", "größe", "", "</script>"]


@pytest.mark.parametrize("word", HOSTILE)
def test_words_in_comments_are_printable_and_end_nothing(word):
    safe = in_comment(word)
    assert safe.isascii() and (safe.isprintable() or not safe)
    assert not any(mark in safe for mark in ("*/", "/*", "??", "--", "\\", "</", "${", "\n"))


def test_identifiers_are_different_and_plain():
    names = identifiers([*HOSTILE, "int", "Int", "1st", "a b", "a_b"], keywords=["int"])
    assert len({name.casefold() for name in names}) == len(names)
    assert all(name.isidentifier() and name.isascii() for name in names) and "int" not in names
