"""Outputs: files that are complete or not there, and labels written block by block."""

from __future__ import annotations

import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only when all is written.

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
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent} to write {target.name} to.")
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
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


class ColumnWriter(ABC):
    """Writes columns of numbers, block by block."""

    def __init__(self, file: IO[bytes], names: list[str]) -> None:
        self.file, self.names = file, names

    @abstractmethod
    def write(self, columns: list[NDArray[Any]]) -> None:
        """Add the rows of some equally long columns."""

    def close(self) -> None:  # noqa: B027 - most kinds have nothing to add
        """Write what belongs at the end."""


class CsvWriter(ColumnWriter):
    """Comma separated values with a header line."""

    def __init__(self, file: IO[bytes], names: list[str]) -> None:
        super().__init__(file, names)
        file.write((",".join(names) + "\n").encode())

    def write(self, columns: list[NDArray[Any]]) -> None:  # noqa: D102
        rows = zip(*(column.tolist() for column in columns), strict=True)
        self.file.write("".join(",".join(map(repr, row)) + "\n" for row in rows).encode())


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

    def write(self, columns: list[NDArray[Any]]) -> None:  # noqa: D102
        kind = np.int64 if len(columns) == 1 else np.float64
        self.file.write(np.column_stack(columns).astype(kind).tobytes())
        self.rows += len(columns[0])

    def close(self) -> None:  # noqa: D102
        self.file.seek(0)
        self._header()


class ArrowWriter(ColumnWriter):
    """Parquet and Arrow files."""

    def __init__(self, file: IO[bytes], names: list[str], parquet: bool) -> None:
        super().__init__(file, names)
        self.parquet = parquet
        self.writer: Any = None

    def write(self, columns: list[NDArray[Any]]) -> None:  # noqa: D102
        import pyarrow as pa
        from pyarrow.parquet import ParquetWriter

        batch = pa.record_batch([pa.array(column) for column in columns], names=self.names)
        if self.writer is None:
            new = ParquetWriter if self.parquet else pa.ipc.new_file
            self.writer = new(self.file, batch.schema)
        self.writer.write_batch(batch)

    def close(self) -> None:  # noqa: D102
        if self.writer is not None:
            self.writer.close()


ENDINGS = (".parquet", ".pq", ".arrow", ".feather", ".csv", ".npy")


@contextmanager
def column_writer(path: str | os.PathLike[str], names: list[str]) -> Iterator[ColumnWriter]:
    """Open a table for writing by the ending of its name; it appears when it is complete."""
    ending = next((end for end in ENDINGS if os.fspath(path).lower().endswith(end)), None)
    if ending is None:
        raise ValueError(f"The output {os.fspath(path)} must end in one of {', '.join(ENDINGS)}.")
    with atomic_write(path) as file:
        writer: ColumnWriter
        if ending == ".csv":
            writer = CsvWriter(file, names)
        elif ending == ".npy":
            writer = NpyWriter(file, names)
        else:
            writer = ArrowWriter(file, names, parquet=ending in (".parquet", ".pq"))
        yield writer
        writer.close()
