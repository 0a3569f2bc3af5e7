"""Model files: the bytes, and every check between them and a model.

A model file is a safetensors file: eight bytes with the length of a JSON header, the header,
and the numbers of some arrays, one after the other. The header holds a table of the arrays and,
under ``__metadata__``, the name and version of this format, our own header as JSON text
(:mod:`sparseksc.persistence.schema`), and a SHA-256 over all of it. There is nothing in it that
could be executed, and no name that is looked up.

Files may come from anywhere, so nothing is believed: the length of the header has a bound,
the header says which arrays there must be and of which shape, these must fill the rest of the
file exactly, and only then their numbers are read. The checksum finds damage, not malice:
a file with a good checksum is checked just the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from sparseksc._text import escaped
from sparseksc._typing import Array, StrPath
from sparseksc.data.atomic import atomic_write
from sparseksc.persistence.schema import ModelFileError, check_header, layout

FORMAT = "sparseksc-model"
#: Version 2 has the landmarks kernel and its parameters, 5 the tree and the names of clusters.
VERSION = 5
#: A JSON text can need twenty times its length in memory.
LARGEST_HEADER = 4 * 2**20
#: Names of the types in safetensors files; numbers are little-endian.
DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "I64": np.dtype("<i8"),
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


@contextmanager
def naming(path: StrPath) -> Iterator[None]:
    """Complete the sentence of an error with the name of the file."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(escaped(f"{os.fspath(path)} {error}.")) from None


def write(path: StrPath, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write a model file; it appears under its name when it is complete."""
    # The wider numbers first, so that all of them are aligned.
    ordered = sorted(arrays.items(), key=lambda item: -item[1].itemsize)
    contents = {name: _little_endian(array) for name, array in ordered}
    table: dict[str, Any] = {}
    position = 0
    for name, array in contents.items():
        table[name] = {
            "dtype": NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [position, position + array.nbytes],
        }
        position += array.nbytes
    metadata = {"format": FORMAT, "version": str(VERSION), "header": _canonical(header)}
    digest = _digest(metadata, table)
    for array in contents.values():
        digest.update(array.data)
    text = _canonical({"__metadata__": {**metadata, "sha256": digest.hexdigest()}, **table})
    # Spaces after the header put the first of them at a multiple of eight bytes.
    start = (text + " " * (-len(text) % 8)).encode()
    if len(start) > LARGEST_HEADER:
        raise ValueError(
            f"The model cannot be saved: its names and parameters need {len(start):,} bytes, and "
            f"a model file has room for {LARGEST_HEADER:,}."
        )
    with atomic_write(path) as file:
        file.write(len(start).to_bytes(8, "little"))
        file.write(start)
        for array in contents.values():
            file.write(array.data)


def read(path: StrPath) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read the header and the arrays of a model file, after all checks of the format."""
    with naming(path):
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would be waited for
            raise ModelFileError("is not a file")
        with open(path, "rb") as file:
            table, metadata, n_bytes = _read_start(file)
            checksum = metadata.pop("sha256")
            header = _parsed(metadata["header"])
            check_header(header)
            _check_table(table, layout(header), n_bytes)
            digest = _digest(metadata, table)
            arrays = {}
            for name, entry in _in_file_order(table):
                arrays[name] = np.empty(entry["shape"], DTYPES[entry["dtype"]])
                numbers = arrays[name].reshape(-1).view(np.uint8).data
                if file.readinto(numbers) != len(numbers):
                    raise ModelFileError("changed while it was read")
                digest.update(numbers)
        if digest.hexdigest() != checksum:
            raise ModelFileError("is damaged: its checksum is wrong")
        return {"format": FORMAT, "version": VERSION, **header}, arrays


def read_header(path: StrPath) -> dict[str, Any]:
    """Say what is in a model file, after all its checks, without building the model.

    Parameters
    ----------
    path : path of a file that :meth:`sparseksc.KernelSpectralClustering.save` has written

    Returns
    -------
    dict
        Plain values: "format" and "version"; "n_clusters", "n_pivots", "n_features",
        "feature_names", "dtype", "sparse" and "scaled"; "kernel", "parameters", "training",
        "tuning" and "libraries".

    Raises
    ------
    ModelFileError
        If it is not a model file, is damaged, or was written by a newer version.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparseksc import KernelSpectralClustering
    >>> from sparseksc.datasets import make_spirals
    >>> from sparseksc.persistence.container import read_header
    >>> X, _ = make_spirals(500, random_state=0)
    >>> ksc = KernelSpectralClustering(2, bandwidth=0.01, max_rank=50, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "spirals.ksc"
    ...     ksc.save(path)
    ...     header = read_header(path)
    >>> header["kernel"]
    {'bandwidth': 0.01, 'name': 'rbf'}
    >>> header["n_pivots"], header["training"]["n_samples"]
    (50, 500)
    """
    header, _ = read(path)
    return header


def _read_start(file: IO[bytes]) -> tuple[dict[str, Any], dict[str, str], int]:
    """Table of arrays, metadata, and the number of bytes that are left for the arrays."""
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    if size < 10 or file.read(1) != b"{":
        raise ModelFileError("is not a model file of sparseksc")
    if length > LARGEST_HEADER:
        raise ModelFileError(
            f"claims a header of {length:,} bytes, and a model file has at most {LARGEST_HEADER:,}"
        )
    if 8 + length > size:
        raise ModelFileError("is cut off or damaged: it is shorter than its header says")
    try:
        text = ("{" + file.read(length - 1).decode()) if length else ""
    except UnicodeDecodeError:
        raise ModelFileError("is damaged: its header is not text") from None
    table = _parsed(text)
    metadata = table.pop("__metadata__", None)
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise ModelFileError("is a safetensors file, but not a model file of sparseksc")
    version = metadata.get("version")
    if not isinstance(version, str) or not (version.isascii() and version.isdecimal()):
        raise ModelFileError("is damaged: its version is not a number")
    if len(version) > 9 or int(version) > VERSION:
        raise ModelFileError(
            f"has the format version {version[:20]}, and this sparseksc reads versions up to "
            f"{VERSION}: update sparseksc"
        )
    if int(version) < 1 or set(metadata) != {"format", "version", "header", "sha256"}:
        raise ModelFileError("is damaged: its metadata is incomplete")
    if not all(isinstance(value, str) for value in metadata.values()):
        raise ModelFileError("is damaged: its metadata is not text")
    return table, metadata, size - 8 - length


def _check_table(
    table: dict[str, Any], expected: dict[str, tuple[str, tuple[int, ...]]], n_bytes: int
) -> None:
    """Require the arrays of a header, and that they fill the file without gaps."""
    if table.keys() != expected.keys():
        raise ModelFileError("is damaged: its arrays are not those that its header needs")
    for name, entry in table.items():
        dtype, shape = expected[name]
        if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
            raise ModelFileError(f"is damaged: its array {name!r} is not described")
        if entry["dtype"] != dtype or not _are_integers(entry["shape"], shape):
            raise ModelFileError(f"is damaged: its array {name!r} has the wrong type or shape")
        offsets = entry["data_offsets"]
        if not isinstance(offsets, list) or [type(one) for one in offsets] != [int, int]:
            raise ModelFileError(f"is damaged: its array {name!r} has no place")
    position = 0
    for name, entry in _in_file_order(table):
        start, stop = entry["data_offsets"]
        n_numbers = int(np.prod(entry["shape"], dtype=object))
        if start != position or stop - start != n_numbers * DTYPES[entry["dtype"]].itemsize:
            raise ModelFileError(f"is damaged: its array {name!r} is not where it should be")
        position = stop
    if position != n_bytes:
        raise ModelFileError(
            f"is cut off or damaged: its arrays need {position:,} bytes, and {n_bytes:,} are there"
        )


def _are_integers(values: Any, expected: tuple[int, ...]) -> bool:
    """Whether these are the expected integers; in JSON 2.0 and true are equal to some, too."""
    return values == list(expected) and all(type(value) is int for value in values)


def _in_file_order(table: dict[str, Any]) -> list[tuple[str, Any]]:
    return sorted(table.items(), key=lambda item: item[1]["data_offsets"])


def _parsed(text: str) -> dict[str, Any]:
    """Parse a JSON object without what JSON does not have, and without names given twice."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) != len(pairs):
            raise ValueError("a name is given twice")
        return content

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    try:
        content = json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except (ValueError, RecursionError):
        raise ModelFileError("is damaged: its header is not JSON") from None
    if not isinstance(content, dict):
        raise ModelFileError("is damaged: its header is not a JSON object")
    return content


def _canonical(content: Any) -> str:
    """One text for one content: names in order, no spaces, ASCII."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _digest(metadata: Mapping[str, str], table: Mapping[str, Any]) -> Any:
    """Start the checksum with the header, as content, without the checksum."""
    return hashlib.sha256(_canonical({"__metadata__": metadata, **table}).encode())


def _little_endian(array: Array) -> Array:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
