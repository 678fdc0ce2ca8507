"""What becomes of a fit when workers or the scheduler die, and what mistakes are told."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
import dask.array as da  # noqa: E402

import hedgerow  # noqa: E402
from hedgerow import dask as on_dask  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2000, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


def lazy(array):
    return da.from_array(array, chunks=(500, -1)[: array.ndim])


def test_a_worker_that_is_killed_changes_nothing(clients):
    cluster_client = clients(2)
    pids = list(cluster_client.run(os.getpid).values())

    def kill_one(done, n_trees):
        if pids:
            os.kill(pids.pop(), signal.SIGKILL)
            pids.clear()

    given = {"n_estimators": 12, "random_state": 5}
    model = on_dask.RandomForestClassifier(**given, callback=kill_one)
    model.fit(lazy(X), lazy(Y), client=cluster_client)
    assert not pids
    local = hedgerow.RandomForestClassifier(**given).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), local.predict_proba(X))
    assert model.forest_.n_nodes == local.forest_.n_nodes


def test_a_lost_scheduler_is_told(tmp_path):
    file = tmp_path / "scheduler.json"
    begin = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    options = ["--scheduler-file", str(file), "--no-dashboard", "--port", "0"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen([*begin, *options], **quiet)
    begin[-1] = "distributed.cli.dask_worker"
    options = ["--scheduler-file", str(file), "--no-dashboard", "--no-nanny", "--nthreads", "1"]
    worker = subprocess.Popen([*begin, *options, "--death-timeout", "5"], **quiet, cwd=tmp_path)
    try:
        for _ in range(600):
            if file.exists():
                break
            time.sleep(0.05)
        with dask.config.set({"distributed.comm.timeouts.connect": "2s"}):
            client = distributed.Client(scheduler_file=str(file), timeout=30, set_as_default=False)
            client.wait_for_workers(1, timeout=30)
            model = on_dask.RandomForestClassifier(
                8, random_state=0, callback=lambda *done: scheduler.kill()
            )
            with pytest.raises(ConnectionError, match="the Dask scheduler at tcp:.* was lost"):
                model.fit(lazy(X), lazy(Y), client=client)
            assert not hasattr(model, "forest_")
            client.close(timeout=2)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def test_a_fit_without_a_cluster_says_what_to_do():
    with pytest.raises(ValueError, match="no Dask cluster to fit on: make a client first"):
        on_dask.DecisionTreeClassifier().fit(lazy(X), lazy(Y))


def test_mistakes_are_told(clients):
    client = clients(2)
    tree = on_dask.DecisionTreeClassifier()
    with pytest.raises(TypeError, match="'y' is of type ndarray and X is a Dask collection"):
        tree.fit(lazy(X), Y, client=client)
    with pytest.raises(ValueError, match="X has 2000 rows and 'y' has 1500"):
        tree.fit(lazy(X), lazy(Y[:1500]), client=client)
    with pytest.raises(ValueError, match="'max_depth' must be"):
        on_dask.DecisionTreeClassifier(max_depth=-3).fit(lazy(X), lazy(Y), client=client)
    with pytest.raises(ValueError, match="Negative values.* at row"):
        tree.fit(lazy(X), lazy(Y), lazy(-np.ones(2000)), client=client)
    with pytest.raises(TypeError, match="call fit, then transform"):
        on_dask.LeafMeansEmbedding().fit_transform(lazy(X), lazy(Y))
