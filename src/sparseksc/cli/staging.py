"""Outputs that appear together, when all of them are complete."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType

from sparseksc._typing import StrPath
from sparseksc.data.atomic import require_place, take_place


class Staging:
    """Hands out names to write to, and moves the files to their places at the end.

    A run that fails leaves every place as it was. Devices and pipes are written to directly.
    """

    def __init__(self) -> None:
        self._moves: dict[Path, Path] = {}

    def place(self, target: StrPath) -> Path:
        """Return the name under which to write what will be ``target``."""
        final = require_place(target)
        if final.exists() and not final.is_file():
            return final
        if final in self._moves.values():
            raise ValueError(f"{target} is given for two outputs; give each its own name.")
        # In the same folder, so that moving is a change of name; the same name, for its ending.
        try:
            waiting = Path(tempfile.mkdtemp(dir=final.parent, prefix=".ksc-")) / final.name
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
        try:
            if kind is None:
                for waiting, final in self._moves.items():
                    if waiting.exists():
                        take_place(waiting, final)
            elif isinstance(error, OSError) and error.filename in map(os.fspath, self._moves):
                error.filename = os.fspath(self._moves[Path(error.filename)])
        finally:
            for waiting in self._moves:
                shutil.rmtree(waiting.parent, ignore_errors=True)
