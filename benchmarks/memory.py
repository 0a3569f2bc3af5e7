"""Peak memory of a fit above that of the data, in a process of its own; compiled and in NumPy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.footprint import MEGABYTE, forget_peak, peak, resident
from benchmarks.measure import Settings
from benchmarks.problems import RANK, Spirals
from benchmarks.report import Result, Table, Threshold

POINTS = 1_000_000


def run(settings: Settings) -> Result:
    """Measure each core, in a long run also with a single thread."""
    n_points = settings.points(POINTS, least=2000)
    rows = []
    for core, native in (("compiled", "1"), ("NumPy", "0")):
        for n_jobs in (None, 1) if settings.long else (None,):
            peaks = _in_new_process(n_points, n_jobs, native)
            name = "all" if n_jobs is None else str(n_jobs)
            rows.append((core, name, peaks["data"], peaks["fit"], peaks["predict"]))
    table = Table(
        f"Peak memory in MB: two spirals, {n_points:,} points, rank {RANK}",
        ("core", "n_jobs", "data", "fit, above the data", "predict, above the data"),
        rows,
        "What the process needs before the fit, with all libraries loaded and the data read, is "
        "subtracted. The labels, 8 bytes for each point, count.",
    )
    return Result(
        "memory",
        [table],
        [Threshold("peak memory of fit, 1,000,000 points (MB)", rows[0][3], None, 300)],
    )


def _in_new_process(n_points: int, n_jobs: int | None, native: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "points.npy"
        np.save(path, Spirals.of_size(n_points).X)
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.memory", str(path), json.dumps(n_jobs)],
            cwd=Path(__file__).resolve().parents[1],
            env=os.environ | {"SPARSEKSC_NATIVE": native},
            check=True,
            capture_output=True,
            text=True,
        )
    peaks: dict[str, float] = json.loads(done.stdout)
    return peaks


def main(path: str, n_jobs: str) -> None:
    """Print the peaks of one fit and one predict; the body of the new process."""
    small = Spirals.of_size(1000)
    small.estimator(n_jobs=json.loads(n_jobs)).fit(small.X).predict(small.X)
    X = np.load(path)
    estimator = small.estimator(n_jobs=json.loads(n_jobs))
    peaks = {"data": X.nbytes / MEGABYTE}
    for step, work in (("fit", estimator.fit), ("predict", estimator.predict)):
        forget_peak()
        before = resident()
        work(X)
        peaks[step] = (peak() - before) / MEGABYTE
    print(json.dumps(peaks))


if __name__ == "__main__":
    main(*sys.argv[1:])
