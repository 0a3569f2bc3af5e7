"""Text files, compressed or not, in any encoding: their bytes, their lines, and what they are."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from sparseksc.data.formats.arrow import require_pyarrow

#: Longest line in characters; a longer one is not a table.
LONGEST_LINE = 1 << 24
#: Bytes from which encoding and separators are found.
HEAD = 1 << 20
#: Endings of compressed files: the name of the method, and the first bytes of such a file.
PACKED = {
    ".gz": ("gzip", b"\x1f\x8b"),
    ".bz2": ("bzip2", b"BZh"),
    ".xz": ("xz", b"\xfd7zXZ\x00"),
    ".zst": ("zstandard", b"\x28\xb5\x2f\xfd"),
    ".zip": ("zip", b"PK\x03\x04"),
}
#: First bytes of files that are not text: what they are, and the ending that they should have.
NOT_TEXT = {
    b"\xd0\xcf\x11\xe0": ("an old spreadsheet", ".xls"),
    b"PAR1": ("Parquet", ".parquet"),
    b"ARROW1": ("Arrow", ".arrow"),
    b"\x93NUMPY": ("a NumPy array", ".npy"),
    **{magic: (f"compressed by {name}", ending) for ending, (name, magic) in PACKED.items()},
    b"PK\x03\x04": ("a zip archive or a spreadsheet", ".xlsx or .csv.zip"),
}
#: Beginnings of pages of the web.
MARKUP = (b"<!doctype", b"<html", b"<?xml", b"<table")
#: Errors of what unpacks.
UNPACKING = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: Share of the bytes above which a text that is not UTF-8 is not in a Western encoding.
MOSTLY_FOREIGN = 0.3


def packing(path: Path) -> str | None:
    """Return the ending that says that a file is compressed, if it does."""
    return next((ending for ending in PACKED if path.name.lower().endswith(ending)), None)


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, unpacked where its ending says that it is compressed."""
    ending = packing(path)
    if ending == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if ending == ".bz2":
        return bz2.open(path, "rb")
    if ending == ".xz":
        return lzma.open(path, "rb")
    if ending == ".zst":
        pa = require_pyarrow()
        packed: Any = pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
        return io.BufferedReader(packed)
    return _member(path) if ending == ".zip" else path.open("rb")


def _member(path: Path) -> IO[bytes]:
    """Open the only file of an archive."""
    archive = zipfile.ZipFile(path)
    # Apple's archives have notes on the files beside them.
    names = [one for one in archive.namelist() if not one.startswith("__MACOSX/")]
    names = [one for one in names if not one.endswith("/")]
    if len(names) != 1:
        archive.close()
        raise ValueError(f"{path} holds {len(names):,} files, not one: unpack it first.")
    return archive.open(names[0])


def head_of(path: Path) -> bytes:
    """Return the first bytes of a text, after a check that it is one."""
    ending = packing(path)
    if ending is not None:
        name, magic = PACKED[ending]
        with path.open("rb") as file:
            if file.read(len(magic)) != magic:
                raise ValueError(
                    f"{path} is not compressed, or not by {name}, as the ending of its name says."
                )
    with open_bytes(path) as file:
        head = file.read(HEAD)
    for magic, (what, right) in NOT_TEXT.items():
        if head.startswith(magic):
            raise ValueError(f"{path} is {what}, not text: give it the ending {right}.")
    if head.lstrip()[:9].lower().startswith(MARKUP):
        raise ValueError(f"{path} holds HTML or XML, not a table: save the table in it as CSV.")
    return head


def encoding_of(path: Path, head: bytes) -> str:
    """Find the encoding of a text: by its mark, by what it can be, or in a sentence.

    UTF-8 where the bytes allow it; UTF-16 by its mark or by its zeros; else the Western encoding
    cp1252, unless so many bytes are foreign to it that it would be another one.
    """
    for mark, name in MARKS.items():
        if head.startswith(mark):
            return name
    start = head[:4096]
    if b"\0" in start:
        even, odd = (part.count(0) / max(1, len(part)) for part in (start[::2], start[1::2]))
        if max(even, odd) > 0.3 and min(even, odd) < 0.05:
            return "utf-16-le" if odd > even else "utf-16-be"
        raise ValueError(f"{path} is not text: it holds zero bytes.")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) < HEAD)
    except UnicodeDecodeError:
        foreign = len(re.sub(rb"[\x00-\x7f]", b"", head))
        if foreign > MOSTLY_FOREIGN * len(head):
            raise ValueError(
                f"{path} is not text in UTF-8: say which encoding it has (--charset, encoding=)."
            ) from None
        return "cp1252"
    return "utf-8"


@contextmanager
def open_lines(path: Path, encoding: str, blanks: bool = False) -> Iterator[Iterator[str]]:
    """Lines of a text file, of a bounded length; with ``blanks``, runs of these are tabs."""
    from csv import Error

    def bounded(file: IO[str]) -> Iterator[str]:
        while line := file.readline(LONGEST_LINE):
            if len(line) == LONGEST_LINE:
                raise Error("a line is too long for a table")
            yield joined_blanks(line) if blanks else line

    # A mark at the beginning is no part of the first name.
    name = "utf-8-sig" if encoding == "utf-8" else encoding
    with io.TextIOWrapper(open_bytes(path), encoding=name, newline="") as file:
        yield bounded(file)


def joined_blanks(line: str) -> str:
    r"""Return a line with one tab for each run of blanks between its fields.

    Examples
    --------
    >>> from sparseksc.data.formats.text import joined_blanks
    >>> joined_blanks("  1.5   2\n")
    '1.5\t2\n'
    """
    fields = line.split()
    return "\t".join(fields) + "\n" if fields else "\n"


class JoinedBlanks(io.RawIOBase):
    """The bytes of a text in which runs of blanks are tabs, for readers that take one separator."""

    def __init__(self, path: Path, encoding: str) -> None:
        self._opened = open_lines(path, encoding, blanks=True)
        self._lines = self._opened.__enter__()
        self._waiting = b""

    def readable(self) -> bool:
        """Say that bytes can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill some bytes."""
        while len(self._waiting) < len(buffer):
            line = next(self._lines, None)
            if line is None:
                break
            self._waiting += line.encode()
        count = min(len(buffer), len(self._waiting))
        buffer[:count], self._waiting = self._waiting[:count], self._waiting[count:]
        return count

    def close(self) -> None:
        """Close the file."""
        if not self.closed:
            self._opened.__exit__(None, None, None)
        super().close()
