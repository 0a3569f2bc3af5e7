"""Where rows come from: files, folders, patterns, or CSV on standard input."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from sparseksc._text import escaped, escaped_errors
from sparseksc.config.settings import OWN_UNITS
from sparseksc.data.atomic import temporary_folder
from sparseksc.data.files import FileStream, absolute_names, known_encoding, locate
from sparseksc.data.formats.arrow import Columnar
from sparseksc.data.formats.base import Format, MissingColumns, MissingValues, Request, repeated
from sparseksc.data.formats.csv import MANY_COLUMNS, Csv
from sparseksc.data.formats.text import PACKED
from sparseksc.preprocessing import TableEncoder
from sparseksc.preprocessing.stream import EncodedStream, TableFiles, fit_to_files

T = TypeVar("T")
#: Names under which an index is saved that has none.
NAMELESS = ("", "Unnamed: 0")


class Opened:
    """Files whose rows are numbers, or are made numbers.

    Parameters
    ----------
    names : list of str
        Files, folders and patterns.
    request : Request
    table : dict or None
        Arguments of :class:`~sparseksc.preprocessing.TableEncoder`; None where numbers alone are
        wanted.
    append : bool
        Whether labels are written beside all columns.
    encoder : TableEncoder, optional
        Of a model, fitted.
    """

    def __init__(
        self,
        names: list[str],
        request: Request,
        table: dict[str, Any] | None,
        append: bool = False,
        encoder: TableEncoder | None = None,
    ) -> None:
        self.names, self.request, self.table, self.append = names, request, table, append
        self.notes: list[str] = []
        with escaped_errors():
            self.paths, self.form = locate(names, request)
            self.files = _tables(self.paths, self.form)
            if encoder is not None:
                self.source: FileStream = self._encoded(encoder)
            elif table is None:
                self.source = FileStream(self.paths, self.form)
            else:
                self.source = self._as_numbers(table)
        self.source.origins = absolute_names(names)
        if append:
            self._check_names()

    def _check_names(self) -> None:
        """Refuse columns of the names that the labels have, before any work."""
        names = [] if self.files is None else self.files.schema.names
        taken = [name for name in names if name == "label" or name.startswith("membership_")]
        if taken:
            raise ValueError(
                f"{self.paths[0]} has a column {taken[0]!r}, which the labels have too: rename it, "
                "or leave --append out."
            )

    def _as_numbers(self, table: dict[str, Any]) -> FileStream:
        """Rows as they are where they hold numbers alone, encoded otherwise."""
        if self.files is None:
            if table["drop_columns"] or table["categorical"]:
                raise ValueError(
                    f"{self.paths[0]} has no columns to drop or to take as categories: choose "
                    "the columns with --columns."
                )
            return FileStream(self.paths, self.form)
        schema, drop = self.files.schema, table["drop_columns"]
        TableEncoder(**{**table, "columns": self.request.columns}).kinds(schema)
        columns = self.request.columns
        index = [*self.files.index, *(name for name in schema.names[:1] if name in NAMELESS)]
        unused = [*self.request.ids, *index] if columns is None else ()
        chosen = [name for name in columns or schema.names if name not in unused]
        index = [name for name in index if columns is None and name not in self.request.ids]
        if index:
            self.notes.append(f"The index is no feature: {', '.join(map(repr, index))}.")
        chosen = [name for name in chosen if name not in drop]
        if table["numeric_only"]:
            others = [name for name in chosen if not self.files.is_numeric([name])]
            chosen = [name for name in chosen if name not in others]
            if others:
                self.notes.append(f"Left out, as they hold no numbers: {', '.join(others)}.")
        if not chosen:
            raise ValueError(f"{self.paths[0]} has no columns that could be used.")
        self.request = replace(self.request, columns=tuple(chosen))
        codes = [name for name in self.files.categories if name in chosen]
        self.table = table = {**table, "categorical": [*table["categorical"], *codes]}
        if table["categorical"] or not self.files.is_numeric(chosen):
            return self._encoded(self._encoder(table))
        return self._plain(self.request)

    def _plain(self, request: Request) -> FileStream:
        stream = FileStream(self.paths, type(self.form)(request))
        stream.origins = absolute_names(self.names)
        return stream

    def _encoder(self, table: dict[str, Any]) -> TableEncoder:
        """Fit an encoder to the files."""
        assert self.files is not None
        options = {**table, "columns": self.request.columns, "drop_columns": ()}
        encoder = fit_to_files(TableEncoder(scale=False, **options), self.files)
        self.notes.append(f"Columns: {encoder.summary()}.")
        return encoder

    def _encoded(self, encoder: TableEncoder) -> EncodedStream:
        if self.files is None:
            raise ValueError(
                f"The model was trained with a table of other types than numbers, which "
                f"{self.paths[0]} cannot hold."
            )
        return EncodedStream(self.files, encoder, self.request.ids)

    def use(self, work: Callable[[FileStream], T]) -> T:
        """Do something with the rows; missing values that come to light are filled in."""
        try:
            return work(self.source)
        except MissingValues:
            if self.files is None or self.table is None or self.table["missing"] == "error":
                raise
            self.source = self._encoded(self._encoder(self.table))
            self.source.origins = absolute_names(self.names)
            return work(self.source)

    @property
    def carrying(self) -> FileStream:
        """The rows, with the columns beside them that the labels are written to."""
        if not self.append or self.files is None:
            return self.source
        names = self.files.schema.names
        if isinstance(self.source, EncodedStream):
            return EncodedStream(self.files, self.source.encoder, names)
        return self._plain(replace(self.request, ids=tuple(names)))


def require_units(source: EncodedStream, metric: str) -> None:
    """Refuse a metric that encoded columns, of any units, do not have."""
    if metric in OWN_UNITS:
        raise ValueError(
            f"The metric {metric!r} takes {OWN_UNITS[metric]} as they are, and {source.paths[0]} "
            "has other columns or missing values: choose the columns with --columns, and fill in "
            "what is missing."
        )


def _tables(paths: list[Path], form: Format) -> TableFiles | None:
    """Return the files as tables of columns with names; None where they are arrays."""
    if not isinstance(form, Columnar):
        return None
    if isinstance(form, Csv) and all(path.stat().st_size for path in paths):
        # Thousands of columns are measurements, and would take Arrow its time.
        if len(form.header(paths[0])[0]) > MANY_COLUMNS:
            return None
    return TableFiles(paths, form)


@contextmanager
def opened(
    data: Sequence[str],
    request: dict[str, Any],
    table: dict[str, Any] | None = None,
    append: bool = False,
    encoder: TableEncoder | None = None,
) -> Iterator[Opened]:
    """Open what was named on the command line; ``request`` is for :func:`open_dataset`."""
    asked = _request(request)
    if "-" not in data:
        yield Opened(list(data), asked, table, append, encoder)
        return
    if len(data) > 1:
        raise click.UsageError("Standard input (-) cannot be read together with files.")
    # Training reads its rows several times, and standard input is there once.
    with temporary_folder(Path(tempfile.gettempdir())) as folder:
        spooled = _spool(folder)
        try:
            yield Opened([os.fspath(spooled)], asked, table, append, encoder)
        except ValueError as error:
            error.args = tuple(
                str(part).replace(os.fspath(spooled), "standard input") for part in error.args
            )
            raise


def _request(request: dict[str, Any]) -> Request:
    for what in ("columns", "ids"):
        twice = repeated(request[what] or ())
        if twice is not None:
            raise ValueError(escaped(f"{what} names {twice!r} more than once."))
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in request.items()
    }
    encoding = known_encoding(given["encoding"])
    return Request(**{**given, "ids": given["ids"] or (), "encoding": encoding})


@contextmanager
def opened_for(
    model: Any, data: Sequence[str], request: dict[str, Any], append: bool = False
) -> Iterator[Opened]:
    """Open data for a model: with the columns that it was trained with, by their names."""
    encoder: TableEncoder | None = getattr(model, "table_encoder_", None)
    if encoder is not None and request["columns"] is not None:
        raise click.UsageError("The model knows its columns by their names: leave --columns out.")
    trained = [str(name) for name in getattr(model, "feature_names_in_", [])]
    by_name = request["columns"] is None and trained != [] and not _nameless(data, request)
    if by_name and encoder is None:
        request = {**request, "columns": trained}
    try:
        with opened(data, request, None, append, encoder) as rows:
            if rows.source.n_features != model.n_features_in_:
                raise ValueError(
                    f"The model was trained with {_counted(model.n_features_in_)}, but the data "
                    f"has {_counted(rows.source.n_features)}: choose the right ones with --columns."
                )
            yield rows
    except MissingColumns as error:
        if not by_name:
            raise
        raise ValueError(f"The model was trained with other columns: {error}") from None


def _nameless(data: Sequence[str], request: dict[str, Any]) -> bool:
    """Whether the data are NumPy tables, whose columns have no names."""
    if not all(name.lower().endswith((".npy", ".npz")) for name in data):
        return False
    return FileStream(*locate(list(data), _request(request))).feature_names is None


def _counted(columns: int) -> str:
    return f"{columns} column{'s' * (columns != 1)}"


def _spool(folder: Path) -> Path:
    """Copy standard input to a file whose ending says whether it is compressed."""
    if sys.stdin is None:
        raise ValueError("Standard input is closed.")
    incoming = sys.stdin.buffer
    start = incoming.read(max(len(magic) for _, magic in PACKED.values()))
    packed = (ending for ending, (_, magic) in PACKED.items() if start.startswith(magic))
    path = folder / f"input.csv{next(packed, '')}"
    try:
        with path.open("wb") as file:
            file.write(start)
            shutil.copyfileobj(incoming, file, 1 << 20)
    except OSError as error:
        error.filename = f"the copy of standard input in {folder.parent}"
        raise
    return path
