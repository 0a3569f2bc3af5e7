"""Hold BLAS at one thread: our own threads share the cores, and bits stay the same."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from threading import Lock, get_ident
from typing import Any

import threadpoolctl


class _Holds:
    """Holds BLAS at one thread while anybody asks for it, and restores what was before.

    The number of BLAS threads belongs to the whole process: only the first holder may
    remember it, and only the last one may restore it.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self._threads: dict[object, int] = {}  # the thread of each hold
        self._limit: Any = None
        if hasattr(os, "register_at_fork"):
            # No thread of ours is in the middle of something when the process is copied.
            os.register_at_fork(
                before=lambda: self.lock.acquire(),
                after_in_parent=lambda: self.lock.release(),
                after_in_child=self._forget_other_threads,
            )

    @cached_property
    def _controller(self) -> threadpoolctl.ThreadpoolController:
        return threadpoolctl.ThreadpoolController()

    def take(self, hold: object) -> None:
        """Hold BLAS until the same object is released."""
        with self.lock:
            # Noted before BLAS is held, and until after: an interrupt may come between.
            self._threads[hold] = get_ident()
            if len(self._threads) == 1:
                self._switch(held=True)

    def release(self, hold: object) -> None:
        """Let go of BLAS; the hold may never have been taken, or not have outlived a fork."""
        with self.lock:
            if self._threads.keys() == {hold}:
                self._switch(held=False)
            self._threads.pop(hold, None)

    def _forget_other_threads(self) -> None:
        """Go on in a forked process, where no other thread is left to release what it holds."""
        self.lock = Lock()
        before, here = self._threads, get_ident()
        self._threads = {hold: thread for hold, thread in before.items() if thread == here}
        if before and not self._threads:
            self._switch(held=False)

    def _switch(self, *, held: bool) -> None:
        """Set the number of BLAS threads to one, or to what it was."""
        # From version 3.8 on, threadpoolctl lets only the thread that was the first to set the
        # number for OpenBLAS do so again, and ignores all others: any thread may be ours.
        openblas = getattr(threadpoolctl, "OpenBLASController", None)
        let_others = getattr(openblas, "clear_controlling_thread", None)
        if let_others is not None:
            let_others(force=True)
        try:
            if held:
                self._limit = self._controller.limit(limits=1, user_api="blas")
            elif self._limit is not None:
                self._limit.restore_original_limits()
                self._limit = None
        finally:
            if let_others is not None:
                let_others(force=True)


_holds = _Holds()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS at one thread inside."""
    hold = object()
    try:
        _holds.take(hold)
        yield
    finally:
        _holds.release(hold)
