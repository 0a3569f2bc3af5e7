"""Kinds of files: NPY, Parquet and Arrow, each read in blocks of rows with their ids."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sparseksc._typing import Array

#: A column of ids: a NumPy or an Arrow array.
Column = Any
#: Rows of numbers, and the columns of ids beside them.
Rows = tuple[Array, list[Column]]

WHAT_TO_DO = "fill in missing values or remove such rows first"


class MissingColumns(ValueError):
    """A file does not have columns that were asked for."""


class MissingValues(ValueError):
    """A file has no value where a number is expected."""


@dataclass(frozen=True)
class Request:
    """What is to be read from a file.

    Attributes
    ----------
    columns : tuple of str or None
        Names of the columns of numbers; None for all that are not ids.
    ids : tuple of str
        Names of columns of any type that identify the rows.
    block_rows : int
        Most rows of a block.
    header : bool or None
        Whether the first line of a CSV file holds names; None where that is to be seen.
    delimiter, decimal, encoding : str or None
        What separates the fields of a CSV file, the mark in its numbers, and its encoding; None
        where they are to be seen.
    typed_ids : bool
        Whether ids have the types that they seem to have, also in text files; text otherwise.
    """

    columns: tuple[str, ...] | None = None
    ids: tuple[str, ...] = ()
    block_rows: int = 65_536
    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    typed_ids: bool = False

    def chosen(self, path: Path, available: list[str], index: Collection[str] = ()) -> list[str]:
        """Names of the columns of numbers, after a check that all names exist.

        The columns of an ``index`` name the rows: they are chosen only where they are asked for.
        """
        twice = repeated(available)
        if twice is not None:
            if not twice:
                raise ValueError(
                    f"{path} has columns without a name in its first line: name them, or remove "
                    "the lines above the names, such as a title."
                )
            raise ValueError(f"{path} has more than one column {twice!r}: rename one of them.")
        known = set(available)
        missing = [name for name in (*(self.columns or ()), *self.ids) if name not in known]
        if missing:
            names = some_of([repr(name) for name in missing])
            raise MissingColumns(
                f"{path} has no column{'s' * (len(missing) > 1)} {names}; it has "
                f"{some_of(available)}."
            )
        if self.columns is not None:
            return list(self.columns)
        rest = [name for name in available if name not in self.ids and name not in index]
        if not rest:
            raise ValueError(f"{path} has no columns beside the {'index' if index else 'ids'}.")
        return rest


@dataclass(frozen=True)
class Description:
    """What is known of a file before its rows are read.

    Attributes
    ----------
    names : list of str or None
        Of the columns; None where they have none.
    width : int
        Number of columns.
    dtype : numpy.dtype
    n_rows : int or None
        Number of rows, where the format tells.
    whole : tuple of int
        Places of columns of whole numbers of 64 bits, which float64 may have to round.
    """

    names: list[str] | None
    width: int
    dtype: np.dtype[Any]
    n_rows: int | None
    whole: tuple[int, ...] = ()


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
    def block_rows(self) -> int:
        """Most rows of a block."""
        return self.request.block_rows

    @abstractmethod
    def describe(self, path: Path) -> Description:
        """Look at a file without reading all of it."""

    @abstractmethod
    def read(self, path: Path, with_ids: bool) -> Iterator[Rows]:
        """Yield blocks of rows; without ids the list beside them is empty."""

    def read_rows(self, path: Path, start: int, stop: int) -> Array:
        """Rows ``start`` to ``stop`` without ids, and without reading all that is before them."""
        raise NotImplementedError

    def dask_frame(
        self, paths: Sequence[Path], columns: list[str] | None, dtype: np.dtype[Any]
    ) -> Any:
        """Return a Dask data frame of the columns, where Dask cuts such files better than we do."""
        return None

    def fault(self, path: Path, row: int, column: str, value: float) -> str:
        """Say where a value is that is not finite; rows are counted from 1."""
        return f"{path} has the value {value} in row {row:,}, column {column}: {WHAT_TO_DO}."


def require_table(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Refuse what is not a table of numbers."""
    if len(shape) != 2:
        raise ValueError(
            f"{path} must hold a 2-D array, got {len(shape)} dimension{'s' * (len(shape) != 1)}."
        )
    if shape[1] == 0:
        raise ValueError(f"{path} has no columns.")
    if dtype.kind not in "fiub":
        raise ValueError(f"{path} must hold numbers, got {dtype}.")


def brief(error: Exception | str, most: int = 300) -> str:
    """Return what an error of another library says in one line, which may hold half a file.

    Examples
    --------
    >>> from sparseksc.data.formats.base import brief
    >>> brief(ValueError("Cannot parse header: " + 1000 * "x"), most=28)
    'Cannot parse header: xxxx...'
    """
    text = " ".join(str(error).split())
    return text if len(text) <= most else text[: most - 3] + "..."


def repeated(names: Iterable[str]) -> str | None:
    """Return the first name that is there more than once, if any.

    Examples
    --------
    >>> from sparseksc.data.formats.base import repeated
    >>> repeated(["a", "b", "a"])
    'a'
    """
    return next((name for name, times in Counter(names).items() if times > 1), None)


def some_of(names: list[str], most: int = 12) -> str:
    """Up to a dozen names, and how many there are beside them."""
    shown = names if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]
