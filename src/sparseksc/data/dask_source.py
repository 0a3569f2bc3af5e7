"""Dask arrays and data frames as sources: their chunks are the blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.delayed import delayed
from dask.highlevelgraph import HighLevelGraph

from sparseksc._text import count, escaped
from sparseksc._typing import Array, Floats, Integers
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
from sparseksc.execution.dask import compute, sum_blocks


class DaskSource(Source):
    """The rows of a Dask array or data frame; its chunks are the blocks."""

    runs_here = False

    def __init__(self, collection: Any, feature_names: list[str] | None = None) -> None:
        self.feature_names = feature_names
        if hasattr(collection, "to_dask_array") and collection.ndim == 2:
            self.feature_names = [str(name) for name in collection.columns]
            collection = array_of_frame(collection)
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

    def place(self) -> str:  # noqa: D102
        return f"{count(len(self.array.chunks[0]), 'block')} of a Dask array"

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

    def later(self, work: RowWork, dtype: Any = np.intp) -> Any:  # noqa: D102
        return self.apply(work, None, dtype, None)

    def take(self, numbers: Integers) -> Array:  # noqa: D102
        rows: Array = self.array[numbers].compute()
        return rows

    def sum(self, work: Work[T], merge: Merge[T], width: int, n_jobs: int | None) -> T:  # noqa: D102
        summed = partial(_block_sum, work=work, merge=merge, width=width)
        return sum_blocks(self._delayed_blocks(), summed, merge)

    def sample(self, size: int | None, seed: int) -> Sample:  # noqa: D102
        drawn = partial(_block_sample, size=size, seed=seed)
        joined = partial(_join, size=size, seed=seed)
        return sum_blocks(self._delayed_blocks(), drawn, joined)


def array_of_frame(frame: Any) -> Any:
    """Return the numbers of a data frame as an array with one block for each partition.

    Its rows are counted first: a partition does not know how many it has.

    Examples
    --------
    >>> import pandas, dask.dataframe as dd
    >>> from sparseksc.data.dask_source import array_of_frame
    >>> frame = dd.from_pandas(pandas.DataFrame({"a": [1, 2, 3], "b": 0.5}), npartitions=2)
    >>> array_of_frame(frame).chunks
    ((2, 1), (2,))
    """
    dtype = _dtype_of_columns(frame)
    # Partitions by their size: Dask measures them when it counts them, and before Python 3.12 the
    # count and a scheduler in the same process wait for each other. Measured first, they do not.
    measured = frame.optimize(fuse=False) if hasattr(frame, "simplify") else frame
    parts = _partitions(frame)
    sizes = compute(delayed([delayed(len)(part) for part in parts]))
    del measured  # which Dask has found again as long as it was there
    name = f"numbers-{tokenize(frame, dtype)}"
    arrays: Any = da  # whose functions have no types
    tasks: dict[Any, Any] = {
        (name, place, 0): (_numbers_of, part.key, dtype.type) for place, part in enumerate(parts)
    }
    graph = HighLevelGraph.from_collections(name, tasks, parts)
    return arrays.Array(graph, name, (tuple(sizes), (len(frame.columns),)), dtype)


def _partitions(frame: Any) -> list[Any]:
    """Return the partitions that the user sees, reading no more columns than are needed.

    Dask would join small ones, and labels would no longer fit beside the frame.
    """
    needed = frame.simplify() if hasattr(frame, "simplify") else frame
    if needed.npartitions != frame.npartitions:  # cut by their size, which the columns decide
        needed = frame
    return list(needed.to_delayed(optimize_graph=False))


def _dtype_of_columns(frame: Any) -> np.dtype[Any]:
    """Precision of the numbers of a data frame; an error names a column without numbers."""
    if len(frame.columns) == 0:
        raise ValueError("The Dask data frame has no columns.")
    for name, dtype in frame.dtypes.items():
        if dtype.kind in "fiub":
            continue
        kind = "categorical" if dtype.name == "category" else f"of the type {dtype}"
        remedy = f"frame.drop(columns=[{name!r}]) leaves it out"
        if dtype.kind == "O":
            remedy += (
                f", dask.dataframe.get_dummies(frame.categorize([{name!r}]), columns=[{name!r}]) "
                "makes a column of zeros and ones of each of its values"
            )
        raise ValueError(
            escaped(
                f"The column {str(name)!r} of the Dask data frame is {kind}, and only numbers can "
                f"be clustered: {remedy}."
            )
        )
    numbers = [getattr(dtype, "numpy_dtype", dtype) for dtype in frame.dtypes]
    return np.dtype(np.float32 if np.result_type(*numbers) == np.float32 else np.float64)


def _numbers_of(part: Any, dtype: type[Any]) -> Array:
    """Numbers of a partition, NaN where one is missing."""
    try:
        return np.asarray(part.to_numpy(dtype, na_value=np.nan))
    except (TypeError, ValueError):
        wrong = next(name for name, column in part.items() if not _holds_numbers(column))
        raise ValueError(
            escaped(
                f"A partition of the Dask data frame has {part[wrong].dtype} values in the column "
                f"{str(wrong)!r}, which was declared to hold numbers."
            )
        ) from None


def _holds_numbers(column: Any) -> bool:
    try:
        column.to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        return False
    return True


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
