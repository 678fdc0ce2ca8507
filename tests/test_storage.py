import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import hedgerow
from hedgerow.comparison import MODELS
from hedgerow.storage import FORMAT

OURS = [
    (name, task)
    for name, model in MODELS.items()
    for task in model.tasks
    if model.library == "hedgerow"
]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=150),
            "kind": pd.Categorical(rng.choice(["hazel", "holly", "haw"], 150)),
            "cut": rng.random(150) < 0.5,
        }
    )
    frame.loc[::7, ["size", "kind"]] = None
    return frame


def targets(table, task):
    if task == "regression":
        return table["size"].fillna(0).to_numpy() + (table["kind"] == "holly")
    return np.where((table["kind"] == "hazel") | (table["size"] > 1), "cut", "keep")


@pytest.mark.parametrize(("name", "task"), OURS)
def test_every_model_comes_back_the_same(table, tmp_path, name, task):
    model = MODELS[name].make(task).fit(table, targets(table, task))
    path = tmp_path / "model.hedgerow"
    hedgerow.save(model, path)
    loaded = hedgerow.load(path)
    assert type(loaded) is type(model)
    assert str(loaded) == str(model)
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    assert loaded.n_splits_ == model.n_splits_
    first = path.read_bytes()
    hedgerow.save(loaded, path)
    assert path.read_bytes() == first  # nothing is lost or made up on the way


@pytest.mark.parametrize("labels", [[0, 1], [False, True], [0.0, 2.0], ["a", "b"], [-(2**40), 7]])
def test_labels_keep_their_type(tmp_path, labels):
    y = np.array(labels * 10)
    model = hedgerow.DecisionTreeClassifier().fit(np.arange(20.0)[:, None], y)
    hedgerow.save(model, tmp_path / "m")
    classes = hedgerow.load(tmp_path / "m").classes_
    assert classes.dtype == model.classes_.dtype
    assert classes.tolist() == sorted(labels)


def test_a_file_is_small(table, tmp_path):
    model = hedgerow.DecisionTreeClassifier(max_depth=3).fit(table, targets(table, "c"))
    hedgerow.save(model, tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 3000


def test_parts_of_other_libraries_are_refused_by_name(table, tmp_path):
    bag = hedgerow.BaggingClassifier(LogisticRegression(), 2).fit(np.eye(8), [0, 1] * 4)
    with pytest.raises(TypeError, match="sklearn.linear_model.*LogisticRegression, which a model"):
        hedgerow.save(bag, tmp_path / "m")
    with pytest.raises(TypeError, match="only hedgerow's models can be saved"):
        hedgerow.save(LogisticRegression(), tmp_path / "m")
    with pytest.raises(NotFittedError):
        hedgerow.save(hedgerow.DecisionTreeClassifier(), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "tree.hedgerow"
    tree = hedgerow.DecisionTreeClassifier().fit(np.arange(200.0)[:, None], np.arange(200) % 3)
    hedgerow.save(tree, path)
    return path


def rewrite(path, change):
    """The file with its JSON changed."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    contents = json.loads(entries["model.json"])
    change(contents)
    entries["model.json"] = json.dumps(contents).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)


def test_another_format_is_refused(saved):
    rewrite(saved, lambda contents: contents.update(format=FORMAT + 1))
    with pytest.raises(ValueError, match=f"tree.hedgerow has format {FORMAT + 1}, this version"):
        hedgerow.load(saved)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("os:system", "a model file cannot hold objects of os"),
        ("builtins:eval", "a model file cannot hold objects of builtins"),
        ("hedgerow.storage:json", "hedgerow.storage has no class json"),
        ("hedgerow.storage:Path", "hedgerow.storage has no class Path"),
        ("hedgerow.tree.cart:Elm", "this version of hedgerow does not know Elm"),
    ],
)
def test_a_file_can_name_only_classes_of_hedgerow(saved, name, message):
    rewrite(saved, lambda contents: contents.update(model={"$object": [name, "true"]}))
    with pytest.raises(ValueError, match=message):
        hedgerow.load(saved)


def test_pickled_arrays_are_not_read(saved):
    with zipfile.ZipFile(saved, "a") as archive, archive.open("99.npy", "w") as entry:
        np.save(entry, np.array([print], dtype=object), allow_pickle=True)
    rewrite(saved, lambda contents: contents.update(model={"$array": 99}))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        hedgerow.load(saved)


@pytest.mark.parametrize("keep", [0, 10, 300, -30])
def test_a_damaged_file_is_named(saved, keep):
    saved.write_bytes(saved.read_bytes()[:keep])
    with pytest.raises(ValueError, match="tree.hedgerow is no model file of hedgerow, or it is"):
        hedgerow.load(saved)


def test_a_graph_that_points_nowhere_is_refused(saved):
    with zipfile.ZipFile(saved) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        arrays = {name: np.load(archive.open(name)) for name in names}
        text = archive.read("model.json")
    with zipfile.ZipFile(saved, "w") as archive:
        archive.writestr("model.json", text)
        for name, array in arrays.items():
            with archive.open(name, "w") as entry:
                np.save(entry, array + 10_000 if array.dtype == np.int32 else array)
    with pytest.raises(ValueError, match="graph|node|child|feature"):
        hedgerow.load(saved)


def test_no_file_is_an_error_of_its_own(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no model file"):
        hedgerow.load(tmp_path / "nothing")
