import io
import json
import re
import struct
import subprocess
import sys
import tracemalloc
import zlib
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from small_models import answers, fitted, numbers, table, targets

import hedgerow
from hedgerow._engine import DecisionGraph, Forest
from hedgerow._records import container
from hedgerow._table import Schema
from hedgerow.datasets import load_data, read_table
from hedgerow.storage import MODELS

FILES = Path(__file__).parent / "files"
DOCS = Path(__file__).parents[1] / "docs"
HEADER = 40


@pytest.fixture(scope="module", params=MODELS)
def model_and_table(request):
    return fitted(request.param)


def same(a, b):
    """Whether two values are equal, bit by bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return (
            a.dtype == b.dtype and a.shape == b.shape and all(map(same, a.flat, b.flat))
            if (a.dtype == object)
            else a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        )
    if isinstance(a, DecisionGraph):
        return same(a.arrays(), b.arrays())
    if isinstance(a, Forest):
        return same(a.__getstate__(), b.__getstate__())
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return struct.pack("<d", a) == struct.pack("<d", b)
    if hasattr(a, "__dict__") and not isinstance(a, Schema | type):
        return same(public(a), public(b))
    return a == b


def public(value):
    left_out = ("n_jobs", "checkpoint")
    return {k: v for k, v in sorted(vars(value).items()) if k[0] != "_" and k not in left_out}


def test_every_model_comes_back_the_same(model_and_table, tmp_path):
    model, X = model_and_table
    path = tmp_path / "model.hedgerow"
    hedgerow.save(model, path)
    loaded = hedgerow.load(path)
    assert same(loaded, model)
    assert repr(loaded) == repr(model)
    for method, values in answers(model, X).items():
        np.testing.assert_array_equal(getattr(loaded, method)(X), values)
    first = path.read_bytes()
    hedgerow.save(loaded, path)
    assert path.read_bytes() == first  # nothing is lost or made up on the way


@pytest.mark.parametrize("name", MODELS)
def test_a_file_is_the_same_for_any_number_of_threads(name, tmp_path):
    files = []
    for n_jobs in (1, 3):
        model, _ = fitted(name)
        if "n_jobs" not in model.get_params():
            pytest.skip("it has no n_jobs")
        model, _ = fitted(name, n_jobs=n_jobs)
        hedgerow.save(model, tmp_path / "m")
        files.append((tmp_path / "m").read_bytes())
    assert files[0] == files[1]


def test_every_model_has_a_record():
    estimators = {
        value
        for name in hedgerow.__all__
        if isinstance(value := getattr(hedgerow, name), type) and hasattr(value, "fit")
    }
    assert set(MODELS.values()) == estimators
    for name, cls in MODELS.items():
        assert name.replace("-", "") == cls.__name__.lower()


@pytest.mark.parametrize("name", MODELS)
def test_golden_files_are_still_read(name):
    loaded = hedgerow.load(FILES / f"v1/{name}.hedgerow")
    expected = json.loads((FILES / f"v1/{name}.json").read_text())
    parameters = {key: repr(v) for key, v in loaded.get_params(deep=False).items()}
    stored = expected.pop("parameters")
    defaults = type(loaded)().get_params(deep=False)
    younger = {key: repr(v) for key, v in defaults.items() if key not in stored}
    assert parameters == stored | younger
    X = numbers() if hasattr(loaded, "shape") else table()
    for method, values in expected.items():
        found = np.asarray(getattr(loaded, method)(X[: len(values)]))
        if found.dtype.kind == "f":
            np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-12)
        else:
            assert found.tolist() == values


def test_a_golden_model_still_reads_a_raw_table():
    folder = FILES / "v1/reading"
    expected = json.loads((folder / "expected.json").read_text())
    model = hedgerow.load(folder / "model.hedgerow")
    frame = read_table(folder / "raw.csv", reading=model.reading_).frame
    assert list(model.feature_names_in_) == expected["features"]
    assert model.predict(frame[expected["features"]]).tolist() == expected["predict"]


def test_a_forged_reading_is_refused(tmp_path):
    model = hedgerow.load(FILES / "v1/reading/model.hedgerow")
    column = model.reading_.columns[0]
    for odd in ({"kind": "riddle"}, {"decimal": ";"}, {"form": "%n"}, {"parts": ("age",)}):
        forged = copy(column)
        vars(forged).update(odd)
        model.reading_ = replace(model.reading_, columns=(forged,))
        hedgerow.save(model, tmp_path / "forged.hedgerow")
        with pytest.raises(ValueError, match="is damaged or no model file of hedgerow"):
            hedgerow.load(tmp_path / "forged.hedgerow")


def test_the_reader_in_the_docs_needs_no_hedgerow(tmp_path):
    code = re.search(r"```python\n(import json.*?)```", (DOCS / "format.md").read_text(), re.S)[1]
    (tmp_path / "reader.py").write_text(code)
    X = table()
    loaded = {
        name: hedgerow.load(FILES / f"v1/{name}.hedgerow")
        for name in (
            "decision-tree-classifier",
            "decision-tree-regressor",
            "tree-in-tree-classifier",
        )
    }
    rows = {name: model.schema_.encode(model, X).tolist() for name, model in loaded.items()}
    script = f"""
import json, sys
from pathlib import Path
from reader import read, value_of
for path in sorted(Path({str(FILES / "v1")!r}).glob("*.hedgerow")):
    assert read(path)[0] == path.stem
found = {{}}
for name, rows in json.load(open("rows.json")).items():
    fields = read(Path({str(FILES / "v1")!r}) / f"{{name}}.hedgerow")[1]["fitted"]
    found[name] = [list(map(float, value_of(fields["graph_"][1], row))) for row in rows]
assert "hedgerow" not in sys.modules
print(json.dumps(found))
"""
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    for name, values in json.loads(run.stdout).items():
        np.testing.assert_allclose(values, loaded[name].values_of_encoded(np.array(rows[name])))


@pytest.mark.parametrize(
    "labels",
    [[0, 1], [False, True], [0.0, 2.0], ["a", "bcd"], [-(2**40), 7], ["\ud800", "ß"]],
)
def test_labels_keep_their_type(tmp_path, labels):
    for dtype in [None, object] if isinstance(labels[0], str) else [None]:
        y = np.array(labels * 10, dtype=dtype)
        model = hedgerow.DecisionTreeClassifier().fit(np.arange(20.0)[:, None], y)
        hedgerow.save(model, tmp_path / "m")
        assert same(hedgerow.load(tmp_path / "m").classes_, model.classes_)


def test_weights_and_entropies_are_kept_bit_by_bit(tmp_path):
    X, rng = numbers(), np.random.default_rng(0)
    y = targets(hedgerow.DecisionTreeClassifier(), X)
    for weights in (None, rng.integers(0, 3, len(X)), rng.random(len(X)), np.full(len(X), 1e-300)):
        for settings in ({}, {"criterion": "entropy"}, {"class_weight": "balanced"}):
            model = hedgerow.DecisionTreeClassifier(**settings).fit(X, y, weights)
            hedgerow.save(model, tmp_path / "m")
            assert same(hedgerow.load(tmp_path / "m"), model)


def test_a_graph_of_forty_splits_is_small(tmp_path, data_folder, monkeypatch):
    monkeypatch.setenv("HEDGEROW_DATA", str(data_folder))
    data = load_data("adult")
    model = hedgerow.TreeInTreeClassifier(max_splits=40).fit(data.X, data.y)
    hedgerow.save(model, tmp_path / "m")
    assert (tmp_path / "m").stat().st_size <= 2500
    assert same(hedgerow.load(tmp_path / "m"), model)


def test_an_estimator_that_is_used_twice_is_written_twice(tmp_path):
    tree = hedgerow.DecisionTreeClassifier(max_depth=2)
    model = hedgerow.CrossValidatedTreeClassifier([("a", tree), ("b", tree)], random_state=0)
    X = numbers()
    hedgerow.save(model.fit(X, targets(model, X)), tmp_path / "m")
    loaded = hedgerow.load(tmp_path / "m")
    assert same(loaded, model)
    assert loaded.estimator_.graph_ is loaded.graph_

    def share(description):
        candidates = description["records"][-1][1]["parameters"]["candidates"]
        candidates[1]["tuple"][1] = candidates[0]["tuple"][1]

    changed(tmp_path / "m", share)
    refused(tmp_path / "m", "used twice")


def test_parts_are_not_nested_without_end(saved):
    def bag(inner):
        return hedgerow.BaggingClassifier(inner, 1, random_state=0)

    X, model = numbers(), bag(None)
    for _ in range(4):
        model = bag(model)
    hedgerow.save(model.fit(X, targets(model, X)), saved)
    np.testing.assert_array_equal(hedgerow.load(saved).predict(X), model.predict(X))
    unfitted = bag(None).get_params(deep=False)
    encoded = {key: value for key, value in unfitted.items() if key != "n_jobs"}
    chain = [
        ["bagging-classifier", {"parameters": encoded | {"estimator": {"record": i - 1}}}]
        for i in range(500)
    ]
    chain[0][1]["parameters"]["estimator"] = None
    saved.write_bytes(rewrap(json.dumps({"arrays": [], "records": chain}).encode()))
    refused(saved, "nested too deep")


def test_parts_of_other_libraries_are_refused_by_name(tmp_path):
    bag = hedgerow.BaggingClassifier(LogisticRegression(), 2).fit(np.eye(8), [0, 1] * 4)
    with pytest.raises(TypeError, match="sklearn.linear_model.*LogisticRegression, which a model"):
        hedgerow.save(bag, tmp_path / "m")
    with pytest.raises(TypeError, match="only hedgerow's models can be saved"):
        hedgerow.save(LogisticRegression(), tmp_path / "m")
    with pytest.raises(NotFittedError):
        hedgerow.save(hedgerow.DecisionTreeClassifier(), tmp_path / "m")
    times = np.array(["2020", "2021"], dtype="datetime64[Y]")
    tree = hedgerow.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    tree.classes_ = times
    with pytest.raises(TypeError, match=r"classes_ is an array of datetime64\[Y\], which a model"):
        hedgerow.save(tree, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_a_cascade_on_disk_is_saved_whole(tmp_path):
    X = table()
    settings = {"n_trees": 3, "max_layers": 2, "random_state": 0}
    model = hedgerow.CascadeForestClassifier(storage="disk", **settings)
    y = targets(model, X)
    model.fit(X, y)
    hedgerow.save(model, tmp_path / "m")
    expected = model.predict_proba(X)
    del model  # and its folder
    np.testing.assert_array_equal(hedgerow.load(tmp_path / "m").predict_proba(X), expected)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "tree.hedgerow"
    tree = hedgerow.DecisionTreeClassifier().fit(np.arange(200.0)[:, None], np.arange(200) % 3)
    hedgerow.save(tree, path)
    return path


def rewrap(content, text_size=None, size=None, how=0, number=1, version=b"0.1.0"):
    """A file with a right checksum around some content."""
    size = len(content) if size is None else size
    text_size = len(content) if text_size is None else text_size
    head = struct.pack("<8sHHIQ16s", b"hedgerow", number, how, text_size, size, version)
    body = zlib.compress(content, 9, wbits=-15) if how else content
    return head + body + struct.pack("<I", zlib.crc32(head + body))


def changed(path, change, **arguments):
    """The file with its description changed, and a right checksum."""
    data = path.read_bytes()
    text_size = struct.unpack_from("<I", data, 12)[0]
    content = zlib.decompress(data[HEADER:-4], wbits=-15)
    description = json.loads(content[:text_size])
    entries = description["arrays"]
    arrays, at = [], text_size
    for _, stored, shape in entries:
        at += -at % int(stored[1])
        end = at + int(stored[1]) * int(np.prod(shape))
        arrays.append(content[at:end])
        at = end
    description = change(description) or description
    text = json.dumps(description).encode()
    content = text
    for (_, stored, _), array in zip(entries, arrays, strict=True):
        content += bytes(-len(content) % int(stored[1])) + array
    path.write_bytes(rewrap(content, len(text), **arguments))


def refused(path, words=""):
    pattern = f"^{path.name} is damaged or no model file of hedgerow: .*{words}"
    with pytest.raises(ValueError, match=pattern):
        hedgerow.load(path)


def test_another_format_is_refused_and_says_who_wrote_it(saved):
    changed(saved, lambda description: None, number=2, version=b"3.1.4")
    with pytest.raises(
        ValueError,
        match="^tree.hedgerow has format 2, this version of hedgerow reads format 1; it was "
        "written by hedgerow 3.1.4.$",
    ):
        hedgerow.load(saved)


def test_what_a_later_version_added_is_refused_and_says_so(saved):
    def add(description):
        description["records"][-1][1]["fitted"]["leaves_"] = 5

    changed(saved, add, version=b"9.0.1")
    refused(saved, "has no attribute 'leaves_'. It was written by hedgerow 9.0.1, a later version")


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (["os:system", {}], "knows no 'os:system'"),
        (["hedgerow.cascade.files:StoredLayer", {}], "knows no 'hedgerow.cascade.files:Stored"),
        (["DecisionTreeClassifier", {}], "knows no 'DecisionTreeClassifier'"),
        (["schema", {"n_features": 1, "names": None, "categories": [], "missing": []}], "no model"),
        (["decision-tree-classifier", {}], "lacks 'parameters'"),
        (["decision-tree-classifier", {"parameters": {"bark": 1}}], "has no parameter 'bark'"),
        (["decision-tree-classifier", []], "is none"),
        ("decision-tree-classifier", "is none"),
        (5, "is none"),
    ],
)
def test_a_file_can_name_only_records_of_the_list(saved, record, words):
    saved.write_bytes(rewrap(json.dumps({"arrays": [], "records": [record]}).encode()))
    refused(saved, words)


def test_a_model_that_was_not_fitted_is_no_file(saved):
    def unfit(description):
        del description["records"][-1][1]["fitted"]
        description["records"] = description["records"][-1:]
        description["arrays"] = []

    data = saved.read_bytes()
    content = zlib.decompress(data[HEADER:-4], wbits=-15)
    description = json.loads(content[: struct.unpack_from("<I", data, 12)[0]])
    unfit(description)
    saved.write_bytes(rewrap(json.dumps(description).encode()))
    refused(saved, "its model was not fitted")


def at_the_model(**fields):
    def change(description):
        description["records"][-1][1]["fitted"].update(fields)

    return change


def without(name):
    def change(description):
        del description["records"][-1][1]["fitted"][name]

    return change


def parameter(**fields):
    def change(description):
        description["records"][-1][1]["parameters"].update(fields)

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (at_the_model(n_features_in_=2), ""),
        (at_the_model(n_features_in_="1"), "'n_features_in_' of its .* is a str"),
        (at_the_model(n_features_in_=True), "is a bool"),
        (at_the_model(n_classes_=4), "'classes_' of its DecisionTreeClassifier has another size"),
        (at_the_model(classes_={"texts": [[3], ["a", "b", "c"]]}), "belongs to nothing"),
        (at_the_model(graph_=None), "'graph_' of its DecisionTreeClassifier is a NoneType"),
        (at_the_model(_packing=1), "no attribute '_packing'"),
        (at_the_model(__class__=1), "no attribute '__class__'"),
        (at_the_model(fit=1), "no attribute 'fit'"),
        (without("schema_"), "lacks 'schema_'"),
        (without("n_outputs_"), "lacks 'n_outputs_'"),
        (parameter(criterion="hinge"), "'criterion' must be one of"),
        (parameter(max_depth=-3), "'max_depth' must be"),
        (parameter(n_jobs=4), "n_jobs"),
        (parameter(elm=4), "'elm'"),
        (parameter(max_depth={"record": 99}), "refers to record 99"),
        (parameter(max_depth={"record": -1}), "refers to record -1"),
        (parameter(max_depth={"array": 0}), ""),
        (parameter(max_depth={"pickle": ["gASVBQAAAAAAAABLBC4="]}), "unknown kind 'pickle'"),
        (parameter(max_depth={"float": "1e5"}), "number"),
        (parameter(max_depth={"tuple": 5}), ""),
        (parameter(max_depth={"dict": [[[], 1]]}), ""),
        (parameter(max_depth={"scalar": ["O", 5]}), "unknown type"),
        (parameter(max_depth={"scalar": ["V8", 5]}), "unknown type"),
        (lambda description: description.update(more=1), "more than records and arrays"),
        (lambda description: description.update(records=[]), "no records"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(saved, change, words):
    changed(saved, change)
    refused(saved, words)


@pytest.mark.parametrize(
    ("field", "value"),
    [("n_features", 0), ("n_features", 2), ("n_features", -1), ("n_features", 2**40),
     ("n_outputs", 2), ("n_outputs", 0), ("n_outputs", 1.0), ("value_rule", "none"),
     ("impurity_rule", "none"), ("format", 1)],
)  # fmt: skip
def test_a_graph_that_is_none_is_refused(saved, field, value):
    def change(description):
        description["records"][0][1][field] = value

    changed(saved, change)
    refused(saved)


@pytest.mark.parametrize(
    "entry",
    [["f8", "f8", [10**9]], ["f8", "f8", [2**62]], ["f8", "f8", [-5]], ["f8", "f8", [-1, -200]],
     ["f8", "f8", [2**63, 2**63]], ["f8", "u1", [0, 10**30]], ["O", "O", [1]], ["V8", "V8", [1]],
     ["U5", "U5", [1]], ["f8", "f8", [1] * 60], ["u1", "f8", [1]], ["f8", "f8", "abc"], [], 5,
     ["f8", "f8", [True]], ["f8", "f8", [1], "K"], [["f8"], "f8", [1]]],
)  # fmt: skip
def test_an_array_that_is_none_is_refused(saved, entry):
    text = json.dumps({"arrays": [entry], "records": [["schema", {}]]}).encode()
    saved.write_bytes(rewrap(text + bytes(200), len(text)))
    refused(saved)


@pytest.mark.parametrize(
    "text",
    [b"", b"null", b"[1]", b"{", b"\xff\xfe", b'{"arrays":[],"records":NaN}',
     b'{"arrays":[],"arrays":[],"records":[]}', b'{"arrays":[],"records":[1e999]}',
     b'{"arrays":[],"records":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
     b'{"arrays":[],"records":' + b"[" * 900 + b"]" * 900 + b"}",
     b'{"arrays":[],"records":[' + b"9" * 100_000 + b"]}"],
    ids=range(11),
)  # fmt: skip
def test_a_description_that_is_none_is_refused(saved, text):
    saved.write_bytes(rewrap(text))
    refused(saved)


def test_every_flipped_bit_and_every_cut_is_found(saved):
    data = saved.read_bytes()
    for place in range(0, len(data), 7):
        saved.write_bytes(data[:place])
        refused(saved)
        bits = bytearray(data)
        bits[place] ^= 1 << place % 8
        saved.write_bytes(bytes(bits))
        refused(saved)
    saved.write_bytes(data + b"\0")
    refused(saved, "checksum")


def test_a_small_file_takes_little_memory(saved):
    bomb = zlib.compress(bytes(300_000_000), 9, wbits=-15)
    tracemalloc.start()
    for size in (10**9, 2**62):
        for how in (0, 1, 7):
            saved.write_bytes(rewrap(bytes(1000), 2, size=size, how=how))
            refused(saved)
    head = struct.pack("<8sHHIQ16s", b"hedgerow", 1, 1, 2, 300_000_000, b"")
    saved.write_bytes(head + bomb + struct.pack("<I", zlib.crc32(head + bomb)))
    refused(saved, "larger than it can be")
    head = struct.pack("<8sHHIQ16s", b"hedgerow", 1, 1, 2, 1000, b"")
    saved.write_bytes(head + bomb + struct.pack("<I", zlib.crc32(head + bomb)))
    refused(saved, "compressed part")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000


def written(arrays):
    file = io.BytesIO()
    container.write(file, {"records": []}, arrays, "1.0")
    return file.getvalue()


def test_content_that_shrinks_too_well_is_stored_as_it_is():
    array = np.zeros(10**6)
    array[0] = 0.1
    data = written([array])
    assert len(data) > array.nbytes
    assert same(container.read(data).arrays[0], array)
    assert len(written([array[:1000]])) < 300


@pytest.mark.parametrize(
    "array",
    [
        np.array([-0.0, 1.0]), np.array([np.nan, 3.0]), np.array([1e-320, 2.0**60]),
        np.array([0.1, np.inf]), np.arange(300.0), np.arange(-3, 3), np.array([2**63], np.uint64),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(6)[::2], np.zeros((0, 3)),
        np.array(1.5), np.array([True, False]), np.array([65504.0, 6e-8]),
        np.arange(3, dtype=">i4"), np.array([1.5], np.float16),
    ],
)  # fmt: skip
def test_arrays_come_back_bit_by_bit(array):
    found = container.read(written([array])).arrays[0]
    assert found.tobytes() == array.astype(array.dtype.newbyteorder("=")).tobytes()
    assert found.shape == array.shape
    assert found.dtype == array.dtype.newbyteorder("=")
    assert found.flags.writeable
    if array.flags.contiguous:
        assert found.flags.f_contiguous == array.flags.f_contiguous


def test_no_file_is_an_error_of_its_own(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no model file"):
        hedgerow.load(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError, match="there is no model file"):
        hedgerow.load(tmp_path)
