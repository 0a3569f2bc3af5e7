"""Long runs survive: the sums so far, saved every minute and when a signal ends the run.

Training is a short sequence of passes, each a sum over blocks. A checkpoint holds the
results of the passes that are done and, of the current one, the number of blocks and the
partial sums of the tree. It also holds hashes of the rows that were summed: a run that goes on
reads the blocks that it skips, too, so that sums over other rows are never taken for its own.

The file is a line of text with the version, a SHA-256 sum of what follows, a JSON header and the
numbers of its arrays: reading one executes nothing and needs as much memory as the file is long. It
is written under another name and renamed, so it is never half there; one run uses it at a time.
The sum tells damaged and edited files from whole ones. It is not a signature: do not take up a
checkpoint of somebody you do not trust.
"""

from __future__ import annotations

import hashlib
import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from sparseksc._text import escaped
from sparseksc._typing import Array, Floats, Integers, StrPath
from sparseksc.data.atomic import atomic_write
from sparseksc.data.fingerprint import Fingerprint, RowHash
from sparseksc.data.sampling import Sample
from sparseksc.data.source import (
    Labelling,
    Merge,
    RowTransform,
    RowWork,
    Source,
    T,
    Work,
    sum_of_block,
)
from sparseksc.data.stream import ChangedSource
from sparseksc.execution.memory import free_memory
from sparseksc.execution.notices import warn
from sparseksc.execution.threads import TreeSum

#: Time between two checkpoints.
SECONDS_BETWEEN = 60.0
#: First line of a file; the number is that of the version.
TITLE, VERSION = b"sparseksc checkpoint ", b"2\n"
#: Types of the numbers in a file.
TYPES = ("<f8", "<f4", "<i8", "|u1")


class CheckpointMismatch(ValueError):
    """A checkpoint belongs to other data or other parameters, or is damaged."""


class _Progress(NamedTuple):
    """How far a run has come, replaced as a whole: whenever it is interrupted, one is there.

    ``done`` are the results of passes; of the current one there are the number of blocks, the
    partial sums that wait in the tree, and the hash of the rows. ``all_rows`` is the hash of all
    rows, once a pass has read them.
    """

    done: tuple[Any, ...] = ()
    blocks: int = 0
    waiting: tuple[tuple[int, Any], ...] = ()
    rows: str = RowHash().value
    all_rows: str | None = None


class CheckpointedSource(Source):
    """A source whose sums go on from a file.

    Parameters
    ----------
    source : Source
    path : path
    purpose : str
        Everything but the data that decides the sums.
    summands : tuple of dataclasses
        What a pass can add up beside arrays, by the name of the class in the file.
    """

    def __init__(
        self, source: Source, path: StrPath, purpose: str, summands: tuple[type[Any], ...] = ()
    ) -> None:
        self.source, self.path = source, Path(path)
        self._shown = escaped(str(self.path))
        self.n_rows, self.n_features = source.n_rows, source.n_features
        self.dtype, self.is_sparse = source.dtype, source.is_sparse
        self.feature_names, self.origins = source.feature_names, source.origins
        self.weight_unit = source.weight_unit
        self._kinds = {kind.__name__: kind for kind in summands}
        described = f"{purpose}\n{source.fingerprint()}"
        self._identity = hashlib.sha256(described.encode()).hexdigest()
        self._resumed = self.path.exists()
        self._progress = self._load() if self._resumed else _Progress()
        self._in_file = self._progress
        self._has_read_all = False
        self._saved = monotonic()
        self._passes = 0

    @property
    def in_memory(self) -> bool:  # type: ignore[override]
        """Whether all rows are in the memory of this process."""
        return self.source.in_memory

    def blocks(self) -> Iterator[tuple[Array, Floats]]:  # noqa: D102
        return self.source.blocks()

    def place(self) -> str:  # noqa: D102
        return self.source.place()

    def fingerprint(self) -> str:  # noqa: D102
        return self.source.fingerprint()

    def scaled(self, scaling: RowTransform) -> Source:
        """Refuse: the file holds sums of these rows, not of others."""
        raise NotImplementedError("Scale a source before its sums are saved.")

    def sample(self, size: int | None, seed: int) -> Sample:  # noqa: D102
        return self.source.sample(size, seed)

    def sum(self, work: Work[T], merge: Merge[T], width: int, n_jobs: int | None) -> T:  # noqa: D102
        self._passes += 1
        before = self._progress
        if self._passes <= len(before.done):
            return self._require_alike(before.done[self._passes - 1], work)
        tree = TreeSum(merge)
        tree.waiting = list(before.waiting)
        for _, part in before.waiting:
            self._require_alike(part, work)
        rows = RowHash()
        blocks = enumerate(self.source.blocks(), 1)
        self._skip(blocks, rows)
        for number, block in blocks:
            rows.update(block)
            if len(block[1]) > 0:
                tree.add(sum_of_block(block, work, merge, width, n_jobs))
            self._progress = before._replace(
                blocks=number, waiting=tuple(tree.waiting), rows=rows.value
            )
            self._save_sometimes()
        self._compare_all(rows)
        total = tree.total()
        self._progress = _Progress(done=(*before.done, total), all_rows=rows.value)
        self._save_sometimes()
        return total

    def _skip(self, blocks: Iterator[tuple[int, tuple[Array, Floats]]], rows: RowHash) -> None:
        """Read the blocks that were summed before the interruption: they must be the same."""
        left = sum(2**height for height, _ in self._progress.waiting)
        for _, block in islice(blocks, self._progress.blocks):
            rows.update(block)
            left -= len(block[1]) > 0
        if rows.value != self._progress.rows or left != 0:
            raise self._other_data()

    def label(  # noqa: D102
        self, work: Labelling[T], merge: Merge[T], width: int, n_jobs: int | None
    ) -> tuple[Integers | None, T]:
        if not self.in_memory:
            return super().label(work, merge, width, n_jobs)
        # The last pass, from its beginning: labels would make the file grow with the data.
        return self.source.label(work, merge, width, n_jobs)

    def later(self, work: RowWork, dtype: Any = np.intp) -> Any:  # noqa: D102
        return self.source.later(work, dtype)

    def take(self, numbers: Integers) -> Array:  # noqa: D102
        return self.source.take(numbers)

    def verify(self) -> None:
        """Read all rows, unless a pass of this run has, and compare them with those of the file."""
        if not self._has_read_all:
            rows = RowHash()
            for block in self.source.blocks():
                rows.update(block)
            self._compare_all(rows)

    def _compare_all(self, rows: RowHash) -> None:
        """Compare all rows with those of the passes before."""
        if self._progress.all_rows not in (None, rows.value):
            if self._resumed:
                raise self._other_data()
            raise ChangedSource(
                "The source did not give the same rows again: it must not change while it is in "
                "use."
            )
        self._has_read_all = True

    def _require_alike(self, stored: T, work: Work[T]) -> T:
        """Refuse a stored result of another shape than what the pass computes of a row."""
        X, weights = next(block for block in self.source.blocks() if len(block[1]) > 0)
        if _layout(stored) != _layout(work(X[:1], weights[:1])):
            raise self._damaged()
        return stored

    def _other_data(self) -> CheckpointMismatch:
        return CheckpointMismatch(
            f"{self._shown} belongs to other data or other parameters (for a run that can go on, "
            "random_state must be an integer); remove it to start anew."
        )

    def _damaged(self) -> CheckpointMismatch:
        return CheckpointMismatch(
            f"{self._shown} is not a checkpoint or is damaged; remove it to start anew."
        )

    def _save_sometimes(self) -> None:
        if monotonic() - self._saved >= SECONDS_BETWEEN:
            self._save()

    def save_rest(self) -> None:
        """Save what was summed since the last time, if there is any."""
        if self._progress is not self._in_file:
            self._save()

    def _save(self) -> None:
        progress = self._progress
        arrays: list[Array] = []
        header = {
            "identity": self._identity,
            "rows": progress.all_rows,
            "rows so far": progress.rows,
            "blocks": progress.blocks,
            "done": [_pack(item, arrays) for item in progress.done],
            "waiting": [[height, _pack(item, arrays)] for height, item in progress.waiting],
        }
        text = json.dumps(header).encode()
        content = [len(text).to_bytes(8, "little"), text, *map(_bytes_of, arrays)]
        check = hashlib.sha256()
        for part in content:
            check.update(part)
        with atomic_write(self.path) as file:
            file.writelines([TITLE + VERSION, check.digest(), *content])
        self._saved, self._in_file = monotonic(), progress

    def _load(self) -> _Progress:
        content = self._content()
        try:
            end = 8 + int.from_bytes(content[:8], "little")
            header, reader = json.loads(bytes(content[8:end])), _Reader(content, end)
            if header["identity"] != self._identity:
                raise self._other_data()
            done = tuple(self._unpack(item, reader) for item in header["done"])
            parts = header["waiting"]
            waiting = tuple((height, self._unpack(item, reader)) for height, item in parts)
            rows, all_rows = header["rows so far"], header["rows"]
            progress = _Progress(done, header["blocks"], waiting, rows, all_rows)
            if not (reader.at_end and _is_consistent(progress)):
                raise ValueError
            return progress
        except CheckpointMismatch:
            raise
        except (
            LookupError,
            TypeError,
            ValueError,
            ArithmeticError,
            AttributeError,
            RecursionError,
        ):
            raise self._damaged() from None

    def _content(self) -> memoryview:
        """Read what follows the first line and the sum, if it is whole."""
        start = len(TITLE + VERSION)
        try:
            if not self.path.is_file() or self.path.stat().st_size > free_memory():
                raise self._damaged()
            content = memoryview(self.path.read_bytes())
        except OSError:
            raise self._damaged() from None
        if content[: len(TITLE)] == TITLE and content[len(TITLE) : start] != VERSION:
            raise CheckpointMismatch(
                f"{self._shown} was written by another version of sparseksc; remove it to start "
                "anew."
            )
        rest = content[start + 32 :]
        check = hashlib.sha256(rest).digest()
        if content[:start] != TITLE + VERSION or content[start : start + 32] != check:
            raise self._damaged()
        return rest

    def _unpack(self, entry: dict[str, Any], reader: _Reader) -> Any:
        values = [reader.next(**described) for described in entry["arrays"]]
        if entry["kind"] == "array":
            (array,) = values
            return array
        if entry["kind"] == "SignCounts":
            words, weights = values
            pairs = zip(words, weights, strict=True)
            return {word.tobytes(): float(weight) for word, weight in pairs}
        return self._kinds[entry["kind"]](
            *(array if array.ndim else array.item() for array in values)
        )


@contextmanager
def checkpointed(
    source: Source, path: StrPath, purpose: Fingerprint, summands: tuple[type[Any], ...]
) -> Iterator[Source]:
    """Let the sums over a source go on from a file, which is removed at the end.

    Ctrl-C, SIGTERM and what else ends the program save the sums first.
    """
    if not purpose.certain:
        warn(
            "The kernel function holds values that cannot be compared: a checkpoint cannot tell "
            "whether it is still the same function. Remove the checkpoint when you change it.",
            UserWarning,
        )
    saved = CheckpointedSource(source, path, purpose.value, summands)
    with _terminated_by_exception():
        try:
            yield saved
            saved.verify()
        except (KeyboardInterrupt, SystemExit):
            saved.save_rest()
            raise
        saved.path.unlink(missing_ok=True)


@contextmanager
def _terminated_by_exception() -> Iterator[None]:
    """Let SIGTERM end this block by an exception, unless the program has its own way."""
    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if is_ours:
        signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _exit(number: int, frame: Any) -> None:
    raise SystemExit(128 + number)


def _is_consistent(progress: _Progress) -> bool:
    """Whether the numbers of a file can be those of a run."""
    heights = [height for height, _ in progress.waiting]
    numbers = progress.blocks, *heights
    if not all(type(number) is int and 0 <= number < 2**62 for number in numbers):
        return False
    # The nodes of the tree have fewer and fewer blocks, all together those that were read.
    falling = heights == sorted({*heights}, reverse=True)
    within = max(heights, default=0) < 64 and sum(2**one for one in heights) <= progress.blocks
    return falling and within and (progress.all_rows is not None or not progress.done)


class _Reader:
    """The arrays of a file, one after the other."""

    def __init__(self, content: memoryview, start: int) -> None:
        self._content, self._position = content, start

    def next(self, dtype: str, shape: list[int], by_column: bool) -> Array:
        """Return the next array: finite numbers of a known type."""
        if dtype not in TYPES or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError
        count = int(np.prod(shape, dtype=object))
        array: Array = np.frombuffer(self._content, dtype, count, self._position).copy()
        self._position += array.nbytes
        if not np.isfinite(array).all():
            raise ValueError
        return array.reshape(shape, order="F" if by_column else "C")

    @property
    def at_end(self) -> bool:
        """Whether all was read, and not more than there is."""
        return self._position == len(self._content)


def _by_column(array: Array) -> bool:
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def _bytes_of(array: Array) -> bytes:
    return array.tobytes(order="F" if _by_column(array) else "C")


def _pack(item: Any, arrays: list[Array]) -> dict[str, Any]:
    """Append the arrays of an item; say what it is, and how they are to be read."""
    kind, parts = _parts(item)
    arrays.extend(parts)
    described = [
        {"dtype": part.dtype.str, "shape": part.shape, "by_column": _by_column(part)}
        for part in parts
    ]
    return {"kind": kind, "arrays": described}


def _parts(item: Any) -> tuple[str, list[Array]]:
    """Name of what a pass adds up, and the arrays that it consists of."""
    if is_dataclass(item):
        return type(item).__name__, [np.asarray(getattr(item, one.name)) for one in fields(item)]
    if isinstance(item, dict):
        words = np.frombuffer(b"".join(item), np.uint8).reshape(len(item), -1)
        return "SignCounts", [words, np.array(list(item.values()))]
    return "array", [np.asarray(item)]


def _layout(item: Any) -> Any:
    """Return what all results of a pass have in common."""
    kind, parts = _parts(item)
    # There may be any number of sign patterns, but all have as many bytes.
    shapes = [part.shape[1:] if kind == "SignCounts" else part.shape for part in parts]
    return kind, shapes, [part.dtype for part in parts]
