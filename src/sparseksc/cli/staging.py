"""Outputs that appear together, when all of them are complete."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from sparseksc._typing import StrPath
from sparseksc.cli.signals import deferred_signals
from sparseksc.data.atomic import require_place, take_place, temporary_folder


class Staging:
    """Hands out names to write to, and moves the files to their places at the end.

    A run that fails leaves every place as it was. Devices and pipes are written to directly.
    """

    def __init__(self) -> None:
        self._moves: dict[Path, Path] = {}
        self._folders = ExitStack()

    def place(self, target: StrPath) -> Path:
        """Return the name under which to write what will be ``target``."""
        final = require_place(target)
        if final.exists() and not final.is_file():
            return final
        # In the same folder, so that moving is a change of name; the same name, for its ending.
        try:
            waiting = self._folders.enter_context(temporary_folder(final.parent)) / final.name
        except OSError as error:
            error.filename = os.fspath(target)
            raise
        self._moves[waiting] = final
        return waiting

    def __enter__(self) -> Staging:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._folders:
            if kind is None:
                # Some in their places and others not would be neither before nor after.
                with deferred_signals():
                    for waiting, final in self._moves.items():
                        if waiting.exists():
                            take_place(waiting, final)
            elif isinstance(error, OSError) and error.filename in map(os.fspath, self._moves):
                error.filename = os.fspath(self._moves[Path(error.filename)])
