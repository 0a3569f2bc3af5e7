"""Tables that are written block by block: labels, with ids and memberships beside them."""

from __future__ import annotations

import csv
import gzip
import io
import os
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, Any, Protocol, cast

import numpy as np

from sparseksc._text import escaped
from sparseksc._typing import Array, Floats, StrPath
from sparseksc.data.atomic import atomic_write
from sparseksc.data.formats.arrow import require_pyarrow
from sparseksc.data.formats.base import Column, Rows


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
    """Comma separated values with a header line; ``change`` is applied to all text."""

    def __init__(
        self, file: IO[bytes], names: list[str], change: Callable[[str], str] | None = None
    ) -> None:
        super().__init__(file, names)
        self._change = change
        self._write([self._changed(names)])

    def _changed(self, values: list[Any]) -> list[Any]:
        change = self._change
        if change is None:
            return values
        return [change(value) if isinstance(value, str) else value for value in values]

    def _write(self, rows: list[Any]) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        content = text.getvalue()
        if "\r" in content:
            # The module quotes what is in the end of a line, and others end lines there too.
            content = "".join(f"{_csv_line(row)}\n" for row in rows)
        self.file.write(content.encode())

    def write(self, columns: list[Column]) -> None:  # noqa: D102
        cells = [self._changed(column.tolist()) for column in columns]
        self._write(list(zip(*cells, strict=True)))


def _csv_line(row: Any) -> str:
    """Return a row as CSV, with quotes around each carriage return, without the end of the line."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerow(row)
    return text.getvalue().removesuffix("\r\n")


#: With one of these in front, a spreadsheet takes the text of a cell for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def spreadsheet_text(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would take for a formula.

    Examples
    --------
    >>> from sparseksc.data.writers import spreadsheet_text
    >>> spreadsheet_text("=1+1"), spreadsheet_text("A1")
    ("'=1+1", 'A1')
    """
    return f"'{text}" if text.startswith(FORMULA) else text


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
        if any(getattr(column, "dtype", np.dtype(int)).kind == "U" for column in columns):
            raise ValueError(
                "An NPY file holds numbers, and these labels are text: choose .npz, .csv, .parquet "
                "or .arrow."
            )
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
        # A file has one dictionary for a column, and each block may have its own.
        arrays = [
            one.dictionary_decode() if pa.types.is_dictionary(one.type) else one for one in arrays
        ]
        batch = pa.record_batch(arrays, names=self.names)
        if self.writer is None:
            new = ParquetWriter if self.parquet else pa.ipc.new_file
            self.writer = new(self.file, batch.schema)
        self.writer.write_batch(batch)

    def close(self) -> None:  # noqa: D102
        if self.writer is not None:
            self.writer.close()


ENDINGS = (".parquet", ".pq", ".arrow", ".feather", ".csv", ".csv.gz", ".npy", ".npz")


def table_ending(path: StrPath) -> str:
    """Return the ending of a table's name, if such tables can be written."""
    ending = next((end for end in ENDINGS if os.fspath(path).lower().endswith(end)), None)
    if ending is None:
        raise ValueError(
            f"The output {escaped(os.fspath(path))} must end in one of {', '.join(ENDINGS)}."
        )
    return ending


@contextmanager
def column_writer(
    path: StrPath, names: list[str], change: Callable[[str], str] | None = None
) -> Iterator[ColumnWriter]:
    """Open a table for writing by the ending of its name; it appears when it is complete.

    In CSV files ``change`` is applied to all text.
    """
    ending = table_ending(path)
    with atomic_write(path) as file, ExitStack() as stack:
        writer: ColumnWriter
        if ending == ".csv":
            writer = CsvWriter(file, names, change)
        elif ending == ".csv.gz":
            # Without a name and a time in it, the same labels are the same bytes.
            packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
            stack.callback(packed.close)
            writer = CsvWriter(cast("IO[bytes]", packed), names, change)
        elif ending == ".npy":
            writer = NpyWriter(file, names)
        elif ending == ".npz":
            writer = NpzWriter(file, names)
        else:
            writer = ArrowWriter(file, names, parquet=ending in (".parquet", ".pq"))
        yield writer
        writer.close()


class Labeller(Protocol):
    """What a fitted model does with rows."""

    def named_labels(self, X: Array, n_jobs: int | None) -> Any:
        """Name of the cluster of each row."""

    def named_labels_and_membership(self, X: Array, n_jobs: int | None) -> tuple[Any, Floats]:
        """Name of the cluster of each row, and its membership in each cluster."""


def label_columns(n_clusters: int, ids: Sequence[str] = (), membership: bool = False) -> list[str]:
    """Names of the columns of a table of labels."""
    names = [*ids, "label"]
    return names + [f"membership_{cluster}" for cluster in range(n_clusters)] * membership


def write_labels(
    model: Labeller,
    records: Iterable[Rows],
    writer: ColumnWriter,
    *,
    membership: bool,
    n_jobs: int | None,
) -> None:
    """Write the labels of some blocks of rows, beside the ids that come with them."""
    for rows, ids in records:
        if membership:
            labels, strengths = model.named_labels_and_membership(rows, n_jobs)
            writer.write([*ids, labels, *strengths.T])
        else:
            writer.write([*ids, model.named_labels(rows, n_jobs)])


def write_label_file(
    path: StrPath,
    model: Labeller,
    blocks: Iterable[tuple[Array, Any]],
    n_clusters: int,
    membership: bool,
    n_jobs: int | None,
) -> None:
    """Write the labels of all rows to a table, which appears when it is complete."""
    records = ((rows, list[Column]()) for rows, _ in blocks)
    with column_writer(path, label_columns(n_clusters, membership=membership)) as writer:
        write_labels(model, records, writer, membership=membership, n_jobs=n_jobs)
