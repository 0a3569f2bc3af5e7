"""What a run needs beside its data, and how many threads fit into a limit.

Nothing of size N x R is ever held. What is held are the selection sample with its factor, a
few chunks in flight for each thread, and R x R sums. The chunks do not depend on the limit,
so the limit changes how many threads run, and not the result; only the refinement of a search at
a higher rank is left out, with a warning, where it does not fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log2

from sparseksc.config.parameters import AUTO_N_CLUSTERS, AUTO_RANK, AUTO_SELECTION
from sparseksc.core.recipe import ENCODING_SIZE
from sparseksc.data.source import BLOCK_ROWS
from sparseksc.execution.threads import CHUNKS_AHEAD, MOST_ROWS, chunk_rows, thread_count

#: Bytes of a float64.
WORD = 8


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
        Chunks, tiles and R x R sums of one thread.
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

    def threads_within(self, limit: int, *, at_once: bool = False) -> int:
        """Largest number of threads, up to that of the estimate, that stays under a limit.

        ``at_once`` says that each thread selects pivots of its own, as in a search.

        Raises
        ------
        MemoryError
            Where even one thread needs more; the message has the numbers.
        """
        room = limit - self.samples - self.results
        selections = self.selection if at_once else 0
        most = (room - self.sums + selections) // (self.per_thread + selections)
        if at_once:
            most = min(most, room // self.selection)
        if most < 1 or room < self.selection:
            needed = replace(self, n_threads=1).total
            raise MemoryError(
                f"This fit needs about {needed / 1e6:,.0f} MB beside the data, but memory_limit "
                f"is {limit / 1e6:,.0f} MB: lower max_rank or selection_size, or raise the limit."
            )
        return min(most, self.n_threads)

    def __str__(self) -> str:
        return f"{self.total / 1e6:,.0f} MB with {self.n_threads} threads"


def estimate_memory(
    n_rows: int,
    n_features: int,
    *,
    max_rank: int = AUTO_RANK,
    n_clusters: int = max(AUTO_N_CLUSTERS),
    selection_size: int = AUTO_SELECTION,
    encoding_size: int = ENCODING_SIZE,
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
    waiting = log2(max(2.0, n_rows / chunk_rows(R)))
    # Without the compiled core, tiles are written out.
    tile = min(chunk_rows(R), n_rows) * 2 * R
    rows = min(MOST_ROWS, n_rows) * (d + 16)
    block = min(BLOCK_ROWS, n_rows) * (d + 1) if streamed else 0
    return MemoryEstimate(
        selection=WORD * m * (R + d + 8),
        samples=WORD * kept * (d + 4 * K + 8),
        sums=int(WORD * R * R * (waiting + 8)),
        per_thread=WORD * (tile + rows + block + CHUNKS_AHEAD * R * R),
        results=0 if streamed else WORD * 3 * n_rows,
        n_threads=threads,
    )
