"""Sources: rows that arrive in blocks, from arrays, files or anything that can be read again.

Training needs sums over the rows, several times, and never holds them. A source delivers
blocks of rows; each block is cut into chunks that fit the cache, the sums of the chunks of a
block are merged along a fixed tree, and so are the sums of the blocks (for an array, whose blocks
are all alike, that is one tree over its chunks). The same rows in the same blocks give the same
bits, wherever they come from and whoever computes them.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from sparseksc._text import count, count_named, escaped
from sparseksc._typing import Array, Booleans, Floats, Integers
from sparseksc.data.sampling import Sample, selection_sample
from sparseksc.execution.threads import (
    chunk_rows,
    chunk_slices,
    contiguous,
    ordered_map,
    sum_over,
    tree_sum,
)

T = TypeVar("T")
Work = Callable[[Array, Floats], T]
Merge = Callable[[T, T], T]
#: Results of some rows, on so many threads.
RowWork = Callable[[Array, int | None], Array]
#: Labels of some rows, and a summand that is taken while they are at hand.
Labelling = Callable[[Array, Floats], tuple[Integers, T]]

#: A summand of some rows, and what is kept of them.
Keeping = Callable[[Array, Floats], tuple[T, Any]]

#: Whether each of a few rows is left out.
RowMask = Callable[[Array], Booleans]

#: Rows of a block, where nothing else decides.
BLOCK_ROWS = 65_536


class RowTransform(Protocol):
    """What can be done to each row by itself, such as scaling."""

    def apply(self, X: Any) -> Any:
        """Transform rows, in their precision."""

    def fingerprint(self) -> str:
        """Say in a word which transform this is."""


class Source(ABC):
    """Rows that can be read from the beginning as often as they are asked for.

    Attributes
    ----------
    n_features : int
    dtype : numpy.dtype
        float32 or float64.
    n_rows : int or None
        Number of rows; None while it is not known.
    feature_names : list of str or None
    origins : sequence of str
        What the rows are read from, as far as that is known: names of files, folders, patterns.
    in_memory : bool
        Whether all rows are in the memory of this process.
    runs_here : bool
        Whether the sums are computed in this process, whose memory they need.
    is_sparse : bool
    n_entries : int or None
        Number of entries where the rows are sparse.
    c_contiguous : bool
        Whether chunks of rows lie in memory as they are, in one piece.
    block_rows : int
        Most rows of a block.
    weight_unit : float
        What the weights of the rows are multiples of, in units of the user.
    """

    n_features: int
    dtype: np.dtype[Any]
    n_rows: int | None = None
    feature_names: list[str] | None = None
    origins: Sequence[str] = ()
    in_memory: ClassVar[bool] = False
    runs_here: ClassVar[bool] = True
    is_sparse: bool = False
    n_entries: int | None = None
    c_contiguous: bool = True
    block_rows: int = BLOCK_ROWS
    weight_unit: float = 1.0

    def __repr__(self) -> str:
        rows = "rows not counted yet" if self.n_rows is None else count(self.n_rows, "row")
        columns = count(self.n_features, "column")
        if self.feature_names:
            columns = count_named(self.feature_names, "column")
        parts = (self.place(), rows, columns, str(self.dtype))
        return escaped(f"<{type(self).__name__}: {', '.join(filter(None, parts))}>")

    def place(self) -> str:
        """Say in a few words where the rows are, as far as that is known."""
        return ""

    @abstractmethod
    def blocks(self) -> Iterator[tuple[Array, Floats]]:
        """Yield blocks of rows and their weights, from the beginning."""

    @abstractmethod
    def sample(self, size: int | None, seed: int) -> Sample:
        """Draw rows as :func:`~sparseksc.data.sampling.selection_sample` does."""

    def counted_rows(self) -> int:
        """Return the number of rows, counted in one pass where it is not known."""
        if self.n_rows is None:
            self.n_rows = sum(block.shape[0] for block, _ in self.blocks())
        return self.n_rows

    def sample_for_search(self, size: int | None, seed: int) -> Sample:
        """Draw rows to search on; all of them where they are in memory."""
        return self.sample(size, seed)

    @abstractmethod
    def fingerprint(self) -> str:
        """Say in a line, without reading all rows, which data this is.

        It tells most other data from it. The rows themselves are compared by a hash of them.
        """

    @abstractmethod
    def scaled(self, scaling: RowTransform) -> Source:
        """Return the same rows, transformed."""

    def apply(self, work: RowWork, n_columns: int | None, dtype: Any, n_jobs: int | None) -> Any:
        """Stack ``work(rows, n_jobs)`` over all rows.

        ``n_columns`` (None for a vector) and ``dtype`` (None for that of the rows) describe the
        result, for sources that compute it later.
        """
        return np.concatenate([work(block, n_jobs) for block, _ in self.blocks()])

    def sum(self, work: Work[T], merge: Merge[T], width: int, n_jobs: int | None) -> T:
        """Sum ``work(rows, weights)`` over all rows, in chunks for tiles of ``width`` columns."""
        rows = chunk_rows(width)
        numbered = (
            (number, chunk)
            for number, block in enumerate(self.blocks())
            for chunk in chunks_of(block, rows)
        )
        results = ordered_map(lambda item: (item[0], work(*item[1])), numbered, n_jobs)
        by_block = groupby(results, key=itemgetter(0))
        return tree_sum(
            (tree_sum(map(itemgetter(1), group), merge) for _, group in by_block), merge
        )

    def sum_and_keep(
        self, work: Keeping[T], merge: Merge[T], width: int, n_jobs: int | None
    ) -> tuple[T, list[Any] | None]:
        """Sum what ``work(rows, weights)`` returns first; keep the rest if the rows are here."""
        return self.sum(lambda rows, weights: work(rows, weights)[0], merge, width, n_jobs), None

    def label(
        self, work: Labelling[T], merge: Merge[T], width: int, n_jobs: int | None
    ) -> tuple[Integers | None, T]:
        """Sum what ``work(rows, weights)`` returns beside labels; the labels too if in memory."""
        return None, self.sum(lambda rows, weights: work(rows, weights)[1], merge, width, n_jobs)

    def later(self, work: RowWork, dtype: Any = np.intp) -> Any:
        """Return labels that are computed when they are asked for; None if rows are not so."""
        return None

    def take(self, numbers: Integers) -> Array:
        """Rows of these numbers, which ascend."""
        found, start = list[Array](), 0
        for block, _ in self.blocks():
            stop = start + len(block)
            first, last = np.searchsorted(numbers, [start, stop])
            found.append(block[numbers[first:last] - start])
            start = stop
        return np.concatenate(found)


def files_behind(X: Any) -> list[str]:
    """Files that an array, the arrays of a sparse matrix or the columns of a frame are maps of."""
    # Other frames copy their columns to hand them out.
    if type(X).__module__.partition(".")[0] == "pandas" and X.ndim == 2:
        arrays = [column.values for _, column in X.items()]
    elif isinstance(X, np.ndarray):
        arrays = [X]
    else:
        arrays = [getattr(X, name, None) for name in ("data", "indices", "indptr")]
    return list(dict.fromkeys(file for array in arrays for file in _file_behind(array)))


def _file_behind(X: Any) -> list[str]:
    """File that an array, or the one that it is a view of, is a memory map of."""
    while isinstance(X, np.ndarray):
        if isinstance(X, np.memmap):
            return [] if X.filename is None else [os.path.abspath(X.filename)]
        X = X.base
    return []


def chunks_of(block: tuple[Array, Floats], rows: int) -> Iterator[tuple[Array, Floats]]:
    """Cut a block and its weights into chunks of ``rows`` rows."""
    X, weights = block
    for part in chunk_slices(X.shape[0], rows):
        yield contiguous(X[part]), weights[part]


def sum_of_block(
    block: tuple[Array, Floats], work: Work[T], merge: Merge[T], width: int, n_jobs: int | None
) -> T:
    """Sum ``work(rows, weights)`` over a block, in chunks for tiles of ``width`` columns."""
    X, weights = block

    def part(rows: slice) -> T:
        return work(contiguous(X[rows]), weights[rows])

    return sum_over(part, chunk_slices(X.shape[0], chunk_rows(width)), merge, n_jobs)


class ArraySource(Source):
    """An array, memory map or CSR matrix, with sample weights."""

    in_memory = True

    def __init__(self, X: Array, weights: Floats | None = None, weight_unit: float = 1.0) -> None:
        self.X, self.weight_unit = X, weight_unit
        self.weights = np.ones(X.shape[0]) if weights is None else weights
        (self.n_rows, self.n_features), self.dtype = X.shape, X.dtype
        self.is_sparse = not isinstance(X, np.ndarray)
        if isinstance(X, np.ndarray):
            self.c_contiguous = X.flags.c_contiguous
        else:
            self.n_entries = X.nnz

    @property
    def origins(self) -> Sequence[str]:  # type: ignore[override]
        """Files that the rows are a memory map of, if any."""
        return files_behind(self.X)

    def place(self) -> str:  # noqa: D102
        return "in memory"

    def blocks(self) -> Iterator[tuple[Array, Floats]]:  # noqa: D102
        return chunks_of((self.X, self.weights), BLOCK_ROWS)

    def apply(  # noqa: D102
        self, work: RowWork, n_columns: int | None, dtype: Any, n_jobs: int | None
    ) -> Any:
        return work(self.X, n_jobs)

    def sum(self, work: Work[T], merge: Merge[T], width: int, n_jobs: int | None) -> T:  # noqa: D102
        # Blocks consist of whole chunks, a power of two of them: one tree over all chunks is the
        # tree over the blocks.
        return sum_of_block((self.X, self.weights), work, merge, width, n_jobs)

    def sum_and_keep(  # noqa: D102
        self, work: Keeping[T], merge: Merge[T], width: int, n_jobs: int | None
    ) -> tuple[T, list[Any] | None]:
        kept: dict[int, Any] = {}

        def part(rows: slice) -> T:
            summand, kept[rows.start] = work(contiguous(self.X[rows]), self.weights[rows])
            return summand

        chunks = chunk_slices(self.X.shape[0], chunk_rows(width))
        total = sum_over(part, chunks, merge, n_jobs)
        return total, [kept[chunk.start] for chunk in chunks]

    def label(  # noqa: D102
        self, work: Labelling[T], merge: Merge[T], width: int, n_jobs: int | None
    ) -> tuple[Integers | None, T]:
        X, weights, labels = self.X, self.weights, np.empty(self.X.shape[0], np.intp)

        def part(rows: slice) -> T:
            labels[rows], summand = work(contiguous(X[rows]), weights[rows])
            return summand

        chunks = chunk_slices(len(labels), chunk_rows(width))
        return labels, sum_over(part, chunks, merge, n_jobs)

    def take(self, numbers: Integers) -> Array:  # noqa: D102
        return self.X[numbers]

    def scaled(self, scaling: RowTransform) -> ArraySource:  # noqa: D102
        return ArraySource(scaling.apply(self.X), self.weights, self.weight_unit)

    def fingerprint(self) -> str:  # noqa: D102
        return f"{type(self.X).__name__} {self.X.shape} {self.X.dtype}"

    def sample_for_search(self, size: int | None, seed: int) -> Sample:  # noqa: D102
        return Sample(np.arange(self.X.shape[0]), self.X, self.weights)

    def sample(self, size: int | None, seed: int) -> Sample:  # noqa: D102
        rows = selection_sample(self.X.shape[0], size, seed, self.weights)
        if len(rows) == self.X.shape[0]:
            return Sample(rows, self.X, self.weights)
        return Sample(rows, self.X[rows], self.weights[rows])


class MaskedSource(Source):
    """The rows of a source, without the weight of those that a mask leaves out."""

    def __init__(self, source: Source, mask: RowMask) -> None:
        self.source, self.mask = source, mask
        self.n_rows, self.n_features, self.dtype = source.n_rows, source.n_features, source.dtype
        self.feature_names, self.origins = source.feature_names, source.origins
        self.block_rows, self.weight_unit = source.block_rows, source.weight_unit

    @property
    def in_memory(self) -> bool:  # type: ignore[override]
        """Whether all rows are in the memory of this process."""
        return self.source.in_memory

    @property
    def runs_here(self) -> bool:  # type: ignore[override]
        """Whether the sums are computed in this process."""
        return self.source.runs_here

    def blocks(self) -> Iterator[tuple[Array, Floats]]:  # noqa: D102
        for block, weights in self.source.blocks():
            yield block, np.where(self.mask(block), 0.0, weights)

    def apply(  # noqa: D102
        self, work: RowWork, n_columns: int | None, dtype: Any, n_jobs: int | None
    ) -> Any:
        return self.source.apply(work, n_columns, dtype, n_jobs)

    def sum(self, work: Work[T], merge: Merge[T], width: int, n_jobs: int | None) -> T:  # noqa: D102
        return self.source.sum(partial(_masked, work, self.mask), merge, width, n_jobs)

    def label(  # noqa: D102
        self, work: Labelling[T], merge: Merge[T], width: int, n_jobs: int | None
    ) -> tuple[Integers | None, T]:
        return self.source.label(partial(_masked, work, self.mask), merge, width, n_jobs)

    def sample(self, size: int | None, seed: int) -> Sample:  # noqa: D102
        return masked_sample(self.source.sample(size, seed), self.mask)

    def scaled(self, scaling: RowTransform) -> Source:
        """Refuse: the mask is that of these rows, not of others."""
        raise NotImplementedError("Scale a source before some of its rows are left out.")

    def take(self, numbers: Integers) -> Array:  # noqa: D102
        return self.source.take(numbers)

    def fingerprint(self) -> str:  # noqa: D102
        return self.source.fingerprint()


def _masked(work: Work[T], mask: RowMask, rows: Array, weights: Floats) -> T:
    return work(rows, np.where(mask(rows), 0.0, weights))


def masked_sample(sample: Sample, mask: RowMask) -> Sample:
    """Return the same rows, with a weight of 0 where they are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.data.source import masked_sample
    >>> from sparseksc.data.sampling import Sample
    >>> sample = Sample(np.arange(2), np.array([[0.0], [9.0]]), np.ones(2))
    >>> masked_sample(sample, lambda rows: rows[:, 0] > 5.0).weights
    array([1., 0.])
    """
    return Sample(sample.rows, sample.X, np.where(mask(sample.X), 0.0, sample.weights))


def require_finite(block: Array, start: int, names: list[str] | None, column: int = 0) -> None:
    """Refuse NaN and infinity, with the place of the first one in the data.

    The block begins at the row ``start`` and the column ``column``.
    """
    if np.isfinite(block).all():
        return
    row, place = np.argwhere(~np.isfinite(block))[0]
    name = repr(names[column + place]) if names else str(column + place)
    raise ValueError(
        f"Row {start + row:,} has the value {block[row, place]} in column {name}: remove or "
        "fill such rows first."
    )
