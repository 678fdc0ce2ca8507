"""The engine, in the build that suits this processor.

A package that travels has a build for any processor and one for those with AVX2; the same numbers
come out of both. ``HEDGEROW_ENGINE=baseline`` in the environment takes the one for any processor.
"""

import os
import sys
from importlib import import_module
from importlib.util import find_spec

from hedgerow._processor import kinds as runnable


def _load() -> None:
    chosen = os.environ.get("HEDGEROW_ENGINE")
    kinds = [chosen] if chosen else runnable.split()
    for kind in kinds:
        name = f"hedgerow._engine_{kind}"
        if find_spec(name) is not None:
            sys.modules[__name__] = import_module(name)
            return
    raise ImportError(
        f"hedgerow has no engine for {' or '.join(kinds)}: it was built for another processor. "
        "Build it on this machine, or with -Ccmake.define.HEDGEROW_ENGINES=baseline."
    )


_load()
