"""Run the blocks on a Dask cluster: the same sums, along the same tree, with the same bits.

Each block of a Dask array is summed where it lives; the sums are merged pairwise on the
workers, and one small result comes back. A worker that dies loses nothing: the cluster
computes its blocks again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray

from sparseksc.engines.threads import chunk_rows, single_threaded_blas, tree_sum
from sparseksc.kernels import Array
from sparseksc.sources import Merge, Sample, Source, T, Work, chunks_of, require_finite

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
        return f"{self.array.shape} {self.array.dtype} {self.array.name}"

    def sum(self, work: Work[T], merge: Merge[T], width: int, n_jobs: int | None) -> T:  # noqa: D102
        shared = delayed(work, traverse=False)
        summed = delayed(_block_sum)
        merged = delayed(merge)
        parts = (
            summed(block, start, self.feature_names, shared, merge, chunk_rows(width))
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


def _block_sum(
    block: Array,
    start: int,
    names: list[str] | None,
    work: Work[T],
    merge: Merge[T],
    rows: int,
) -> T:
    require_finite(block, start, names)
    with single_threaded_blas():
        chunks = chunks_of((np.ascontiguousarray(block), np.ones(len(block))), rows)
        return tree_sum((work(*chunk) for chunk in chunks), merge)


def _block_sample(
    block: Array, start: int, names: list[str] | None, size: int | None, seed: int
) -> Sample:
    require_finite(block, start, names)
    rows = np.arange(start, start + len(block))
    return Sample(rows, np.ascontiguousarray(block), np.ones(len(block))).first(size, seed)


def map_blocks(
    work: Callable[[Array], Array], source: Any, n_columns: int | None, dtype: Any
) -> Any:
    """Apply ``work`` to every block, lazily.

    The result is a Dask array of shape (n,) where ``n_columns`` is None, else (n, n_columns),
    of the type of the source where ``dtype`` is None.
    """
    array = source.array  # of a DaskSource
    dtype = array.dtype if dtype is None else dtype
    if n_columns is None:
        return array.map_blocks(work, dtype=dtype, drop_axis=1)
    return array.map_blocks(work, dtype=dtype, chunks=(array.chunks[0], (n_columns,)))
