"""Peak memory of a fit above that of the data, in a process of its own; compiled and in NumPy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.footprint import MEGABYTE, forget_peak, peak, resident
from benchmarks.measure import Settings
from benchmarks.problems import BANDWIDTH, RANK, Spirals, gaussians
from benchmarks.real_data import MNIST, mnist
from benchmarks.report import Result, Table, Threshold
from sparseksc import KernelSpectralClustering

POINTS, MOST = 1_000_000, 300
#: What is fitted to the spirals, and to data of many features.
RBF = {"n_clusters": 2, "bandwidth": BANDWIDTH, "max_rank": RANK}
LANDMARKS = {"n_clusters": 10, "kernel": "landmarks", "max_rank": 1000}


def run(settings: Settings) -> Result:
    """Measure each core, in a long run also with a single thread; and landmarks."""
    n_points = settings.points(POINTS, least=2000)
    rows = []
    for core, native in (("compiled", "1"), ("NumPy", "0")):
        for n_jobs in (None, 1) if settings.long else (None,):
            X = Spirals.of_size(n_points).X
            rows.append(_row("two spirals", X, RBF, n_jobs, core, native))
    table = Table(
        f"Peak memory in MB: two spirals, {n_points:,} points, rank {RANK}; landmarks",
        ("data", "core", "n_jobs", "size", "fit, above the data", "predict, above the data"),
        rows,
        "What the process needs before the fit, with all libraries loaded and the data read, is "
        "subtracted. The labels, 8 bytes for each point, count. Landmarks are 1,000, and there are "
        "10 clusters.",
    )
    thresholds = [Threshold("peak memory of fit, 1,000,000 points (MB)", rows[0][4], None, MOST)]
    many = {"10 Gaussians, 16 features": gaussians(n_points)}
    if settings.long and MNIST.exists():
        many["MNIST"] = mnist()
    for name, X in many.items():
        rows.append(_row(name, X, LANDMARKS, None, "compiled", "1"))
        thresholds.append(
            Threshold(f"peak memory with landmarks, {name} (MB)", max(rows[-1][4:]), None, MOST)
        )
    return Result("memory", [table], thresholds)


def _row(
    name: str, X: Any, parameters: dict[str, Any], n_jobs: int | None, core: str, native: str
) -> tuple[str, str, str, float, float, float]:
    """Measure the peaks in a new process."""
    given = parameters | {"n_jobs": n_jobs, "random_state": 0}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "points.npy"
        np.save(path, X)
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.memory", str(path), json.dumps(given)],
            cwd=Path(__file__).resolve().parents[1],
            env=os.environ | {"SPARSEKSC_NATIVE": native},
            check=True,
            capture_output=True,
            text=True,
        )
    threads = "all" if n_jobs is None else str(n_jobs)
    return name, core, threads, *json.loads(done.stdout)


def main(path: str, parameters: str) -> None:
    """Print the size of the data and the peaks of fit and predict; the body of the new process."""
    given = json.loads(parameters)
    small = gaussians(2000)
    KernelSpectralClustering(**given | {"max_rank": 100}).fit(small).predict(small)
    X = np.load(path)
    estimator = KernelSpectralClustering(**given)
    peaks = [X.nbytes / MEGABYTE]
    for work in (estimator.fit, estimator.predict):
        forget_peak()
        before = resident()
        work(X)
        peaks.append((peak() - before) / MEGABYTE)
    print(json.dumps(peaks))


if __name__ == "__main__":
    main(*sys.argv[1:])
