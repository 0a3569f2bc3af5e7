"""The report as an output of commands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, overload

import click

from sparseksc._text import escaped
from sparseksc.data.files import FileStream
from sparseksc.data.formats.base import Column

NEEDED = ("bokeh", "jinja2", "matplotlib")


def check_page(output: str) -> None:
    """Refuse a page that could not be written, before any work."""
    if not output.lower().endswith((".html", ".htm")):
        raise click.UsageError(f"The report {escaped(output)} must end in .html.")
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ImportError(f"A report needs {missing[0]}: pip install 'sparseksc[report]'.")


def write_page(
    model: Any, source: FileStream, path: Path, *, command: str, title: str | None = None
) -> None:
    """Write the report of a model on some data; ids name the rows in it."""
    from sparseksc.report import write_report

    names = RowNames(source) if source.ids else None
    write_report(model, source, path, title=title, command=command, ids=names)


class RowNames(Sequence[str]):
    """Names of all rows, in the compact form in which they were read."""

    def __init__(self, source: FileStream) -> None:
        self._blocks: list[list[Column]] = [ids for _, ids in source.records()]
        self._ends: list[int] = []
        for block in self._blocks:
            self._ends.append(len(block[0]) + (self._ends[-1] if self._ends else 0))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, row: int) -> str: ...

    @overload
    def __getitem__(self, row: slice) -> list[str]: ...

    def __getitem__(self, row: int | slice) -> str | list[str]:
        if isinstance(row, slice):
            return [self[one] for one in range(*row.indices(len(self)))]
        number = bisect_right(self._ends, row)
        start = self._ends[number - 1] if number else 0
        return ", ".join(str(column[int(row) - start]) for column in self._blocks[number])
