"""What a run needs beside its data, and how many threads fit into a limit.

Nothing of size N x R is ever held. What is held are the selection sample with its factor, a
few chunks in flight for each thread, and R x R sums; in a search, samples to train and to evaluate
on, and in each thread the pivots of one bandwidth. The chunks do not depend on the limit,
so the limit changes how many threads run, and not the result; only the second look of a
search is left out where it does not fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log2

from sparseksc.config.parameters import AUTO_N_CLUSTERS, AUTO_RANK, AUTO_SELECTION
from sparseksc.core.landmarks import (
    BYTES_PER_WEIGHT,
    DENSE_RANK,
    KEPT_BYTES,
    LEAST_ROWS_PER_LANDMARK,
)
from sparseksc.core.recipe import ENCODING_SIZE
from sparseksc.data.source import BLOCK_ROWS
from sparseksc.execution.threads import CHUNKS_AHEAD, MOST_ROWS, chunk_rows, thread_count
from sparseksc.kernels import KERNELS, Exponential, Kernel
from sparseksc.kernels.landmarks import suited_neighbors
from sparseksc.kernels.metrics import BLOCK_ENTRIES
from sparseksc.search.constants import (
    GRAPH_SIZE,
    N_NEIGHBOURS,
    SAMPLE_CENTRES,
    SAMPLE_SIZE,
    TRAINING_SIZE,
)

#: Bytes of a float64.
WORD = 8
#: Bytes of an entry of a sparse matrix: its value, its column, and its place while rows are drawn.
SPARSE_ENTRY = 16
#: Words for each pair of points that the candidates for the bandwidth are taken from: its distance,
#: its weight, and what their medians copy.
WORDS_PER_PAIR = 5
#: Words for each neighbour in the graphs of a search: two matrices, their sums and their edges.
WORDS_PER_NEIGHBOUR = 16
#: Other landmarks that points share one with, on the average: dozens in any dimension.
LINKED_LANDMARKS = 64
#: Rows that the native core multiplies by all pivots at once (``wide_rows`` of kernels.hpp).
WIDE_ROWS = 192
#: Most bytes that the C library keeps for each thread once they are free.
KEPT_FOR_THREAD = 64 * 2**20


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
        R x R sums that wait to be merged, or the eigenproblem; blocks of a stream.
    per_thread : int
        Chunks, tiles and R x R sums of one thread.
    results : int
        What grows with the number of rows: the labels.
    n_threads : int
    preparation : int
        The largest step of a search before models are fitted: candidates for the bandwidth,
        isolated points, or the neighbour graph, with the samples. 0 without a search.
    search : int
        What is held while models are fitted: samples, graph, and the selection sample.
    per_search_thread : int
        Pivots, their factor and the sums of one bandwidth.
    """

    selection: int
    samples: int
    sums: int
    per_thread: int
    results: int
    n_threads: int
    preparation: int = 0
    search: int = 0
    per_search_thread: int = 0

    @property
    def total(self) -> int:
        """All of it: the larger one of search and training."""
        n, kept = self.n_threads, min(self.per_search_thread, KEPT_FOR_THREAD)
        if n == 1:  # what it has freed is given back
            kept = 0
        training = max(self.selection + n * kept, self.sums + n * max(self.per_thread, kept))
        training += self.samples + self.results
        return max(training, self.preparation, self.search + n * self.per_search_thread)

    def threads_within(self, limit: int) -> int:
        """Largest number of threads, up to that of the estimate, that stays under a limit.

        Raises
        ------
        MemoryError
            Where even one thread needs more; the message has the numbers.
        """
        room = limit - self.samples - self.results
        kept = min(self.per_search_thread, KEPT_FOR_THREAD)
        most = min(
            (room - self.selection) // max(kept, 1),
            (room - self.sums) // max(self.per_thread, kept),
            (limit - self.search) // max(self.per_search_thread, 1),
        )
        if most > 1 and self.preparation <= limit:
            return min(most, self.n_threads)
        # A single thread gives back what it frees.
        training = max(self.selection, self.sums + self.per_thread) + self.samples + self.results
        searching = max(self.preparation, self.search + self.per_search_thread)
        if max(training, searching) <= limit:
            return 1
        raise MemoryError(
            f"This {'search' if searching > training else 'fit'} needs about "
            f"{max(training, searching) / 1e6:,.0f} MB beside the data, but memory_limit is "
            f"{limit / 1e6:,.0f} MB: lower max_rank or selection_size, or raise the limit."
        )

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
    search: bool = False,
    search_sizes: tuple[int, int] = (TRAINING_SIZE, GRAPH_SIZE),
    itemsize: int = WORD,
    n_entries: int | None = None,
    c_contiguous: bool = True,
    block_rows: int = BLOCK_ROWS,
    kernel: str = "rbf",
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
    search : bool
        Whether the number of clusters or the bandwidth is searched for.
    search_sizes : tuple of int
        Points that the models of a search are trained on, and evaluated on.
    itemsize : int
        Bytes of a value of the data: 8 for float64, 4 for float32.
    n_entries : int or None
        Number of entries of sparse data.
    c_contiguous : bool
        Whether rows of an array lie in one piece; others are copied chunk by chunk.
    block_rows : int
        Rows of a stream that are read at once.
    kernel : str
        As in :class:`~sparseksc.KernelSpectralClustering`.

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
    m, K = min(selection_size, n_rows), n_clusters
    R = min(max_rank, m)
    row = itemsize * n_features
    if n_entries is not None:
        row = SPARSE_ENTRY * -(-n_entries // n_rows)
    # Among the points of a sample, a precomputed kernel has a column for each of them.
    fitted = itemsize * m if kernel == "precomputed" else row
    points = min(encoding_size, n_rows)
    waiting = log2(max(2.0, n_rows / chunk_rows(R)))
    chunk = min(MOST_ROWS, n_rows)
    copied = 0 if c_contiguous else chunk * row
    # Rows are copied unless all rows of an array are taken.
    drawn = sum(count * row for count in (points, m) if streamed or count < n_rows)
    if kernel == "landmarks":
        sizes = n_rows, m, max(min(R, m // LEAST_ROWS_PER_LANDMARK), 1), K, chunk
        return _of_landmarks(sizes, row, drawn, thread_count(n_jobs), streamed, block_rows)
    estimate = MemoryEstimate(
        selection=m * (fitted + WORD * (R + 8)) + 2 * R * fitted,
        samples=drawn + WORD * points * (4 * K + 8),
        sums=int(WORD * R * R * max(waiting + 1, 8)),  # the eigenproblem comes after them
        # Without the compiled core, tiles are written out.
        per_thread=copied
        + (R + (min(WIDE_ROWS, n_rows) if kernel == "rbf" and n_entries is None else 0)) * row
        + WORD * (2 * R * min(chunk_rows(R), n_rows) + 16 * chunk + CHUNKS_AHEAD * R * R),
        results=0 if streamed else WORD * 3 * n_rows,
        n_threads=thread_count(n_jobs),
    )
    if streamed:
        # A block that is read and the one before it; chunks that wait keep others. While the sample
        # is drawn, it is there with the rows of a block and without them.
        size = min(max(points, m, sum(search_sizes)), n_rows)
        blocks = 2 * min(block_rows, n_rows) * (row + WORD)
        estimate = replace(
            estimate,
            samples=size * row + WORD * points * (4 * K + 8),
            sums=estimate.sums + blocks,
            per_thread=estimate.per_thread + CHUNKS_AHEAD * chunk * row,
            preparation=2 * size * row + blocks,
        )
    if not search:
        return estimate
    measured = issubclass(KERNELS.get(kernel, Kernel), Exponential)  # there are distances
    few = n_rows < search_sizes[0] + min(search_sizes[0] // 2, search_sizes[1])
    if kernel == "rbf" and n_entries is None and few and n_features > n_rows:
        fitted = itemsize * n_rows  # see search.samples.fewer_features
    return _with_search(estimate, n_rows, row, fitted, (m, R, K), search_sizes, streamed, measured)


def _of_landmarks(
    sizes: tuple[int, int, int, int, int],
    row: int,
    drawn: int,
    n_threads: int,
    streamed: bool,
    block_rows: int,
) -> MemoryEstimate:
    """Estimate for the landmarks kernel, whose sums are sparse."""
    n_rows, m, R, K, chunk = sizes
    waiting = log2(max(2.0, n_rows / chunk))
    neighbors = suited_neighbors(R, K)
    weights = chunk * neighbors
    linked = R * min(R, LINKED_LANDMARKS) * SPARSE_ENTRY
    vectors = R if R <= DENSE_RANK else 2 * K + 40
    blocks = 2 * min(block_rows, n_rows) * (row + WORD) if streamed else 0
    kept = BYTES_PER_WEIGHT * neighbors * n_rows
    kept = kept if kept <= KEPT_BYTES else 0
    return MemoryEstimate(
        selection=m * (row + 4 * WORD) + 4 * R * row,
        samples=drawn,
        sums=int(linked * (waiting + 2)) + 3 * WORD * R * vectors + blocks,
        # Copies of the landmarks, distances of a block, weights, and their products.
        per_thread=4 * R * row
        + 2 * WORD * BLOCK_ENTRIES
        + SPARSE_ENTRY * weights * (4 + neighbors)
        + streamed * CHUNKS_AHEAD * chunk * row
        + CHUNKS_AHEAD * linked,
        results=0 if streamed else WORD * 3 * n_rows + kept,
        n_threads=n_threads,
        preparation=2 * m * row + blocks if streamed else 0,
    )


def _with_search(
    estimate: MemoryEstimate,
    n_rows: int,
    row: int,
    fitted: int,
    sizes: tuple[int, int, int],
    search_sizes: tuple[int, int],
    streamed: bool,
    measured: bool,
) -> MemoryEstimate:
    """Add what a search needs.

    ``row`` are the bytes of a row of the data, and ``fitted`` those of a row that models are fitted
    to; ``sizes`` are those of the selection sample, the rank and the number of clusters; distances
    are ``measured`` where the kernel is a function of them.
    """
    m, R, K = sizes
    n_training = min(search_sizes[0], n_rows)
    separate = n_rows - n_training >= min(search_sizes[0] // 2, search_sizes[1])
    n_validation = min(search_sizes[1], n_rows - n_training) if separate else n_training
    n_graph = min(max(GRAPH_SIZE, search_sizes[0] // 2), n_validation)
    all_rows = n_training == n_rows and not streamed
    drawn = 0 if all_rows else (n_training + separate * n_validation) * row
    graph = WORD * WORDS_PER_NEIGHBOUR * N_NEIGHBOURS * n_graph
    held = drawn + graph + (m < n_training) * m * row
    if measured and fitted < row:
        held += n_training * fitted
    if separate:
        held += min(GRAPH_SIZE, n_training) * row
    some = min(SAMPLE_SIZE, n_rows)
    pairs = WORD * some * min(SAMPLE_CENTRES, some)
    steps = (
        # Candidates: distances between rows without their medians, then medians of distances.
        (streamed or some < n_rows) * some * row
        + max(5 * some * row // 4 + pairs, WORDS_PER_PAIR * pairs),
        # Coordinates in fewer features, from centred points in float64.
        n_training * (WORD * row * n_training // fitted + fitted) if fitted < row else 0,
    )
    m, stream = min(m, n_training), estimate.samples if streamed else 0
    return replace(
        estimate,
        preparation=max(estimate.preparation, stream + max(steps) if measured else 0),
        search=stream + held,
        per_search_thread=m * (fitted + WORD * (R + 8))
        + 3 * R * fitted
        + WORD * (8 * R * R + n_validation * (4 * K + 8)),
    )
