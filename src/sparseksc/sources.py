"""Sources: rows that arrive in blocks, from arrays, files or anything that can be read again.

Training needs sums over the rows, several times, and never holds them. A source delivers
blocks of rows; each block is cut into chunks that fit the cache, the sums of the chunks of a
block are merged along a fixed tree, and so are the sums of the blocks (for an array, whose blocks
are all alike, that is one tree over its chunks). The same rows in the same blocks give the same
bits, wherever they come from and whoever computes them.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparseksc.engines.threads import (
    chunk_rows,
    chunk_slices,
    contiguous,
    ordered_map,
    sum_over,
    tree_sum,
)
from sparseksc.kernels import Array
from sparseksc.progress import progress_bar
from sparseksc.reduced_set import selection_sample

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
T = TypeVar("T")
Work = Callable[[Array, Floats], T]
Merge = Callable[[T, T], T]

#: Rows of a block, where nothing else decides.
BLOCK_ROWS = 65_536


class ChangedSource(RuntimeError):
    """A source did not give the same rows the second time."""


@dataclass(frozen=True)
class Sample:
    """Some rows of a source: their numbers in it, the rows and their weights."""

    rows: Integers
    X: Array
    weights: Floats

    def first(self, size: int | None, seed: int) -> Sample:
        """Return the sample that would have been drawn with a smaller size."""
        places = selection_sample(self.rows, size, seed, self.weights)
        if len(places) == len(self.rows):
            return self
        return Sample(self.rows[places], self.X[places], self.weights[places])

    def join(self, later: Sample, size: int | None, seed: int) -> Sample:
        """Return the sample of this one's rows and later ones."""
        rows = np.concatenate([self.rows, later.rows])
        X = np.concatenate([self.X, later.X])
        weights = np.concatenate([self.weights, later.weights])
        return Sample(rows, X, weights).first(size, seed)


class Source(ABC):
    """Rows that can be read from the beginning as often as they are asked for.

    Attributes
    ----------
    n_features : int
    feature_names : list of str or None
    """

    n_features: int
    feature_names: list[str] | None = None

    @abstractmethod
    def blocks(self) -> Iterator[tuple[Array, Floats]]:
        """Yield blocks of rows and their weights, from the beginning."""

    @abstractmethod
    def sample(self, size: int | None, seed: int) -> Sample:
        """Draw rows as :func:`~sparseksc.reduced_set.selection_sample` does."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Say in a line which data this is, to tell it from other data."""

    def apply(
        self,
        work: Callable[[Array, int | None], Array],
        n_columns: int | None,
        dtype: Any,
        n_jobs: int | None,
    ) -> Any:
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

    def __init__(self, X: Array, weights: Floats | None = None) -> None:
        self.X = X
        self.weights = np.ones(X.shape[0]) if weights is None else weights
        self.n_features = X.shape[1]

    def blocks(self) -> Iterator[tuple[Array, Floats]]:  # noqa: D102
        return chunks_of((self.X, self.weights), BLOCK_ROWS)

    def apply(  # noqa: D102
        self,
        work: Callable[[Array, int | None], Array],
        n_columns: int | None,
        dtype: Any,
        n_jobs: int | None,
    ) -> Any:
        return work(self.X, n_jobs)

    def sum(self, work: Work[T], merge: Merge[T], width: int, n_jobs: int | None) -> T:  # noqa: D102
        # Blocks consist of whole chunks, a power of two of them: one tree over all chunks is the
        # tree over the blocks.
        return sum_of_block((self.X, self.weights), work, merge, width, n_jobs)

    def fingerprint(self) -> str:  # noqa: D102
        ends = [np.asarray(part).tobytes() for part in (self.X[:1000], self.X[-1000:])]
        return f"{self.X.shape} {self.X.dtype} {_digest(*ends, self.weights.tobytes())}"

    def sample(self, size: int | None, seed: int) -> Sample:  # noqa: D102
        rows = selection_sample(self.X.shape[0], size, seed, self.weights)
        if len(rows) == self.X.shape[0]:
            return Sample(rows, self.X, self.weights)
        return Sample(rows, self.X[rows], self.weights[rows])


class Part(NamedTuple):
    """Consecutive rows of a stream: how many, and a function that reads them anywhere."""

    n_rows: int
    read: Callable[[], Array]


class Stream(Source):
    """Blocks of rows that are too many to hold.

    Attributes
    ----------
    n_rows : int or None
        Number of rows; None while it is not known.
    dtype : numpy.dtype
        float32 or float64.
    """

    n_rows: int | None = None
    dtype: np.dtype[Any]

    @abstractmethod
    def read(self) -> Iterator[Array]:
        """Yield blocks of rows, arrays of shape (any, n_features)."""

    def parts(self) -> list[Part]:
        """Return the blocks as parts that other processes can read, each for itself."""
        raise ValueError(
            f"A {type(self).__name__} can only be read from its beginning; a cluster needs files "
            "or a list of arrays."
        )

    def to_dask(self) -> Source:
        """Return the same rows as a source that the active Dask cluster reads and computes.

        The files must be where the workers can read them, under the same names. The blocks are
        those of this stream, and so are the bits of the model; only CSV, which cannot be read
        from the middle, is cut by ``dask.dataframe.read_csv``.

        Examples
        --------
        >>> import numpy as np
        >>> from sparseksc import KernelSpectralClustering, open_dataset
        >>> data = open_dataset([np.eye(2).repeat(9, axis=0), np.eye(2).repeat(5, axis=0)])
        >>> ksc = KernelSpectralClustering(2, bandwidth=0.5).fit(data.to_dask())
        >>> ksc.predict(data.to_dask())  # computed when it is asked for
        dask.array<...shape=(28,)...
        """
        from sparseksc.engines.dask import from_stream

        return from_stream(self)

    def blocks(self) -> Iterator[tuple[Array, Floats]]:
        """Yield checked blocks: finite, of one width and type, and as many rows as last time."""
        start = 0
        bar = progress_bar(self.n_rows, "rows", "row")
        for block in self.read():
            if block.ndim != 2 or block.shape[1] != self.n_features:
                raise ValueError(
                    f"A block has the shape {block.shape} where {self.n_features} columns are "
                    "expected."
                )
            require_finite(block, start, self.feature_names)
            start += len(block)
            yield np.ascontiguousarray(block, dtype=self.dtype), np.ones(len(block))
            bar.update(len(block))
        bar.close()
        if self.n_rows is not None and start != self.n_rows:
            raise ChangedSource(
                f"The source had {self.n_rows:,} rows before and has {start:,} now: it must not "
                "change while it is in use."
            )
        if start == 0:
            raise ValueError("The source has no rows.")
        self.n_rows = start

    def sample(self, size: int | None, seed: int) -> Sample:
        """Draw rows in one pass, whether or not the length is known."""
        sample, start = None, 0
        for block, weights in self.blocks():
            more = Sample(np.arange(start, start + len(block)), block, weights)
            sample = more.first(size, seed) if sample is None else sample.join(more, size, seed)
            start += len(block)
        assert sample is not None  # a stream without rows has raised an error
        return sample


def require_finite(block: Array, start: int, names: list[str] | None) -> None:
    """Refuse NaN and infinity, with the place of the first one."""
    if np.isfinite(block).all():
        return
    row, column = np.argwhere(~np.isfinite(block))[0]
    name = repr(names[column]) if names else str(column)
    raise ValueError(
        f"Row {start + row:,} has the value {block[row, column]} in column {name}: remove or "
        "fill such rows first."
    )


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def recut(blocks: Iterable[Array], rows: int) -> Iterator[Array]:
    """Cut a stream of blocks into pieces of exactly ``rows`` rows; the last may be shorter.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.sources import recut
    >>> [len(piece) for piece in recut([np.ones((5, 2)), np.ones((4, 2))], 3)]
    [3, 3, 3]
    """
    waiting: list[Array] = []
    count = 0
    for block in blocks:
        position = 0
        while count + len(block) - position >= rows:
            stop = position + rows - count
            piece = block[position:stop]
            yield piece if not waiting else np.concatenate([*waiting, piece])
            waiting, count, position = [], 0, stop
        if position < len(block):
            waiting.append(block[position:])
            count += len(block) - position
    if waiting:
        yield waiting[0] if len(waiting) == 1 else np.concatenate(waiting)


class IterableSource(Stream):
    """Any re-iterable of 2-D arrays, or a function that returns a fresh iterator."""

    def __init__(self, blocks: Iterable[Any] | Callable[[], Iterable[Any]]) -> None:
        if not callable(blocks) and iter(blocks) is blocks:
            raise ValueError(
                "An iterator can be read only once, and training reads its data several times: "
                "pass a list, an object with __iter__, or a function that returns a new iterator."
            )
        self._blocks = blocks
        first = np.asarray(next(iter(self._fresh()), np.empty((0, 0))))
        if first.ndim != 2 or first.shape[1] == 0:
            raise ValueError(f"Blocks must be 2-D arrays with columns, got shape {first.shape}.")
        self.n_features = first.shape[1]
        self.dtype = np.dtype(np.float32 if first.dtype == np.float32 else np.float64)

    def _fresh(self) -> Iterable[Any]:
        return self._blocks() if callable(self._blocks) else self._blocks

    def fingerprint(self) -> str:  # noqa: D102
        first = np.asarray(next(iter(self._fresh())))
        return f"{first.shape} {first.dtype} {_digest(first.tobytes())}"

    def read(self) -> Iterator[Array]:  # noqa: D102
        for block in self._fresh():
            yield np.asarray(block)

    def parts(self) -> list[Part]:  # noqa: D102
        if not isinstance(self._blocks, list | tuple):
            return super().parts()
        blocks = [np.asarray(block) for block in self._blocks]
        return [Part(len(block), partial(np.asarray, block)) for block in blocks]
