"""Readers that leave early."""

import os
import subprocess

import numpy as np
import pytest

from tests.cli.conftest import PROGRAM

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="needs the installed program ksc")


def test_a_reader_that_leaves_early_ends_it_quietly(files, tmp_path):
    X = np.random.default_rng(0).normal(size=(200_000, 2))
    np.save(tmp_path / "many.npy", X)
    line = f"{PROGRAM} predict {files / 'model.ksc'} many.npy | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "label\n0\n"
    assert done.stderr == ""


def test_a_reader_that_has_seen_enough_is_no_failure(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(50, 2)))
    line = [PROGRAM, "fit", "x.npy", "-k", "2", "--bandwidth", "1", "-o", "m.ksc"]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(line, cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "m.ksc").exists()
