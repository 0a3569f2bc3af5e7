"""What two cores of this machine give at most: processes that share nothing, alone and at once.

    python -m benchmarks.processes [--points N]

Each process fits with one thread. Two of them do twice the work of one; the time that they take
says how much of that the machine allows, and no number of threads can do better.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from statistics import median
from typing import Any

from benchmarks.problems import POINTS, Spirals

ROUNDS, FITS = 3, 10


def throughput(n_points: int, n_processes: int = 2) -> float:
    """Return the work that several processes do in the time in which one does its own."""
    ratios = []
    for _ in range(ROUNDS):
        alone, together = (_seconds(n_points, count) for count in (1, n_processes))
        ratios.append(n_processes * alone / together)
    return median(ratios)


def _seconds(n_points: int, n_processes: int) -> float:
    """Time from the moment when all are ready until the last has finished."""
    context = multiprocessing.get_context("spawn")
    ready, results = context.Barrier(n_processes), context.Queue()
    processes = [
        context.Process(target=_fit_often, args=(n_points, ready, results))
        for _ in range(n_processes)
    ]
    for process in processes:
        process.start()
    taken = [results.get() for _ in processes]
    for process in processes:
        process.join()
    return max(taken)


def _fit_often(n_points: int, ready: Any, results: Any) -> None:
    spirals = Spirals.of_size(n_points)
    model = spirals.estimator(n_jobs=1).fit(spirals.X)
    ready.wait()
    start = time.perf_counter()
    for _ in range(FITS):
        model.fit(spirals.X)
    results.put(time.perf_counter() - start)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=POINTS, help="rows that each process fits")
    given = parser.parse_args()
    print(f"two processes do {throughput(given.points):.2f} times the work of one")
