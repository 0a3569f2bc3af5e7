"""NPY files, through a memory map."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sparseksc._typing import Array
from sparseksc.data.formats.base import Description, Format, Rows, brief, require_table


class Npy(Format):
    """NumPy's own format, through a memory map."""

    ending = ".npy"
    has_random_access = True

    def _open(self, path: Path) -> Array:
        try:
            # Not np.load, which also reads archives.
            return np.lib.format.open_memmap(path, mode="r")
        except Exception as error:  # the parser of headers has errors of many kinds
            raise ValueError(f"{path} cannot be read as NPY: {brief(error)}") from None

    def describe(self, path: Path) -> Description:  # noqa: D102
        if self.request.columns is not None or self.request.ids:
            raise ValueError(f"{path} has no column names; choose columns by slicing the array.")
        array = self._open(path)
        require_table(path, array.shape, array.dtype)
        return Description(None, array.shape[1], array.dtype, array.shape[0])

    def read(self, path: Path, with_ids: bool) -> Iterator[Rows]:  # noqa: D102
        array = self._open(path)
        for start in range(0, len(array), self.block_rows):
            yield np.asarray(array[start : start + self.block_rows]), []

    def read_rows(self, path: Path, start: int, stop: int) -> Array:  # noqa: D102
        return np.array(self._open(path)[start:stop])
