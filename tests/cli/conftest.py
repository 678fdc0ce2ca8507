import numpy as np
import pandas as pd
import pytest

from hedgerow.cli import main


@pytest.fixture
def run(capfd, tmp_path, monkeypatch):
    """Run the command line in an empty folder; return exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HEDGEROW_DATA", raising=False)

    def run(*args):
        with pytest.raises(SystemExit) as stop:
            main([str(arg) for arg in args])
        out, err = capfd.readouterr()
        code = stop.value.code
        return (0 if code is None else code), out, err

    return run


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=80),
            "colour": rng.choice(["red", "green", "blue"], 80),
            "open": rng.random(80) < 0.5,
            "seen": pd.date_range("2020-01-01", periods=80),
        }
    )
    frame["warm"] = np.where(frame["colour"] == "red", "yes", "no")
    frame.loc[::9, ["size", "colour"]] = None
    return frame


@pytest.fixture
def table(frame, tmp_path):
    """The frame as a file."""
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path
