"""Where rows come from: files, folders, patterns, or CSV on standard input."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from sparseksc.data.atomic import temporary_folder
from sparseksc.data.files import FileStream, open_dataset
from sparseksc.data.formats.base import MissingColumns
from sparseksc.data.formats.text import PACKED


@contextmanager
def opened(data: Sequence[str], **request: Any) -> Iterator[FileStream]:
    """Open what was named on the command line; ``request`` is for :func:`open_dataset`."""
    if "-" not in data:
        yield _stream(list(data), **request)
        return
    if len(data) > 1:
        raise click.UsageError("Standard input (-) cannot be read together with files.")
    # Training reads its rows several times, and standard input is there once.
    with temporary_folder(Path(tempfile.gettempdir())) as folder:
        spooled = _spool(folder)
        try:
            yield _stream([os.fspath(spooled)], **request)
        except ValueError as error:
            error.args = tuple(
                str(part).replace(os.fspath(spooled), "standard input") for part in error.args
            )
            raise


@contextmanager
def opened_for(model: Any, data: Sequence[str], **request: Any) -> Iterator[FileStream]:
    """Open data for a model: with the columns that it was trained with, by their names."""
    trained = [str(name) for name in getattr(model, "feature_names_in_", [])]
    by_name = request["columns"] is None and trained != [] and not _nameless(data, request)
    if by_name:
        request["columns"] = trained
    try:
        with opened(data, **request) as source:
            if source.n_features != model.n_features_in_:
                raise ValueError(
                    f"The model was trained with {_counted(model.n_features_in_)}, but the data "
                    f"has {_counted(source.n_features)}: choose the right ones with --columns."
                )
            yield source
    except MissingColumns as error:
        if not by_name:
            raise
        raise ValueError(f"The model was trained with other columns: {error}") from None


def _stream(data: list[str], **request: Any) -> FileStream:
    request["ids"] = request["ids"] or ()
    stream = open_dataset(data, **request)
    assert isinstance(stream, FileStream)  # names of files were passed
    return stream


def _nameless(data: Sequence[str], request: dict[str, Any]) -> bool:
    """Whether the data are NumPy tables, whose columns have no names."""
    if not all(name.lower().endswith((".npy", ".npz")) for name in data):
        return False
    return _stream(list(data), **request).feature_names is None


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
