"""NPZ archives: their arrays are read from the beginning to the end, block by block."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import numpy as np

from sparseksc._typing import Array
from sparseksc.data.formats.base import Description, Format, Rows, brief, require_table


class Npz(Format):
    """NumPy archives: one table (named X if there are several), or vectors as named columns."""

    ending = ".npz"

    def describe(self, path: Path) -> Description:  # noqa: D102
        with ExitStack() as stack:
            members = self._members(path, stack)
            numbers = self._numbers(path, members)
            first = members[numbers[0]]
            if len(first.shape) == 2:
                return Description(None, first.shape[1], first.dtype, first.shape[0])
            kind = np.result_type(*(members[name].dtype for name in numbers))
            return Description(numbers, len(numbers), kind, first.shape[0])

    def read(self, path: Path, with_ids: bool) -> Iterator[Rows]:  # noqa: D102
        with ExitStack() as stack:
            members = self._members(path, stack)
            numbers = self._numbers(path, members)
            ids = self.request.ids if with_ids else ()
            for start in range(0, members[numbers[0]].shape[0], self.block_rows):
                count = min(self.block_rows, members[numbers[0]].shape[0] - start)
                try:
                    parts = [members[name].next(count) for name in numbers]
                    marks = [members[name].next(count) for name in ids]
                except Exception as error:  # of the parsers of archives and of their headers
                    raise ValueError(f"{path} cannot be read as NPZ: {brief(error)}") from None
                yield parts[0] if parts[0].ndim == 2 else np.column_stack(parts), marks

    def _members(self, path: Path, stack: ExitStack) -> dict[str, _Member]:
        try:
            archive = stack.enter_context(zipfile.ZipFile(path))
            return {
                info.filename.removesuffix(".npy"): _Member(archive, info, stack)
                for info in archive.infolist()
                if info.filename.endswith(".npy")
            }
        except Exception as error:  # the parsers of archives and headers have many kinds
            raise ValueError(f"{path} cannot be read as NPZ: {brief(error)}") from None

    def _numbers(self, path: Path, members: dict[str, _Member]) -> list[str]:
        """Names of the one table or of the vectors that hold the numbers."""
        tables = [name for name, member in members.items() if len(member.shape) == 2]
        if self.request.columns is not None:
            names = self.request.chosen(path, list(members))
        elif not tables:
            flat = [name for name, member in members.items() if len(member.shape) == 1]
            names = self.request.chosen(path, flat)
        elif len(tables) == 1 or "X" in tables:
            self.request.chosen(path, list(members))
            names = ["X"] if "X" in tables else tables
        else:
            raise ValueError(
                f"{path} has several tables ({', '.join(tables)}): name one as the column to use."
            )
        length = members[names[0]].shape[:1]
        for name in [*names, *self.request.ids]:
            member = members[name]
            if len(names) > 1 or name in self.request.ids:
                if len(member.shape) != 1 or member.shape != length:
                    raise ValueError(
                        f"The array {name!r} of {path} has the shape {member.shape} where a vector "
                        f"of {length[0] if length else 0} values is expected."
                    )
        for name in names:
            shape = members[name].shape
            require_table(path, (*shape, 1) if len(shape) == 1 else shape, members[name].dtype)
        return names


class _Member:
    """One array of an archive, read from its beginning to its end."""

    def __init__(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, stack: ExitStack) -> None:
        self._file: IO[bytes] = stack.enter_context(archive.open(info))
        major = np.lib.format.read_magic(self._file)[0]
        headers = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
        if major not in headers:
            raise ValueError(f"{info.filename} has a header of version {major}.")
        self.shape, self._by_column, self.dtype = headers[major](self._file)
        size = int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize
        if self.dtype.hasobject or size != info.file_size - self._file.tell():
            raise ValueError(f"{info.filename} holds objects or is not complete.")
        self._row_bytes = size // max(1, self.shape[0]) if self.shape else size
        self._stack, self._position = stack, 0
        self._mapped: Array | None = None

    def next(self, count: int) -> Array:
        """Return the next rows."""
        if self._by_column and len(self.shape) == 2:
            rows = self._on_disk()[self._position : self._position + count]
        else:
            content = self._file.read(count * self._row_bytes)
            rows = np.frombuffer(content, self.dtype).reshape(count, *self.shape[1:])
        self._position += count
        return rows.astype(str) if self.dtype.kind == "S" else np.asarray(rows)

    def _on_disk(self) -> Array:
        # Rows of an array that is stored column by column are all over it.
        if self._mapped is None:
            copy = self._stack.enter_context(tempfile.TemporaryFile())
            shutil.copyfileobj(self._file, copy)
            copy.flush()
            self._mapped = np.memmap(copy, self.dtype, "r", shape=self.shape, order="F")
        return self._mapped
