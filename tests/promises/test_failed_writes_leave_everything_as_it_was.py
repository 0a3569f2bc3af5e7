"""A full disk or a folder without the right to write: one sentence, and nothing has changed."""

import os
import resource
import shutil
import subprocess
import sys
from functools import partial

import pytest

from sparseksc import KernelSpectralClustering, open_dataset
from tests.promises.running import (
    FAST,
    PROGRAM,
    contents,
    needs_program,
    run,
    two_groups,
    write_csv,
)

pytest.importorskip("pyarrow", reason="reading CSV files needs pyarrow")

#: No file can become longer: for a program that is as a full disk.
full_disk = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (1000, 1000))


@pytest.fixture
def folder(tmp_path):
    write_csv(tmp_path / "x.csv", two_groups(600))
    data = open_dataset(tmp_path / "x.csv", ids=["name"])
    KernelSpectralClustering(2, bandwidth=1.0).fit(data).save(tmp_path / "m.ksc")
    (tmp_path / "copies").mkdir()
    (tmp_path / "out").mkdir()
    for name in ("labels.csv", "new.ksc", "page.html"):
        (tmp_path / "out" / name).write_bytes(b"before")
    return tmp_path


LINES = [
    ("predict", "m.ksc", "x.csv", "--id", "name", "-o", "out/labels.csv"),
    ("fit", "x.csv", "--id", "name", *FAST, "-o", "out/new.ksc", "--labels", "out/labels.csv"),
    ("report", "m.ksc", "x.csv", "--id", "name", "-o", "out/page.html"),
]


@needs_program
@pytest.mark.parametrize("line", LINES, ids=lambda line: line[0])
def test_a_full_disk(folder, line):
    before = contents(folder)
    done = run(folder, *line, preexec_fn=full_disk)
    assert done.returncode == 1
    assert done.stderr.decode().count("\n") == 1
    assert "File too large" in done.stderr.decode()
    assert "/out/" in done.stderr.decode()
    assert contents(folder) == before
    assert not [name for name in os.listdir(folder / "out") if name.startswith(".")]


@needs_program
def test_a_full_disk_for_the_copy_of_standard_input(folder):
    before = contents(folder)
    environment = {**os.environ, "TMPDIR": str(folder / "copies")}
    with open(folder / "x.csv") as rows:
        line = ("predict", "m.ksc", "-", "--id", "name", "-o", "out/labels.csv")
        done = run(folder, *line, stdin=rows, env=environment, preexec_fn=full_disk)
    assert done.returncode == 1
    assert b"the copy of standard input in" in done.stderr
    assert contents(folder) == before
    assert os.listdir(folder / "copies") == []


def test_a_full_disk_in_the_library(folder):
    code = (
        "import sys, sparseksc\n"
        "model = sparseksc.load('m.ksc')\n"
        "data = sparseksc.open_dataset('x.csv', ids=['name'])\n"
        "for way in (lambda: model.save('out/new.ksc'),\n"
        "            lambda: model.predict(data, out='out/labels.csv')):\n"
        "    try:\n"
        "        way()\n"
        "    except OSError as error:\n"
        "        print(error.filename)\n"
    )
    before = contents(folder)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, preexec_fn=full_disk
    )
    assert done.stdout.split() == [b"out/new.ksc", b"out/labels.csv"], done.stderr
    assert contents(folder) == before


@needs_program
@pytest.mark.parametrize("line", LINES, ids=lambda line: line[0])
def test_a_folder_without_the_right_to_write(folder, line):
    # The super-user may write everywhere, unless that right is dropped.
    drop = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("this user may write everywhere")
        drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    before = contents(folder)
    (folder / "out").chmod(0o555)
    try:
        done = subprocess.run([*drop, PROGRAM, *line], cwd=folder, capture_output=True)
    finally:
        (folder / "out").chmod(0o755)
    assert done.returncode == 1
    assert done.stderr.decode().endswith(": Permission denied.\n")
    assert done.stderr.decode().startswith("ksc: out/")
    assert contents(folder) == before
