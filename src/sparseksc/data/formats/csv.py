"""CSV files: the header, the types, and the place of the first fault in words.

Separator, decimal mark and encoding are found by looking (:mod:`sparseksc.data.formats.dialect`).

Arrow reads the rows, fast, unless there are thousands of columns. It is not the one to explain
what is wrong with them: when it fails, or finds a value that is not finite, the file is read again
line by line until the first fault, whose row, line and column make a sentence.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from io import BufferedReader
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from sparseksc._typing import Array
from sparseksc.data.formats.arrow import WHOLE, Columnar, Taking, require_pyarrow
from sparseksc.data.formats.base import Description, Rows, brief
from sparseksc.data.formats.dialect import Dialect, find_dialect
from sparseksc.data.formats.text import UNPACKING, JoinedBlanks, open_bytes, open_lines, packing

#: Spellings of a missing value.
MISSING = (
    *("", "#N/A", "#NA", "-NaN", "-nan", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"),
    *("<NA>", "None", "-", "--", "?", "."),
    *("#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"),  # of spreadsheets
)
#: Columns above which lines are not left to Arrow, which takes its time for each column of a block.
MANY_COLUMNS = 1000
#: Entries that are handed on at once where there are many columns.
ENTRIES_AT_ONCE = 1 << 22
#: How dates are written, beside ISO 8601, where no other order of the parts is meant.
DATES = ("%d.%m.%Y", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%Y/%m/%d", "%Y/%m/%d %H:%M:%S")


class Csv(Columnar):
    """Separated values, with or without a header line, also compressed."""

    ending = ".csv"
    #: The last file whose beginning was read: its dialect, and its header.
    _known: tuple[Any, Dialect, tuple[list[str], int] | None] | None = None

    def dialect(self, path: Path) -> Dialect:
        """How the file is written."""
        status = path.stat()
        now = path, status.st_size, status.st_mtime_ns
        if self._known is None or self._known[0] != now:
            with self._understood(path, searched=False):
                self._known = now, find_dialect(path, self.request), None
        return self._known[1]

    def header(self, path: Path) -> tuple[list[str], int]:
        """Names of the columns, and the number of lines before the first row."""
        dialect = self.dialect(path)
        assert self._known is not None
        now, _, known = self._known
        if known is None:
            known = self._read_header(path, dialect)
            self._known = now, dialect, known
        return known

    def _lines(self, path: Path) -> AbstractContextManager[Iterator[str]]:
        dialect = self.dialect(path)
        return open_lines(path, dialect.encoding, dialect.blanks)

    def _read_header(self, path: Path, dialect: Dialect) -> tuple[list[str], int]:
        with self._understood(path, searched=False), self._lines(path) as lines:
            skipped = dialect.skipped
            reader = csv.reader(islice(lines, skipped, None), delimiter=dialect.delimiter)
            first = next((fields for fields in reader if fields), None)
            if first is None:
                raise ValueError(f"{path} is empty.")
            if self.request.header is False:
                return [f"column{number}" for number in range(1, len(first) + 1)], skipped
            names = [name.strip() for name in first]
            if self.request.header is None and all(is_number(n, dialect.decimal) for n in names):
                raise ValueError(
                    f"The first line of {path} holds numbers alone: add a line with the names of "
                    "the columns, or say whether it is a header (--header or --no-header, "
                    "header=True or False)."
                )
            return names, skipped + reader.line_num

    def describe(self, path: Path) -> Description:  # noqa: D102
        names, _ = self.header(path)
        if len(names) <= MANY_COLUMNS:
            return super().describe(path)
        chosen = self.request.chosen(path, names)
        if next(self._wide_rows(path, ()), None) is None:
            raise ValueError(f"{path} has no rows.")
        return Description(chosen, len(chosen), np.dtype(np.float64), None)

    def read(self, path: Path, with_ids: bool) -> Iterator[Rows]:  # noqa: D102
        width = len(self.header(path)[0])
        ids = self.request.ids if with_ids else ()
        if width <= MANY_COLUMNS:
            # Ids are read apart: the same column may be text here and numbers there.
            carried = Taking(self.carried(path, list(ids)) if ids else ())
            for block, _ in super().read(path, False):
                batch: Any = carried.take(len(block)) if ids else None
                yield block, [batch.column(name) for name in ids]
            return
        rows = self._wide_rows(path, ids)
        while some := list(islice(rows, min(self.block_rows, max(1, ENTRIES_AT_ONCE // width)))):
            marks = zip(*(marks for _, marks in some), strict=True)
            yield np.array([numbers for numbers, _ in some]), [np.array(mark) for mark in marks]

    def _wide_rows(self, path: Path, ids: Sequence[str]) -> Iterator[tuple[Array, list[str]]]:
        """Numbers and ids of one line after the other."""
        names, skipped = self.header(path)
        place = {name: number for number, name in enumerate(names)}
        marks = [place[name] for name in ids]
        chosen = [place[name] for name in self.request.chosen(path, names)]
        dialect = self.dialect(path)
        with self._understood(path), self._lines(path) as lines:
            for fields in csv.reader(islice(lines, skipped, None), delimiter=dialect.delimiter):
                if not fields:
                    continue
                if len(fields) != len(names):
                    raise csv.Error("a line has too few or too many fields")
                wanted = fields if len(chosen) == len(names) else [fields[at] for at in chosen]
                yield _numbers_of(wanted, dialect.decimal), [fields[at] for at in marks]

    def _open(
        self,
        path: Path,
        types: dict[str, Any],
        names: list[str] | None = None,
        carried: bool = False,
    ) -> Any:
        from pyarrow import csv as arrow

        (header, skipped), dialect = self.header(path), self.dialect(path)
        content: Any = path
        if dialect.blanks:
            content = BufferedReader(JoinedBlanks(path, dialect.encoding))
        elif packing(path) in (".xz", ".zip"):  # which Arrow does not know
            content = open_bytes(path)
        unicode = dialect.blanks or dialect.encoding.startswith("utf-8")
        return arrow.open_csv(
            content,
            read_options=arrow.ReadOptions(
                column_names=header,
                skip_rows=skipped,
                encoding="utf8" if unicode else dialect.encoding,
                block_size=max(1 << 20, 64 * self.block_rows),
            ),
            parse_options=arrow.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
            convert_options=arrow.ConvertOptions(
                column_types=types,
                include_columns=names,
                null_values=MISSING,
                strings_can_be_null=not carried,
                decimal_point=dialect.decimal,
                timestamp_parsers=[arrow.ISO8601, *DATES],
            ),
        )

    def schema(self, path: Path) -> Any:
        """Types of the first rows, with every kind of number as float64."""
        pa = require_pyarrow()
        fields = []
        for field in self._inferred(path):
            of, note = field.type, None
            if pa.types.is_integer(of) or pa.types.is_null(of):
                of, note = pa.float64(), WHOLE if pa.types.is_integer(of) else None
            fields.append(pa.field(field.name, of, metadata=note))
        return pa.schema(fields)

    def _inferred(self, path: Path) -> Any:
        """Return the types of the first rows."""
        self.request.chosen(path, self.header(path)[0])
        with self._understood(path, numbers=[]):
            try:
                return self._open(path, {}).schema
            except StopIteration:
                raise ValueError(f"{path} has no rows.") from None

    def batches(self, path: Path, names: list[str]) -> Iterator[Any]:  # noqa: D102
        types = {field.name: field.type for field in self.schema(path)}
        yield from self._batches(path, {name: types[name] for name in names}, carried=False)

    def carried(self, path: Path, names: list[str]) -> Iterator[Any]:  # noqa: D102
        pa = require_pyarrow()
        types, inferred = dict.fromkeys(names, pa.string()), self._inferred(path)
        found = {name: inferred.field(name).type for name in names}
        if self.request.typed_ids:
            texts = self._padded(path, [n for n, of in found.items() if pa.types.is_integer(of)])
            types |= {
                name: of
                for name, of in found.items()
                if not pa.types.is_null(of) and name not in texts
            }
        commas = [name for name, of in found.items() if pa.types.is_floating(of)]
        if self.request.typed_ids or self.dialect(path).decimal == ".":
            commas = []
        for batch in self._batches(path, types, carried=True):
            # Beside commas as separators, numbers have points.
            for name in commas:
                place = batch.schema.get_field_index(name)
                points = pa.compute.replace_substring(batch.column(name), ",", ".")
                batch = batch.set_column(place, name, points)
            yield batch

    def _padded(self, path: Path, names: list[str]) -> list[str]:
        """Columns of whole numbers that begin with zeros in the first rows, such as codes."""
        pa = require_pyarrow()
        if not names:
            return []
        batch = self._open(path, dict.fromkeys(names, pa.string()), names).read_next_batch()
        begins = (pa.compute.match_substring_regex(one, "^0[0-9]") for one in batch.columns)
        return [
            name for name, found in zip(names, begins, strict=True) if pa.compute.any(found).as_py()
        ]

    def _batches(self, path: Path, types: dict[str, Any], carried: bool) -> Iterator[Any]:
        pa = require_pyarrow()
        numbers = [name for name, of in types.items() if pa.types.is_floating(of)]
        batch = None
        with self._understood(path, numbers=numbers):
            reader = self._open(path, types, list(types), carried)
            while True:
                try:
                    batch = reader.read_next_batch()
                except StopIteration:
                    break
                yield batch
            if batch is not None and _ends_with_lines(batch):
                self._check_quotes(path)

    def _check_quotes(self, path: Path) -> None:
        """Refuse a quote that is never closed: Arrow takes all that follows for one text."""
        line = 0
        with self._lines(path) as lines:
            reader = csv.reader(lines, delimiter=self.dialect(path).delimiter, strict=True)
            try:
                for _ in reader:
                    line = reader.line_num
            except csv.Error as error:
                if "end of data" in str(error):
                    raise ValueError(
                        f"{path} has a quote in line {line + 1:,} that is never closed: close it."
                    ) from None

    def dask_frame(
        self, paths: Sequence[Path], columns: list[str] | None, dtype: np.dtype[Any]
    ) -> Any:
        """Let Dask cut the files: lines cannot be counted without reading them."""
        import dask.dataframe as dd

        (names, lines_before), dialect = self.header(paths[0]), self.dialect(paths[0])
        # Only what is neither packed nor of two bytes for each character can be cut anywhere.
        whole = packing(paths[0]) is not None or dialect.encoding.startswith(("utf-16", "utf-32"))
        frame = dd.read_csv(
            [str(path) for path in paths],
            sep=r"\s+" if dialect.blanks else dialect.delimiter,
            decimal=dialect.decimal,
            encoding=dialect.encoding,
            skiprows=dialect.skipped,
            header=0 if lines_before > dialect.skipped else None,
            names=names,
            usecols=columns,
            dtype=dict.fromkeys(columns or [], dtype),
            blocksize=None if whole else "default",
            compression="infer",
        )
        return frame[columns]

    def no_number(self, path: Path, name: str, of: Any) -> str:  # noqa: D102
        return self.first_fault(path, [name], filled=False) or super().no_number(path, name, of)

    def fault(self, path: Path, row: int, column: str, value: float) -> str:  # noqa: D102
        return self.first_fault(path) or super().fault(path, row, column, value)

    @contextmanager
    def _understood(
        self, path: Path, *, searched: bool = True, numbers: list[str] | None = None
    ) -> Iterator[None]:
        """Turn what can go wrong in reading into one sentence, ``searched`` for in the rows.

        ``numbers`` are the columns that should hold numbers, all that are chosen by default.
        """
        pa = require_pyarrow()
        try:
            yield
        except (pa.ArrowException, csv.Error, *UNPACKING) as error:
            sentence = self.first_fault(path, numbers, filled=numbers is None) if searched else None
            raise ValueError(sentence or f"{path} cannot be read as CSV: {brief(error)}") from None
        except UnicodeError as error:
            raise ValueError(_not_in(path, error)) from None
        except OSError as error:
            if error.errno is not None:  # the system's own sentence, such as for a missing right
                raise
            raise ValueError(f"{path} cannot be read as CSV: {brief(error)}") from None

    def first_fault(
        self, path: Path, columns: list[str] | None = None, *, filled: bool = True
    ) -> str | None:
        """Say where the first row or value is that cannot be used, or None.

        Missing values are faults where all must be ``filled``.
        """
        try:
            return self._first_fault(path, columns, filled)
        except UnicodeError as error:
            return _not_in(path, error)
        except (csv.Error, OSError, *UNPACKING):
            return None

    def _first_fault(self, path: Path, columns: list[str] | None, filled: bool) -> str | None:
        names, skipped = self.header(path)
        wanted = self.request.chosen(path, names) if columns is None else columns
        where = {name: place for place, name in enumerate(names)}
        places = [(where[name], name) for name in wanted]
        dialect = self.dialect(path)
        with self._lines(path) as lines:
            for _ in range(skipped):
                next(lines)
            reader = csv.reader(lines, delimiter=dialect.delimiter)
            row = 0
            for fields in reader:
                if not fields:
                    continue
                row += 1
                if len(fields) != len(names):
                    what = f"{len(fields)} field{'s' * (len(fields) != 1)}"
                    rest = f" where {len(names)} are expected: correct that line"
                    break
                problems = (
                    (_problem(fields[at], dialect.decimal), name)
                    for at, name in places
                    if filled or fields[at] not in MISSING
                )
                found, wrong = next((one for one in problems if one[0]), (None, ""))
                if found is not None:
                    what, advice = found
                    rest = f", column {wrong!r}{advice}"
                    break
            else:
                return None
            line = skipped + reader.line_num
        return f"{path} has {what} in row {row:,} (line {line:,}){rest}."


def _ends_with_lines(batch: Any) -> bool:
    """Whether a text of the last row goes over lines."""
    last = batch.slice(max(0, batch.num_rows - 1)).to_pylist()
    return any(isinstance(value, str) and "\n" in value for row in last for value in row.values())


def _not_in(path: Path, error: UnicodeError) -> str:
    name = str(getattr(error, "encoding", "utf-8")).upper()
    return f"{path} is not text in {name}: say which encoding it has (--charset, encoding=)."


def _problem(field: str, decimal: str) -> tuple[str, str] | None:
    """Say what is wrong with a field, and what to do about it."""
    if field in MISSING:
        shown = "no value" if not field else f"the missing value {field}"
        return shown, ": fill it in, or remove the row"
    if field.strip().lower() in ("true", "false"):
        return None
    if not is_number(field, decimal):
        short = field if len(field) <= 40 else field[:37] + "..."
        return repr(short), (
            ", which is not a number: correct it, leave the column out, or keep it as an id"
        )
    if not isfinite(float(field.replace(decimal, "."))):
        return f"the value {field.strip()}", ": replace it, or remove the row"
    return None


def _numbers_of(fields: list[str], decimal: str) -> Array:
    """Convert the fields of a line; a csv.Error where one is not a number."""
    if decimal != ".":
        fields = [field.replace(".", "?").replace(decimal, ".") for field in fields]
    try:
        if "_" in "".join(fields):
            raise ValueError
        return np.fromiter(map(float, fields), np.float64, len(fields))
    except ValueError:
        truth = {"true": "1", "false": "0"}
        plain = [truth.get(field.strip().lower(), field) for field in fields]
        if not all(map(is_number, plain)):
            raise csv.Error("a field is not a number") from None
        return np.array(plain, np.float64)


def is_number(text: str, decimal: str = ".") -> bool:
    """Whether a text is a number with this decimal mark.

    Examples
    --------
    >>> from sparseksc.data.formats.csv import is_number
    >>> is_number("1e3"), is_number("1,5"), is_number("1,5", ",")
    (True, False, True)
    """
    if decimal != ".":
        text = text.replace(".", "?").replace(decimal, ".")
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
