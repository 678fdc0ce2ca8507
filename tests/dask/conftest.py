"""Clusters of real worker processes, started once."""

import os
import warnings

import pytest

SETTINGS = {
    "distributed.worker.daemon": True,
    "distributed.admin.tick.limit": "60s",  # a busy machine is no error
    "distributed.comm.timeouts.connect": "5s",
    "distributed.scheduler.allowed-failures": 10,
    "dataframe.convert-string": False,
}


def started(n_workers):
    """A cluster, and its client."""
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own: a busy port, a missing dashboard
        cluster = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit="1GB",
            silence_logs=50,
        )
        return cluster, distributed.Client(cluster, set_as_default=False)


@pytest.fixture(scope="session", autouse=True)
def settings():
    dask = pytest.importorskip("dask")
    with dask.config.set(SETTINGS):
        os.environ.setdefault("DASK_DISTRIBUTED__ADMIN__TICK__LIMIT", "60s")
        yield


@pytest.fixture(scope="session")
def clients(settings):
    """The clients of clusters of 1, 2 and 4 worker processes, each started when it is asked for."""
    running = {}

    def client(n_workers):
        if n_workers not in running:
            running[n_workers] = started(n_workers)
        return running[n_workers][1]

    yield client
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cluster, client in running.values():
            client.close()
            cluster.close()
