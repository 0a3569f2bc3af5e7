"""Long runs survive: the sums so far, saved every minute, and taken up where they stopped.

Training is a short sequence of passes, each a sum over blocks. A checkpoint holds the
results of the passes that are done and, of the current one, the number of blocks and the
partial sums of the tree. It is an NPZ file of arrays with a JSON header: reading one executes
nothing. It is written under another name and renamed, so it is never half there.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from sparseksc._typing import Array, Floats, StrPath
from sparseksc.data.atomic import atomic_write
from sparseksc.data.sampling import Sample
from sparseksc.data.source import Merge, RowTransform, Source, T, Work, sum_of_block
from sparseksc.execution.threads import TreeSum

#: Time between two checkpoints.
SECONDS_BETWEEN = 60.0
VERSION = 1


class CheckpointMismatch(ValueError):
    """A checkpoint belongs to other data or other parameters, or is damaged."""


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
        self,
        source: Source,
        path: StrPath,
        purpose: str,
        summands: tuple[type[Any], ...] = (),
    ) -> None:
        self.source, self.path = source, Path(path)
        self.n_rows, self.n_features = source.n_rows, source.n_features
        self.dtype, self.is_sparse = source.dtype, source.is_sparse
        self.feature_names, self.paths = source.feature_names, source.paths
        kinds: tuple[type[Any], ...] = (Sample, *summands)
        self._kinds = {kind.__name__: kind for kind in kinds}
        self._identity = f"{purpose}\n{source.fingerprint()}"
        self._done: list[Any] = []
        self._blocks = 0
        self._waiting: list[tuple[int, Any]] = []
        if self.path.exists():
            self._load()
        self._saved = monotonic()
        self._passes = 0

    def blocks(self) -> Iterator[tuple[Array, Floats]]:  # noqa: D102
        return self.source.blocks()

    def fingerprint(self) -> str:  # noqa: D102
        return self.source.fingerprint()

    def scaled(self, scaling: RowTransform) -> Source:
        """Refuse: the file holds sums of these rows, not of others."""
        raise NotImplementedError("Scale a source before its sums are saved.")

    def sample(self, size: int | None, seed: int) -> Sample:  # noqa: D102
        if self._next_pass_is_done():
            return self._done[self._passes - 1]
        return self._finish(self.source.sample(size, seed))

    def sum(self, work: Work[T], merge: Merge[T], width: int, n_jobs: int | None) -> T:  # noqa: D102
        if self._next_pass_is_done():
            return self._done[self._passes - 1]
        tree = TreeSum(merge)
        tree.waiting = self._waiting
        for block in islice(self.source.blocks(), self._blocks, None):
            if len(block[1]) > 0:
                tree.add(sum_of_block(block, work, merge, width, n_jobs))
            self._blocks += 1
            if monotonic() - self._saved >= SECONDS_BETWEEN:
                self._save()
        return self._finish(tree.total())

    def _next_pass_is_done(self) -> bool:
        self._passes += 1
        return self._passes <= len(self._done)

    def _finish(self, result: T) -> T:
        self._done.append(result)
        self._blocks, self._waiting = 0, []
        if monotonic() - self._saved >= SECONDS_BETWEEN:
            self._save()
        return result

    def _save(self) -> None:
        arrays: dict[str, Array] = {}
        header = {
            "version": VERSION,
            "identity": _digest(self._identity),
            "blocks": self._blocks,
            "done": [_pack(f"done{i}", item, arrays) for i, item in enumerate(self._done)],
            "waiting": [
                [height, _pack(f"waiting{i}", item, arrays)]
                for i, (height, item) in enumerate(self._waiting)
            ],
        }
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **arrays)
        with atomic_write(self.path) as file:
            file.write(buffer.getbuffer())
        self._saved = monotonic()

    def _load(self) -> None:
        try:
            # Through memory: NumPy leaves files open that turn out not to be its own.
            content = io.BytesIO(self.path.read_bytes())
            with np.load(content, allow_pickle=False) as stored:
                header = json.loads(stored["header"].tobytes())
                if header["version"] != VERSION:
                    raise CheckpointMismatch(
                        f"{self.path} was written by another version of sparseksc."
                    )
                if header["identity"] != _digest(self._identity):
                    raise CheckpointMismatch(
                        f"{self.path} belongs to other data or other parameters; remove it to "
                        "start anew."
                    )
                self._blocks = int(header["blocks"])
                self._done = [self._unpack(item, stored) for item in header["done"]]
                waiting = [
                    (int(height), self._unpack(item, stored)) for height, item in header["waiting"]
                ]
        except (OSError, KeyError, TypeError, EOFError, zipfile.BadZipFile, ValueError) as error:
            if isinstance(error, CheckpointMismatch):
                raise
            raise CheckpointMismatch(
                f"{self.path} is not a checkpoint or is damaged; remove it to start anew."
            ) from None
        self._waiting = waiting

    def _unpack(self, entry: dict[str, str], arrays: Any) -> Any:
        kind, name = entry["kind"], entry["name"]
        if kind == "array":
            return arrays[name]
        if kind == "SignCounts":
            words, weights = arrays[f"{name}.words"], arrays[f"{name}.weights"]
            pairs = zip(words, weights, strict=True)
            return {word.tobytes(): float(value) for word, value in pairs}
        values = {}
        for part in fields(self._kinds[kind]):
            array = arrays[f"{name}.{part.name}"]
            values[part.name] = array if array.ndim else array.item()
        return self._kinds[kind](**values)


@contextmanager
def checkpointed(
    source: Source, path: StrPath, purpose: str, summands: tuple[type[Any], ...]
) -> Iterator[Source]:
    """Let the sums over a source go on from a file, which is removed at the end."""
    saved = CheckpointedSource(source, path, purpose, summands)
    yield saved
    saved.path.unlink(missing_ok=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _pack(name: str, item: Any, arrays: dict[str, Array]) -> dict[str, str]:
    """Put the arrays of an item under names that start with ``name``; say what it is."""
    if is_dataclass(item):
        for part in fields(item):
            arrays[f"{name}.{part.name}"] = np.asarray(getattr(item, part.name))
        return {"kind": type(item).__name__, "name": name}
    if isinstance(item, dict):
        arrays[f"{name}.words"] = np.frombuffer(b"".join(item), np.uint8).reshape(len(item), -1)
        arrays[f"{name}.weights"] = np.array(list(item.values()))
        return {"kind": "SignCounts", "name": name}
    arrays[name] = np.asarray(item)
    return {"kind": "array", "name": name}
