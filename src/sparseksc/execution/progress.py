"""Progress bars: on a terminal, for what takes more than two seconds, if tqdm is there.

What has a bar can also be observed, whether or not the bar is shown: see :func:`observed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

from sparseksc.execution.threads import ordered_map

C = TypeVar("C")
T = TypeVar("T")


class Progress(Protocol):
    """What is told of the steps of a long task."""

    def update(self, count: int = 1) -> object:
        """Note that so many more steps are done."""

    def close(self) -> object:
        """Note that the task is done."""


#: Called with the number of steps (None: unknown), the name of the task and that of a step.
Observer = Callable[[int | None, str, str], Progress]

_observer: ContextVar[Observer | None] = ContextVar("observer", default=None)


class _Together:
    def __init__(self, *parts: Progress) -> None:
        self.parts = parts

    def update(self, count: int = 1) -> None:
        for part in self.parts:
            part.update(count)

    def close(self) -> None:
        for part in self.parts:
            part.close()


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Tell an observer of all tasks with a progress bar that this thread begins in the block."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def progress_bar(total: int | None, what: str, unit: str, shown: bool = True) -> Progress:
    """Return what is to be told of each step, and of the end."""
    observer = _observer.get()
    parts = [] if observer is None else [observer(total, what, unit)]
    if shown:
        parts += _terminal_bar(total, what, unit)
    return parts[0] if len(parts) == 1 else _Together(*parts)


def _terminal_bar(total: int | None, what: str, unit: str) -> list[Progress]:
    """Return tqdm's bar, if it is there."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return []
    # disable=None: only on a terminal (and in notebooks).
    bar = tqdm(
        total=total, desc=what, unit=unit, unit_scale=True, delay=2.0, disable=None, leave=False
    )
    return [bar]


def map_with_progress(
    work: Callable[[C], T], items: Sequence[C], n_jobs: int | None, what: str, shown: bool
) -> list[T]:
    """Work on all items in threads, with a progress bar if that is wanted and takes long."""
    bar = progress_bar(len(items), f"{what}s", what, shown=shown)
    results = []
    try:
        for result in ordered_map(work, items, n_jobs):
            results.append(result)
            bar.update()
    finally:  # an error must not leave the bar on the screen
        bar.close()
    return results
