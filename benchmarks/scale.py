"""From 10⁶ to 10⁹ points that are made as they are read: time, memory and a cost model.

`python -m benchmarks scale` runs up to 10⁷ points; `python -m benchmarks.scale 1e8` one size.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics.cluster import contingency_matrix

from benchmarks import costs
from benchmarks.footprint import MEGABYTE, forget_peak, peak, resident
from benchmarks.measure import Settings
from benchmarks.problems import BANDWIDTH, RANK
from benchmarks.report import Result, Table, Threshold
from sparseksc import KernelSpectralClustering, open_dataset
from sparseksc._typing import Array
from sparseksc.data.source import BLOCK_ROWS
from sparseksc.data.stream import Part, Stream
from sparseksc.datasets import make_spirals
from sparseksc.execution.threads import thread_count

SIZES, LONG_SIZES = (1_000_000, 10_000_000), (100_000_000,)
#: Sizes of files that are trained with landmarks, from Parquet.
LANDMARK_SIZES = (100_000, 1_000_000, 10_000_000)
#: Places of what is compared in a row of the table.
CPU, MEMORY, ARI = 4, 6, 7
#: Parameters of each kernel.
KERNELS: dict[str, dict[str, Any]] = {
    "rbf": {"bandwidth": BANDWIDTH, "max_rank": RANK},
    "landmarks": {"kernel": "landmarks", "max_rank": 1000},
}


class EndlessSpirals(Stream):
    """Two spirals of any length; block i is made from seed i, so nothing is stored."""

    n_features = 2
    dtype = np.dtype(np.float64)

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows

    def sizes(self) -> list[int]:
        """Return the numbers of rows of the blocks."""
        n_rows = self.n_rows or 0
        return [min(BLOCK_ROWS, n_rows - start) for start in range(0, n_rows, BLOCK_ROWS)]

    def labelled(self) -> Iterator[tuple[Array, Array]]:
        """Yield blocks and the arms that their points belong to."""
        for number, size in enumerate(self.sizes()):
            yield make_spirals(size, random_state=number)

    def read(self) -> Iterator[Array]:
        for block, _ in self.labelled():
            yield block

    def parts(self) -> list[Part]:
        return [Part(size, partial(_spirals, size, i)) for i, size in enumerate(self.sizes())]

    def fingerprint(self) -> str:
        return f"spirals {self.n_rows}"


def _spirals(n_points: int, seed: int) -> Array:
    return make_spirals(n_points, random_state=seed)[0]


def run(settings: Settings) -> Result:
    """Run each size in a process of its own, so that its peak of memory is its own."""
    sizes = [settings.points(size, least=20_000) for size in SIZES]
    model = costs.measure(EndlessSpirals(settings.points(500_000, least=20_000)))
    cores = thread_count(None)
    made = [_row("made as read", size) for size in [*sizes, *(LONG_SIZES if settings.long else ())]]
    by_landmarks = []
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for size in LANDMARK_SIZES:
            size = settings.points(size, least=20_000)
            files[size] = Path(folder) / f"{size}.parquet"
            write_parquet(EndlessSpirals(size), files[size])
            by_landmarks.append(_row("Parquet, landmarks", size, files[size], "landmarks"))
        stored = [_row("Parquet", size, files[size]) for size in sizes]
    table = Table(
        f"Two spirals, rank {RANK}: trained on all points, and all labelled",
        (
            "source",
            "points",
            "fit (s)",
            "label (s)",
            "CPU (s)",
            "CPU ns per point",
            "memory (MB)",
            "ARI",
            "predicted (s)",
        ),
        [
            *((*row, model.on_threads(row[1], cores)) for row in made),
            *((*row, None) for row in [*stored, *by_landmarks]),
        ],
        "Fit reads the rows four times (sample, degrees, statistics, sizes of the clusters); the "
        "points that are made as they are read are made anew each time. Memory is the peak above "
        "the libraries. The last column is the cost model of `costs.py`, from the costs of a row "
        "on one core; making a row for the labels is in it, and not in the time of labels. "
        "A thousand landmarks are too few for shapes as thin as the spirals: these rows are about "
        "the time. Growth is that of CPU time.",
    )
    growth = {
        name: rows[1][CPU] / rows[0][CPU]
        for name, rows in (("made as read", made), ("Parquet", stored))
    }
    ratio = sizes[1] / sizes[0]
    thresholds = [
        *(
            Threshold(
                f"{ratio:.0f} times the points ({name}), times the time", value, None, 1.1 * ratio
            )
            for name, value in growth.items()
        ),
        *(
            Threshold(
                f"{large[1] / small[1]:.0f} times {small[1]:,} points (Parquet, landmarks), times "
                "the time",
                large[CPU] / small[CPU],
                None,
                1.2 * large[1] / small[1],
            )
            for small, large in pairwise(by_landmarks)
        ),
        Threshold("peak memory, Parquet (MB)", max(row[MEMORY] for row in stored), None, 500.0),
        Threshold("peak memory, made as read (MB)", max(row[MEMORY] for row in made), None, 1000.0),
        Threshold("smallest ARI", min(row[ARI] for row in [*made, *stored]), 1.0),
    ]
    return Result("scale", [table, costs.table_of(model)], thresholds)


def _row(
    name: str, size: int, path: Path | None = None, kernel: str = "rbf"
) -> tuple[str, int, float, float, float, float, float, float]:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "benchmarks.scale",
            str(size),
            *([str(path), kernel] if path else []),
        ],
        cwd=Path(__file__).resolve().parents[1],
        check=True,
        capture_output=True,
        text=True,
    )
    one = json.loads(done.stdout)
    per_point = 1e9 * one["cpu"] / size
    return name, size, one["fit"], one["label"], one["cpu"], per_point, one["memory"], one["ari"]


def write_parquet(source: EndlessSpirals, path: Path) -> None:
    """Store the points in a file."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    schema = pa.schema([("x", pa.float64()), ("y", pa.float64())])
    with ParquetWriter(path, schema) as writer:
        for block, _ in source.labelled():
            writer.write_batch(pa.record_batch(list(block.T), schema=schema))


def measure(size: int, path: Path | None = None, kernel: str = "rbf") -> dict[str, float]:
    """Train on all points and label all of them; the labels are compared and dropped."""
    make = {**KERNELS[kernel], "random_state": 0}
    KernelSpectralClustering(2, **make).fit(make_spirals(2000, random_state=0)[0])
    truth = EndlessSpirals(size)
    source = truth if path is None else open_dataset(path)
    forget_peak()
    before = resident()
    start, cpu = time.perf_counter(), -time.process_time()
    ksc = KernelSpectralClustering(2, **make).fit(source)
    fitted = time.perf_counter()
    cpu += time.process_time()
    label = 0.0
    counts = np.zeros((2, 2), dtype=np.int64)
    for (made, arms), (block, _) in zip(truth.labelled(), source.blocks(), strict=True):
        assert len(made) == len(block)
        begin = time.perf_counter()
        cpu -= time.process_time()
        labels = ksc.predict(block)
        label += time.perf_counter() - begin
        cpu += time.process_time()
        counts += contingency_matrix(arms, labels)
    return {
        "fit": fitted - start,
        "label": label,
        "cpu": cpu,
        "memory": (peak() - before) / MEGABYTE,
        "ari": adjusted_rand_index(counts),
    }


def adjusted_rand_index(counts: Array) -> float:
    """Adjusted Rand index of a table of counts."""
    table = counts.astype(float)

    def pairs(values: Array) -> float:
        return float((values * (values - 1.0) / 2.0).sum())

    together, first, second = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    expected = first * second / pairs(np.array([table.sum()]))
    return (together - expected) / ((first + second) / 2.0 - expected)


def main(size: str, path: str | None = None, kernel: str = "rbf") -> None:
    """Print one measurement; the body of the new process."""
    print(json.dumps(measure(int(float(size)), None if path is None else Path(path), kernel)))


if __name__ == "__main__":
    main(*sys.argv[1:])
