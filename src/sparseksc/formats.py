"""Kinds of files: NPY, Parquet and Arrow, each read in blocks of rows with their ids."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sparseksc.kernels import Array

#: A column of ids: a NumPy or an Arrow array.
Column = Any
#: Rows of numbers, and the columns of ids beside them.
Rows = tuple[Array, list[Column]]

WHAT_TO_DO = "fill in missing values or remove such rows first"


class MissingColumns(ValueError):
    """A file does not have columns that were asked for."""


@dataclass(frozen=True)
class Request:
    """What is to be read from a file.

    Attributes
    ----------
    columns : tuple of str or None
        Names of the columns of numbers; None for all that are not ids.
    ids : tuple of str
        Names of columns of any type that identify the rows.
    chunk_rows : int
        Most rows of a block.
    header : bool or None
        Whether the first line of a CSV file holds names; None where that is to be seen.
    delimiter : str
        What separates the fields of a CSV file.
    """

    columns: tuple[str, ...] | None = None
    ids: tuple[str, ...] = ()
    chunk_rows: int = 65_536
    header: bool | None = None
    delimiter: str = ","

    def chosen(self, path: Path, available: list[str]) -> list[str]:
        """Names of the columns of numbers, after a check that all names exist."""
        twice = repeated(available)
        if twice is not None:
            raise ValueError(f"{path} has more than one column {twice!r}: rename one of them.")
        known = set(available)
        missing = [name for name in (*(self.columns or ()), *self.ids) if name not in known]
        if missing:
            names = _some([repr(name) for name in missing])
            raise MissingColumns(
                f"{path} has no column{'s' * (len(missing) > 1)} {names}; it has "
                f"{_some(available)}."
            )
        if self.columns is not None:
            return list(self.columns)
        rest = [name for name in available if name not in self.ids]
        if not rest:
            raise ValueError(f"{path} has no columns beside the ids.")
        return rest


@dataclass(frozen=True)
class Description:
    """Names of the columns (None where they have none), their number and type, and the rows."""

    names: list[str] | None
    width: int
    dtype: np.dtype[Any]
    n_rows: int | None


class Format(ABC):
    """How to read one kind of file."""

    ending: str
    #: Whether `read_rows` reads rows from the middle of a file.
    has_random_access = False

    def __init__(self, request: Request) -> None:
        self.request = request

    @property
    def columns(self) -> list[str] | None:
        """The columns that were asked for."""
        return None if self.request.columns is None else list(self.request.columns)

    @property
    def chunk_rows(self) -> int:
        """Most rows of a block."""
        return self.request.chunk_rows

    @abstractmethod
    def describe(self, path: Path) -> Description:
        """Look at a file without reading all of it."""

    @abstractmethod
    def read(self, path: Path, with_ids: bool) -> Iterator[Rows]:
        """Yield blocks of rows; without ids the list beside them is empty."""

    def read_rows(self, path: Path, start: int, stop: int) -> Array:
        """Rows ``start`` to ``stop`` without ids, and without reading all that is before them."""
        raise NotImplementedError

    def fault(self, path: Path, row: int, column: str, value: float) -> str:
        """Say where a value is that is not finite; rows are counted from 1."""
        return f"{path} has the value {value} in row {row:,}, column {column}: {WHAT_TO_DO}."


class Npy(Format):
    """NumPy's own format, through a memory map."""

    ending = ".npy"
    has_random_access = True

    def _open(self, path: Path) -> Array:
        try:
            return np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise ValueError(f"{path} cannot be read as NPY: {error}") from None

    def describe(self, path: Path) -> Description:  # noqa: D102
        if self.request.columns is not None or self.request.ids:
            raise ValueError(f"{path} has no column names; choose columns by slicing the array.")
        array = self._open(path)
        require_table(path, array.shape, array.dtype)
        return Description(None, array.shape[1], array.dtype, array.shape[0])

    def read(self, path: Path, with_ids: bool) -> Iterator[Rows]:  # noqa: D102
        array = self._open(path)
        for start in range(0, len(array), self.chunk_rows):
            yield np.asarray(array[start : start + self.chunk_rows]), []

    def read_rows(self, path: Path, start: int, stop: int) -> Array:  # noqa: D102
        return np.array(self._open(path)[start:stop])


def require_table(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse what is not a table of numbers."""
    if len(shape) != 2:
        raise ValueError(f"{path} must hold a 2-D array, got {len(shape)} dimensions.")
    if shape[1] == 0:
        raise ValueError(f"{path} has no columns.")
    if dtype.kind not in "fiub":
        raise ValueError(f"{path} must hold numbers, got {dtype}.")


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
        names = self.request.chosen(path, schema.names)
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
        return Description(names, len(names), dtype, self.count(path))

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
        names, rows = described.names or [], self.chunk_rows
        ids = list(self.request.ids) if with_ids else []
        for whole in self.batches(path, list(dict.fromkeys([*names, *ids]))):
            for start in range(0, whole.num_rows, rows):
                batch = whole.slice(start, rows)
                block = _numbers(batch, names, described.dtype)
                yield block, [batch.column(name) for name in ids]

    def pieces(self, path: Path) -> list[int]:
        """Numbers of rows of the pieces that can be read alone: row groups, record batches."""
        raise NotImplementedError

    def piece(self, path: Path, number: int, names: list[str]) -> Iterator[Any]:
        """Record batches of the named columns of one piece."""
        raise NotImplementedError

    def read_rows(self, path: Path, start: int, stop: int) -> Array:  # noqa: D102
        described = self.describe(path)
        names = described.names or []
        found, first = [], 0
        for number, rows in enumerate(self.pieces(path)):
            if first >= stop or first + rows <= start:
                first += rows
                continue
            for batch in self.piece(path, number, names):
                block = _numbers(batch, names, described.dtype)
                found.append(block[max(start - first, 0) : max(stop - first, 0)])
                first += batch.num_rows
        return np.concatenate(found)


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
        except pa.ArrowException as error:
            raise ValueError(f"{path} cannot be read as Parquet: {error}") from None

    def schema(self, path: Path) -> Any:  # noqa: D102
        with self._open(path) as file:
            return file.schema_arrow

    def count(self, path: Path) -> int | None:  # noqa: D102
        with self._open(path) as file:
            return int(file.metadata.num_rows)

    def batches(self, path: Path, names: list[str]) -> Iterator[Any]:  # noqa: D102
        pa = require_pyarrow()
        with self._open(path) as file:
            try:
                yield from file.iter_batches(self.chunk_rows, columns=names)
            except (pa.ArrowException, OSError) as error:
                raise ValueError(f"{path} cannot be read as Parquet: {error}") from None

    def pieces(self, path: Path) -> list[int]:  # noqa: D102
        with self._open(path) as file:
            groups = range(file.num_row_groups)
            return [int(file.metadata.row_group(group).num_rows) for group in groups]

    def piece(self, path: Path, number: int, names: list[str]) -> Iterator[Any]:  # noqa: D102
        with self._open(path) as file:
            yield from file.iter_batches(self.chunk_rows, [number], columns=names)


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
            raise ValueError(f"{path} cannot be read as an Arrow file: {error}") from None

    def schema(self, path: Path) -> Any:  # noqa: D102
        return self._open(path).schema

    def count(self, path: Path) -> int | None:  # noqa: D102
        return sum(self.pieces(path))

    def pieces(self, path: Path) -> list[int]:  # noqa: D102
        # Without columns, only the lengths of the batches are read.
        return [batch.num_rows for batch in self.batches(path, [])]

    def piece(self, path: Path, number: int, names: list[str]) -> Iterator[Any]:  # noqa: D102
        yield self._open(path, names).get_batch(number)

    def batches(self, path: Path, names: list[str]) -> Iterator[Any]:  # noqa: D102
        pa = require_pyarrow()
        try:
            reader = self._open(path, names or self.schema(path).names[:1])
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path} cannot be read as an Arrow file: {error}") from None


def require_pyarrow() -> Any:
    """Import pyarrow, or say how to get it."""
    try:
        import pyarrow as pa
        import pyarrow.types
    except ImportError:
        raise ImportError(
            "Parquet, Arrow and CSV files need pyarrow: install it, or sparseksc with the extra "
            "'files'."
        ) from None
    return pa


def repeated(names: Iterable[str]) -> str | None:
    """Return the first name that is there more than once, if any.

    Examples
    --------
    >>> from sparseksc.formats import repeated
    >>> repeated(["a", "b", "a"])
    'a'
    """
    return next((name for name, times in Counter(names).items() if times > 1), None)


def _some(names: list[str], most: int = 12) -> str:
    """Up to a dozen names, and how many there are beside them."""
    shown = names if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]
