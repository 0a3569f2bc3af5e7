"""Files as sources, one or many, read block by block."""

from __future__ import annotations

import codecs
import glob
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sparseksc._text import count_named, escaped, escaped_errors
from sparseksc._typing import Array, StrPath
from sparseksc.data.formats.arrow import Feather, Parquet
from sparseksc.data.formats.base import Format, MissingValues, Request, Rows, repeated
from sparseksc.data.formats.csv import Csv
from sparseksc.data.formats.jsonl import JsonLines
from sparseksc.data.formats.npy import Npy
from sparseksc.data.formats.npz import Npz
from sparseksc.data.formats.spreadsheet import Spreadsheet
from sparseksc.data.formats.text import PACKED
from sparseksc.data.source import BLOCK_ROWS, Source
from sparseksc.data.stream import ChangedSource, IterableSource, Part, Stream, recut


def open_dataset(
    path: StrPath | Sequence[StrPath] | Iterable[Any],
    columns: Sequence[str] | None = None,
    block_rows: int = BLOCK_ROWS,
    *,
    ids: Sequence[str] = (),
    label: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> Stream:
    """Open data that need not fit in memory.

    Parameters
    ----------
    path : str, path, list of them, or re-iterable of arrays
        A file, a pattern such as ``"data/*.parquet"``, or a directory: Parquet, Arrow or
        Feather, CSV (``.csv``, ``.tsv``, ``.txt``), JSON lines (``.jsonl``), these also compressed
        (``.gz``, ``.bz2``, ``.xz``, ``.zst``), spreadsheets (``.xlsx``, ``.xls``, ``.ods``), NPY or
        NPZ, by the ending of the name. Several files are read one after the other, in the order
        of their names. Or any object that yields 2-D arrays each time it is iterated.
    columns : list of str, optional
        Names of the columns to use, all by default. Not for NPY and iterables, which have none.
        An NPZ file holds one table (named X if there are several), or vectors as columns.
    block_rows : int, default=65536
        Rows that are read at once.
    ids : list of str, optional
        Names of columns that identify the rows. They are not clustered;
        :meth:`FileStream.records` returns them beside the rows.
    label : str, optional
        Name of a column with the classes of some rows, empty for the others. It is not clustered,
        and ``fit`` takes it for ``y``.
    header : bool, optional
        Whether the first line of a CSV file holds the names of the columns. By default it
        does, and a first line of numbers alone is refused, as it could be either.
    delimiter : str, optional
        What separates the fields of a CSV file; by default it is found in the first lines.
    decimal : {".", ","}, optional
        The mark in the numbers of a CSV file, found likewise.
    encoding : str, optional
        Encoding of a text file, such as "latin-1"; by default UTF-8, UTF-16 or cp1252, as the
        bytes say.

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
    ...     data = open_dataset(file, block_rows=2)
    ...     [rows.shape for rows, weights in data.blocks()]
    [(2, 2), (2, 2), (1, 2)]
    >>> data
    <FileStream: 1 file (points.npy), 5 rows, 2 columns, float64>
    """
    if not isinstance(block_rows, int) or block_rows < 1:
        raise ValueError(f"block_rows must be an integer of at least 1, got {block_rows!r}.")
    if path is None or hasattr(path, "shape") or hasattr(path, "columns"):
        raise ValueError(
            "open_dataset takes names of files, or an iterable of arrays; pass an array or a data "
            f"frame to fit as it is. Got {type(path).__name__}."
        )
    if label is not None and not isinstance(label, str):
        raise ValueError(f"label must be the name of a column, got {label!r}.")
    ids = _names("ids", ids) or ()
    request = Request(
        _names("columns", columns),
        ids if label is None or label in ids else (*ids, label),
        block_rows,
        header,
        delimiter,
        decimal,
        known_encoding(encoding),
    )
    parts: list[Any]
    if not isinstance(path, str | os.PathLike):
        parts = list(path) if isinstance(path, list | tuple) else []
        if not parts or not all(isinstance(part, str | os.PathLike) for part in parts):
            if columns is not None or request.ids:
                raise ValueError("columns need files with names; an iterable of arrays has none.")
            return IterableSource(path)
    else:
        parts = [path]
    with escaped_errors():
        stream = _open_files([os.fspath(part) for part in parts], request)
    stream.label_column = label
    return stream


def locate(names: list[str], request: Request) -> tuple[list[Path], Format]:
    """Return the files that some names, directories and patterns stand for, and their format."""
    found = [file for name in names for file in _files(name)]
    kinds = {_kind(file) for file in found}
    if len(kinds) > 1:
        endings = ", ".join(sorted(kind.ending for kind in kinds))
        raise ValueError(f"The files are of different kinds ({endings}); open one kind at a time.")
    return found, kinds.pop()(request)


def absolute_names(names: Iterable[str]) -> list[str]:
    """Return names with the current directory in front, to be compared with others later."""
    return [_absolute(name) for name in names]


def _open_files(names: list[str], request: Request) -> FileStream:
    stream = FileStream(*locate(names, request))
    stream.origins = absolute_names(names)
    return stream


def _names(what: str, names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Distinct names, at least one where some are given."""
    if names is None:
        return None
    if isinstance(names, str):
        raise ValueError(f"{what} must be a list of names, got {names!r}.")
    if what == "columns" and not names:
        raise ValueError("columns must name at least one column.")
    twice = repeated(names)
    if twice is not None:
        raise ValueError(f"{what} names {twice!r} more than once.")
    return tuple(names)


def known_encoding(name: str | None) -> str | None:
    """Return the usual name of an encoding, or refuse it."""
    try:
        return name if name is None else codecs.lookup(name).name
    except LookupError:
        raise ValueError(f"encoding must be the name of an encoding, got {name!r}.") from None


def _files(pattern: str) -> list[Path]:
    """Files that a name, a directory or a pattern stands for, in the order of their names."""
    found = files_named(pattern)
    if not found and os.path.isdir(pattern):
        raise ValueError(
            f"The directory {pattern} has no files that can be read ({', '.join(ENDINGS)})."
        )
    if not found:
        raise FileNotFoundError(f"There is no file {pattern}.")
    return found


def files_named(pattern: str) -> list[Path]:
    """Files that a name, a directory or a pattern stands for, in order; none is no error."""
    path = Path(pattern)
    if path.is_dir():
        return sorted(file for file in path.iterdir() if _is_data(file) and file.is_file())
    if path.exists():
        return [path]
    return sorted(Path(file) for file in glob.glob(pattern, recursive=True))


def _is_data(file: Path) -> bool:
    """Whether a file of a directory is read: a dot or an underscore in front mark other files."""
    # Texts in a directory are mostly notes about the data.
    return _kind_or_none(file) is not None and file.name[0] not in "._" and ".txt" not in file.name


def _absolute(pattern: str) -> str:
    """Return the name with the current directory in front, whose name is no pattern."""
    here = os.getcwd()
    return os.path.join(here if os.path.exists(pattern) else glob.escape(here), pattern)


def require_separate(read: Iterable[StrPath], outputs: Iterable[StrPath]) -> None:
    """Refuse outputs that are read, or would be the next time, and two that are the same file.

    Files are compared as the system knows them, whatever names and links lead to them. Devices and
    pipes are no files.

    Parameters
    ----------
    read : iterable of path
        Files, directories and patterns, as for :func:`open_dataset`.
    outputs : iterable of path
        Files to write, whether or not they are there.
    """
    patterns, taken = [os.fspath(name) for name in read], set[Any]()
    for output in outputs:
        shown, target = escaped(os.fspath(output)), os.path.realpath(output)
        identity = _identity(output)
        if identity is None and os.path.exists(output):
            continue
        if target in map(os.path.realpath, patterns) or (
            identity and any(identity == _identity(f) for p in patterns for f in files_named(p))
        ):
            raise ValueError(f"{shown} is one of the files that are read: write to another file.")
        names = {os.path.abspath(output), target}
        if any(_would_name(pattern, file) for pattern in patterns for file in names):
            raise ValueError(
                f"{shown} would be one of the files that are read: write to another folder."
            )
        if not taken.isdisjoint({identity, target} - {None}):
            raise ValueError(f"{shown} is given for two outputs: give each its own name.")
        taken |= {identity, target}


def _identity(path: StrPath) -> tuple[int, int] | None:
    """Return what tells a file from all others; None if it is not there, or not a file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _would_name(pattern: str, file: str) -> bool:
    """Whether a directory or a pattern would stand for a file if it were there."""
    folder, base = os.path.split(file)
    if os.path.isdir(pattern):
        folders, matches = [pattern], _is_data(Path(base))
    elif os.path.exists(pattern) or not glob.has_magic(pattern):
        return False
    else:
        where, last = os.path.split(pattern)
        # Two stars alone stand for everything in a directory and below it.
        where = pattern if last == "**" else where or os.curdir
        folders = glob.glob(where, recursive=True) if glob.has_magic(where) else [where]
        matches = fnmatch(base, last) and (base[0] != "." or last[0] == ".")
    return (
        matches
        and os.path.isdir(folder)
        and any(os.path.isdir(one) and os.path.samefile(one, folder) for one in folders)
    )


KINDS: dict[str, type[Format]] = {
    ".npy": Npy,
    ".npz": Npz,
    ".parquet": Parquet,
    ".pq": Parquet,
    ".arrow": Feather,
    ".feather": Feather,
    ".xlsx": Spreadsheet,
    ".xls": Spreadsheet,
    ".ods": Spreadsheet,
    ".csv": Csv,
    ".tsv": Csv,
    ".txt": Csv,
    ".jsonl": JsonLines,
    ".ndjson": JsonLines,
}
#: What sentences list.
ENDINGS = list(KINDS)
KINDS |= {
    f"{ending}{packed}": kind
    for ending, kind in list(KINDS.items())
    for packed in PACKED
    if kind in (Csv, JsonLines)
}


def _kind_or_none(path: Path) -> type[Format] | None:
    name = path.name.lower()
    return next((kind for ending, kind in KINDS.items() if name.endswith(ending)), None)


def _kind(path: Path) -> type[Format]:
    kind = _kind_or_none(path)
    if kind is None:
        raise ValueError(f"{path} has an ending that is not known; known are {', '.join(ENDINGS)}.")
    return kind


class FileStream(Stream):
    """Files of one kind, read one after the other; ``label_column`` is what ``y`` is in them."""

    label_column: str | None = None

    def __init__(self, paths: list[Path], form: Format) -> None:
        self.paths, self.form = paths, form
        self.ids, self.block_rows = list(form.request.ids), form.block_rows
        self._stamps = [stamp_of(path) for path in paths]
        for path, (size, _) in zip(paths, self._stamps, strict=True):
            if size == 0:
                raise ValueError(f"{path} is empty.")
        described = [form.describe(path) for path in paths]
        first = described[0]
        dtype = first.dtype
        for path, other in zip(paths, described, strict=True):
            if other.width != first.width or other.names != first.names:
                raise ValueError(
                    f"{path} has the columns {_listed(other.names, other.width)}, but {paths[0]} "
                    f"has {_listed(first.names, first.width)}; choose common ones."
                )
            dtype = np.promote_types(dtype, other.dtype)
        self._counts = [other.n_rows for other in described if other.n_rows is not None]
        self.n_features = first.width
        self.feature_names = first.names
        self.n_rows = sum(self._counts) if len(self._counts) == len(paths) else None
        if self.n_rows == 0:
            raise ValueError(f"{paths[0]} has no rows.")
        self.dtype = np.dtype(np.float32 if dtype == np.float32 else np.float64)

    def place(self) -> str:  # noqa: D102
        return count_named([path.name for path in self.paths], "file")

    def fingerprint(self) -> str:  # noqa: D102
        return f"{[path.name for path in self.paths]} {self._stamps} {self.feature_names}"

    def read(self) -> Iterator[Array]:
        """Yield blocks of exactly ``block_rows`` rows, whatever the layout of the files."""
        rows = (block for block, _ in self._records(with_ids=False))
        yield from recut(rows, self.form.block_rows)

    def records(self) -> Iterator[Rows]:  # noqa: D102
        yield from self._records(with_ids=True)

    def _records(self, with_ids: bool) -> Iterator[Rows]:
        for path, stamp in zip(self.paths, self._stamps, strict=True):
            start = 0
            blocks = self.form.read(path, with_ids)
            while True:
                with escaped_errors():
                    found = next(blocks, None)
                    if found is None:
                        break
                    self._require_finite(found[0], path, start)
                block, ids = found
                yield block.astype(self.dtype, copy=False), ids
                start += len(block)
            require_unchanged(path, stamp)

    def to_dask(self) -> Source:  # noqa: D102
        with escaped_errors():
            frame = self.form.dask_frame(self.paths, self.feature_names, self.dtype)
        if frame is None:
            return super().to_dask()
        from sparseksc.data.dask_source import DaskSource

        source = DaskSource(frame)
        source.origins = self.origins
        return source

    def parts(self) -> list[Part]:  # noqa: D102
        if self.n_rows is None or not self.form.has_random_access:
            return super().parts()
        step = self.form.block_rows
        ends = [min(start + step, self.n_rows) for start in range(0, self.n_rows, step)]
        return [
            Part(end - start, partial(self._read_rows, start, end))
            for start, end in zip([0, *ends], ends, strict=False)
        ]

    def _read_rows(self, start: int, stop: int) -> Array:
        """Read rows ``start`` to ``stop``, from as many files as they lie in."""
        found, first = [], 0
        for path, stamp, rows in zip(self.paths, self._stamps, self._counts, strict=True):
            begin, end = max(start - first, 0), min(stop - first, rows)
            if begin < end:
                with escaped_errors():
                    block = self.form.read_rows(path, begin, end)
                    self._require_finite(block, path, begin)
                require_unchanged(path, stamp)
                found.append(block.astype(self.dtype, copy=False))
            first += rows
        return np.concatenate(found)

    def _require_finite(self, block: Array, path: Path, start: int) -> None:
        """Refuse NaN and infinity, with the place of the first one in its file."""
        if np.isfinite(block).all():
            return
        row, column = np.argwhere(~np.isfinite(block))[0]
        name = repr(self.feature_names[column]) if self.feature_names else str(column + 1)
        error = MissingValues if np.isnan(block[row, column]) else ValueError
        raise error(self.form.fault(path, start + int(row) + 1, name, block[row, column]))


def require_unchanged(path: Path, stamp: tuple[int, int]) -> None:
    """Refuse a file that is not what it was."""
    if not path.exists() or stamp_of(path) != stamp:
        raise ChangedSource(escaped(f"{path} changed while it was in use; start again."))


def _listed(names: list[str] | None, width: int) -> str:
    return f"({width} without names)" if names is None else ", ".join(names)


def stamp_of(path: Path) -> tuple[int, int]:
    """Return size and time of a file, which tell whether it has changed."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns
