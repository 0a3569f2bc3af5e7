"""SIGINT, SIGTERM and SIGHUP leave the outputs as they were, and no temporary files."""

import os
import signal
import subprocess
import time

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering, open_dataset
from tests.promises.running import (
    FAST,
    contents,
    needs_program,
    start,
    two_groups,
    wait_until,
    write_csv,
)

pytest.importorskip("pyarrow", reason="reading CSV files needs pyarrow")
pytestmark = needs_program

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def is_staged(folder):
    return lambda: any(name.startswith(".ksc-") for name in os.listdir(folder))


@pytest.fixture
def searching(tmp_path):
    """Start a run that takes long, over an output that is there."""
    np.save(tmp_path / "many.npy", np.random.default_rng(0).normal(size=(30_000, 5)))
    (tmp_path / "model.ksc").write_bytes(b"before")

    started = []

    def begin(**more):
        line = ("fit", "many.npy", "-k", "2..30", "-o", "model.ksc")
        started.append(start(tmp_path, *line, **more))
        return started[-1]

    yield begin
    for process in started:
        process.kill()


def is_untouched(folder):
    return (
        sorted(os.listdir(folder)) == ["many.npy", "model.ksc"]
        and (folder / "model.ksc").read_bytes() == b"before"
    )


@pytest.mark.parametrize("number", SIGNALS)
def test_during_the_work(searching, tmp_path, number):
    process = searching()
    wait_until(is_staged(tmp_path), process)
    time.sleep(0.3)
    process.send_signal(number)
    assert process.communicate(timeout=60) == (b"", b"")
    assert process.returncode == 128 + number
    assert is_untouched(tmp_path)


def test_a_second_signal_does_not_disturb_the_cleaning(searching, tmp_path):
    process = searching()
    wait_until(is_staged(tmp_path), process)
    time.sleep(0.3)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGTERM):
        process.send_signal(number)
        time.sleep(0.002)
    process.communicate(timeout=60)
    # Once all is clean, a late signal may find its usual action again.
    ended = (128 + signal.SIGTERM, 128 + signal.SIGHUP, -signal.SIGTERM, -signal.SIGHUP)
    assert process.returncode in ended
    assert is_untouched(tmp_path)


@pytest.mark.parametrize("number", SIGNALS)
def test_while_standard_input_is_copied(tmp_path, number):
    write_csv(tmp_path / "x.csv", two_groups())
    data = open_dataset(tmp_path / "x.csv", ids=["name"])
    KernelSpectralClustering(2, bandwidth=1.0).fit(data).save(tmp_path / "m.ksc")
    (tmp_path / "labels.csv").write_bytes(b"before")
    (tmp_path / "copies").mkdir()
    before = contents(tmp_path)
    environment = {**os.environ, "TMPDIR": str(tmp_path / "copies")}
    line = ("predict", "m.ksc", "-", "--id", "name", "-o", "labels.csv")
    process = start(tmp_path, *line, stdin=subprocess.PIPE, env=environment)
    process.stdin.write((tmp_path / "x.csv").read_bytes())
    process.stdin.flush()
    wait_until(lambda: list(tmp_path.glob("copies/.ksc-*/input.csv")), process)
    process.send_signal(number)
    assert process.wait(timeout=60) == 128 + number  # standard input is still open
    assert process.communicate() == (b"", b"")
    assert contents(tmp_path) == before
    assert os.listdir(tmp_path / "copies") == []


@pytest.mark.slow
def test_at_any_moment_from_the_start(tmp_path):
    write_csv(tmp_path / "x.csv", two_groups())
    output = tmp_path / "labels.csv"
    line = ("fit", "x.csv", "--id", "name", *FAST, "--labels", output)
    began = time.monotonic()
    start(tmp_path, *line).communicate(timeout=60)
    whole = time.monotonic() - began
    done = output.read_bytes()
    for turn in range(9):
        number = SIGNALS[turn % 3]
        output.write_bytes(b"before")
        process = start(tmp_path, *line)
        time.sleep(whole * turn / 8)
        process.send_signal(number)
        process.communicate(timeout=60)
        # Before the program has begun, the system ends it, and there is nothing to clean.
        assert process.returncode in (0, 128 + number, -number)
        assert sorted(os.listdir(tmp_path)) == ["labels.csv", "x.csv"]
        assert output.read_bytes() in ([done] if process.returncode == 0 else [b"before", done])


def test_a_signal_that_is_ignored_from_the_start_stays_ignored(searching, tmp_path):
    process = searching(ignored=[signal.SIGHUP])
    wait_until(is_staged(tmp_path), process)
    process.send_signal(signal.SIGHUP)
    time.sleep(1.0)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143
    assert is_untouched(tmp_path)
