"""Running ksc: in this process where the words matter, as a program where the process does."""

import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering, open_dataset
from sparseksc.datasets import make_gaussians

pytest.importorskip("click", reason="the command line needs click")
pytest.importorskip("rich", reason="the command line needs rich")
pa = pytest.importorskip("pyarrow", reason="reading files needs pyarrow")
csv = pytest.importorskip("pyarrow.csv")
pq = pytest.importorskip("pyarrow.parquet")

PROGRAM = Path(sysconfig.get_path("scripts")) / "ksc"
#: A new process starts with the peak of memory of the one that starts it: a small one does that.
STARTER = """
import os, sys
_, status, usage = os.wait4(os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:]), 0)
print(usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@dataclass
class Outcome:
    code: int
    out: str
    err: str
    megabytes: float = 0.0


@pytest.fixture
def ksc(capfd, monkeypatch, tmp_path):
    """Run a command line in this process, in an empty folder."""
    from sparseksc.cli.main import main

    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["ksc", *map(str, arguments)])
        code = main([str(argument) for argument in arguments])
        sys.stdout.flush()
        return Outcome(code, *capfd.readouterr())

    return run


@pytest.fixture
def program(tmp_path):
    """Run the installed program in an empty folder, and measure its memory."""
    if not PROGRAM.exists():
        pytest.skip("needs the installed program ksc")

    def run(*arguments, **more):
        done = subprocess.run(
            [sys.executable, "-S", "-c", STARTER, PROGRAM, *map(str, arguments)],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            **more,
        )
        *err, kilobytes = done.stderr.splitlines(keepends=True)
        return Outcome(done.returncode, done.stdout, "".join(err), int(kilobytes) / 1024)

    return run


@pytest.fixture(scope="session")
def points():
    """300 points in three far clusters: rows, and names for them."""
    X, _ = make_gaussians(300, n_clusters=3, n_features=2, overlap=0.1, random_state=0)
    return X, [f"{number:03d}" for number in range(len(X))]


@pytest.fixture(scope="session")
def files(points, tmp_path_factory):
    """The points with names in files of all kinds, and a model of them."""
    X, names = points
    folder = tmp_path_factory.mktemp("files")
    table = pa.table({"name": names, "a": X[:, 0], "b": X[:, 1]})
    pq.write_table(table, folder / "points.parquet", row_group_size=70)
    csv.write_csv(table, folder / "points.csv")
    np.savez(folder / "points.npz", X=X, name=np.array(names))
    np.save(folder / "points.npy", X)
    source = open_dataset(folder / "points.parquet", ids=["name"])
    model = KernelSpectralClustering(3, bandwidth=1.0, scale=True, random_state=0).fit(source)
    model.save(folder / "model.ksc")
    return folder


FAST = ("-k", "3", "--bandwidth", "1")


@pytest.fixture(scope="session")
def fast():
    """Options that need no search."""
    return FAST
