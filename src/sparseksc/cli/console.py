"""What people and machines get to read: results on stdout, remarks on stderr."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table

from sparseksc._text import escaped

#: Lines in a pipe are not wrapped.
ENDLESS = 10_000
#: Options of the commands that warnings of the library name as parameters.
OPTIONS = {"scale=True": "--scale"}


class _Console(Console):
    """Leaves it to the program what a reader who has seen enough means; rich would exit with 1."""

    def on_broken_pipe(self) -> None:
        raise  # called while the error is being handled


def error_console() -> Console:
    """Return the console of remarks and errors, without colour where NO_COLOR or a pipe says so."""
    width = None if sys.stderr.isatty() else ENDLESS
    return _Console(stderr=True, highlight=False, soft_wrap=True, width=width)


class Reporter:
    """Tells the outcome of a command: for people, or as one JSON object.

    Parameters
    ----------
    as_json : bool
        Print one JSON object, and nothing else, on stdout.
    stdout_is_taken : bool
        Whether a table goes to stdout, so that words must go to stderr.
    """

    def __init__(self, as_json: bool, stdout_is_taken: bool = False) -> None:
        self.as_json = as_json
        self.warnings: list[str] = []
        stream = sys.stderr if stdout_is_taken else sys.stdout
        width = None if stream.isatty() else ENDLESS
        self._console = _Console(file=stream, highlight=False, width=width)

    def say(self, text: str, style: str | None = None) -> None:
        """Print a sentence for people."""
        if not self.as_json:
            self._console.print(escaped(text), style=style, markup=False, soft_wrap=True)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print a table for people; the first column is text, the others are numbers."""
        if self.as_json:
            return
        table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
        for place, name in enumerate(head):
            table.add_column(name, justify="right" if place else "left")
        for row in rows:
            table.add_row(*map(escaped, row))
        self._console.print(table)

    def facts(self, facts: Mapping[str, Any]) -> None:
        """Print names and values for people, one pair per line; None is left out."""
        shown = {name: value for name, value in facts.items() if value is not None}
        width = max(map(len, shown))
        for name, value in shown.items():
            if not self.as_json:
                self._console.print(f"{name:<{width}}", end="   ", style="bold", markup=False)
            self.say(str(value))

    def result(self, values: Mapping[str, Any]) -> None:
        """Print the JSON object, if that is what is wanted."""
        if self.as_json:
            extra = {"warnings": self.warnings} if self.warnings else {}
            print(json.dumps(plain({**values, **extra}), allow_nan=False))

    def has_warned(self, doubt: str | None) -> bool:
        """Whether a warning has said a doubt."""
        return doubt is not None and any(doubt in sentence for sentence in self.warnings)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Print warnings of the library as sentences on stderr, and keep them."""

        def show(message: Warning | str, *rest: Any, **more: Any) -> None:
            sentence = escaped(" ".join(str(message).split()))
            for parameter, option in OPTIONS.items():
                sentence = sentence.replace(parameter, option)
            if sentence not in self.warnings:
                self.warnings.append(sentence)
                error_console().print("[bold yellow]warning:[/]", end=" ")
                error_console().print(sentence, markup=False)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = show
            yield


def plain(value: Any) -> Any:
    """Return what JSON can hold: lists for arrays, null for what is not finite."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
