"""Checkpoints: a killed fit goes on, and what is in the files is whole or refused."""

import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

import hedgerow
from hedgerow import CascadeForestClassifier, RandomForestClassifier
from hedgerow.cascade import files
from hedgerow.cascade.layers import Layer

X, Y = load_digits(return_X_y=True)
X, Y = X[:300], Y[:300]


def small(**given):
    settings = {"n_forests": 1, "n_trees": 8, "cv": 3, "max_layers": 3, "keep": "all"}
    return CascadeForestClassifier(**settings | {"n_tolerance": 3, "random_state": 0} | given)


KILLED = """
    import os, signal, sys
    from sklearn.datasets import load_digits
    from hedgerow import CascadeForestClassifier

    X, y = load_digits(return_X_y=True)
    members_done = 0

    def kill_in_the_second_layer(done, n):
        global members_done
        members_done += 1
        if members_done == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    CascadeForestClassifier(
        n_forests=1, n_trees=8, cv=3, max_layers=3, keep="all", n_tolerance=3, random_state={seed},
        checkpoint=sys.argv[1], callback=kill_in_the_second_layer,
    ).fit(X[:300], y[:300])
"""


def layers_in(folder):
    return sorted(path.name for path in (folder / "layers").glob("layer_*"))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_fit_killed_in_the_middle_of_a_layer_goes_on_to_the_same_model(tmp_path):
    program = textwrap.dedent(KILLED.format(seed=0))
    ended = subprocess.run([sys.executable, "-c", program, tmp_path], timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert layers_in(tmp_path) == ["layer_1.hedgerow"]
    before = (tmp_path / "layers" / "layer_1.hedgerow").stat().st_mtime_ns
    heard = []
    resumed = small(checkpoint=tmp_path, callback=lambda *now: heard.append(now)).fit(X, Y)
    assert len(heard) == 4  # two layers of two members; the first was read
    assert (tmp_path / "layers" / "layer_1.hedgerow").stat().st_mtime_ns == before
    at_once = small().fit(X, Y)
    assert resumed.layer_scores_ == at_once.layer_scores_
    assert_array_equal(resumed.predict_proba(X), at_once.predict_proba(X))


@pytest.mark.parametrize(
    "given",
    [
        {"screening": 0.5},
        {"validation_fraction": 0.3},
        {"class_vectors": "out_of_bag", "keep": "best", "final_estimator": GaussianNB()},
        {"estimators": [RandomForestClassifier(5), GaussianNB()]},
    ],
    ids=lambda given: next(iter(given)),
)
def test_interrupted_fit_of_any_kind_goes_on_to_the_same_model(tmp_path, given):
    calls = []

    def stop(done, n):
        calls.append(done)
        if len(calls) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small(checkpoint=tmp_path, callback=stop, **given).fit(X, Y)
    resumed = small(checkpoint=tmp_path, **given).fit(X, Y)
    assert_array_equal(resumed.predict_proba(X), small(**given).fit(X, Y).predict_proba(X))


def test_seed_of_the_first_fit_is_kept(tmp_path):
    first = small(checkpoint=tmp_path, random_state=None, max_layers=2).fit(X, Y)
    again = small(checkpoint=tmp_path, random_state=None, max_layers=2).fit(X, Y)
    assert_array_equal(first.predict_proba(X), again.predict_proba(X))


def test_layers_on_disk_predict_the_same_and_leave_nothing_behind(tmp_path):
    in_memory = small().fit(X, Y)
    on_disk = small(storage="disk").fit(X, Y)
    folder = on_disk.layers_[0].path.parent
    assert len(list(folder.glob("layer_*"))) == 3
    expected = in_memory.predict_proba(X)
    assert_array_equal(on_disk.predict_proba(X), expected)
    assert on_disk.n_trees_ == in_memory.n_trees_
    travelled = pickle.loads(pickle.dumps(on_disk))
    shorter = on_disk.subset(1)
    del on_disk
    assert_array_equal(shorter.predict_proba(X), in_memory.subset(1).predict_proba(X))
    del shorter
    assert not folder.exists()
    assert_array_equal(travelled.predict_proba(X), expected)
    kept = small(storage="disk", checkpoint=tmp_path).fit(X, Y)
    assert kept.layers_[0].path.is_relative_to(tmp_path)
    assert_array_equal(kept.predict_proba(X), expected)
    for path in tmp_path.rglob("layer_*"):
        path.unlink()
    with pytest.raises(OSError, match="A layer of this model is in .* cannot be read"):
        kept.predict(X)


def flip_a_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def change_list(change):
    def damage(folder):
        listed = json.loads((folder / files.LIST).read_text())
        change(listed)
        (folder / files.LIST).write_text(json.dumps(listed))

    return damage


def renamed(entry):
    return {name.replace("layer_1", "../layer_1"): checksum for name, checksum in entry.items()}


def move_out(folder):
    """A layer beside the folder, listed with its path."""
    (folder / "layer_1.hedgerow").rename(folder.parent / "layer_1.hedgerow")
    change_list(lambda listed: listed["layers"].insert(0, renamed(listed["layers"].pop(0))))(folder)


DAMAGES = {
    "a changed byte": lambda folder: flip_a_byte(folder / "layer_1.hedgerow"),
    "a cut file": lambda folder: os.truncate(folder / "layer_2.hedgerow", 1000),
    "a missing file": lambda folder: (folder / "layer_1.hedgerow").unlink(),
    "a broken list": lambda folder: (folder / files.LIST).write_text("{"),
    "a list of something else": lambda folder: (folder / files.LIST).write_text("[]"),
    "a changed vector": lambda folder: flip_a_byte(folder / "vectors_1.npy"),
    "no vectors": lambda folder: (folder / "vectors_1.npy").unlink(),
    "a number for a layer": change_list(lambda listed: listed["layers"].insert(0, 1)),
    "a number for a checksum": change_list(
        lambda listed: listed["layers"][0].update({"layer_1.hedgerow": 1})
    ),
    "a word for a seed": change_list(lambda listed: listed.update(seed="x")),
    "no list of layers": change_list(lambda listed: listed.update(layers=7)),
    "a file elsewhere": move_out,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_checkpoint_is_refused_and_can_be_started_anew(tmp_path, damage):
    expected = small(checkpoint=tmp_path, max_layers=2).fit(X, Y).predict_proba(X)
    DAMAGES[damage](tmp_path / "layers")
    with pytest.raises(ValueError, match=r"is damaged \(.*\): give resume=False to delete it"):
        small(checkpoint=tmp_path, max_layers=2).fit(X, Y)
    anew = small(checkpoint=tmp_path, max_layers=2, resume=False).fit(X, Y)
    assert_array_equal(anew.predict_proba(X), expected)


def test_checkpoint_of_another_fit_or_format_is_refused(tmp_path):
    small(checkpoint=tmp_path, max_layers=2).fit(X, Y)
    for other in (small(checkpoint=tmp_path, n_trees=9), small(checkpoint=tmp_path)):
        with pytest.raises(ValueError, match="belongs to another fit"):
            other.fit(X, Y)
    with pytest.raises(ValueError, match="belongs to another fit"):
        small(checkpoint=tmp_path, max_layers=2).fit(X * 2, Y)
    listed = tmp_path / "layers" / files.LIST
    listed.write_text(json.dumps(json.loads(listed.read_text()) | {"format": 99}))
    with pytest.raises(ValueError, match="in a format that this version does not know"):
        small(checkpoint=tmp_path, max_layers=2).fit(X, Y)


FULL = """
    import resource, sys
    from sklearn.datasets import load_digits
    from hedgerow import CascadeForestClassifier

    X, y = load_digits(return_X_y=True)
    cascade = CascadeForestClassifier(
        n_forests=1, n_trees=8, cv=3, max_layers=3, keep="all", n_tolerance=3, random_state=0,
        checkpoint=sys.argv[1],
        callback=lambda done, n: heard.append(done) or (
            len(heard) == 4 and resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        ),
    )
    heard = []
    try:
        cascade.fit(X[:300], y[:300])
    except OSError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of a file's size is Linux's")
def test_disk_that_fills_up_leaves_whole_layers_behind(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FULL), tmp_path],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "layer_2.hedgerow could not be written to" in run.stdout
    assert "The 1 layers before it are whole" in run.stdout
    left = sorted(path.name for path in (tmp_path / "layers").iterdir())
    assert left == ["cascade.json", "layer_1.hedgerow", "vectors_1.npy"]
    resumed = small(checkpoint=tmp_path).fit(X, Y)
    assert_array_equal(resumed.predict_proba(X), small().fit(X, Y).predict_proba(X))


def test_state_of_a_cascade_on_disk_holds_its_layers():
    on_disk, in_memory = small(storage="disk").fit(X, Y), small().fit(X, Y)
    state = on_disk.__getstate__()
    assert [type(layer) for layer in state["layers_"]] == [Layer] * 3
    assert all(isinstance(layer, files.StoredLayer) for layer in on_disk.layers_)
    assert state.keys() == in_memory.__getstate__().keys()


def test_saved_cascade_on_disk_is_whole(tmp_path):
    cascade = small(storage="disk").fit(X, Y)
    expected = cascade.predict_proba(X)
    hedgerow.save(cascade, tmp_path / "cascade.hedgerow")
    del cascade
    loaded = hedgerow.load(tmp_path / "cascade.hedgerow")
    assert_array_equal(loaded.predict_proba(X), expected)
    assert all(isinstance(layer, Layer) for layer in loaded.layers_)


def test_forests_in_a_checkpoint_are_read_without_pickle(tmp_path, monkeypatch):
    small(checkpoint=tmp_path).fit(X, Y)

    def refuse(*arguments):
        raise AssertionError("unpickled")

    monkeypatch.setattr(files.pickle, "loads", refuse)
    small(checkpoint=tmp_path).fit(X, Y).predict(X)
    for path in (tmp_path / "layers").glob("vectors_*"):
        assert np.load(path, allow_pickle=False).shape == (300, 2, 10)


def test_a_pickle_in_the_checkpoint_of_forests_is_not_read(tmp_path, monkeypatch):
    both = [RandomForestClassifier(5), GaussianNB()]
    small(checkpoint=tmp_path, estimators=both, max_layers=1).fit(X, Y)
    path = tmp_path / "layers" / "layer_1.hedgerow"
    stored = files.StoredLayer(files.LayerFiles(None, "", 0, False), "", pickles=False)
    stored.path = path
    monkeypatch.setattr(files.pickle, "loads", lambda data: pytest.fail("unpickled"))
    with pytest.raises(OSError, match="knows no 'pickle'"):
        stored.load()
