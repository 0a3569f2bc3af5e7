"""Outputs: files that are complete or not there, and labels written block by block."""

from __future__ import annotations

import csv
import errno
import gzip
import io
import os
import stat
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from sparseksc.formats import Column, require_pyarrow

#: What the system says when there is no room for more.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only when all is written.

    What a link leads to is replaced, not the link. A device or a pipe is written to as it is.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparseksc.outputs import atomic_write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder) / "result"
    ...     with atomic_write(target) as file:
    ...         _ = file.write(b"done")
    ...     target.read_bytes()
    b'done'
    """
    target = require_place(path)
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                yield file
        else:
            with _replacing(target) as file:
                yield file
    except OSError as error:
        if error.errno in FULL:
            error.filename = os.fspath(path)
        raise


def require_place(path: str | os.PathLike[str]) -> Path:
    """Return the real name of a file to write, in a folder that must be there."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent} to write {target.name} to.")
    return target


def require_unread(path: str | os.PathLike[str], read: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse to write over files that the data is read from."""
    there = os.path.exists(path)
    if any(there and os.path.exists(one) and os.path.samefile(path, one) for one in read):
        raise ValueError(f"{os.fspath(path)} holds the data: write to another file.")


def take_place(new: Path, target: Path) -> None:
    """Give a finished file its name, and the rights of the file that had it before."""
    if os.name == "posix" and target.exists():
        new.chmod(stat.S_IMODE(target.stat().st_mode))
    os.replace(new, target)


@contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    """Write beside a file, and take its place at the end."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    unfinished = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            if not file.closed:
                file.flush()
            os.fsync(file.fileno())
        # A new file has the rights that the user's mask gives, not those of a temporary one.
        mask = os.umask(0)
        os.umask(mask)
        unfinished.chmod(0o666 & ~mask)
        take_place(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


class ColumnWriter(ABC):
    """Writes columns, block by block: NumPy or Arrow arrays of numbers, text or dates."""

    def __init__(self, file: IO[bytes], names: list[str]) -> None:
        self.file, self.names = file, names

    @abstractmethod
    def write(self, columns: list[Column]) -> None:
        """Add the rows of some equally long columns."""

    def close(self) -> None:  # noqa: B027 - most kinds have nothing to add
        """Write what belongs at the end."""


class CsvWriter(ColumnWriter):
    """Comma separated values with a header line."""

    def __init__(self, file: IO[bytes], names: list[str]) -> None:
        super().__init__(file, names)
        self._write([names])

    def _write(self, rows: Any) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        self.file.write(text.getvalue().encode())

    def write(self, columns: list[Column]) -> None:  # noqa: D102
        self._write(zip(*(column.tolist() for column in columns), strict=True))


class NpyWriter(ColumnWriter):
    """NumPy's own format: the labels alone, or all columns as float64 side by side."""

    def __init__(self, file: IO[bytes], names: list[str]) -> None:
        super().__init__(file, names)
        self.rows = 0
        self._header()

    def _header(self) -> None:
        # The format leaves room for more digits, so that the number of rows can be filled in.
        single = len(self.names) == 1
        shape = (self.rows,) if single else (self.rows, len(self.names))
        kind = np.dtype(np.int64 if single else np.float64)
        header = {"descr": kind.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self.file, header)

    def write(self, columns: list[Column]) -> None:  # noqa: D102
        kind = np.int64 if len(columns) == 1 else np.float64
        self.file.write(np.column_stack(columns).astype(kind).tobytes())
        self.rows += len(columns[0])

    def close(self) -> None:  # noqa: D102
        self.file.seek(0)
        self._header()


class NpzWriter(ColumnWriter):
    """One vector for each column in a NumPy archive."""

    def __init__(self, file: IO[bytes], names: list[str]) -> None:
        super().__init__(file, names)
        self._stack = ExitStack()
        # The type of a vector (the longest text) is known at the end: until then blocks wait.
        self._blocks = [self._stack.enter_context(tempfile.TemporaryFile()) for _ in names]
        self._kinds: list[np.dtype[Any] | None] = [None] * len(names)
        self._lengths: list[int] = []

    def write(self, columns: list[Column]) -> None:  # noqa: D102
        self._lengths.append(len(columns[0]))
        for place, column in enumerate(columns):
            values = np.asarray(column)
            if values.dtype.hasobject:
                values = np.array(["" if one is None else str(one) for one in column.tolist()])
            np.save(self._blocks[place], values, allow_pickle=False)
            known = self._kinds[place]
            self._kinds[place] = values.dtype if known is None else np.result_type(known, values)

    def close(self) -> None:  # noqa: D102
        shape = (sum(self._lengths),)
        with self._stack, zipfile.ZipFile(self.file, "w", allowZip64=True) as archive:
            for name, blocks, kind in zip(self.names, self._blocks, self._kinds, strict=True):
                blocks.seek(0)
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    described = np.lib.format.dtype_to_descr(kind or np.dtype(np.int64))
                    header = {"descr": described, "fortran_order": False, "shape": shape}
                    np.lib.format.write_array_header_1_0(member, header)
                    for _ in self._lengths:
                        member.write(np.load(blocks, allow_pickle=False).astype(kind).tobytes())


class ArrowWriter(ColumnWriter):
    """Parquet and Arrow files."""

    def __init__(self, file: IO[bytes], names: list[str], parquet: bool) -> None:
        super().__init__(file, names)
        self.parquet = parquet
        self.writer: Any = None

    def write(self, columns: list[Column]) -> None:  # noqa: D102
        pa = require_pyarrow()
        from pyarrow.parquet import ParquetWriter

        arrays = [one if isinstance(one, pa.Array) else pa.array(one) for one in columns]
        batch = pa.record_batch(arrays, names=self.names)
        if self.writer is None:
            new = ParquetWriter if self.parquet else pa.ipc.new_file
            self.writer = new(self.file, batch.schema)
        self.writer.write_batch(batch)

    def close(self) -> None:  # noqa: D102
        if self.writer is not None:
            self.writer.close()


ENDINGS = (".parquet", ".pq", ".arrow", ".feather", ".csv", ".csv.gz", ".npy", ".npz")


def table_ending(path: str | os.PathLike[str]) -> str:
    """Return the ending of a table's name, if such tables can be written."""
    ending = next((end for end in ENDINGS if os.fspath(path).lower().endswith(end)), None)
    if ending is None:
        raise ValueError(f"The output {os.fspath(path)} must end in one of {', '.join(ENDINGS)}.")
    return ending


@contextmanager
def column_writer(path: str | os.PathLike[str], names: list[str]) -> Iterator[ColumnWriter]:
    """Open a table for writing by the ending of its name; it appears when it is complete."""
    ending = table_ending(path)
    with atomic_write(path) as file, ExitStack() as stack:
        writer: ColumnWriter
        if ending == ".csv":
            writer = CsvWriter(file, names)
        elif ending == ".csv.gz":
            # Without a name and a time in it, the same labels are the same bytes.
            packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
            stack.callback(packed.close)
            writer = CsvWriter(cast("IO[bytes]", packed), names)
        elif ending == ".npy":
            writer = NpyWriter(file, names)
        elif ending == ".npz":
            writer = NpzWriter(file, names)
        else:
            writer = ArrowWriter(file, names, parquet=ending in (".parquet", ".pq"))
        yield writer
        writer.close()
