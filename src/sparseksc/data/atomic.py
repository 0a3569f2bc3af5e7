"""Files that appear under their name when they are complete, and temporary files until then.

A process that is killed cannot remove its temporary files; the next one that writes to the same
folder does. A file is a leftover if

- its name is one that this module gives: ``.ksc-``, 16 digits of which the last four follow from
  the others, and ``.part`` or ``.lock``;
- it belongs to the same user, and is a file and not a link;
- no process holds the lock on it. The system gives the lock back when a process ends, however it
  ends, so two runs at once never take each other's files for leftovers;
- this machine made it, or it is a week old: some file systems do not show locks to other machines.

Where there are no locks (Windows, some network file systems) nothing is removed.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from secrets import token_hex
from typing import IO, TYPE_CHECKING

from sparseksc._text import escaped

if TYPE_CHECKING:  # the command line cleans up with this module, and does not wait for NumPy
    from sparseksc._typing import StrPath

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: What the system says when there is no room for more.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
#: Names of temporary files: random digits, those of the machine, and those that follow.
NAME = re.compile(r"\.ksc-([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})\.(?:part|lock)")
#: Age in seconds at which what another machine has made is a leftover.
OLD = 7 * 24 * 3600.0

#: Temporary files of this process, and folders that it has searched for leftovers.
_own: set[Path] = set()
_searched: set[Path] = set()


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


@contextmanager
def temporary_file(folder: Path) -> Iterator[tuple[Path, FileIO]]:
    """Create a file, locked as long as it is open, that is removed at the end if it is there."""
    remove_leftovers(folder)
    path, file = _create(folder, ".part")
    try:
        yield path, file
    finally:
        file.close()
        _remove(path)


@contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """Create a folder, with a lock beside it, that is removed with all that is in it at the end.

    Examples
    --------
    >>> import os, pathlib, tempfile
    >>> from sparseksc.data.atomic import temporary_folder
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with temporary_folder(pathlib.Path(parent)) as folder:
    ...         before = len(os.listdir(parent))
    ...     before, len(os.listdir(parent))
    (2, 0)
    """
    remove_leftovers(parent)
    lock, file = _create(parent, ".lock")
    try:
        folder = lock.with_suffix("")
        folder.mkdir(0o700)
        yield folder
    finally:
        file.close()
        _remove(lock)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes have left in a folder, once in the life of this process."""
    if fcntl is None or folder in _searched:
        return
    _searched.add(folder)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = NAME.fullmatch(entry.name)
            if found is not None and found[3] == _digest(found[1] + found[2]):
                with suppress(OSError):
                    _remove_if_abandoned(folder / entry.name, found[2] == _digest(_machine()))


def remove_own() -> None:
    """Remove the temporary files of this process, before it ends at once."""
    for path in tuple(_own):
        with suppress(OSError):
            _remove(path)


def _create(folder: Path, ending: str) -> tuple[Path, FileIO]:
    """Create a file with a new name and lock it."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        drawn = token_hex(4) + _digest(_machine())
        path = folder / f".ksc-{drawn}{_digest(drawn)}{ending}"
        # Before it is there, so that there is no moment at which it is there and not known.
        _own.add(path)
        try:
            # Not by the module tempfile: a new file has the rights that the user's mask gives,
            # which only the system can apply without disturbing other threads.
            file = FileIO(os.open(path, flags, 0o666), "r+")
        except BaseException:
            _own.discard(path)
            raise
        if _lock(file.fileno()) is not False and _is_at(path, file.fileno()):
            return path, file
        # Another process took the new file for a leftover before it was locked.
        file.close()
        _remove(path)


def _remove(path: Path) -> None:
    if path.suffix == ".lock":
        # The lock goes last: as long as anything is left, the next process finds it.
        shutil.rmtree(path.with_suffix(""), ignore_errors=True)
        if path.with_suffix("").exists():
            return
    path.unlink(missing_ok=True)
    _own.discard(path)


def _remove_if_abandoned(path: Path, made_here: bool) -> None:
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return
        if not made_here and time.time() - status.st_mtime < OLD:
            return
        if _lock(handle) and _is_at(path, handle):
            _remove(path)
    finally:
        os.close(handle)


def _lock(handle: int) -> bool | None:
    """Whether the lock on an open file was free and is held now; None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _is_at(path: Path, handle: int) -> bool:
    """Whether an open file still has this name."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def _machine() -> str:
    return os.uname().nodename if hasattr(os, "uname") else ""


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=2).hexdigest()
