"""Parquet and Arrow files: named columns that pyarrow reads in record batches."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sparseksc._typing import Array
from sparseksc.data.formats.base import Description, Format, Rows, brief
from sparseksc.execution.notices import warn

#: Whole numbers below this one are float64 numbers.
LARGEST_EXACT = 2.0**53
#: Note at a column of whole numbers that is read as another type.
WHOLE = {b"sparseksc": b"whole"}


class Columnar(Format):
    """What Arrow reads in batches of named columns."""

    @abstractmethod
    def schema(self, path: Path) -> Any:
        """Return the Arrow schema of the file."""

    @abstractmethod
    def batches(self, path: Path, names: list[str]) -> Iterator[Any]:
        """Record batches of the named columns."""

    def describe(self, path: Path) -> Description:  # noqa: D102
        kind = require_pyarrow().types
        schema = self.schema(path)
        names = self.request.chosen(path, schema.names, index_columns(schema))
        types = [schema.field(name).type for name in names]
        for name, of in zip(names, types, strict=True):
            if not (
                kind.is_floating(of)
                or kind.is_integer(of)
                or kind.is_boolean(of)
                or kind.is_decimal(of)
            ):
                raise ValueError(self.no_number(path, name, of))
        single = all(kind.is_float32(of) or kind.is_float16(of) for of in types)
        dtype = np.dtype(np.float32 if single else np.float64)
        whole = [place for place, name in enumerate(names) if is_whole(schema.field(name))]
        return Description(names, len(names), dtype, self.count(path), tuple(whole))

    def no_number(self, path: Path, name: str, of: Any) -> str:
        """Say that a column does not hold numbers, and what to do."""
        return (
            f"Column {name!r} of {path} holds {of}, not numbers: leave it out of the columns, or "
            "keep it as an id."
        )

    def count(self, path: Path) -> int | None:
        """Return the number of rows where the format tells."""
        return None

    def read(self, path: Path, with_ids: bool) -> Iterator[Rows]:  # noqa: D102
        described = self.describe(path)
        names, rows = described.names or [], self.block_rows
        ids = list(self.request.ids) if with_ids else []
        for whole in self.batches(path, list(dict.fromkeys([*names, *ids]))):
            for start in range(0, whole.num_rows, rows):
                batch = whole.slice(start, rows)
                block = _numbers(batch, names, described.dtype)
                for place in described.whole:
                    if np.nanmax(np.abs(block[:, place]), initial=0.0) >= LARGEST_EXACT:
                        warn_of_rounding(f"{names[place]!r} of {path}")
                yield block, [batch.column(name) for name in ids]

    def carried(self, path: Path, names: list[str]) -> Iterator[Any]:
        """Record batches of columns as they are in the file."""
        return self.batches(path, names)

    def pieces(self, path: Path) -> list[int]:
        """Numbers of rows of the pieces that can be read alone: row groups, record batches."""
        raise NotImplementedError

    def piece(self, path: Path, number: int, names: list[str]) -> Iterator[Any]:
        """Record batches of the named columns of one piece."""
        raise NotImplementedError

    def read_rows(self, path: Path, start: int, stop: int) -> Array:  # noqa: D102
        described = self.describe(path)
        names = described.names or []
        batches = self.batches_of_rows(path, start, stop, names)
        return np.concatenate([_numbers(batch, names, described.dtype) for batch in batches])

    def batches_of_rows(self, path: Path, start: int, stop: int, names: list[str]) -> Iterator[Any]:
        """Record batches of the named columns of some rows, from the pieces that they lie in."""
        first = 0
        for number, rows in enumerate(self.pieces(path)):
            if first >= stop or first + rows <= start:
                first += rows
                continue
            for batch in self.piece(path, number, names):
                begin = max(start - first, 0)
                yield batch.slice(begin, max(stop - first - begin, 0))
                first += batch.num_rows


class Taking:
    """Record batches of one schema, cut anew: the next so many rows."""

    def __init__(self, batches: Iterable[Any]) -> None:
        self._batches, self._waiting, self._count = iter(batches), list[Any](), 0

    def take(self, rows: int) -> Any:
        """Return a record batch of the next rows, of fewer at the end, or None."""
        pa = require_pyarrow()
        while self._count < rows and (batch := next(self._batches, None)) is not None:
            self._waiting.append(batch)
            self._count += batch.num_rows
        if not self._count:
            return None
        table = pa.Table.from_batches(self._waiting)
        self._waiting = table.slice(rows).to_batches()
        self._count = max(0, self._count - rows)
        arrays = []
        for column in table.slice(0, rows).columns:
            joined = column.combine_chunks()
            if isinstance(joined, pa.ChunkedArray):
                joined = pa.concat_arrays(joined.chunks)
            arrays.append(joined)
        return pa.RecordBatch.from_arrays(arrays, schema=table.schema)


def is_whole(field: Any) -> bool:
    """Whether a column holds whole numbers that float64 may have to round."""
    types = require_pyarrow().types
    return (
        types.is_int64(field.type)
        or types.is_uint64(field.type)
        or WHOLE.items() <= (field.metadata or {}).items()
    )


def warn_of_rounding(column: str) -> None:
    """Say that whole numbers of a column are not kept as they are."""
    warn(
        f"Column {column} holds whole numbers beyond 2^53, which are rounded: if they name the "
        "rows, keep the column as an id, or leave it out.",
        UserWarning,
    )


def _notes_of_pandas(schema: Any, entry: str) -> list[Any]:
    """Return what pandas has written beside the columns."""
    try:
        found = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))[entry]
    except (ValueError, KeyError, TypeError):  # notes of others need not be what pandas writes
        return []
    return found if isinstance(found, list) else []


def category_columns(schema: Any) -> list[str]:
    """Names of the columns that were categories of a pandas data frame, of whatever type.

    Examples
    --------
    >>> import pandas as pd, pyarrow as pa
    >>> from sparseksc.data.formats.arrow import category_columns
    >>> frame = pd.DataFrame({"height": [1.8, 1.6], "team": pd.Categorical([2, 7])})
    >>> category_columns(pa.Schema.from_pandas(frame))
    ['team']
    """
    columns = [one for one in _notes_of_pandas(schema, "columns") if isinstance(one, dict)]
    named = {one.get("field_name") for one in columns if one.get("pandas_type") == "categorical"}
    return [name for name in schema.names if name in named]


def index_columns(schema: Any) -> list[str]:
    """Names of the columns that were the index of a pandas data frame.

    Examples
    --------
    >>> import pandas as pd, pyarrow as pa
    >>> from sparseksc.data.formats.arrow import index_columns
    >>> frame = pd.DataFrame({"height": [1.8, 1.6]}, index=pd.Index(["Ann", "Bo"], name="who"))
    >>> index_columns(pa.Schema.from_pandas(frame))
    ['who']
    """
    # A range of numbers is no column, but a description.
    named = {name for name in _notes_of_pandas(schema, "index_columns") if isinstance(name, str)}
    return [name for name in schema.names if name in named]


def _numbers(batch: Any, names: list[str], dtype: np.dtype[Any]) -> Array:
    """Return the named columns of a record batch as a table."""
    pa = require_pyarrow()
    block = np.empty((batch.num_rows, len(names)), dtype=dtype)
    for place, name in enumerate(names):
        column = batch.column(name)
        if pa.types.is_decimal(column.type):
            column = column.cast(pa.float64())
        # A missing value becomes NaN, which is reported with its place.
        block[:, place] = column.to_numpy(zero_copy_only=False)
    return block


class Parquet(Columnar):
    """Apache Parquet."""

    ending = ".parquet"
    has_random_access = True

    def _open(self, path: Path) -> Any:
        pa = require_pyarrow()
        from pyarrow.parquet import ParquetFile

        try:
            return ParquetFile(path)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path} cannot be read as Parquet: {brief(error)}") from None

    def schema(self, path: Path) -> Any:  # noqa: D102
        with self._open(path) as file:
            return file.schema_arrow

    def count(self, path: Path) -> int | None:  # noqa: D102
        with self._open(path) as file:
            return int(file.metadata.num_rows)

    def batches(self, path: Path, names: list[str]) -> Iterator[Any]:  # noqa: D102
        with self._open(path) as file, _named(path, "Parquet"):
            yield from file.iter_batches(self.block_rows, columns=names)

    def pieces(self, path: Path) -> list[int]:  # noqa: D102
        with self._open(path) as file:
            groups = range(file.num_row_groups)
            return [int(file.metadata.row_group(group).num_rows) for group in groups]

    def piece(self, path: Path, number: int, names: list[str]) -> Iterator[Any]:  # noqa: D102
        with self._open(path) as file, _named(path, "Parquet"):
            yield from file.iter_batches(self.block_rows, [number], columns=names)


class Feather(Columnar):
    """Arrow IPC files, also called Feather."""

    ending = ".arrow"
    has_random_access = True

    def _open(self, path: Path, names: list[str] | None = None) -> Any:
        pa = require_pyarrow()
        try:
            mapped = pa.memory_map(os.fspath(path))
            reader = pa.ipc.open_file(mapped)
            if names is not None:
                places = [reader.schema.names.index(name) for name in names]
                options = pa.ipc.IpcReadOptions(included_fields=places)
                reader = pa.ipc.open_file(mapped, options=options)
            return reader
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path} cannot be read as an Arrow file: {brief(error)}") from None

    def schema(self, path: Path) -> Any:  # noqa: D102
        return self._open(path).schema

    def count(self, path: Path) -> int | None:  # noqa: D102
        return sum(self.pieces(path))

    def pieces(self, path: Path) -> list[int]:  # noqa: D102
        # Without columns, only the lengths of the batches are read.
        return [batch.num_rows for batch in self.batches(path, [])]

    def piece(self, path: Path, number: int, names: list[str]) -> Iterator[Any]:  # noqa: D102
        with _named(path, "an Arrow file"):
            yield self._open(path, names).get_batch(number)

    def batches(self, path: Path, names: list[str]) -> Iterator[Any]:  # noqa: D102
        with _named(path, "an Arrow file"):
            reader = self._open(path, names or self.schema(path).names[:1])
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number)


@contextmanager
def _named(path: Path, kind: str) -> Iterator[None]:
    """Say which file it was that Arrow cannot read."""
    pa = require_pyarrow()
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} cannot be read as {kind}: {brief(error)}") from None


def require_pyarrow() -> Any:
    """Import pyarrow, or say how to get it."""
    try:
        import pyarrow as pa
        import pyarrow.compute
        import pyarrow.types
    except ImportError:
        raise ImportError(
            "Parquet, Arrow and CSV files need pyarrow: install it, or sparseksc with the extra "
            "'files'."
        ) from None
    return pa
