"""Signals that end the program: it stops as after Ctrl-C, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sparseksc.data.atomic import remove_own

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class _State:
    """Whether a signal was seen, and one that waits until the outputs have their names."""

    ending = False
    deferred = False
    waiting: int | None = None


def install_handlers() -> None:
    """Clean up after signals that end the program; those that are ignored (nohup) stay ignored."""
    for number in (getattr(signal, name) for name in NAMES if hasattr(signal, name)):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)


@contextmanager
def deferred_signals() -> Iterator[None]:
    """Let signals wait until this block is done."""
    _State.deferred = True
    try:
        yield
    finally:
        _State.deferred = False
        if _State.waiting is not None:
            _end(_State.waiting, None)


def _end(number: int, frame: Any) -> None:
    """Leave through all that cleans up; at once if that is under way or was caught by someone."""
    if _State.deferred:
        _State.waiting = number
        return
    if _State.ending:
        remove_own()
        os._exit(128 + number)
    _State.ending = True
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)
