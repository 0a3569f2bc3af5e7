"""What a row costs, measured step by step, and what that predicts for sizes nobody has run.

A fit reads the rows four times: for the sample, the degrees, the statistics and the sizes of the
clusters; labels read them once more. With r seconds to read a row on one core and w_p seconds of
work on it in pass p, c cores need

    T(n) = T_0 + n Σ_p max(r, (r + w_p) / c)      threads: one of them reads for all
    T(n) = T_0 + n Σ_p (r + w_p) / (e c)          a cluster: every worker reads its own blocks

where e is the share of its time that a worker computes, as the benchmark `cluster` measures it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from benchmarks.problems import BANDWIDTH, RANK
from benchmarks.report import Table
from sparseksc import KernelSpectralClustering
from sparseksc.data.stream import Stream

CORES = (2, 64, 1000)
SIZES = (10**9, 10**10, 10**11)
#: Two workers on two cores, which they share with the scheduler, against one.
EFFICIENCY = 0.8


@dataclass(frozen=True)
class Costs:
    """Seconds that a row takes on one core, and those that do not depend on the rows."""

    read: float
    statistics: float
    labels: float
    fixed: float

    @property
    def passes(self) -> tuple[float, ...]:
        """Work of the passes: sample, degrees and statistics (two), sizes, labels."""
        return 0.0, self.statistics / 2, self.statistics / 2, self.labels, self.labels

    def on_threads(self, n_rows: int, cores: int) -> float:
        """Predict the seconds of fit and predict on one machine."""
        passes = (max(self.read, (self.read + work) / cores) for work in self.passes)
        return self.fixed + n_rows * sum(passes)

    def on_cluster(self, n_rows: int, cores: int) -> float:
        """Predict the seconds of fit and predict on workers with one thread each."""
        passes = (self.read + work for work in self.passes)
        return self.fixed + n_rows * sum(passes) / (EFFICIENCY * cores)


def measure(source: Stream) -> Costs:
    """Take the costs of a row on one core, from a source of some hundred thousand rows."""
    rows = [block for block, _ in source.blocks()]
    n_rows = sum(map(len, rows))
    started = time.perf_counter()
    for _ in source.blocks():
        pass
    read = time.perf_counter() - started
    ksc = KernelSpectralClustering(
        2, bandwidth=BANDWIDTH, max_rank=RANK, random_state=0, n_jobs=1
    ).fit(rows[0])
    small = ksc.timings_["statistics and spectrum"]
    ksc.fit(source)
    statistics = ksc.timings_["statistics and spectrum"] - 2 * read
    started = time.perf_counter()
    for block in rows:
        ksc.predict(block)
    labels = time.perf_counter() - started
    fixed = ksc.timings_["selection"] + max(small - statistics * len(rows[0]) / n_rows, 0.0)
    return Costs(read / n_rows, statistics / n_rows, labels / n_rows, fixed)


def table_of(costs: Costs) -> Table:
    """Show the predictions for large data."""
    return Table(
        "What that predicts: fit and labels, read from where they are made",
        ("points", *(f"{cores:,} cores" for cores in CORES)),
        [
            (
                f"{size:.0e}".replace("1e+", "10^"),
                *(
                    duration(
                        costs.on_threads(size, cores)
                        if cores == CORES[0]
                        else costs.on_cluster(size, cores)
                    )
                    for cores in CORES
                ),
            )
            for size in SIZES
        ],
        f"On one core a row takes {1e9 * costs.read:.0f} ns to read (each of five passes), "
        f"{1e9 * costs.statistics:.0f} ns for degrees and statistics and "
        f"{1e9 * costs.labels:.0f} ns for a label. Two cores: threads; more: a cluster whose "
        f"workers compute {EFFICIENCY:.0%} of the time.",
    )


def duration(seconds: float) -> str:
    """Return a time in the unit that people would use.

    Examples
    --------
    >>> from benchmarks.costs import duration
    >>> duration(75), duration(5400), duration(200_000)
    ('75 s', '90 min', '56 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"
