"""How the fields of a CSV file are written, found by looking at its first lines."""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sparseksc.data.formats.base import Request
from sparseksc.data.formats.text import encoding_of, head_of, joined_blanks

#: What may separate fields; a comma last, as it may also be in numbers.
SEPARATORS = ("\t", ";", "|", ",")
#: Lines that are looked at.
LOOKED_AT = 100
#: Share of the lines that must have as many fields as the first.
AGREEMENT = 0.9
_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")
_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
_QUOTED = re.compile(r'"[^"]*"')
#: A line in which a spreadsheet names the separator.
_NAMED = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    Attributes
    ----------
    encoding : str
    delimiter : str
        What separates fields.
    decimal : str
        The mark in numbers, a point or a comma.
    skipped : int
        Lines before the header that are no part of the table.
    blanks : bool
        Whether fields are separated by runs of blanks; they are then read as tabs.
    """

    encoding: str = "utf-8"
    delimiter: str = ","
    decimal: str = "."
    skipped: int = 0
    blanks: bool = False


def find_dialect(path: Path, request: Request) -> Dialect:
    r"""Look at the first lines of a file; what is asked for is not looked for.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparseksc.data.formats.base import Request
    >>> from sparseksc.data.formats.dialect import find_dialect
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "prices.csv"
    ...     _ = file.write_text("name;price\ntea;1,50\n", encoding="utf-16")
    ...     found = find_dialect(file, Request())
    >>> found.encoding, found.delimiter, found.decimal
    ('utf-16', ';', ',')
    """
    head = head_of(path)
    encoding = request.encoding or encoding_of(path, head)
    text = codecs.getincrementaldecoder(encoding)("strict").decode(head)
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    # The last line may have been cut off.
    lines = lines[:-1] if len(lines) > 1 and not lines[-1].endswith(("\r", "\n")) else lines
    skipped = 0
    while skipped + 1 < len(lines) and lines[skipped].startswith("#"):
        skipped += 1
    named = _NAMED.fullmatch(lines[skipped]) if skipped < len(lines) else None
    skipped += named is not None
    rows = lines[skipped : skipped + LOOKED_AT]
    delimiter, blanks = request.delimiter or (named[1] if named else None), False
    if delimiter is None:
        delimiter = _separator(rows)
        if delimiter is None and ".txt" in path.name.lower():
            blanks = _agreement([len(row.split()) for row in rows if row.split()]) >= AGREEMENT
        delimiter = delimiter or ("\t" if blanks else ",")
    decimal = request.decimal or _decimal(
        list(map(joined_blanks, rows)) if blanks else rows, delimiter
    )
    if decimal == delimiter:
        raise ValueError(
            f"{path} cannot have {delimiter!r} both between fields and in numbers: say what "
            "separates the fields (--separator, delimiter=)."
        )
    return Dialect(encoding, delimiter, decimal, skipped, blanks)


def _rows(lines: list[str], delimiter: str) -> list[list[str]]:
    try:
        read = csv.reader(io.StringIO("".join(lines), newline=""), delimiter=delimiter)
        return [fields for fields in read if fields]
    except csv.Error:
        return []


def _agreement(widths: list[int]) -> float:
    """Share of the lines with the width of the first; none where that is one field."""
    if not widths or widths[0] < 2:
        return 0.0
    return widths.count(widths[0]) / len(widths)


def _separator(lines: list[str]) -> str | None:
    lines = _QUOTED.sub('""', "".join(lines)).splitlines(keepends=True)
    shares = {
        mark: _agreement([len(fields) for fields in _rows(lines, mark)]) for mark in SEPARATORS
    }
    best = max(shares.values())
    return next(
        (mark for mark, share in shares.items() if share > 0.0 and share >= min(best, AGREEMENT)),
        None,
    )


def _decimal(lines: list[str], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    fields = [field for row in islice(_rows(lines, delimiter), LOOKED_AT) for field in row]
    commas, points = (sum(map(bool, map(form.fullmatch, fields))) for form in (_COMMA, _POINT))
    return "," if commas > points else "."
