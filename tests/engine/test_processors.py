"""The engine is taken in the best build that this processor runs."""

import os
import subprocess
import sys

import hedgerow._engine as engine
from hedgerow._processor import kinds


def answer_of(chosen: str) -> subprocess.CompletedProcess:
    code = "import hedgerow._engine as e; print(e.__spec__.name)"
    environment = os.environ | {"HEDGEROW_ENGINE": chosen}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )


def test_the_build_that_was_taken_runs_here_and_may_be_asked_for():
    kind = engine.__spec__.name.removeprefix("hedgerow._engine_")
    assert kind in kinds.split()
    asked = answer_of(kind)
    assert asked.returncode == 0, asked.stderr
    assert asked.stdout.split()[-1] == f"hedgerow._engine_{kind}"


def test_a_build_that_is_not_there_is_an_error_that_says_what_to_do():
    asked = answer_of("mainframe")
    assert asked.returncode != 0
    assert "hedgerow has no engine for mainframe" in asked.stderr
    assert "HEDGEROW_ENGINES=baseline" in asked.stderr


def test_types_are_called_the_same_in_every_build():
    assert engine.DecisionGraph.__module__ == "hedgerow._engine"
