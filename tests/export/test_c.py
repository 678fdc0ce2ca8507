"""C: the same classes, leaves and bits as the model, in every form, by real compilers."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export.models import NAMES, example, hostile_model, streets
from export.rows import N_ROWS, adversarial

import hedgerow
from hedgerow.export import ExportError, check, read, to_c
from hedgerow.export.reference import answers, evaluate
from hedgerow.export.rounding import loss, rounded
from hedgerow.export.running import run_c

COMPILER = shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no compiler of C")
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
C99 = [COMPILER, "-std=c99", "-O1", *STRICT]
FORMS = ("tables", "goto")
SMALL = [
    "tree-in-tree-classifier", "decision-tree-classifier", "decision-tree-regressor", "binary tree",
    "one leaf",
]  # fmt: skip
NARROW = [*SMALL, "random-forest-classifier", "random-forest-regressor", "extra-trees-classifier",
          "quantile tree", "quantile forest", "absolute sum", "truth"]  # fmt: skip


def same(text, program, matrix, *, exact=None, **settings):
    """Whether a compiled header says of all rows what a program says."""
    values, decisions = evaluate(program, matrix)
    ran = run_c(text, program, exact if exact is not None else matrix, **settings)
    assert ran.values.tobytes() == values.tobytes()
    if ran.chosen is not None:
        assert (ran.chosen == answers(program, values, decisions)[0]).all()


@pytest.mark.parametrize("name", NAMES)
def test_every_model_says_the_same_bits(name):
    program = read(example(name)[0])
    form = FORMS[NAMES.index(name) % 2]
    same(to_c(program, form=form), program, adversarial(program, N_ROWS), compiler=C99)


@pytest.mark.parametrize("name", ["mean-margin-tree-classifier", "oblique", "binary boosting",
                                  "gradient-boosting-classifier", "cascade of many"])  # fmt: skip
def test_both_forms_say_the_same_bits_in_single_precision(name):
    program = read(example(name)[0])
    matrix = adversarial(program, N_ROWS, single=True)
    for form in FORMS:
        text = to_c(program, form=form, numbers="float")
        same(text, program, matrix, numbers="float", compiler=C99)


@pytest.mark.parametrize("numbers", ["float", "int16", "int32", "ranks"])
@pytest.mark.parametrize("name", NARROW)
def test_every_kind_of_numbers_reaches_the_same_leaves(name, numbers):
    program = read(example(name)[0])
    matrix = adversarial(program, N_ROWS, single=numbers == "float")
    if numbers.startswith("int"):
        most = np.iinfo(numbers).max
        matrix = np.clip(np.floor(matrix), -most, most)
    form = FORMS[(NARROW.index(name) + len(numbers)) % 2]
    same(to_c(program, form=form, numbers=numbers), program, matrix, numbers=numbers, compiler=C99)


@pytest.mark.parametrize("numbers", ["int16", "int32"])
@pytest.mark.parametrize("scale", [1, 9, 1000])
def test_whole_thresholds_below_zero_small_and_large_part_rows_alike(scale, numbers):
    X = scale * (np.arange(60.0) - 20)[:, None] // 4
    X[::7] = np.nan
    model = hedgerow.DecisionTreeRegressor().fit(X, np.sin(np.arange(60)))
    program = read(model)
    matrix = np.append(np.arange(X[1:7].min() - 9, np.nanmax(X) + 9), [np.nan, 32767, -32767])
    same(to_c(program, numbers=numbers), program, matrix[:, None], numbers=numbers, compiler=C99)


@pytest.mark.parametrize("leaves", ["float", "uint8"])
@pytest.mark.parametrize("name", NARROW)
def test_rounded_leaves_say_what_the_rounded_program_says(name, leaves):
    exact = read(example(name)[0])
    program = rounded(exact, leaves)
    text = to_c(exact, leaves=leaves, numbers="ranks")
    matrix = adversarial(program, N_ROWS)
    same(text, program, matrix, leaves=leaves, numbers="ranks", compiler=C99)
    difference, n_other, n_rows = loss(exact, program)
    assert f"within {difference:.2g} of the model's" in text
    if exact.outputs[0].classes is not None:
        assert f"{n_other} of {n_rows} rows" in text
        assert n_other == 0 or len(exact.graphs) > 1
    assert difference <= 1 / 255 or exact.outputs[0].classes is None


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["tree-in-tree-classifier", "binary tree", "oblique"])
def test_leaves_can_be_classes_alone(name, form):
    exact = read(example(name)[0])
    text = to_c(exact, leaves="class", form=form)
    assert "_proba" not in text and "0 of 2000 rows" in text
    matrix = adversarial(exact, N_ROWS)
    same(text, rounded(exact, "class"), matrix, leaves="class", compiler=C99)
    chosen = run_c(text, exact, matrix, leaves="class").chosen
    assert (chosen == answers(exact, *evaluate(exact, matrix))[0]).all()


def test_a_check_says_how_far_whole_numbers_lead_astray():
    X = np.arange(40.0)[:, None] / 4
    model = hedgerow.DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0] > 4.6)
    exact, whole = (
        check(model, "c", to_c(model, numbers=numbers), X, numbers=numbers)
        for numbers in ("double", "int16")
    )
    assert (exact.different, exact.worst) == (0, 0.0) and "by up to" not in str(exact)
    assert (whole.different, whole.worst) == (1, 1.0) and "different by up to 1, " in str(whole)


def test_one_leaf_can_be_a_class():
    model = hedgerow.DecisionTreeClassifier().fit([[0.0]] * 3, ["a", "b", "b"])
    assert run_c(
        to_c(model, leaves="class"), read(model), np.zeros((2, 1)), leaves="class"
    ).chosen.tolist() == [1, 1]


@pytest.mark.parametrize("name", ["decision-tree-classifier", "binary boosting", "oblique"])
def test_headers_are_valid_in_cpp_and_by_other_compilers(name):
    program = read(example(name)[0])
    matrix = adversarial(program, 300)
    tried = 0
    for command in (["g++", "-std=c++17"], ["clang", "-std=c99"], ["clang++", "-std=c++11"]):
        if shutil.which(command[0]):
            for form in FORMS:
                text = to_c(program, form=form)
                same(text, program, matrix, compiler=[*command, *STRICT])
            tried += 1
    if not tried:
        pytest.skip("there is no other compiler")


def test_sums_are_not_fused_where_the_processor_could():
    program = read(example("oblique")[0])
    matrix = adversarial(program, N_ROWS)
    command = [COMPILER, "-std=gnu99", "-O3", "-march=native"]
    same(to_c(program), program, matrix, compiler=command)


def test_the_command_in_the_header_runs_the_self_test(tmp_path):
    text = to_c(example("binary tree")[0], name="my model")
    (tmp_path / "my.h").write_text(text)
    command = re.search(r"test: cc (.*) FILE -o test", text)[1].split()
    subprocess.run([COMPILER, *command, "my.h", "-o", "test"], cwd=tmp_path, check=True)
    assert subprocess.run(["./test"], cwd=tmp_path).returncode == 0
    broken = re.sub(r"(answers\[\] = \{\n  )", r"\g<1>7.0, ", text)
    (tmp_path / "my.h").write_text(broken)
    subprocess.run([COMPILER, *command, "my.h", "-o", "test"], cwd=tmp_path, check=True)
    assert subprocess.run(["./test"], cwd=tmp_path).returncode > 0


def test_the_header_of_the_guide_is_right(tmp_path):
    header = Path(__file__).parents[2] / "docs" / "export" / "adult.h"
    command = [*C99, "-DADULT_TEST", "-x", "c", header, "-o", "test"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "test"]).returncode == 0


def test_headers_call_no_function_of_a_library(tmp_path):
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("nm is not installed")
    for name in ("gradient-boosting-classifier", "all activations", "cascade of many"):
        text = to_c(example(name)[0])
        (tmp_path / "m.c").write_text(f"{text}\nint use(void) {{ return model_self_test(); }}\n")
        command = [COMPILER, "-std=c99", "-O1", "-ffreestanding", "-fno-stack-protector"]
        command += ["-DMODEL_TEST", "-Dmain=other", "-c", "m.c"]
        subprocess.run(command, cwd=tmp_path, check=True)
        undefined = subprocess.run([nm, "-u", "m.o"], cwd=tmp_path, capture_output=True, text=True)
        # Compilers may make these of loops, and want them even where nothing else is.
        names = set(re.findall(r"U (\w+)", undefined.stdout))
        assert names <= {"memcpy", "memset", "_GLOBAL_OFFSET_TABLE_"}


def test_two_models_fit_in_one_file(tmp_path):
    first, second = example("binary tree")[0], example("random-forest-regressor")[0]
    (tmp_path / "a.h").write_text(to_c(first, name="a"))
    (tmp_path / "b.h").write_text(to_c(second, name="b", form="goto"))
    (tmp_path / "both.c").write_text('#include "a.h"\n#include "b.h"\n#include "a.h"\n')
    subprocess.run([*C99, "-c", "both.c"], cwd=tmp_path, check=True)


def test_shared_nodes_are_labels_and_no_test_is_written_twice():
    model, _ = example("centred-tree-network-regressor")
    graph = read(model).graph
    text = to_c(model, form="goto")
    code = text[text.index("model_graph_0(") : text.index("model_leaf(")]
    assert code.count("if (") + code.count(" ? ") == graph.n_tests
    assert (graph.n_parents > 1).any() and "goto n" in code


def test_infinite_numbers_go_the_way_of_large_ones():
    program = read(example("decision-tree-classifier")[0])
    matrix = adversarial(program, 500)
    for f, sign in ((0, np.inf), (1, -np.inf)):
        matrix[::2, f] = sign
    for numbers in ("double", "float", "ranks"):
        rounded_rows = matrix.astype(np.float32).astype(float) if numbers == "float" else matrix
        same(to_c(program, numbers=numbers), program, rounded_rows, numbers=numbers)


@pytest.mark.parametrize("form", FORMS)
def test_text_of_the_table_is_never_code(form):
    program = read(hostile_model())
    text = to_c(program, name="int */ x; \n #error", form=form)
    assert text.isascii() and "??" not in text
    directives = re.findall(r"^#(\w+)", text, re.MULTILINE)
    assert set(directives) == {"ifndef", "ifdef", "if", "define", "include", "error", "endif"}
    assert directives.count("error") == 2  # its own
    same(text, program, adversarial(program, 500), compiler=C99)


@pytest.mark.parametrize("numbers", ["double", "int16", "ranks"])
def test_ten_thousand_categories_are_kept_apart(numbers):
    program = read(streets())
    matrix = np.append(np.arange(10_000.0), np.nan)[:, None]
    same(to_c(program, numbers=numbers), program, matrix, numbers=numbers)


def test_codes_that_no_category_has_are_missing():
    program = read(streets())
    matrix = np.array([[-1.0], [10_000.0], [1e300], [-np.inf], [0.5]])
    known = np.where(np.abs(matrix - 0.25) < 1, 0.0, np.nan)
    same(to_c(program), program, known, exact=matrix)


@pytest.mark.parametrize("threshold", [1e300, -1e300, 3.5e38, 1e-320, -1e-46, -0.0, 16777217.5])
def test_thresholds_beyond_single_precision_part_all_its_numbers_alike(threshold):
    program = read(hedgerow.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]))
    graph = replace(program.graph, threshold=np.array([threshold]))
    program = replace(program, steps=(replace(program.steps[0], graphs=(graph,)),))
    near = np.array([threshold, np.nextafter(threshold, 9e99), np.nextafter(threshold, -9e99)])
    with np.errstate(over="ignore"):
        single = near.astype(np.float32)
    edges = np.float32(
        [0, -0.0, 1e-45, -1e-45, 3.4028235e38, -3.4028235e38, np.inf, -np.inf, np.nan]
    )
    around = [np.nextafter(single, np.float32(side)) for side in (np.inf, -np.inf)]
    matrix = np.concatenate([single, *around, edges]).astype(float)[:, None]
    same(to_c(program, numbers="float"), program, matrix, numbers="float")
    same(to_c(program, numbers="ranks"), program, matrix, numbers="ranks")


def test_what_c_cannot_hold_is_refused_with_a_reason():
    cascade, _ = example("cascade of many")
    with pytest.raises(ExportError, match="numbers='double' or 'float'"):
        to_c(cascade, numbers="int16")
    with pytest.raises(ExportError, match="tests of weighted sums"):
        to_c(example("oblique")[0], numbers="ranks")
    with pytest.raises(ExportError, match="leaves='float'"):
        to_c(example("binary boosting")[0], leaves="uint8")
    with pytest.raises(ExportError, match="take leaves='uint8' or 'float'"):
        to_c(example("random-forest-classifier")[0], leaves="class")
    with pytest.raises(ValueError, match="'form' must be one of tables, goto, got 'trees'."):
        to_c(cascade, form="trees")
    with pytest.raises(ValueError, match="'numbers' must be one of"):
        to_c(cascade, numbers="int8")


def test_tables_stay_in_flash_on_avr(tmp_path):
    compiler = shutil.which("avr-gcc")
    if compiler is None:
        pytest.skip("avr-gcc is not installed")
    text = to_c(
        example("tree-in-tree-classifier")[0], numbers="int16", leaves="uint8", progmem=True
    )
    (tmp_path / "m.c").write_text(
        f"{text}\nint use(const int16_t *x) {{ return model_predict(x); }}\n"
    )
    command = [compiler, "-mmcu=atmega328p", "-Os", "-Wall", "-Werror", "-c", "m.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    sections = subprocess.run(
        ["avr-size", "-A", "m.o"], cwd=tmp_path, capture_output=True, text=True
    )
    sizes = dict(re.findall(r"^(\.\S+)\s+(\d+)", sections.stdout, re.MULTILINE))
    assert int(sizes[".progmem.data"]) > 0
    assert int(sizes.get(".rodata", 0)) == int(sizes[".data"]) == 0
