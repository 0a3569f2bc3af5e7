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
import os
import zipfile
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseksc.encoding import ClusterSizes
from sparseksc.engines.threads import TreeSum
from sparseksc.kernels import Array
from sparseksc.outputs import atomic_write
from sparseksc.sources import Merge, Sample, Source, T, Work, sum_of_block
from sparseksc.statistics import Statistics

Floats = NDArray[np.float64]

#: Time between two checkpoints.
SECONDS_BETWEEN = 60.0
VERSION = 1
#: What a pass can add up, by the name in the file.
SUMMANDS = {kind.__name__: kind for kind in (Statistics, ClusterSizes, Sample)}


class CheckpointMismatch(ValueError):
    """A checkpoint belongs to other data or other parameters, or is damaged."""


class CheckpointedSource(Source):
    """A source whose sums go on from a file."""

    def __init__(self, source: Source, path: str | os.PathLike[str], purpose: str) -> None:
        self.source, self.path = source, Path(path)
        self.n_features, self.feature_names = source.n_features, source.feature_names
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

    def discard(self) -> None:
        """Remove the file: the run is over."""
        self.path.unlink(missing_ok=True)

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
                self._done = [_unpack(item, stored) for item in header["done"]]
                waiting = [
                    (int(height), _unpack(item, stored)) for height, item in header["waiting"]
                ]
        except (OSError, KeyError, TypeError, EOFError, zipfile.BadZipFile, ValueError) as error:
            if isinstance(error, CheckpointMismatch):
                raise
            raise CheckpointMismatch(
                f"{self.path} is not a checkpoint or is damaged; remove it to start anew."
            ) from None
        self._waiting = waiting


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


def _unpack(entry: dict[str, str], arrays: Any) -> Any:
    kind, name = entry["kind"], entry["name"]
    if kind == "array":
        return arrays[name]
    if kind == "SignCounts":
        words, weights = arrays[f"{name}.words"], arrays[f"{name}.weights"]
        return {word.tobytes(): float(value) for word, value in zip(words, weights, strict=True)}
    values = {}
    for part in fields(SUMMANDS[kind]):
        array = arrays[f"{name}.{part.name}"]
        values[part.name] = array if array.ndim else array.item()
    return SUMMANDS[kind](**values)
