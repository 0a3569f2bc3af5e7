"""A run with a checkpoint that a signal ends in its first minute goes on from there."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering, load, open_dataset
from sparseksc.data.checkpoint import TITLE, VERSION
from tests.promises.running import needs_program, only_ignored, start, wait_until

SIGNALS = [signal.SIGINT, signal.SIGTERM]

#: Fits slowly, and writes down each block that it reads.
SCRIPT = """
import time
from pathlib import Path
import numpy as np
from sparseksc import KernelSpectralClustering, open_dataset

class Blocks:
    def __iter__(self):
        for block in np.load("points.npy").reshape(20, -1, 2):
            time.sleep(0.03)
            with open("read", "a") as file:
                file.write("block\\n")
            yield block

model = KernelSpectralClustering(2, bandwidth=2.0, max_rank=30, random_state=0)
model.fit(open_dataset(Blocks()), checkpoint="run.ckpt").save("model.ksc")
"""


@pytest.fixture
def points(tmp_path):
    X = np.random.default_rng(0).normal(size=(20_000, 2))
    X[::2] += 6.0
    np.save(tmp_path / "points.npy", X)
    return X


def header_of(path):
    content = path.read_bytes()[len(TITLE + VERSION) + 32 :]
    return json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])


def begin(folder):
    with only_ignored():
        return subprocess.Popen([sys.executable, "-c", SCRIPT], cwd=folder, stderr=subprocess.PIPE)


def n_read(folder):
    return len((folder / "read").read_text().split()) if (folder / "read").exists() else 0


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("n_blocks", [25, 45], ids=["first pass", "second pass"])
def test_a_program_that_uses_the_library(points, tmp_path, number, n_blocks):
    process = begin(tmp_path)
    wait_until(lambda: n_read(tmp_path) > n_blocks, process)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == {signal.SIGINT: -signal.SIGINT, signal.SIGTERM: 143}[number]
    assert sorted(os.listdir(tmp_path)) == ["points.npy", "read", "run.ckpt"]
    header = header_of(tmp_path / "run.ckpt")
    assert header["blocks"] > 0 or header["done"]
    assert len(header["done"]) == (n_blocks > 40)
    again = begin(tmp_path)
    assert again.communicate(timeout=100) == (None, b"")
    assert sorted(os.listdir(tmp_path)) == ["model.ksc", "points.npy", "read"]
    blocks = list(points.reshape(20, -1, 2))
    whole = KernelSpectralClustering(2, bandwidth=2.0, max_rank=30, random_state=0)
    whole.fit(open_dataset(blocks))
    assert load(tmp_path / "model.ksc").coef_.tobytes() == whole.coef_.tobytes()


def test_nothing_is_saved_where_nothing_was_summed(points, tmp_path):
    process = begin(tmp_path)
    wait_until(lambda: n_read(tmp_path) > 3, process)  # while the sample is drawn
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert sorted(os.listdir(tmp_path)) == ["points.npy", "read"]


@needs_program
@pytest.mark.slow
@pytest.mark.parametrize("number", SIGNALS)
def test_the_command(tmp_path, number):
    X = np.random.default_rng(0).normal(size=(600_000, 2))
    X[::2] += 6.0
    np.save(tmp_path / "points.npy", X)
    line = "fit points.npy -k 2 --bandwidth 2 --max-rank 400 --tol 0 --n-jobs 1 -o m.ksc"
    line = [*line.split(), "--checkpoint", "run.ckpt"]
    process = start(tmp_path, *line)
    wait_until((tmp_path / "run.ckpt.lock").exists, process)
    time.sleep(2.0)
    process.send_signal(number)
    assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == 128 + number
    assert sorted(os.listdir(tmp_path)) == ["points.npy", "run.ckpt"]
    header = header_of(tmp_path / "run.ckpt")
    assert header["blocks"] > 0 or header["done"]
    again = start(tmp_path, *line)
    again.communicate(timeout=200)
    assert again.returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["m.ksc", "points.npy"]
    resumed = load(tmp_path / "m.ksc")
    assert len(resumed.reduced_set_) > 30
    assert resumed.n_samples_seen_ == len(X)
