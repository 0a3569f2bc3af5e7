"""Text of others, such as names of files and columns, made safe to show."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: What a terminal obeys or what changes the order of the text around it: control characters (C0,
#: DEL, C1), line separators, marks and overrides of the writing direction, and bytes of file names
#: that are no text.
_CONTROLS = re.compile(
    "[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)

#: Names of a list that are shown.
FEW_NAMES = 6


def escaped(text: str, keep: str = "") -> str:
    r"""Return a text with its control characters written as Python writes them.

    Examples
    --------
    >>> from sparseksc._text import escaped
    >>> print(escaped("price\x1b[2J\n"))
    price\x1b[2J\n
    """

    def shown(found: re.Match[str]) -> str:
        return found[0] if found[0] in keep else found[0].encode("unicode_escape").decode()

    return _CONTROLS.sub(shown, text)


def count(number: int, thing: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> from sparseksc._text import count
    >>> count(1, "row"), count(12345, "row")
    ('1 row', '12,345 rows')
    """
    return f"{number:,} {thing}{'s' * (number != 1)}"


def count_named(names: Sequence[str], thing: str) -> str:
    """Return how many things there are, with the names of a few of them.

    Examples
    --------
    >>> from sparseksc._text import count_named
    >>> count_named(["x", "y"], "column"), count_named("abcdefgh", "column")
    ('2 columns (x, y)', '8 columns (a, b, c, d, …, h)')
    """
    few = list(names) if len(names) <= FEW_NAMES else [*names[: FEW_NAMES - 2], "…", names[-1]]
    return f"{count(len(names), thing)} ({', '.join(few)})"


class escaped_errors:
    r"""Escape the messages of errors that leave this block: they quote names of files and columns.

    Examples
    --------
    >>> from sparseksc._text import escaped_errors
    >>> with escaped_errors():
    ...     raise ValueError("There is no column 'a\x07'.")
    Traceback (most recent call last):
        ...
    ValueError: There is no column 'a\x07'.
    """

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Exception):
            error.args = tuple(
                escaped(part) if isinstance(part, str) else part for part in error.args
            )
