"""Run the blocks on a Dask cluster: the same sums, along the same tree, with the same bits.

Each block of a Dask array is summed where it lives; the sums are merged pairwise on the
workers, and one small result comes back. A worker that dies loses nothing: the cluster
computes its blocks again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray

from sparseksc.csv_format import Csv
from sparseksc.engines.threads import tree_sum
from sparseksc.files import FileStream
from sparseksc.kernels import Array
from sparseksc.sources import (
    Merge,
    Sample,
    Source,
    Stream,
    T,
    Work,
    require_finite,
    sum_of_block,
)

Floats = NDArray[np.float64]


class DaskSource(Source):
    """The rows of a Dask array or data frame; its chunks are the blocks."""

    def __init__(self, collection: Any) -> None:
        if hasattr(collection, "to_dask_array"):
            self.feature_names = [str(name) for name in collection.columns]
            collection = collection.to_dask_array(lengths=True)
        if not hasattr(collection, "compute_chunk_sizes") or collection.ndim != 2:
            raise ValueError(
                f"A Dask array with two dimensions is expected, got {type(collection).__name__}"
                f" with {getattr(collection, 'ndim', 'no')} dimensions."
            )
        if np.dtype(collection.dtype).kind not in "fiub":
            raise ValueError(f"The Dask array must hold numbers, got {collection.dtype}.")
        if any(np.isnan(size) for size in collection.chunks[0]):
            collection = collection.compute_chunk_sizes()
        dtype = np.float32 if collection.dtype == np.float32 else np.float64
        self.array = collection.rechunk({1: -1}).astype(dtype)
        self.n_rows, self.n_features = self.array.shape
        if self.n_rows == 0:
            raise ValueError("The Dask array has no rows.")
        self.identity = f"{self.array.shape} {self.array.dtype} {self.array.name}"

    def _delayed_blocks(self) -> list[tuple[int, Any]]:
        """First row and content of each block that has rows."""
        sizes = self.array.chunks[0]
        starts = np.cumsum([0, *sizes[:-1]]).tolist()
        blocks = self.array.to_delayed().ravel()
        return [
            (start, block)
            for start, block, size in zip(starts, blocks, sizes, strict=True)
            if size > 0
        ]

    def blocks(self) -> Iterator[tuple[Array, Floats]]:
        """Bring one block after the other to this process."""
        for start, block in self._delayed_blocks():
            rows = block.compute()
            require_finite(rows, start, self.feature_names)
            yield rows, np.ones(len(rows))

    def fingerprint(self) -> str:  # noqa: D102
        return self.identity

    def apply(  # noqa: D102
        self,
        work: Callable[[Array, int | None], Array],
        n_columns: int | None,
        dtype: Any,
        n_jobs: int | None,
    ) -> Any:
        array = self.array
        dtype = array.dtype if dtype is None else dtype
        on_one_thread = partial(_apply, work)
        if n_columns is None:
            return array.map_blocks(on_one_thread, dtype=dtype, drop_axis=1)
        chunks = (array.chunks[0], (n_columns,))
        return array.map_blocks(on_one_thread, dtype=dtype, chunks=chunks)

    def sum(self, work: Work[T], merge: Merge[T], width: int, n_jobs: int | None) -> T:  # noqa: D102
        shared = delayed(work, traverse=False)
        summed = delayed(_block_sum)
        merged = delayed(merge)
        parts = (
            summed(block, start, self.feature_names, shared, merge, width)
            for start, block in self._delayed_blocks()
        )
        total: T = tree_sum(parts, merged).compute()
        return total

    def sample(self, size: int | None, seed: int) -> Sample:  # noqa: D102
        drawn = delayed(_block_sample)
        joined = delayed(Sample.join)
        parts = (
            drawn(block, start, self.feature_names, size, seed)
            for start, block in self._delayed_blocks()
        )
        sample: Sample = tree_sum(
            parts, lambda left, right: joined(left, right, size, seed)
        ).compute()
        return sample


def _apply(work: Callable[[Array, int | None], Array], rows: Array) -> Array:
    return work(rows, 1)


def _block_sum(
    block: Array,
    start: int,
    names: list[str] | None,
    work: Work[T],
    merge: Merge[T],
    width: int,
) -> T:
    require_finite(block, start, names)
    rows = np.ascontiguousarray(block), np.ones(len(block))
    return sum_of_block(rows, work, merge, width, n_jobs=1)


def _block_sample(
    block: Array, start: int, names: list[str] | None, size: int | None, seed: int
) -> Sample:
    require_finite(block, start, names)
    rows = np.arange(start, start + len(block))
    return Sample(rows, np.ascontiguousarray(block), np.ones(len(block))).first(size, seed)


def from_stream(stream: Stream) -> DaskSource:
    """Return the rows of a stream as a source whose blocks are read by the workers."""
    if isinstance(stream, FileStream) and isinstance(stream.form, Csv):
        return DaskSource(_csv_frame(stream, stream.form))
    arrays: Any = da  # whose functions have no types
    blocks = [
        arrays.from_delayed(
            delayed(part.read, pure=False)(), (part.n_rows, stream.n_features), stream.dtype
        )
        for part in stream.parts()
    ]
    source = DaskSource(arrays.concatenate(blocks))
    source.feature_names = stream.feature_names
    source.identity = stream.fingerprint()
    return source


def _csv_frame(stream: FileStream, form: Csv) -> Any:
    import dask.dataframe as dd

    names, lines_before = form.header(stream.paths[0])
    packed = any(path.name.lower().endswith(".gz") for path in stream.paths)
    frame = dd.read_csv(
        [str(path) for path in stream.paths],
        sep=form.request.delimiter,
        header=0 if lines_before else None,
        names=names,
        usecols=stream.feature_names,
        dtype={name: stream.dtype for name in stream.feature_names or []},
        blocksize=None if packed else "default",
        compression="gzip" if packed else None,
    )
    return frame[stream.feature_names]
