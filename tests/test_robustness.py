"""A fit can be stopped, survives a fork beside it, and its result travels between processes."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor

# Thousands of classes keep a tree busy for half a minute and more, a forest of millions for hours.
LONG_FITS = [
    "DecisionTreeClassifier(n_jobs=1)",
    "DecisionTreeClassifier(n_jobs=2)",
    "DecisionTreeClassifier(n_jobs=1, max_leaf_nodes=10**6)",
    "RandomForestClassifier(n_jobs=2, n_estimators=2_000_000)",
]
LONG_FIT = """
import signal
import numpy as np
from hedgerow import DecisionTreeClassifier, RandomForestClassifier

signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs begin with it ignored
rng = np.random.default_rng(0)
n_rows, n_classes = (500, 3) if "Forest" in {model!r} else (50_000, 3_000)
X, y = rng.random((n_rows, 20)), rng.integers(0, n_classes, n_rows)
print("starting", flush=True)
try:
    {model}.fit(X, y)
    print("finished")
except KeyboardInterrupt:
    DecisionTreeClassifier(n_jobs=2).fit(X[:100], y[:100])  # the next fit works
    print("interrupted")
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for one process on Windows")
@pytest.mark.parametrize("model", LONG_FITS)
def test_control_c_stops_a_long_fit(model):
    command = [sys.executable, "-c", LONG_FIT.format(model=model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "starting\n"
            time.sleep(1.0)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=20)
        finally:
            process.kill()
    assert out == "interrupted\n"


def threaded_fit(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.random((10_000, 8)), rng.integers(0, 3, 10_000)
    return DecisionTreeClassifier(max_depth=6, n_jobs=2).fit(X, y), X


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_forked_child_works_after_a_threaded_fit_in_its_parent():
    tree, X = threaded_fit(0)
    expected = tree.predict(X)
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe()

    def work():
        there.send((tree.predict(X), threaded_fit(0)[0].predict(X)))

    child = fork.Process(target=work)
    child.start()
    try:
        assert here.poll(60), "the child hangs"
        for predicted in here.recv():
            assert_array_equal(predicted, expected)
        child.join(60)
        assert child.exitcode == 0
    finally:
        child.kill()


READ = """
import pickle, sys
import numpy as np
with open(sys.argv[1], "rb") as file:
    models, X = pickle.load(file)
np.save(sys.argv[2], np.array([model.predict(X) for model in models]))
"""


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickle_predicts_the_same_in_another_process(tmp_path, protocol):
    rng = np.random.default_rng(2)
    X, y = rng.random((500, 4)), rng.integers(0, 3, 500)
    X[rng.random(X.shape) < 0.1] = np.nan
    models = [
        DecisionTreeClassifier().fit(X, y),
        DecisionTreeRegressor(max_leaf_nodes=9).fit(X, y),
        DecisionTreeClassifier(categorical_features=[0]).fit(np.round(X * 9), y),
    ]
    expected = np.array([model.predict(X) for model in models])
    (tmp_path / "models").write_bytes(pickle.dumps((models, X), protocol))
    command = [sys.executable, "-c", READ, tmp_path / "models", tmp_path / "out.npy"]
    subprocess.run(command, check=True, timeout=60)
    assert_array_equal(np.load(tmp_path / "out.npy"), expected)


def test_refitted_model_forgets_what_it_predicted_with():
    rng = np.random.default_rng(3)
    X = rng.random((100, 2))
    tree = DecisionTreeClassifier().fit(X, X[:, 0] > 0.5)
    tree.predict(X)
    assert_array_equal(tree.fit(X, X[:, 1] > 0.5).predict(X), X[:, 1] > 0.5)
