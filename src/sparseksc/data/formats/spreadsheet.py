"""Spreadsheets: the first sheet, whose first filled row has the names of the columns."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from sparseksc.data.formats.arrow import LARGEST_EXACT, Columnar, require_pyarrow
from sparseksc.data.formats.base import brief
from sparseksc.data.formats.csv import MISSING

#: What stands in a cell whose formula has no value.
FAULTS = (*MISSING, "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!")


class Spreadsheet(Columnar):
    """Excel and OpenDocument sheets, which are small enough to be held."""

    ending = ".xlsx"
    _known: tuple[Any, Any] | None = None

    def schema(self, path: Path) -> Any:  # noqa: D102
        return self._table(path).schema

    def count(self, path: Path) -> int | None:  # noqa: D102
        return int(self._table(path).num_rows)

    def batches(self, path: Path, names: list[str]) -> Iterator[Any]:  # noqa: D102
        yield from self._table(path).select(names).to_batches(max_chunksize=self.block_rows)

    def _table(self, path: Path) -> Any:
        status = path.stat()
        now = path, status.st_size, status.st_mtime_ns
        if self._known is None or self._known[0] != now:
            self._known = now, self._read(path)
        return self._known[1]

    def _read(self, path: Path) -> Any:
        pa = require_pyarrow()
        rows, sheets = _filled_rows(path)
        others = f"; the others ({', '.join(sheets[1:])}) are not read" if sheets[1:] else ""
        if not rows:
            raise ValueError(f"{path} has nothing in its first sheet{others}.")
        width = max(len(row) for row in rows)
        if self.request.header is False:
            names = [f"column{number}" for number in range(1, width + 1)]
        else:
            names = [_text(cell).strip() for cell in rows[0]] + [""] * (width - len(rows[0]))
            if self.request.header is None and all(isinstance(cell, float) for cell in rows[0]):
                raise ValueError(
                    f"The first row of {path} holds numbers alone: add a row with the names of the "
                    "columns, or say whether it is a header (--header or --no-header, "
                    "header=True or False)."
                )
            rows = rows[1:]
        if not rows:
            raise ValueError(f"{path} has no rows below the names in its first sheet{others}.")
        columns = [
            pa.array(_column([row[place] if place < len(row) else None for row in rows]))
            for place in range(width)
        ]
        nothing = pa.float64()
        return pa.table(
            [one.cast(nothing) if pa.types.is_null(one.type) else one for one in columns],
            schema=None,
            names=names,
        )

    def no_number(self, path: Path, name: str, of: Any) -> str:  # noqa: D102
        for row, value in enumerate(self._table(path).column(name).to_pylist(), 1):
            try:
                float(value or 0)
            except (TypeError, ValueError):
                return (
                    f"{path} has {brief(repr(str(value)), 40)} in row {row:,}, column {name!r}, "
                    "which is not a number: correct it, leave the column out, or keep it as an id."
                )
        return super().no_number(path, name, of)


def _filled_rows(path: Path) -> tuple[list[list[Any]], list[str]]:
    """Rows of the first sheet that are not empty, and the names of all sheets."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise ImportError(
            f"{path} needs python-calamine to be read: install it, or sparseksc with the extra "
            "'excel'."
        ) from None
    try:
        with path.open("rb") as file:
            book = CalamineWorkbook.from_filelike(file)
            sheet, names = book.get_sheet_by_index(0), list(book.sheet_names)
            rows = [[None if cell in FAULTS else cell for cell in row] for row in sheet.iter_rows()]
    except OSError:
        raise
    except Exception as error:  # the parser's own class, and those of damaged archives
        raise ValueError(f"{path} cannot be read as a spreadsheet: {brief(error)}") from None
    return [row for row in rows if any(cell is not None for cell in row)], names


def _column(cells: list[Any]) -> list[Any]:
    """Cells of one type: as they are, or as text."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {date, datetime}:
        if len(kinds) == 2:
            return [datetime(*cell.timetuple()[:6]) if cell is not None else None for cell in cells]
        return cells
    if kinds == {float} and all(cell is None or _is_whole(cell) for cell in cells):
        # Sheets have one kind of number.
        return [None if cell is None else int(cell) for cell in cells]
    if len(kinds) <= 1 and kinds <= {bool, float, int, time, timedelta, str}:
        return cells
    if kinds <= {int, float, bool}:
        return [None if cell is None else float(cell) for cell in cells]
    return [None if cell is None else _text(cell) for cell in cells]


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell)


def _is_whole(cell: float) -> bool:
    return cell.is_integer() and abs(cell) < LARGEST_EXACT
