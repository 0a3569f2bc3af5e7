"""A file that one process uses at a time."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from sparseksc._text import escaped
from sparseksc._typing import StrPath
from sparseksc.data.atomic import require_place
from sparseksc.data.files import require_separate

#: What the system says of a file that another process has locked.
TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class FileInUse(RuntimeError):
    """Another process, or another thread, is using a file."""


@contextmanager
def sole_use(path: StrPath, read: Sequence[StrPath] = ()) -> Iterator[None]:
    """Keep others from using a file, by a lock on the file ``<path>.lock`` beside it.

    Neither may be one of the files that are ``read``.

    The system releases the lock when the process ends, however it ends: what is left of it after
    that is an empty file, which locks nothing. File systems without locks are used without one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparseksc.data.lock import sole_use
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "run.ckpt"
    ...     with sole_use(file), sole_use(file):
    ...         pass
    Traceback (most recent call last):
        ...
    sparseksc.data.lock.FileInUse: Another run is using ...run.ckpt; wait until it has ended...
    """
    target = require_place(path)
    beside = target.with_name(f"{target.name}.lock")
    require_separate(read, [path, beside])
    handle = _lock(beside)
    if handle is None:
        raise FileInUse(
            f"Another run is using {escaped(os.fspath(path))}; wait until it has ended, or give "
            "this run another file."
        )
    try:
        yield
    finally:
        if sys.platform != "win32":
            beside.unlink(missing_ok=True)  # while it is locked, so that it is still ours
        os.close(handle)
        if sys.platform == "win32":  # where open files cannot be removed
            with suppress(OSError):
                beside.unlink()


def _lock(path: Path) -> int | None:
    """Open and lock a file; None if another process has locked it."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock_now(handle)
        except OSError as error:
            if error.errno in TAKEN:
                os.close(handle)
                return None
        if os.fstat(handle).st_size > 0:
            os.close(handle)
            raise FileExistsError(f"{path} is needed to lock a file, but holds something else.")
        # Whoever had the lock before may have removed the file after it was opened here.
        if _is(handle, path):
            return handle
        os.close(handle)


def _is(handle: int, path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(handle), path.stat())
    return False


def _lock_now(handle: int) -> None:
    """Lock an open file, or raise an OSError at once."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
