"""Files as sources: NPY, Parquet, Arrow and CSV, one or many, read block by block."""

from __future__ import annotations

import glob
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sparseksc.kernels import Array
from sparseksc.sources import BLOCK_ROWS, ChangedSource, IterableSource, Stream, recut


def open_dataset(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Iterable[Any],
    columns: Sequence[str] | None = None,
    chunk_rows: int = BLOCK_ROWS,
) -> Stream:
    """Open data that need not fit in memory.

    Parameters
    ----------
    path : str, path, list of them, or re-iterable of arrays
        A file, a pattern such as ``"data/*.parquet"``, or a directory: Parquet, Arrow or
        Feather, CSV (also ``.csv.gz``), or NPY, by the ending of the name. Several files are
        read one after the other, in the order of their names. Or any object that yields 2-D
        arrays each time it is iterated.
    columns : list of str, optional
        Names of the columns to use, all by default. Not for NPY and iterables, which have none.
    chunk_rows : int, default=65536
        Rows that are read at once.

    Returns
    -------
    Stream
        To be passed to ``fit`` and ``predict``.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np
    >>> from sparseksc import open_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "points.npy"
    ...     np.save(file, np.arange(10.0).reshape(5, 2))
    ...     data = open_dataset(file, chunk_rows=2)
    ...     [rows.shape for rows, weights in data.blocks()]
    [(2, 2), (2, 2), (1, 2)]
    """
    if not isinstance(chunk_rows, int) or chunk_rows < 1:
        raise ValueError(f"chunk_rows must be an integer of at least 1, got {chunk_rows!r}.")
    if not isinstance(path, str | os.PathLike):
        parts = list(path) if isinstance(path, list | tuple) else []
        if not parts or not all(isinstance(part, str | os.PathLike) for part in parts):
            if columns is not None:
                raise ValueError("columns need files with names; an iterable of arrays has none.")
            return IterableSource(path)
        found = [file for part in parts for file in _files(os.fspath(part))]
    else:
        found = _files(os.fspath(path))
    kinds = {_kind(file) for file in found}
    if len(kinds) > 1:
        names = ", ".join(sorted(kind.ending for kind in kinds))
        raise ValueError(f"The files are of different kinds ({names}); open one kind at a time.")
    return FileStream(found, kinds.pop()(columns, chunk_rows))


def _files(pattern: str) -> list[Path]:
    """Files that a name, a directory or a pattern stands for, in the order of their names."""
    path = Path(pattern)
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if _kind_or_none(file) and file.is_file())
        if not found:
            raise ValueError(
                f"The directory {pattern} has no files that can be read ({', '.join(KINDS)})."
            )
        return found
    if path.exists():
        return [path]
    found = sorted(Path(file) for file in glob.glob(pattern, recursive=True))
    if not found:
        raise FileNotFoundError(f"There is no file {pattern}.")
    return found


class Format(ABC):
    """How to read one kind of file."""

    ending: str

    def __init__(self, columns: Sequence[str] | None, chunk_rows: int) -> None:
        self.columns = None if columns is None else list(columns)
        self.chunk_rows = chunk_rows

    @abstractmethod
    def describe(self, path: Path) -> tuple[list[str] | None, int, np.dtype[Any], int | None]:
        """Names of the columns, their number and type, and the number of rows if it is known."""

    @abstractmethod
    def read(self, path: Path) -> Iterator[Array]:
        """Yield blocks of rows."""


class Npy(Format):
    """NumPy's own format, through a memory map."""

    ending = ".npy"

    def _open(self, path: Path) -> Array:
        try:
            return np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise ValueError(f"{path} cannot be read as NPY: {error}") from None

    def describe(  # noqa: D102
        self, path: Path
    ) -> tuple[list[str] | None, int, np.dtype[Any], int | None]:
        if self.columns is not None:
            raise ValueError(f"{path} has no column names; choose columns by slicing the array.")
        array = self._open(path)
        if array.ndim != 2:
            raise ValueError(f"{path} must hold a 2-D array, got {array.ndim} dimensions.")
        if array.dtype.kind not in "fiub":
            raise ValueError(f"{path} must hold numbers, got {array.dtype}.")
        return None, array.shape[1], array.dtype, array.shape[0]

    def read(self, path: Path) -> Iterator[Array]:  # noqa: D102
        array = self._open(path)
        for start in range(0, len(array), self.chunk_rows):
            yield np.asarray(array[start : start + self.chunk_rows])


class Columnar(Format):
    """What Arrow reads in batches of named columns."""

    def batches(self, path: Path) -> Iterator[Any]:
        """Record batches of the chosen columns."""
        raise NotImplementedError

    def schema(self, path: Path) -> Any:
        """Return the Arrow schema of the file."""
        raise NotImplementedError

    def describe(  # noqa: D102
        self, path: Path
    ) -> tuple[list[str] | None, int, np.dtype[Any], int | None]:
        import pyarrow.types as kind

        schema = self.schema(path)
        names = schema.names if self.columns is None else self.columns
        missing = [name for name in names if name not in schema.names]
        if missing:
            raise ValueError(
                f"{path} has no column {missing[0]!r}; it has {', '.join(schema.names)}."
            )
        types = [schema.field(name).type for name in names]
        for name, of in zip(names, types, strict=True):
            if not (kind.is_floating(of) or kind.is_integer(of) or kind.is_boolean(of)):
                raise ValueError(
                    f"Column {name!r} of {path} holds {of}, not numbers: choose others with "
                    "columns=[...]."
                )
        single = all(kind.is_float32(of) or kind.is_float16(of) for of in types)
        return list(names), len(names), np.dtype("f4" if single else "f8"), self.count(path)

    def count(self, path: Path) -> int | None:
        """Return the number of rows where the format tells."""
        return None

    def read(self, path: Path) -> Iterator[Array]:  # noqa: D102
        names, width, dtype, _ = self.describe(path)
        for batch in self.batches(path):
            block = np.empty((batch.num_rows, width), dtype=dtype)
            for place, name in enumerate(names or []):
                # A missing value becomes NaN, which the checks of the stream report.
                block[:, place] = batch.column(name).to_numpy(zero_copy_only=False)
            yield block


class Parquet(Columnar):
    """Apache Parquet."""

    ending = ".parquet"

    def _open(self, path: Path) -> Any:
        import pyarrow as pa
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

    def batches(self, path: Path) -> Iterator[Any]:  # noqa: D102
        with self._open(path) as file:
            yield from file.iter_batches(self.chunk_rows, columns=self.columns)


class Feather(Columnar):
    """Arrow IPC files, also called Feather."""

    ending = ".arrow"

    def _open(self, path: Path) -> Any:
        import pyarrow as pa

        try:
            return pa.ipc.open_file(pa.memory_map(os.fspath(path)))
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path} cannot be read as an Arrow file: {error}") from None

    def schema(self, path: Path) -> Any:  # noqa: D102
        return self._open(path).schema

    def count(self, path: Path) -> int | None:  # noqa: D102
        reader = self._open(path)
        return sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))

    def batches(self, path: Path) -> Iterator[Any]:  # noqa: D102
        reader = self._open(path)
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)


class Csv(Columnar):
    """Comma separated values with a header line, also compressed."""

    ending = ".csv"

    def _open(self, path: Path) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        try:
            return csv.open_csv(
                path,
                read_options=csv.ReadOptions(block_size=max(1 << 20, 64 * self.chunk_rows)),
                convert_options=csv.ConvertOptions(include_columns=self.columns),
            )
        except (pa.ArrowException, KeyError) as error:
            raise ValueError(f"{path} cannot be read as CSV: {error}") from None

    def schema(self, path: Path) -> Any:  # noqa: D102
        return self._open(path).schema

    def batches(self, path: Path) -> Iterator[Any]:  # noqa: D102
        import pyarrow as pa

        reader = self._open(path)
        while True:
            try:
                yield reader.read_next_batch()
            except StopIteration:
                return
            except pa.ArrowException as error:
                raise ValueError(f"{path} cannot be read as CSV: {error}") from None


KINDS: dict[str, type[Format]] = {
    ".npy": Npy,
    ".parquet": Parquet,
    ".pq": Parquet,
    ".arrow": Feather,
    ".feather": Feather,
    ".csv": Csv,
    ".csv.gz": Csv,
}


def _kind_or_none(path: Path) -> type[Format] | None:
    name = path.name.lower()
    return next((kind for ending, kind in KINDS.items() if name.endswith(ending)), None)


def _kind(path: Path) -> type[Format]:
    kind = _kind_or_none(path)
    if kind is None:
        raise ValueError(f"{path} has an ending that is not known; known are {', '.join(KINDS)}.")
    return kind


class FileStream(Stream):
    """Files of one kind, read one after the other."""

    def __init__(self, paths: list[Path], form: Format) -> None:
        self.paths, self.form = paths, form
        self._stamps = [_stamp(path) for path in paths]
        described = [form.describe(path) for path in paths]
        names, width, dtype, _ = described[0]
        for path, (others, count, kind, _) in zip(paths, described, strict=True):
            if count != width or (others != names):
                raise ValueError(
                    f"{path} has the columns {others or count}, but {paths[0]} has "
                    f"{names or width}; choose common ones with columns=[...]."
                )
            dtype = np.promote_types(dtype, kind)
        counts = [rows for *_, rows in described if rows is not None]
        self.n_features = width
        self.feature_names = names
        self.n_rows = sum(counts) if len(counts) == len(paths) else None
        self.dtype = np.dtype(np.float32 if dtype == np.float32 else np.float64)

    def fingerprint(self) -> str:  # noqa: D102
        return f"{[path.name for path in self.paths]} {self._stamps} {self.feature_names}"

    def read(self) -> Iterator[Array]:
        """Yield blocks of exactly ``chunk_rows`` rows, whatever the layout of the files."""
        yield from recut(self._read_files(), self.form.chunk_rows)

    def _read_files(self) -> Iterator[Array]:
        for path, stamp in zip(self.paths, self._stamps, strict=True):
            for block in self.form.read(path):
                yield block.astype(self.dtype, copy=False)
            if not path.exists() or _stamp(path) != stamp:
                raise ChangedSource(f"{path} changed while it was in use; start again.")


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns
