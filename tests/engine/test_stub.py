"""The types of the engine that are kept with the sources are those of the engine."""

import subprocess
import sys
from pathlib import Path

import pytest

import hedgerow


def test_the_stub_is_what_nanobind_makes_of_the_engine(tmp_path):
    pytest.importorskip("nanobind")
    made = tmp_path / "_engine.pyi"
    command = ["-m", "nanobind.stubgen", "-q", "-m", "hedgerow._engine", "-o", str(made)]
    subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
    kept = Path(hedgerow.__file__).with_name("_engine.pyi")
    assert made.read_text() == kept.read_text(), (
        "make it again: python -m nanobind.stubgen -m hedgerow._engine -o src/hedgerow/_engine.pyi"
    )
