"""The cluster that a fit runs on: its client, what becomes of lost connections, and threads."""

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager

try:
    from distributed import Client, get_client, get_worker
    from distributed.comm import CommClosedError
except ImportError:
    raise ImportError(
        "hedgerow.dask needs Dask's distributed; install it with 'pip install \"hedgerow[dask]\"'."
    ) from None


def client_of(client: Client | None) -> Client:
    """The given client, or the current one."""
    if client is not None:
        return client
    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "there is no Dask cluster to fit on: make a client first, such as "
            "dask.distributed.Client(), or give one as client=."
        ) from None


@contextmanager
def connected(client: Client) -> Iterator[None]:
    """What is told when the scheduler is lost on the way."""
    scheduler = getattr(client.scheduler, "address", "unknown")
    try:
        yield
    except (CommClosedError, CancelledError, TimeoutError, OSError) as error:
        raise ConnectionError(
            f"the Dask scheduler at {scheduler} was lost during the fit ({type(error).__name__}): "
            "nothing was fitted. Start a cluster, make a client and fit again."
        ) from error


def threads_here() -> int:
    """The threads of the worker that this runs on."""
    return int(get_worker().state.nthreads)
