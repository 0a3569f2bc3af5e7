"""Streams: rows that are too many to hold, in blocks that can be read again."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sparseksc._text import count
from sparseksc._typing import Array, Floats
from sparseksc.data.formats.base import Rows
from sparseksc.data.sampling import Sample
from sparseksc.data.source import RowTransform, Source, files_behind, require_finite
from sparseksc.execution.progress import progress_bar


class ChangedSource(RuntimeError):
    """A source did not give the same rows the second time."""


class Part(NamedTuple):
    """Consecutive rows of a stream: how many, and a function that reads them anywhere."""

    n_rows: int
    read: Callable[[], Array]


class Stream(Source):
    """Blocks of rows that are too many to hold."""

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
        from sparseksc.data.dask_source import DaskSource

        source = DaskSource.of_parts(
            [(part.n_rows, part.read) for part in self.parts()],
            self.n_features,
            self.dtype,
            self.feature_names,
            self.fingerprint(),
        )
        source.origins = self.origins
        return source

    def records(self) -> Iterator[Rows]:
        """Yield blocks of finite rows, and a list of their columns of ids beside each."""
        for block, _ in self.blocks():
            yield block, []

    def scaled(self, scaling: RowTransform) -> Stream:  # noqa: D102
        return ScaledStream(self, scaling)

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
            if block.dtype.kind not in "fiub":
                raise ValueError(f"Blocks must hold numbers, got {block.dtype}.")
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
            raise ValueError(f"{getattr(self, 'paths', ['The source'])[0]} has no rows.")
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


def recut(blocks: Iterable[Array], rows: int) -> Iterator[Array]:
    """Cut a stream of blocks into pieces of exactly ``rows`` rows; the last may be shorter.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.data.stream import recut
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
        self.n_features, self.block_rows = first.shape[1], len(first)
        self.dtype = np.dtype(np.float32 if first.dtype == np.float32 else np.float64)
        known = blocks if isinstance(blocks, list | tuple) else [first]
        self.origins = [file for block in known for file in files_behind(block)]

    def place(self) -> str:  # noqa: D102
        if isinstance(self._blocks, list | tuple):
            return count(len(self._blocks), "array")
        return f"arrays of a {type(self._blocks).__name__}"

    def _fresh(self) -> Iterable[Any]:
        return self._blocks() if callable(self._blocks) else self._blocks

    def fingerprint(self) -> str:  # noqa: D102
        return f"blocks of {self.n_features} {self.dtype}"

    def read(self) -> Iterator[Array]:  # noqa: D102
        for block in self._fresh():
            yield np.asarray(block)

    def parts(self) -> list[Part]:  # noqa: D102
        if not isinstance(self._blocks, list | tuple):
            return super().parts()
        blocks = [np.asarray(block) for block in self._blocks]
        return [Part(len(block), partial(np.asarray, block)) for block in blocks]


class ScaledStream(Stream):
    """The rows of a stream, each transformed by itself."""

    def __init__(self, stream: Stream, scaling: RowTransform) -> None:
        self.stream, self.scaling = stream, scaling
        self.n_features, self.feature_names = stream.n_features, stream.feature_names
        self.n_rows, self.dtype, self.origins = stream.n_rows, stream.dtype, stream.origins
        self.block_rows = stream.block_rows

    def place(self) -> str:  # noqa: D102
        return f"scaled rows of {self.stream.place() or 'a stream'}"

    def read(self) -> Iterator[Array]:  # noqa: D102
        for block in self.stream.read():
            yield self.scaling.apply(block.astype(self.dtype, copy=False))

    def records(self) -> Iterator[Rows]:  # noqa: D102
        for block, ids in self.stream.records():
            yield self.scaling.apply(block), ids

    def fingerprint(self) -> str:  # noqa: D102
        return f"{self.stream.fingerprint()} {self.scaling.fingerprint()}"
