"""A run that is killed goes on where it stopped, and ends with the same bits."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering, open_dataset
from sparseksc.data import checkpoint
from sparseksc.data.checkpoint import CheckpointMismatch
from sparseksc.data.stream import IterableSource
from sparseksc.datasets import make_spirals

RUN = """
import sys
import numpy as np
from sparseksc import KernelSpectralClustering
from sparseksc.data import checkpoint
from sparseksc.datasets import make_spirals
from sparseksc.data.stream import IterableSource

checkpoint.SECONDS_BETWEEN = 0.0
X, _ = make_spirals(60_000, random_state=0)
blocks = [X[start:start + 1500] for start in range(0, len(X), 1500)]
ksc = KernelSpectralClustering(2, bandwidth=0.006, max_rank=115, encoding="sign", random_state=0)
print("ready", flush=True)
ksc.fit(IterableSource(blocks), checkpoint=sys.argv[1])
np.save(sys.argv[2], ksc.coef_)
"""


def blocks_of(X, rows):
    return IterableSource([X[start : start + rows] for start in range(0, len(X), rows)])


def make():
    return KernelSpectralClustering(2, bandwidth=0.01, max_rank=115, random_state=0)


@pytest.fixture
def every_block(monkeypatch):
    monkeypatch.setattr(checkpoint, "SECONDS_BETWEEN", 0.0)


def interrupt_after_one_pass(ksc, X, path):
    """Leave the checkpoint of a run that was interrupted in its second pass."""
    passes = []
    original = checkpoint.CheckpointedSource.sum

    def two_passes(self, *arguments):
        passes.append(1)
        if len(passes) == 2:
            raise KeyboardInterrupt
        return original(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint.CheckpointedSource, "sum", two_passes)
        with pytest.raises(KeyboardInterrupt):
            ksc.fit(X, checkpoint=path)
    assert path.exists()


@pytest.mark.slow
def test_killing_a_run_at_random_moments_does_not_change_a_bit(tmp_path):
    script, state, result = tmp_path / "run.py", tmp_path / "run.ckpt", tmp_path / "coef.npy"
    script.write_text(RUN)
    command = [sys.executable, str(script), str(state), str(result)]
    subprocess.run(
        [*command[:2], str(tmp_path / "other.ckpt"), str(tmp_path / "whole.npy")], check=True
    )
    rng = np.random.default_rng(0)
    killed = 0
    for _ in range(6):
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        process.stdout.readline()
        try:
            process.wait(timeout=float(rng.uniform(0.02, 0.3)))
            break
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            killed += 1
        finally:
            process.stdout.close()
    else:
        subprocess.run(command, check=True)
    assert killed >= 3
    np.testing.assert_array_equal(np.load(result), np.load(tmp_path / "whole.npy"))
    leftovers = {path.name for path in tmp_path.iterdir() if not path.name.endswith(".part")}
    assert leftovers == {"run.py", "coef.npy", "whole.npy"}


def test_a_run_that_stops_half_way_goes_on_from_there(tmp_path, every_block):
    X, _ = make_spirals(9000, random_state=0)
    whole = make().fit(blocks_of(X, 500))
    path = tmp_path / "run.ckpt"
    stop_after, seen = 50, 0
    blocks = [X[start : start + 500] for start in range(0, len(X), 500)]

    def until_interrupted():
        nonlocal seen
        for block in blocks:
            seen += 1
            if seen == stop_after:
                raise KeyboardInterrupt
            yield block

    with pytest.raises(KeyboardInterrupt):
        make().fit(IterableSource(until_interrupted), checkpoint=path)
    assert path.exists()
    before = seen
    again = make().fit(IterableSource(until_interrupted), checkpoint=path)
    assert again.coef_.tobytes() == whole.coef_.tobytes()
    assert again.prototypes_.tobytes() == whole.prototypes_.tobytes()
    assert seen > before
    assert not path.exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda X: (X[:-1], {}),
        lambda X: (X + 1e-9, {}),
        lambda X: (X, {"bandwidth": 0.02}),
        lambda X: (X, {"max_rank": 110}),
        lambda X: (X, {"random_state": 1}),
    ],
)
def test_a_checkpoint_of_other_data_or_parameters_is_refused(change, tmp_path, every_block):
    X, _ = make_spirals(4000, random_state=0)
    path = tmp_path / "run.ckpt"
    interrupt_after_one_pass(make(), X, path)
    other, parameters = change(X)
    with pytest.raises(CheckpointMismatch, match="other data or other parameters"):
        make().set_params(**parameters).fit(other, checkpoint=path)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04 torn"])
def test_a_damaged_checkpoint_is_refused_and_left_alone(content, tmp_path):
    path = tmp_path / "run.ckpt"
    path.write_bytes(content)
    with pytest.raises(CheckpointMismatch, match="damaged"):
        make().fit(make_spirals(2000, random_state=0)[0], checkpoint=path)
    assert path.read_bytes() == content


def test_a_truncated_checkpoint_is_refused(tmp_path, every_block):
    X, _ = make_spirals(4000, random_state=0)
    path = tmp_path / "run.ckpt"
    interrupt_after_one_pass(make(), X, path)
    whole = path.read_bytes()
    for share in (0.1, 0.5, 0.9, 0.99):
        path.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(CheckpointMismatch):
            make().fit(X, checkpoint=path)


def test_checkpoints_are_saved_once_a_minute_not_more(tmp_path, monkeypatch):
    saved = []
    monkeypatch.setattr(
        checkpoint.CheckpointedSource, "_save", lambda self: saved.append(time.monotonic())
    )
    make().fit(make_spirals(4000, random_state=0)[0], checkpoint=tmp_path / "run.ckpt")
    assert saved == []


def test_blocks_without_rows_are_passed_over(tmp_path):
    X, _ = make_spirals(2000, random_state=0)
    blocks = open_dataset([X[:1000], X[:0], X[1000:]])
    whole = make().fit(blocks)
    resumable = make().fit(blocks, checkpoint=tmp_path / "run.ckpt")
    np.testing.assert_array_equal(resumable.coef_, whole.coef_)


def test_a_missing_folder_is_named_before_any_work(tmp_path):
    def work_that_must_not_begin():
        raise AssertionError("the data was read")

    X = IterableSource([np.zeros((2, 2))])
    X._blocks = work_that_must_not_begin
    ksc = KernelSpectralClustering(2, bandwidth=1.0)
    with pytest.raises(FileNotFoundError, match="no folder"):
        ksc.fit(X, checkpoint=tmp_path / "nowhere" / "run.ckpt")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        ksc.fit(X, checkpoint=tmp_path)
