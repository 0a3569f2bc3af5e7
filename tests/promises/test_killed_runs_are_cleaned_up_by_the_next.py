"""What a killed run leaves behind is removed by the next one there, and nothing else is."""

import os
import subprocess
import sys

import pytest

from sparseksc import KernelSpectralClustering, open_dataset
from sparseksc.data import atomic
from sparseksc.data.atomic import atomic_write
from tests.promises.running import (
    contents,
    needs_program,
    run,
    start,
    two_groups,
    wait_until,
    write_csv,
)

pytest.importorskip("pyarrow", reason="reading CSV files needs pyarrow")
pytestmark = pytest.mark.skipif(atomic.fcntl is None, reason="needs locks")

#: Writes to a file in the library, and waits in the middle of it.
WRITER = """
import sys, time
from sparseksc.data.atomic import atomic_write
with atomic_write(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("there", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path):
    """A model, data and a folder for copies of standard input."""
    write_csv(tmp_path / "x.csv", two_groups())
    (tmp_path / "copies").mkdir()
    data = open_dataset(tmp_path / "x.csv", ids=["name"])
    KernelSpectralClustering(2, bandwidth=1.0).fit(data).save(tmp_path / "m.ksc")
    return tmp_path


PREDICT = ("predict", "m.ksc", "-", "--id", "name", "-o")


def temporary(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith(".ksc-"))


def waiting_run(folder, output):
    """Start a run that waits for the rest of standard input."""
    more = {"env": {**os.environ, "TMPDIR": str(folder / "copies")}, "stdin": subprocess.PIPE}
    process = start(folder, *PREDICT, output, **more)
    process.stdin.write((folder / "x.csv").read_bytes())
    process.stdin.flush()
    wait_until(lambda: list(folder.glob("copies/.ksc-*/input.csv")), process)
    return process


def kill(process):
    process.kill()
    process.communicate()


def finished_run(folder, output):
    with open(folder / "x.csv") as rows:
        more = {"env": {**os.environ, "TMPDIR": str(folder / "copies")}, "stdin": rows}
        done = run(folder, *PREDICT, output, **more)
    assert done.returncode == 0, done.stderr


@needs_program
def test_the_next_run_removes_what_a_killed_one_has_left(folder):
    kill(waiting_run(folder, "one.csv"))
    assert len(temporary(folder)) == len(temporary(folder / "copies")) == 2
    finished_run(folder, "two.csv")
    assert temporary(folder) == temporary(folder / "copies") == []
    assert sorted(os.listdir(folder)) == ["copies", "m.ksc", "two.csv", "x.csv"]


@needs_program
def test_two_runs_at_once_leave_each_other_alone(folder):
    process = waiting_run(folder, "one.csv")
    mine = temporary(folder), temporary(folder / "copies")
    finished_run(folder, "two.csv")
    assert (temporary(folder), temporary(folder / "copies")) == mine
    _, err = process.communicate()
    assert process.returncode == 0, err
    assert (folder / "one.csv").read_bytes() == (folder / "two.csv").read_bytes()
    assert temporary(folder) == temporary(folder / "copies") == []


def test_the_library_removes_what_a_killed_process_has_left(tmp_path):
    line = [sys.executable, "-c", WRITER, tmp_path / "result"]
    killed, alive = (
        subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)
    )
    for process in (killed, alive):
        assert process.stdout.readline() == b"there\n"
    assert len(temporary(tmp_path)) == 2
    kill(killed)
    atomic._searched.clear()
    with atomic_write(tmp_path / "other") as file:
        file.write(b"whole")
    assert len(temporary(tmp_path)) == 1
    alive.communicate(b"")
    assert alive.returncode == 0
    assert contents(tmp_path) == {"result": b"half", "other": b"whole"}
