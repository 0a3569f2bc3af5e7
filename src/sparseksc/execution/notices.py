"""Warnings for the user: each appears once, at the line that called the library.

Warnings come up deep inside, in any thread, sometimes many times. A public method collects them
while it works (:class:`collected_warnings`), and issues each of them once when it is done, at the
first line outside of this package.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import FrameType, TracebackType

from sparseksc._text import escaped

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

#: Texts and categories of the warnings so far, in the public method that is at work.
_collected: ContextVar[dict[str, type[Warning]] | None] = ContextVar("collected", default=None)


def warn(message: str, category: type[Warning]) -> None:
    """Warn the user: at once, or at the end of the public method that is at work."""
    message = escaped(message)
    collected = _collected.get()
    if collected is None:
        warnings.warn(message, category, stacklevel=_callers_level())
    else:
        collected.setdefault(message, category)


def has_warned(category: type[Warning]) -> bool:
    """Whether the public method that is at work has a warning of a category to issue."""
    return any(issubclass(one, category) for one in (_collected.get() or {}).values())


class collected_warnings:
    """Collect the warnings of this block, and issue them at its end unless it ends in an error.

    An inner block hands its warnings to the outer one, whose caller is the user's.

    Examples
    --------
    >>> import warnings
    >>> from sparseksc.execution.notices import collected_warnings, warn
    >>> with warnings.catch_warnings(record=True) as shown:
    ...     warnings.simplefilter("always")
    ...     with collected_warnings() as messages:
    ...         for _ in range(3):
    ...             warn("The same thing again.", UserWarning)
    >>> len(shown), messages
    (1, ['The same thing again.'])
    """

    def __enter__(self) -> list[str]:
        self._mine: dict[str, type[Warning]] = {}
        self._token: Token[dict[str, type[Warning]] | None] = _collected.set(self._mine)
        self._messages: list[str] = []
        return self._messages

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _collected.reset(self._token)
        self._messages.extend(self._mine)
        if kind is None:
            for message, category in self._mine.items():
                warn(message, category)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Drop the warnings of this block, about models that are only tried."""
    token = _collected.set({})
    try:
        yield
    finally:
        _collected.reset(token)


def _callers_level() -> int:
    """Stack level, as :func:`warnings.warn` counts for its caller, of the first line outside."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level
