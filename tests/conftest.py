"""Settings and fixtures of the whole test suite.

``HEDGEROW_EXAMPLES`` sets the number of random cases of every property test and draws them anew
in every run; without it the cases are few and always the same. ``HEDGEROW_DATA`` names a folder
with optional data sets.
"""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from hedgerow.datasets import folder as datasets_folder

EXAMPLES = os.environ.get("HEDGEROW_EXAMPLES")

settings.register_profile(
    "hedgerow",
    max_examples=int(EXAMPLES or 100),
    derandomize=EXAMPLES is None,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("hedgerow")


@pytest.fixture(scope="session")
def data_folder():
    """Folder with the optional data sets; the test is skipped when there is none."""
    folder = datasets_folder.data_folder()
    if folder is None:
        pytest.skip("no data folder; set HEDGEROW_DATA")
    return folder


@pytest.fixture
def ctrl_c():
    """Ctrl-C interrupts, also where the tests are a background job, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
