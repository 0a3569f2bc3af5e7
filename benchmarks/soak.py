"""Fit, predict, update, save and load in threads for a long time: nothing may grow.

    python -m benchmarks soak [--minutes 60] [--threads 4]

Each thread goes round and round: a fit, a search, predictions of one row and of many, chunks for
`partial_fit`, a file written and read, a stream with a checkpoint, an error and an interrupted
iteration. Every half minute the resident memory, the open files and the threads of the process are
noted. The first third is warm-up; the rest is compared with a line: its slope times the whole time
is what was gained.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.footprint import MEGABYTE, resident
from sparseksc import KernelSpectralClustering, load, open_dataset
from sparseksc.datasets import make_gaussians

#: Acceptance thresholds for what may be gained: MB, open files, threads.
MOST_MEGABYTES, MOST_FILES, MOST_THREADS = 20.0, 2, 2


def one_round(folder: Path, seed: int) -> None:
    """Do everything once."""
    X, _ = make_gaussians(2000, n_clusters=3, n_features=3, overlap=0.05, random_state=seed % 7)
    model = KernelSpectralClustering(3, bandwidth=2.0, random_state=0).fit(X)
    for row in X[:50]:
        model.predict(row[None])
    model.membership(X)
    path = folder / f"{threading.get_ident()}.ksc"
    model.save(path)
    assert np.array_equal(load(path).predict(X), model.labels_)
    stream = open_dataset([X[:900], X[900:]])
    model.fit(stream, checkpoint=path.with_suffix(".ckpt"))
    model.predict(stream, out=path.with_suffix(".csv"))
    chunks = KernelSpectralClustering(3, bandwidth=2.0, max_rank=50, random_state=0)
    for part in np.array_split(X, 4):
        chunks.partial_fit(part, forgetting=0.9)
    if seed % 10 == 0:
        KernelSpectralClustering(random_state=0).fit(X[:400])
    try:
        model.fit(np.full((5, 3), np.nan))
    except ValueError:
        pass
    blocks = stream.blocks()
    next(blocks)
    blocks.close()


def state() -> tuple[float, int, int]:
    """Resident megabytes, open files and threads of this process."""
    gc.collect()
    files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    return resident() / MEGABYTE, files, threading.active_count()


def soak(minutes: float, n_threads: int, every: float = 30.0) -> tuple[int, np.ndarray]:
    """Return the number of rounds, and time, memory, files and threads, one row each time."""
    stop, rounds, errors = threading.Event(), [0] * n_threads, []
    noted = []
    with tempfile.TemporaryDirectory() as name:

        def work(number: int) -> None:
            while not stop.is_set():
                try:
                    one_round(Path(name), rounds[number])
                except Exception as error:
                    errors.append(error)
                    return
                rounds[number] += 1

        threads = [threading.Thread(target=work, args=(number,)) for number in range(n_threads)]
        started = time.monotonic()
        for thread in threads:
            thread.start()
        while time.monotonic() - started < 60.0 * minutes and not errors:
            stop.wait(min(every, 60.0 * minutes / 6))
            noted.append((time.monotonic() - started, *state()))
        stop.set()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
    return sum(rounds), np.array(noted)


def gained(noted: np.ndarray) -> np.ndarray:
    """Slope of memory, files and threads after the first third, times the whole time."""
    later = noted[len(noted) // 3 :]
    slopes = np.polyfit(later[:, 0], later[:, 1:], 1)[0]
    return slopes * noted[-1, 0]


def main(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks soak")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=4)
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    rounds, noted = soak(given.minutes, given.threads)
    print("  minutes   MB   files   threads")
    for seconds, memory, files, threads in noted[:: max(1, len(noted) // 12)]:
        print(f"{seconds / 60:9.1f} {memory:6.0f} {files:6.0f} {threads:8.0f}")
    memory, files, threads = gained(noted)
    print(f"{rounds} rounds in {given.minutes:g} minutes on {given.threads} threads")
    print(
        f"gained: {memory:+.1f} MB (at most {MOST_MEGABYTES:g}), {files:+.1f} open files, "
        f"{threads:+.1f} threads"
    )
    too_much = memory > MOST_MEGABYTES or files > MOST_FILES or threads > MOST_THREADS
    return int(too_much)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
