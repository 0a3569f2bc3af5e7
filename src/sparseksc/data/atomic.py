"""Files that appear under their name when they are complete, and not before."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sparseksc._text import escaped
from sparseksc._typing import StrPath
from sparseksc.data.leftovers import temporary_file

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
        # The user does not know the temporary file, which lies in the same folder.
        name = error.filename
        if error.errno in FULL or (isinstance(name, str) and Path(name).name.startswith(".ksc-")):
            error.filename = os.fspath(path)
        raise


def require_place(path: StrPath) -> Path:
    """Return the real name of a file to write, in a folder that must be there."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(
            f"{escaped(os.fspath(path))} is a folder; give the name of a file in it."
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            escaped(f"There is no folder {target.parent} to write {target.name} to.")
        )
    return target


def take_place(new: Path, target: Path) -> None:
    """Give a finished file its name, and the rights of the file that had it before."""
    if os.name == "posix" and target.exists():
        new.chmod(stat.S_IMODE(target.stat().st_mode))
    os.replace(new, target)


@contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    """Write beside a file, and take its place at the end."""
    with temporary_file(target.parent) as (unfinished, raw):
        with os.fdopen(os.dup(raw.fileno()), "wb") as file:
            yield file
            if not file.closed:
                file.flush()
            os.fsync(raw.fileno())
        if os.name != "posix":
            raw.close()  # an open file cannot be renamed there
        take_place(unfinished, target)
