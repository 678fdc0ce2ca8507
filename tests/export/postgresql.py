"""Queries for PostgreSQL against a real server: ``python tests/export/postgresql.py``.

Starts a server of its own in a temporary folder (Debian's package ``postgresql`` has all it takes;
as root it runs as the user "postgres"), sends every model's adversarial rows through its query,
and prints what differs. Exit code 1 where anything does.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from export.models import NAMES, example, hostile_model, streets
from export.rows import N_ROWS, adversarial
from export.test_sql import REFUSED, same, without_nul

from hedgerow.export import read


def programs():
    for name in sorted(set(NAMES) - REFUSED):
        yield name, read(example(name)[0])
    yield "hostile", without_nul(read(hostile_model()))
    yield "streets", read(streets())


def started(folder):
    """The commands that start and stop a server in a folder."""
    tools = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
    user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    if user:
        subprocess.run(["chown", "postgres", folder], check=True)
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "cwd": folder}
    data = ["-D", f"{folder}/data"]
    subprocess.run([*user, tools / "initdb", *data, "-A", "trust", "-U", "test"], **quiet)
    options = ["-o", f"-c listen_addresses= -k {folder} -c fsync=off"]
    subprocess.run([*user, tools / "pg_ctl", *data, *options, "-w", "start"], **quiet)
    return [*user, tools / "pg_ctl", *data, "-m", "fast", "stop"], quiet


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        stop, quiet = started(folder)
        os.environ |= {"PGHOST": folder, "PGUSER": "test", "PGDATABASE": "postgres"}
        try:
            for name, program in programs():
                matrix = adversarial(program, N_ROWS)
                if not program.is_exact:  # products that underflow are errors there
                    matrix[np.abs(matrix) < 1e-100] = 0.0
                try:
                    same(program, "postgresql", matrix)
                    print(f"{name}: {N_ROWS:,} rows, 0 different", flush=True)
                except Exception as error:
                    failed += 1
                    print(f"{name}: FAILED {type(error).__name__} {str(error)[:300]}", flush=True)
        finally:
            subprocess.run(stop, **quiet)
    print(subprocess.run(["psql", "--version"], capture_output=True, text=True).stdout.strip())
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
