"""Planned and measured memory of fits, with and without a search, on a grid of shapes.

    python -m benchmarks memory_plan

Each fit runs in a process of its own, after a small one of the same kind that loads all libraries.
Measured is the peak of the process minus what it held before the fit, with the data in memory;
planned is what `estimate_memory` says. With a limit, fewer threads may run than were asked for.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.footprint import MEGABYTE, forget_peak, peak, resident
from benchmarks.measure import Settings
from benchmarks.report import Result, Table, Threshold
from sparseksc import KernelSpectralClustering, estimate_memory, open_dataset
from sparseksc.config.memory import MemoryEstimate
from sparseksc.config.parameters import (
    AUTO_N_CLUSTERS,
    AUTO_RANK,
    AUTO_SELECTION,
    POINTS_PER_PIVOT,
)
from sparseksc.data.source import BLOCK_ROWS
from sparseksc.execution.memory import parse_bytes, release_memory

#: How far a peak may be above and below what was planned.
MOST, LEAST = 1.2, 0.8


@dataclass(frozen=True)
class Case:
    """A fit: its data, and what is asked of it."""

    rows: int
    features: int
    kind: str = "array"
    search: bool = True
    kernel: str = "rbf"
    max_rank: Any = "auto"
    dtype: str = "float64"
    entries: int = 20
    n_jobs: int = 2
    memory_limit: str = "10GB"


CASES = (
    Case(1_000_000, 2, search=False),
    Case(100_000, 64, search=False, max_rank=500),
    Case(20_000, 1000, search=False),
    Case(3000, 2000, search=False),
    Case(100_000, 200, kind="Fortran order", search=False),
    Case(50_000, 20_000, kind="sparse", search=False),
    Case(200_000, 100, kind="stream", search=False),
    Case(100_000, 2),
    Case(100_000, 2, n_jobs=1),
    Case(100_000, 20),
    Case(20_000, 500),
    Case(20_000, 500, dtype="float32"),
    Case(3000, 2000),
    Case(3000, 2000, memory_limit="150MB"),
    Case(3000, 2000, kind="noise", memory_limit="150MB"),
    Case(3000, 2000, kind="isolated points"),
    Case(120, 10_000),
    Case(1500, 20_000),
    Case(20_000, 20_000, kind="sparse"),
    Case(200_000, 100, kind="stream"),
    Case(50_000, 20, kernel="chi2"),
    Case(50_000, 20, kernel="cosine"),
    Case(4000, 4000, kernel="precomputed"),
    Case(1_000_000, 16, kernel="landmarks", max_rank=1000, search=False),
)


def make_data(case: Case) -> Any:
    """Five clusters, as an array, a sparse matrix or a stream of blocks."""
    rng = np.random.default_rng(0)
    if case.kind == "sparse":
        shape, count = (case.rows, case.features), case.rows * case.entries
        rows = np.repeat(np.arange(case.rows), case.entries)
        # Each cluster has its own fifth of the columns.
        columns = rng.integers(0, case.features // 5, count) + rows % 5 * (case.features // 5)
        return sp.csr_array((rng.random(count) + 0.5, (rows, columns)), shape=shape)
    X = rng.standard_normal((case.rows, case.features), dtype=case.dtype)
    if case.kind != "noise":
        X += 10.0 * np.eye(5, case.features, dtype=case.dtype)[np.arange(case.rows) % 5]
    if case.kind == "isolated points":
        X[::500] *= 100.0
    if case.kernel == "chi2":
        np.abs(X, out=X)
    if case.kernel == "precomputed":
        X = X[:, :5] @ X[:, :5].T
    return np.asfortranarray(X) if case.kind == "Fortran order" else X


def make_estimator(case: Case) -> Any:
    fixed = {} if case.search else {"n_clusters": 5}
    if not case.search and case.kernel in ("rbf", "laplacian", "chi2"):
        fixed["bandwidth"] = 2.0 * case.features if case.kind != "sparse" else 2.0 * case.entries
    return KernelSpectralClustering(
        **fixed,
        kernel=case.kernel,
        max_rank=case.max_rank,
        random_state=0,
        n_jobs=case.n_jobs,
        memory_limit=case.memory_limit,
    )


def plan(case: Case, X: Any) -> MemoryEstimate:
    """Return what a user would learn from `estimate_memory`, with the threads that are granted."""
    estimate = estimate_memory(
        case.rows,
        case.features,
        max_rank=AUTO_RANK if case.max_rank == "auto" else int(case.max_rank),
        selection_size=max(AUTO_SELECTION, POINTS_PER_PIVOT * int(case.max_rank))
        if case.max_rank != "auto"
        else AUTO_SELECTION,
        n_clusters=max(AUTO_N_CLUSTERS) if case.search else 5,
        n_jobs=case.n_jobs,
        streamed=case.kind == "stream",
        search=case.search,
        itemsize=np.dtype(case.dtype).itemsize,
        n_entries=X.nnz if case.kind == "sparse" else None,
        c_contiguous=case.kind != "Fortran order",
        block_rows=min(BLOCK_ROWS, case.rows),
        kernel=case.kernel,
    )
    threads = estimate.threads_within(parse_bytes(case.memory_limit))
    return replace(estimate, n_threads=threads)


def measure(case: Case) -> dict[str, float]:
    """Fit in this process; return MB of the data, planned and at the peak, and the threads."""
    warnings.simplefilter("ignore")
    small = replace(case, rows=400, features=min(case.features, 400), memory_limit="10GB")
    make_estimator(small).fit(as_source(small, make_data(small)))
    X = make_data(case)
    planned = plan(case, X)
    source, estimator = as_source(case, X), make_estimator(case)
    release_memory()
    forget_peak()
    before = resident()
    estimator.fit(source)
    size = X.data.nbytes + X.indices.nbytes if case.kind == "sparse" else X.nbytes
    return {
        "data": size / MEGABYTE,
        "threads": planned.n_threads,
        "planned": planned.total / MEGABYTE,
        "measured": (peak() - before) / MEGABYTE,
    }


def as_source(case: Case, X: Any) -> Any:
    """Return the rows, as blocks that are cut from them where they are to be a stream."""
    if case.kind != "stream":
        return X
    starts = range(0, len(X), BLOCK_ROWS)
    return open_dataset(lambda: (X[start : start + BLOCK_ROWS].copy() for start in starts))


def run(settings: Settings) -> Result:
    """Measure all cases, or two that take no time."""
    cases = CASES if settings.scale == 1.0 else (Case(2000, 200, search=False), Case(300, 1000))
    rows = []
    for case in cases:
        found = _in_new_process(case)
        rows.append(
            (
                f"{case.rows:,} x {case.features:,}",
                ", ".join(_words(case)),
                case.search,
                int(found["threads"]),
                *(round(found[name], 1) for name in ("data", "planned", "measured")),
                round(found["measured"] / found["planned"], 2),
            )
        )
        print(*rows[-1], sep="  ", flush=True)
    ratios = [float(row[-1]) for row in rows]
    table = Table(
        "Memory in MB beside the data: planned and measured",
        ("shape", "data", "search", "threads", "size", "planned", "measured", "measured/planned"),
        rows,
        "The peak of the process minus what it held before the fit, with the data read.",
    )
    return Result(
        "memory_plan",
        [table],
        [
            Threshold("measured over planned memory, the largest", max(ratios), at_most=MOST),
            Threshold("measured over planned memory, the smallest", min(ratios), at_least=LEAST),
        ],
    )


def _words(case: Case) -> list[str]:
    """Say what is unusual about a case."""
    usual = Case(0, 0)
    words = [
        str(getattr(case, name))
        for name in ("kind", "dtype", "kernel")
        if getattr(case, name) != getattr(usual, name)
    ]
    if case.max_rank != usual.max_rank:
        words.append(f"rank {case.max_rank}")
    if case.memory_limit != usual.memory_limit:
        words.append(f"limit {case.memory_limit}")
    return words


def _in_new_process(case: Case) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.memory_plan", json.dumps(asdict(case))],
        cwd=Path(__file__).resolve().parents[1],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    print(json.dumps(measure(Case(**json.loads(sys.argv[1])))))
