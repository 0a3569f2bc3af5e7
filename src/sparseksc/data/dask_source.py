"""Dask arrays and data frames as sources: their chunks are the blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from sparseksc._typing import Array, Floats
from sparseksc.data.sampling import Sample
from sparseksc.data.source import (
    Merge,
    RowTransform,
    RowWork,
    Source,
    T,
    Work,
    require_finite,
    sum_of_block,
)
from sparseksc.execution.dask import sum_blocks


class DaskSource(Source):
    """The rows of a Dask array or data frame; its chunks are the blocks."""

    runs_here = False

    def __init__(self, collection: Any, feature_names: list[str] | None = None) -> None:
        self.feature_names = feature_names
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
        numbers = collection.map_blocks(
            _checked, of=dtype, names=self.feature_names, dtype=dtype, meta=np.empty((0, 0), dtype)
        )
        self.array = numbers.rechunk({1: -1})
        (self.n_rows, self.n_features), self.dtype = self.array.shape, self.array.dtype
        if self.n_rows == 0:
            raise ValueError("The Dask array has no rows.")
        self.identity = f"{self.array.shape} {self.array.dtype} {self.array.chunks[0]}"

    @classmethod
    def of_parts(
        cls,
        parts: Sequence[tuple[int, Callable[[], Array]]],
        n_features: int,
        dtype: np.dtype[Any],
        feature_names: list[str] | None,
        identity: str,
    ) -> DaskSource:
        """Return the rows of some parts, each a number of rows and a function that reads them."""
        arrays: Any = da  # whose functions have no types
        blocks = [
            arrays.from_delayed(delayed(read, pure=False)(), (n_rows, n_features), dtype)
            for n_rows, read in parts
        ]
        source = cls(arrays.concatenate(blocks), feature_names)
        source.identity = identity
        return source

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
        for _, block in self._delayed_blocks():
            rows = block.compute()
            yield rows, np.ones(len(rows))

    def fingerprint(self) -> str:  # noqa: D102
        return self.identity

    def scaled(self, scaling: RowTransform) -> DaskSource:  # noqa: D102
        rows = self.array.map_blocks(scaling.apply, dtype=self.array.dtype)
        changed = DaskSource(rows, self.feature_names)
        changed.identity = f"{self.identity} {scaling.fingerprint()}"
        changed.origins = self.origins
        return changed

    def apply(  # noqa: D102
        self, work: RowWork, n_columns: int | None, dtype: Any, n_jobs: int | None
    ) -> Any:
        array = self.array
        dtype = array.dtype if dtype is None else dtype
        on_one_thread = partial(_apply, work)
        if n_columns is None:
            return array.map_blocks(on_one_thread, dtype=dtype, drop_axis=1)
        chunks = (array.chunks[0], (n_columns,))
        return array.map_blocks(on_one_thread, dtype=dtype, chunks=chunks)

    def sum(self, work: Work[T], merge: Merge[T], width: int, n_jobs: int | None) -> T:  # noqa: D102
        summed = partial(_block_sum, work=work, merge=merge, width=width)
        return sum_blocks(self._delayed_blocks(), summed, merge)

    def sample(self, size: int | None, seed: int) -> Sample:  # noqa: D102
        drawn = partial(_block_sample, size=size, seed=seed)
        joined = partial(_join, size=size, seed=seed)
        return sum_blocks(self._delayed_blocks(), drawn, joined)


def _checked(block: Any, of: Any, names: list[str] | None, block_info: Any = None) -> Array:
    """Return a block of finite numbers, of the shape that was declared."""
    block = np.asarray(block)
    (first, last), (left, right) = block_info[0]["array-location"]
    where = f"The block of the rows {first:,} to {last:,} of the Dask array"
    if block.dtype.kind not in "fiub":
        raise ValueError(f"{where} must hold numbers, got {block.dtype}.")
    if block.shape != (last - first, right - left):
        raise ValueError(
            f"{where} has the shape {block.shape}, but {(last - first, right - left)} was declared."
        )
    require_finite(block, first, names, left)
    return block.astype(of, copy=False)


def _apply(work: RowWork, rows: Array) -> Array:
    return work(rows, 1)


def _block_sum(
    block: Array,
    start: int,
    *,
    work: Work[T],
    merge: Merge[T],
    width: int,
) -> T:
    rows = np.ascontiguousarray(block), np.ones(len(block))
    return sum_of_block(rows, work, merge, width, n_jobs=1)


def _block_sample(block: Array, start: int, *, size: int | None, seed: int) -> Sample:
    rows = np.arange(start, start + len(block))
    return Sample(rows, np.ascontiguousarray(block), np.ones(len(block))).first(size, seed)


def _join(left: Sample, right: Sample, size: int | None, seed: int) -> Sample:
    return left.join(right, size, seed)
