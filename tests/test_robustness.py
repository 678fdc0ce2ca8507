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
from numpy.testing import assert_allclose, assert_array_equal

import hedgerow
from hedgerow import (
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
)

# Thousands of classes keep a tree busy for half a minute and more, a forest of millions for hours.
LONG_FITS = [
    "DecisionTreeClassifier(n_jobs=1)",
    "DecisionTreeClassifier(n_jobs=2)",
    "DecisionTreeClassifier(n_jobs=1, max_leaf_nodes=10**6)",
    "RandomForestClassifier(n_jobs=2, n_estimators=1_000_000)",
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
            assert "starting\n" in iter(process.stdout.readline, "")  # after what a build says
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


FEW_THREADS = """
import resource
import numpy as np
import hedgerow

X = np.random.default_rng(0).normal(size=(1000, 4))
y = (X[:, 0] > 0).astype(int)
tree = hedgerow.DecisionTreeClassifier(n_jobs=200)  # loads what it needs before memory is short
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20),) * 2)  # stacks of some 20 threads
print(tree.fit(X, y).score(X, y))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by Linux's means")
def test_threads_that_cannot_be_started_are_done_without():
    done = subprocess.run(
        [sys.executable, "-c", FEW_THREADS], capture_output=True, text=True, timeout=100
    )
    assert (done.stdout[-4:], done.returncode) == ("1.0\n", 0), done.stderr


class StopError(Exception):
    """Raised by a callback."""


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_what_a_callback_raises_is_what_the_fit_raises(n_jobs):
    def stop(done, n):
        raise StopError

    X = np.random.default_rng(0).normal(size=(5_000, 10))
    for seed in range(5):
        forest = RandomForestClassifier(10**6, n_jobs=n_jobs, random_state=seed, callback=stop)
        with pytest.raises(StopError):
            forest.fit(X, X[:, 0] * X[:, 1] > 0)


@pytest.mark.parametrize("kind", [RandomForestClassifier, BaggingClassifier])
@pytest.mark.parametrize("ends_well", [True, False])
def test_a_warm_start_leaves_the_old_members_to_others_until_it_is_complete(kind, ends_well):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_000, 6))
    y = X[:, 0] + rng.normal(size=len(X)) > 0
    model = kind(n_estimators=5, warm_start=True, random_state=0, n_jobs=2).fit(X, y)
    before, seen = model.predict_proba(X), []

    def look(done, n):
        seen.append(np.array_equal(model.predict_proba(X), before))
        if not ends_well:
            raise StopError

    model.set_params(n_estimators=60, callback=look)
    if ends_well:
        model.fit(X, y)
        assert len(model.estimators_) == 60
    else:
        with pytest.raises(StopError):
            model.fit(X, y)
        assert_array_equal(model.predict_proba(X), before)
    assert len(seen) > 0
    assert all(seen[: len(seen) - ends_well])  # the last call may come after the fit


TINY = np.nextafter(0, 1)


@pytest.mark.parametrize("model", ["DecisionTree", "TAOTree", "TreeInTree", "MeanMarginTree"])
@pytest.mark.parametrize("task", ["Classifier", "Regressor"])
@pytest.mark.parametrize("large", [TINY, 1e-300, 1e-5, 1.0])
def test_predictions_are_finite_whatever_the_weights(model, task, large):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = rng.integers(0, 3, 120) if task == "Classifier" else 3 * X[:, 0] + rng.normal(size=120)
    weights = np.where(rng.random(120) < 0.7, TINY, large)
    fitted = getattr(hedgerow, model + task)().fit(X, y, weights)
    if task == "Classifier":
        shares = fitted.predict_proba(X)
        assert ((shares >= 0) & (shares <= 1)).all()
        assert_allclose(shares.sum(axis=1), 1)
    else:
        assert np.abs(fitted.predict(X)).max() <= 2 * np.abs(y).max()


SCARCE_MEMORY = """
import resource
import numpy as np
import hedgerow

rng = np.random.default_rng(0)
X = rng.normal(size=(20_000, 20))
y = np.digitize(X[:, 0] * X[:, 1], [-1, 0, 1])
model = hedgerow.HeterogeneousForestClassifier(n_estimators=20, n_jobs={n_jobs}, random_state=0)
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + ({megabytes} << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    model.fit(X, y)
    print("fitted")
except MemoryError:
    print("MemoryError")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of address space")
@pytest.mark.parametrize(("megabytes", "n_jobs"), [(10, 1), (100, 4)])
def test_scarce_memory_is_a_memory_error_or_fewer_threads(megabytes, n_jobs):
    # With threads and less memory, glibc may end the process: a thread that has just started finds
    # no room for the few bytes of its exceptions.
    script = SCARCE_MEMORY.format(megabytes=megabytes, n_jobs=n_jobs)
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] in ("fitted", "MemoryError")


DAEMONS = """
import threading, time
import numpy as np
from hedgerow import DecisionTreeClassifier

X = np.random.default_rng(0).random((20_000, 10))
tree = DecisionTreeClassifier(max_depth=3).fit(X, X[:, 0] > 0.5)

def predict_for_ever():
    while True:
        tree.predict(X)

for _ in range(4):
    threading.Thread(target=predict_for_ever, daemon=True).start()
time.sleep(0.2)
"""


def test_a_process_ends_while_daemon_threads_are_in_the_engine():
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", DAEMONS], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
