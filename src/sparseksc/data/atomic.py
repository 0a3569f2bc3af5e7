"""Files that appear under their name when they are complete, and not before."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import IO

from sparseksc._typing import StrPath

#: What the system says when there is no room for more.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_write(path: StrPath) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only when all is written.

    What a link leads to is replaced, not the link. A device or a pipe is written to as it is.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparseksc.data.atomic import atomic_write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder) / "result"
    ...     with atomic_write(target) as file:
    ...         _ = file.write(b"done")
    ...     target.read_bytes()
    b'done'
    """
    target = require_place(path)
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                yield file
        else:
            with _replacing(target) as file:
                yield file
    except OSError as error:
        if error.errno in FULL:
            error.filename = os.fspath(path)
        raise


def require_place(path: StrPath) -> Path:
    """Return the real name of a file to write, in a folder that must be there."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent} to write {target.name} to.")
    return target


def take_place(new: Path, target: Path) -> None:
    """Give a finished file its name, and the rights of the file that had it before."""
    if os.name == "posix" and target.exists():
        new.chmod(stat.S_IMODE(target.stat().st_mode))
    os.replace(new, target)


@contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    """Write beside a file, and take its place at the end."""
    unfinished = target.with_name(f".{target.name}.{token_hex(6)}.part")
    # Not by the module tempfile: a new file has the rights that the user's mask gives, which only
    # the system can apply without disturbing other threads.
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(unfinished, flags, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            if not file.closed:
                file.flush()
            os.fsync(file.fileno())
        take_place(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)
