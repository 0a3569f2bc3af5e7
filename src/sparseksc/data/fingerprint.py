"""Fingerprints: a hash of rows, or of parameters, that tells them from others.

Functions are told apart by what they do: their code, constants, defaults, and the values that they
take from the functions and the module around them. Of objects that Python cannot look into, only
the type is known; then a fingerprint is not ``certain``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from sparseksc._typing import Array, Floats


class RowHash:
    """A hash of rows and their weights, taken block by block."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def update(self, block: tuple[Array, Floats]) -> None:
        """Add a block of rows; where blocks begin and end counts, too."""
        X: Any = block[0]
        self._hash.update(f"{X.shape} {X.dtype}".encode())
        if X.dtype.hasobject:  # whose memory holds addresses
            self._hash.update(fingerprint_of(X).value.encode())
        else:
            for part in (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr):
                self._hash.update(np.ascontiguousarray(part).data)
        self._hash.update(np.ascontiguousarray(block[1]).data)

    @property
    def value(self) -> str:
        """Hash of all blocks so far."""
        return self._hash.hexdigest()


class Fingerprint(NamedTuple):
    """A hash, and whether all that makes up the value is in it."""

    value: str
    certain: bool


def fingerprint_of(value: Any) -> Fingerprint:
    """Return equal fingerprints for parameters that mean the same.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.data.fingerprint import fingerprint_of
    >>> fingerprint_of([1.0, np.ones(2)]) == fingerprint_of([1.0, np.ones(2)])
    True
    >>> fingerprint_of(lambda x, y: x @ y.T) == fingerprint_of(lambda x, y: x @ y.T + 1.0)
    False
    """
    walk = _Walk()
    walk.add(value)
    return Fingerprint(walk.hash.hexdigest(), walk.certain)


class _Walk:
    """A walk through a value and all that it consists of."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.certain = True
        self._inside: list[Any] = []
        self._functions: list[FunctionType] = []

    def add(self, value: Any) -> None:
        """Add a value, with its type and its parts."""
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            self._word(f"{type(value).__name__} {value!r}")
        elif any(value is other for other in (*self._inside, *self._functions)):
            self._word("again")
        else:
            self._inside.append(value)
            self._compound(value)
            self._inside.pop()

    def _word(self, text: str) -> None:
        content = text.encode(errors="backslashreplace")
        self.hash.update(len(content).to_bytes(8, "little") + content)

    def _parts(self, name: str, *values: Any) -> None:
        self._word(f"{name} {len(values)}")
        for value in values:
            self.add(value)

    def _compound(self, value: Any) -> None:
        if isinstance(value, np.ndarray | np.generic) and not value.dtype.hasobject:
            self._word(f"{value.dtype} {value.shape}")
            self.hash.update(value.tobytes())
        elif hasattr(value, "to_numpy"):
            self.add(value.to_numpy())
        elif isinstance(value, np.ndarray | list | tuple | range):
            self._parts(type(value).__name__, *value)
        elif isinstance(value, Mapping):
            items = sorted(value.items(), key=lambda item: fingerprint_of(item[0]).value)
            self._parts("mapping", *(part for item in items for part in item))
        elif isinstance(value, set | frozenset):
            self._parts("set", *sorted(fingerprint_of(one).value for one in value))
        elif isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, CodeType):
            self._parts("code", value.co_code, value.co_names, value.co_consts, value.co_flags)
        elif isinstance(value, partial):
            self._parts("partial", value.func, value.args, value.keywords)
        elif isinstance(value, MethodType):
            self._parts("method", value.__func__, value.__self__)
        elif isinstance(value, ModuleType):
            self._word(f"module {value.__name__}")
        elif isinstance(value, type | BuiltinFunctionType | np.ufunc):
            self._word(f"{getattr(value, '__module__', '')} {value.__name__}")
        else:
            self._object(value)

    def _function(self, function: FunctionType) -> None:
        self._functions.append(function)
        cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
        values = function.__defaults__, function.__kwdefaults__, cells
        self._parts(function.__module__ or "", function.__code__, *values)
        # Other modules, such as libraries, are not looked into.
        if function.__module__ == self._functions[0].__module__:
            space = function.__globals__
            used = {name: space[name] for name in _names(function.__code__) if name in space}
            self.add(used)

    def _object(self, value: Any) -> None:
        kind = type(value)
        methods = (base.__dict__.get("__call__") for base in kind.__mro__)
        call = next((method for method in methods if method is not None), None)
        self._parts(f"{kind.__module__} {kind.__qualname__}", call)
        if is_dataclass(value):
            self.add({part.name: getattr(value, part.name) for part in fields(value)})
        elif hasattr(value, "__dict__"):
            self.add(vars(value))
        else:
            self.certain = False


def _is_filled(cell: Any) -> bool:
    try:
        return bool(cell.cell_contents is not cell)
    except ValueError:  # a variable that has no value yet
        return False


def _names(code: CodeType) -> set[str]:
    """Names that some code, and the functions in it, take from outside."""
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    return {*code.co_names}.union(*(_names(one) for one in inner))
