import os
import signal
import subprocess
import sys

import pytest

from hedgerow import _files
from hedgerow._files import replacing, write_text


@pytest.fixture(params=["unnamed", "named"])
def way(request, monkeypatch):
    """How a file is written: the system's best way, and the one that all systems have."""
    if request.param == "named":
        monkeypatch.setattr(_files, "_open_unnamed", lambda *_: None)


@pytest.mark.usefixtures("way")
def test_the_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "new.txt"
    with replacing(path, "w") as file:
        file.write("tree")
        assert not path.exists()
    assert path.read_text() == "tree"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("stop", [OSError, KeyboardInterrupt, MemoryError])
def test_what_ends_early_leaves_the_old_file_and_nothing_else(tmp_path, stop):
    path = tmp_path / "old.bin"
    path.write_bytes(b"old")
    with pytest.raises(stop), replacing(path) as file:
        file.write(b"new, but only half")
        raise stop
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("way")
def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_folder_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_text(tmp_path / "nowhere" / "file", "text")


FULL_DISK = """
import os, resource, signal
import numpy as np, pandas as pd
import hedgerow
from hedgerow._files import write_text
from hedgerow.cli import main

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.random((2000, 3)), columns=list("abc"))
forest = hedgerow.RandomForestClassifier(100).fit(X, X["a"] + X["b"] > 1)
hedgerow.save(hedgerow.DecisionTreeRegressor(max_depth=3).fit(X, X["a"]), "tree.hedgerow")
X.to_csv("rows.csv")
os.mkdir("empty")
os.chdir("empty")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
predict = ["predict", "../tree.hedgerow", "../rows.csv", "--debug", "--out"]
for write in (
    lambda: write_text("out", "x" * 10_000),
    lambda: hedgerow.save(forest, "out"),
    lambda: main([*predict, "out.csv"]),
    lambda: main([*predict, "out.parquet"]),
):
    try:
        write()
    except OSError as error:
        print("refused:", error)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="this system cannot limit a file's size")
def test_a_disk_without_room_is_left_as_it_was(tmp_path):
    """A limit on the size of files stands for the full disk: the system refuses the write."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.count("refused:") == 4, done.stderr
    assert list((tmp_path / "empty").iterdir()) == []


KILLED = """
import os, signal, sys
from hedgerow import _files
if sys.argv[2] == "named":
    _files._open_unnamed = lambda *_: None
with _files.replacing(sys.argv[1]) as file:
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill")
def test_what_a_killed_process_left_is_removed_by_the_next_that_writes_the_file(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(_files, "_open_unnamed", lambda *_: None)
    path = tmp_path / "model [1].bin"
    for _ in range(2):
        subprocess.run([sys.executable, "-c", KILLED, str(path), "named"], check=False)
        assert len(list(tmp_path.glob("*.part"))) == 1
    other = tmp_path / ".other.12345678.part"
    other.touch()
    with replacing(path) as file:
        file.write(b"one")
        write_text(path, "another, while the first is being written")
        assert len(list(tmp_path.glob(".model*.part"))) == 1
    assert path.read_bytes() == b"one"
    assert sorted(tmp_path.iterdir()) == sorted([path, other])


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="this system has no files without names")
def test_a_killed_process_leaves_nothing(tmp_path):
    path = tmp_path / "model.bin"
    write_text(path, "old")
    subprocess.run([sys.executable, "-c", KILLED, str(path), "unnamed"], check=False)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
