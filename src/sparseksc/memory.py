"""Memory: what a run needs beside its data, and how many threads fit into a limit.

Nothing of size N x R is ever held. What is held are the selection sample with its factor, a
few chunks in flight for each thread, and R x R sums. The chunks do not depend on the limit,
so the limit changes how many threads run, and not the result; only the closer look of a search is
left out, with a warning, where it does not fit.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from math import log2
from typing import Any

from sparseksc.engines.threads import MOST_ROWS, chunk_rows, thread_count
from sparseksc.sources import BLOCK_ROWS

#: Bytes of a float64.
WORD = 8
UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


@dataclass(frozen=True)
class MemoryEstimate:
    """Bytes that a fit needs at its peak, beside the data itself.

    Attributes
    ----------
    selection : int
        Selection sample and its incomplete Cholesky factor.
    samples : int
        Points that the prototypes are found in, and their scores.
    sums : int
        R x R sums that wait to be merged, and the eigenproblem.
    per_thread : int
        Chunks and tiles of one thread.
    results : int
        What grows with the number of rows: the labels.
    n_threads : int
    """

    selection: int
    samples: int
    sums: int
    per_thread: int
    results: int
    n_threads: int

    @property
    def total(self) -> int:
        """All of it."""
        fixed = max(self.selection, self.sums + self.n_threads * self.per_thread)
        return fixed + self.samples + self.results

    def __str__(self) -> str:
        return f"{self.total / 1e6:,.0f} MB with {self.n_threads} threads"


def estimate_memory(
    n_rows: int,
    n_features: int,
    *,
    max_rank: int = 200,
    n_clusters: int = 10,
    selection_size: int = 2000,
    encoding_size: int = 20_000,
    n_jobs: int | None = None,
    streamed: bool = False,
) -> MemoryEstimate:
    """Estimate the memory of a fit before it runs.

    Parameters
    ----------
    n_rows, n_features : int
        Shape of the data.
    max_rank, n_clusters, selection_size, n_jobs
        As in :class:`~sparseksc.KernelSpectralClustering`.
    encoding_size : int
        Points that the prototypes are found in.
    streamed : bool
        Whether the rows come from files or another stream, so that no labels are kept.

    Returns
    -------
    MemoryEstimate

    Examples
    --------
    >>> from sparseksc import estimate_memory
    >>> small = estimate_memory(10**5, 2, max_rank=115, n_jobs=2)
    >>> large = estimate_memory(10**9, 2, max_rank=115, n_jobs=2, streamed=True)
    >>> large.total < 100e6
    True
    """
    threads = thread_count(n_jobs)
    m, R, d, K = min(selection_size, n_rows), max_rank, n_features, n_clusters
    kept = min(max(encoding_size, m), n_rows)
    in_flight = 3 * threads + log2(max(2.0, n_rows / chunk_rows(R)))
    # Without the compiled core, tiles are written out.
    tile = min(chunk_rows(R), n_rows) * 2 * R
    rows = min(MOST_ROWS, n_rows) * (d + 16)
    block = min(BLOCK_ROWS, n_rows) * (d + 1) if streamed else 0
    return MemoryEstimate(
        selection=WORD * m * (R + d + 8),
        samples=WORD * kept * (d + 4 * K + 8),
        sums=int(WORD * R * R * (in_flight + 8)),
        per_thread=WORD * (tile + rows + block),
        results=0 if streamed else WORD * 3 * n_rows,
        n_threads=threads,
    )


def threads_within(limit: Any, *, at_once: bool = False, **run: Any) -> int:
    """Largest number of threads with which a run stays under the limit.

    ``at_once`` says that each thread selects pivots of its own, as in a search.

    Raises
    ------
    MemoryError
        Where even one thread needs more; the message has the numbers.
    """
    allowed = parse_bytes(limit)
    for threads in range(thread_count(run.pop("n_jobs", None)), 0, -1):
        estimate = estimate_memory(**run, n_jobs=threads)
        selections = (threads - 1) * estimate.selection if at_once else 0
        if estimate.total + selections <= allowed:
            return threads
    raise MemoryError(
        f"This fit needs about {estimate.total / 1e6:,.0f} MB beside the data, but memory_limit "
        f"is {allowed / 1e6:,.0f} MB: lower max_rank or selection_size, or raise the limit."
    )


def parse_bytes(limit: Any) -> int:
    """Bytes of a number or of a text such as "2GB"; half of the free memory for None.

    Examples
    --------
    >>> from sparseksc.memory import parse_bytes
    >>> parse_bytes("1.5 GB"), parse_bytes("64MiB")
    (1500000000, 67108864)
    """
    if limit is None:
        return free_memory() // 2
    if isinstance(limit, str):
        found = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([a-z]*)\s*", limit.lower())
        if found and found[2] in UNITS and found[1].count(".") <= 1:
            return int(float(found[1]) * UNITS[found[2]])
    elif isinstance(limit, int | float) and not isinstance(limit, bool) and limit > 0:
        return int(limit)
    raise ValueError(
        f"memory_limit must be a positive number of bytes or a text like '2GB', got {limit!r}."
    )


def free_memory() -> int:
    """Bytes that are free for use, or a guess of 4 GB where the system does not tell."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 4 * 10**9
