"""A run goes on from the sums of the same rows, parameters and functions, or it is refused."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc import KernelSpectralClustering, open_dataset
from sparseksc.config.planning import Plan
from sparseksc.data import checkpoint, source
from sparseksc.data.checkpoint import TITLE, VERSION, CheckpointMismatch
from sparseksc.data.fingerprint import fingerprint_of
from sparseksc.data.lock import FileInUse, sole_use
from sparseksc.data.stream import ChangedSource

START = len(TITLE + VERSION)


@pytest.fixture(autouse=True)
def after_every_block(monkeypatch):
    monkeypatch.setattr(checkpoint, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(source, "BLOCK_ROWS", 512)


@pytest.fixture
def large_data(monkeypatch):
    """Tell data apart by all rows alone: of large data, only a sample decides the pivots."""

    def purpose(self):
        return fingerprint_of((self.n_clusters, self.recipe.without_threads()))

    monkeypatch.setattr(Plan, "purpose", property(purpose))


def points():
    X = np.random.default_rng(0).normal(size=(4096, 2))
    X[2048:] += 6.0
    return X


def with_another_middle(X):
    other = X.copy()
    other[1500] += 1e-9
    return other


def make(**parameters):
    given = {"n_clusters": 2, "bandwidth": 2.0, "max_rank": 30, "random_state": 0, "n_jobs": 1}
    return KernelSpectralClustering(**{**given, **parameters})


def interrupted(model, X, path, after, **arguments):
    """Leave the checkpoint of a run that ended after so many blocks; None: when all were summed."""
    blocks = []
    original = checkpoint.sum_of_block

    def counted(*given):
        blocks.append(1)
        if after is not None and len(blocks) > after:
            raise KeyboardInterrupt
        return original(*given)

    def stop(self):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "sum_of_block", counted)
        patch.setattr(checkpoint.CheckpointedSource, "verify", stop)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, checkpoint=path, **arguments)
    assert path.exists()
    assert not path.with_name(path.name + ".lock").exists()


def blocks_of(X):
    return [X[start : start + 512] for start in range(0, len(X), 512)]


def dask_array(X):
    da = pytest.importorskip("dask.array")
    return da.from_array(X, chunks=(512, 2))


def as_frame(X):
    return pytest.importorskip("pandas").DataFrame(X, columns=["a", "b"])


KINDS = {
    "array": lambda X: X,
    "data frame": as_frame,
    "sparse": sp.csr_array,
    "list of blocks": lambda X: open_dataset(blocks_of(X)),
    "function": lambda X: open_dataset(lambda: iter(blocks_of(X))),
    "dask": dask_array,
}


@pytest.mark.parametrize("after", [3, 11, None], ids=["first pass", "second pass", "all done"])
@pytest.mark.parametrize("kind", KINDS)
def test_one_other_value_in_the_middle_is_noticed(kind, after, tmp_path, large_data):
    X, path = points(), tmp_path / "run.ckpt"
    interrupted(make(), KINDS[kind](X), path, after)
    content = path.read_bytes()
    with pytest.raises(CheckpointMismatch, match="other data or other parameters"):
        make().fit(KINDS[kind](with_another_middle(X)), checkpoint=path)
    path.write_bytes(content)
    resumed = make().fit(KINDS[kind](X), checkpoint=path)
    whole = make().fit(KINDS[kind](X), checkpoint=tmp_path / "whole.ckpt")
    assert resumed.coef_.tobytes() == whole.coef_.tobytes()
    assert sorted(os.listdir(tmp_path)) == []


@pytest.mark.parametrize("after", [3, None])
def test_files_weights_and_scaled_rows_are_compared_too(after, tmp_path, large_data):
    X, path, file = points(), tmp_path / "run.ckpt", tmp_path / "X.npy"
    weights = np.ones(len(X))
    interrupted(make(), X, path, after, sample_weight=weights)
    weights[1500] = 1.0 + 1e-12
    with pytest.raises(CheckpointMismatch, match="other data"):
        make().fit(X, sample_weight=weights, checkpoint=path)
    path.unlink()
    interrupted(make(scale=True), X, path, after)
    with pytest.raises(CheckpointMismatch, match="other data"):
        make(scale=True).fit(with_another_middle(X), checkpoint=path)
    path.unlink()
    np.save(file, X)
    stamp = file.stat()
    interrupted(make(), open_dataset(file, block_rows=512), path, after)
    np.save(file, with_another_middle(X))
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # size and time are the same
    with pytest.raises(CheckpointMismatch, match="other data"):
        make().fit(open_dataset(file, block_rows=512), checkpoint=path)


@pytest.mark.parametrize(
    "other", [lambda X: X[:2048], lambda X: np.r_[X, X[:512]], lambda X: X[::-1]]
)
def test_fewer_more_or_other_blocks_are_noticed(other, tmp_path):
    X, path = points(), tmp_path / "run.ckpt"
    interrupted(make(), open_dataset(blocks_of(X)), path, 6)
    with pytest.raises(CheckpointMismatch, match="other data"):
        make().fit(open_dataset(blocks_of(other(X))), checkpoint=path)


def test_sums_over_other_rows_are_not_taken_for_those_of_the_first_ones(tmp_path, large_data):
    X, path = points(), tmp_path / "run.ckpt"
    interrupted(make(), open_dataset(blocks_of(X)), path, 9)
    other = X.copy()
    other[-1] += 1e-9
    # The rows differ in the last block only, and the run with them saves sums on its way there.
    with pytest.raises(CheckpointMismatch, match="other data"):
        make().fit(open_dataset(blocks_of(other)), checkpoint=path)
    with pytest.raises(CheckpointMismatch, match="other data"):
        make().fit(open_dataset(blocks_of(X)), checkpoint=path)


def test_rows_that_change_during_a_run_are_noticed(tmp_path):
    X, reads = points(), []

    def changing():
        reads.append(1)
        return iter(blocks_of(X if len(reads) < 5 else with_another_middle(X)))

    with pytest.raises(ChangedSource, match="did not give the same rows again"):
        make().fit(open_dataset(changing), checkpoint=tmp_path / "run.ckpt")


# ------------------------------------------------------------------------------------ functions

FACTOR = 2.0


def gaussian(X, Y, h=2.0):
    return np.exp(-((X[:, None] - Y) ** 2).sum(axis=2) / h)


def gaussian_of_the_module(X, Y):
    return np.exp(-((X[:, None] - Y) ** 2).sum(axis=2) / FACTOR)


def gaussian_within(h):
    return lambda X, Y: np.exp(-((X[:, None] - Y) ** 2).sum(axis=2) / h)


class Gaussian:
    def __init__(self, h):
        self.h = h

    def __call__(self, X, Y):
        return gaussian(X, Y, self.h)

    def method(self, X, Y):
        return gaussian(X, Y, self.h)


class Opaque:
    __slots__ = ("h",)

    def __init__(self, h):
        self.h = h

    def __call__(self, X, Y):
        return gaussian(X, Y, self.h)


def redefined(constant):
    space = {"np": np, "__name__": "user"}
    text = f"def k(X, Y):\n    return np.exp(-((X[:, None] - Y) ** 2).sum(axis=2) / {constant})\n"
    exec(text, space)
    return space["k"]


@pytest.mark.parametrize(
    "function",
    [
        gaussian_within,
        redefined,
        Gaussian,
        lambda h: Gaussian(h).method,
        lambda h: partial(gaussian, h=h),
    ],
    ids=["closure", "constant", "object", "method", "partial"],
)
def test_functions_are_told_apart_by_what_they_do(function, tmp_path):
    X, path = points(), tmp_path / "run.ckpt"
    interrupted(make(kernel=function(2.0)), X, path, 3)
    content = path.read_bytes()
    with pytest.raises(CheckpointMismatch, match="other data or other parameters"):
        make(kernel=function(2.5)).fit(X, checkpoint=path)
    path.write_bytes(content)
    make(kernel=function(2.0)).fit(X, checkpoint=path)


def test_values_of_the_module_and_arguments_of_a_function_count(tmp_path, monkeypatch):
    X, path = points(), tmp_path / "run.ckpt"
    interrupted(make(kernel=gaussian_of_the_module), X, path, 3)
    with monkeypatch.context() as patch:
        patch.setitem(globals(), "FACTOR", 3.0)
        with pytest.raises(CheckpointMismatch):
            make(kernel=gaussian_of_the_module).fit(X, checkpoint=path)
    make(kernel=gaussian_of_the_module).fit(X, checkpoint=path)
    table = np.arange(5000.0)
    changed = np.where(table == 2500.0, -1.0, table)  # in the part that is not printed
    one, other = ({"h": 2.0, "table": values} for values in (table, changed))
    assert fingerprint_of(one) != fingerprint_of(other)
    assert fingerprint_of(one) == fingerprint_of({"table": table.copy(), "h": 2.0})


def test_a_function_that_cannot_be_looked_into_is_said_to_be_one(tmp_path):
    assert not fingerprint_of(Opaque(2.0)).certain
    with pytest.warns(UserWarning, match="a checkpoint cannot tell whether it is still the same"):
        make(kernel=Opaque(2.0)).fit(points(), checkpoint=tmp_path / "run.ckpt")


def test_partial_fit_notices_another_function_of_the_same_name():
    X = points()
    model = make(kernel=gaussian_within(2.0)).partial_fit(X[:2048])
    model.set_params(kernel=gaussian_within(2.0)).partial_fit(X[2048:])
    with pytest.raises(ValueError, match="cannot be changed"):
        model.set_params(kernel=gaussian_within(3.0)).partial_fit(X)


# -------------------------------------------------------------------------------- damaged files


def rebuilt(content, change):
    """Change header or numbers of a file, and write the sum that belongs to it."""
    rest = content[START + 32 :]
    length = int.from_bytes(rest[:8], "little")
    header, numbers = json.loads(rest[8 : 8 + length]), bytearray(rest[8 + length :])
    header = change(header, numbers) or header
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    rest = len(text).to_bytes(8, "little") + text + bytes(numbers)
    return TITLE + VERSION + hashlib.sha256(rest).digest() + rest


def put(header, key, value):
    header[key] = value


def first_array(header):
    return header["done"][0]["arrays"][0]


EDITS = {
    "negative count": lambda h, n: put(h, "blocks", -1),
    "huge count": lambda h, n: put(h, "blocks", 10**30),
    "another count": lambda h, n: put(h, "blocks", h["blocks"] + 1),
    "count that is no integer": lambda h, n: put(h, "blocks", 2.5),
    "count that is no number": lambda h, n: put(h, "blocks", float("nan")),
    "text as count": lambda h, n: put(h, "blocks", "2"),
    "no count": lambda h, n: h.pop("blocks") and None,
    "no passes": lambda h, n: put(h, "done", None),
    "missing array": lambda h, n: h["done"][0]["arrays"].pop() and None,
    "unknown kind": lambda h, n: put(h["done"][0], "kind", "os.system"),
    "kind of another pass": lambda h, n: put(h["done"][0], "kind", "SignCounts"),
    "objects": lambda h, n: put(first_array(h), "dtype", "|O"),
    "other type": lambda h, n: put(first_array(h), "dtype", "<i8"),
    "other shape": lambda h, n: put(first_array(h), "shape", [1, *first_array(h)["shape"]]),
    "huge shape": lambda h, n: put(first_array(h), "shape", [2**62, 2**62]),
    "negative shape": lambda h, n: put(first_array(h), "shape", [-1]),
    "higher node": lambda h, n: put(h["waiting"][0], 0, 70),
    "same nodes": lambda h, n: put(h, "waiting", h["waiting"] * 2),
    "not a number": lambda h, n: n.__setitem__(slice(0, 8), np.float64(np.nan).tobytes()),
    "infinite": lambda h, n: n.__setitem__(slice(0, 8), np.float64(np.inf).tobytes()),
    "numbers left over": lambda h, n: n.extend(bytes(8)),
    "numbers missing": lambda h, n: n.__delitem__(slice(0, 8)),
    "no hash of the rows": lambda h, n: h.update({"rows": None, "rows so far": None}),
    "another hash of the rows": lambda h, n: h.update({"rows so far": "0" * 64}),
    "not JSON": lambda h, n: b"{",
    "a list": lambda h, n: b"[]",
    "deep": lambda h, n: b"[" * 100_000,
}


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory):
    """Return a checkpoint in the middle of its second pass."""
    path = tmp_path_factory.mktemp("run") / "run.ckpt"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "SECONDS_BETWEEN", 0.0)
        patch.setattr(source, "BLOCK_ROWS", 512)
        interrupted(make(), points(), path, 11)
    return path.read_bytes()


def refused(content, path):
    path.write_bytes(content)
    with pytest.raises(CheckpointMismatch):
        make().fit(points(), checkpoint=path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_checkpoint_is_refused_even_with_the_right_sum(edit, unfinished, tmp_path):
    content = rebuilt(unfinished, EDITS[edit])
    assert content != unfinished
    refused(content, tmp_path / "run.ckpt")


def test_rebuilding_without_a_change_gives_the_same_file(unfinished):
    assert rebuilt(unfinished, lambda header, numbers: None) == unfinished


def test_any_other_byte_and_any_truncation_is_refused(unfinished, tmp_path):
    rng = np.random.default_rng(0)
    for place in [*range(0, 80, 7), *rng.integers(0, len(unfinished), 30)]:
        content = bytearray(unfinished)
        content[place] ^= 1 << int(rng.integers(8))
        refused(bytes(content), tmp_path / "run.ckpt")
    for length in [0, 1, START, START + 20, *rng.integers(0, len(unfinished), 8)]:
        refused(unfinished[:length], tmp_path / "run.ckpt")


def test_another_version_and_an_archive_are_refused(unfinished, tmp_path):
    path = tmp_path / "run.ckpt"
    path.write_bytes(TITLE + b"3\n" + unfinished[START:])
    with pytest.raises(CheckpointMismatch, match="another version of sparseksc"):
        make().fit(points(), checkpoint=path)
    np.savez_compressed(path.with_suffix(".npz"), header=np.zeros(10**7, np.uint8))
    refused(path.with_suffix(".npz").read_bytes(), path)


def test_a_file_that_is_larger_than_the_memory_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "run.ckpt"
    path.write_bytes(bytes(1000))
    monkeypatch.setattr(checkpoint, "free_memory", lambda: 999)
    monkeypatch.setattr(checkpoint.Path, "read_bytes", lambda self: pytest.fail("it was read"))
    with pytest.raises(CheckpointMismatch):
        make().fit(points(), checkpoint=path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_no_checkpoint(tmp_path):
    os.mkfifo(tmp_path / "run.ckpt")
    with pytest.raises(CheckpointMismatch):
        make().fit(points(), checkpoint=tmp_path / "run.ckpt")


# ------------------------------------------------------------------------ one run, and its labels

HOLD = """
import sys, time
from sparseksc.data.lock import sole_use
with sole_use(sys.argv[1]):
    print("locked", flush=True)
    time.sleep(600)
"""


def test_a_second_run_is_refused_until_the_first_has_ended_or_was_killed(tmp_path):
    path = tmp_path / "run.ckpt"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout.readline().strip() == b"locked"
            with pytest.raises(FileInUse, match=r"Another run is using .*run\.ckpt"):
                make().fit(points(), checkpoint=path)
        finally:
            os.kill(other.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
            other.wait()
    assert (tmp_path / "run.ckpt.lock").exists()  # which locks nothing any more
    make().fit(points(), checkpoint=path)
    assert os.listdir(tmp_path) == []


def test_a_lock_that_is_removed_while_another_waits_for_it_is_taken_anew(tmp_path, monkeypatch):
    from sparseksc.data import lock

    path, original = tmp_path / "run.ckpt", lock._lock_now
    opened = []

    def removed_before(handle):
        opened.append(handle)
        if len(opened) == 1:
            (tmp_path / "run.ckpt.lock").unlink()
        original(handle)

    monkeypatch.setattr(lock, "_lock_now", removed_before)
    with sole_use(path):
        assert len(opened) == 2
        with pytest.raises(FileInUse), sole_use(path):
            pass


def test_a_file_of_the_user_is_not_taken_for_a_lock(tmp_path):
    own = tmp_path / "run.ckpt.lock"
    own.write_text("mine")
    with pytest.raises(FileExistsError, match="holds something else"):
        make().fit(points(), checkpoint=tmp_path / "run.ckpt")
    assert own.read_text() == "mine"


def test_arrays_have_labels_and_fit_predict_takes_a_checkpoint(tmp_path):
    X, path = points(), tmp_path / "run.ckpt"
    labels = make().fit(X).labels_
    interrupted(make(), X, path, 11)
    np.testing.assert_array_equal(make().fit(X, checkpoint=path).labels_, labels)
    np.testing.assert_array_equal(make().fit_predict(X, checkpoint=path), labels)
    stream = open_dataset(blocks_of(X))
    np.testing.assert_array_equal(make().fit_predict(stream, checkpoint=path), labels)
    assert "labels_" not in vars(make().fit(stream, checkpoint=path))
    gram = gaussian(X[:600], X[:600])
    model = make(kernel="precomputed")
    np.testing.assert_array_equal(model.fit_predict(gram, checkpoint=path), model.fit_predict(gram))


def test_the_sign_encoding_and_two_bandwidths_go_on_too(tmp_path):
    X, path = points(), tmp_path / "run.ckpt"
    given = {"encoding": "sign", "icd_bandwidth": 3.0}
    whole = make(**given).fit(X, checkpoint=path)
    for after in (11, 19, 27, None):
        interrupted(make(**given), X, path, after)
        resumed = make(**given).fit(X, checkpoint=path)
        assert resumed.coef_.tobytes() == whole.coef_.tobytes()
        np.testing.assert_array_equal(resumed.labels_, whole.labels_)
