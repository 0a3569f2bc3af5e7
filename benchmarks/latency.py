"""How long a predict of a few rows takes, alone and among many threads, beside KMeans.

    python -m benchmarks latency [--seconds 5]

Threads call `predict` on 1 to 10 rows as fast as they can. p50 and p99 are over all calls of all
threads; the estimators are timed in turns, so that they meet the same machine. The one with 20,000
landmarks has points of 16 features, the others of 4.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_gaussians

#: Acceptance thresholds: milliseconds for one row in one thread, and p99 over p50 in 200 threads.
MOST_MILLISECONDS, MOST_RATIO = 1.0, 5.0


def call(model: Any, X: np.ndarray, n_threads: int, seconds: float) -> np.ndarray:
    """Durations of all calls, in milliseconds."""
    durations: list[list[float]] = [[] for _ in range(n_threads)]
    ready, stop = threading.Barrier(n_threads + 1), threading.Event()

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        sizes = rng.integers(1, 11, 1000) if n_threads > 1 else np.ones(1000, int)
        starts = rng.integers(0, len(X) - 10, 1000)
        ready.wait()
        for place in range(10**9):
            if stop.is_set():
                return
            start, size = starts[place % 1000], sizes[place % 1000]
            began = time.perf_counter()
            model.predict(X[start : start + size])
            durations[number].append(time.perf_counter() - began)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(n_threads)]
    for thread in threads:
        thread.start()
    ready.wait()
    time.sleep(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    return 1000.0 * np.concatenate(durations)


def main(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks latency")
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args(arguments)
    X, _ = make_gaussians(5000, n_clusters=3, n_features=4, overlap=0.1, random_state=0)
    many, _ = make_gaussians(50_000, n_clusters=3, n_features=16, overlap=0.1, random_state=0)
    landmarks = KernelSpectralClustering(3, kernel="landmarks", max_rank=20_000, random_state=0)
    models: dict[str, tuple[Any, np.ndarray]] = {
        "sparseksc": (KernelSpectralClustering(3, bandwidth=3.0, random_state=0).fit(X), X),
        "landmarks": (landmarks.fit(many), many),
        "KMeans": (KMeans(3, n_init=1, random_state=0).fit(X), X),
    }
    print("threads   estimator    p50 ms   p99 ms   p99/p50   calls/s")
    found = {}
    for n_threads in (1, 8, 200):
        for name, (model, rows) in models.items():
            call(model, rows, 1, 0.2)  # warm
            took = call(model, rows, n_threads, given.seconds)
            p50, p99 = np.percentile(took, [50, 99])
            found[n_threads, name] = p50, p99
            print(
                f"{n_threads:7}   {name:10} {p50:8.3f} {p99:8.3f} {p99 / p50:9.1f} "
                f"{len(took) / given.seconds:9.0f}",
                flush=True,
            )
    p50, p99 = found[200, "sparseksc"]
    slowest = max(found[1, name][0] for name in ("sparseksc", "landmarks"))
    return int(slowest > MOST_MILLISECONDS or p99 / p50 > MOST_RATIO)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
