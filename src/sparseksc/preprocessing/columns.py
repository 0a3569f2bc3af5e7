"""How one column of a table becomes features, as plain values that a file can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseksc._typing import Array, Floats
from sparseksc.data.formats.arrow import require_pyarrow

#: What a column can be; the features of the first four are numbers.
NUMERIC = ("number", "boolean", "date", "duration")
KINDS = (*NUMERIC, "category", "left out")
MICROSECONDS = {"date": 86_400e6, "duration": 1e6}


@dataclass(frozen=True)
class EncodedColumn:
    """What becomes of one column.

    Attributes
    ----------
    name : str
    kind : str
        "number", "boolean", "date" (days since 1970), "duration" (seconds), "category" or
        "left out".
    reason : str
        Why it is left out.
    levels : tuple of str
        Levels of a category that have a feature of their own.
    pooled : bool
        Whether all other levels share a feature.
    fill : float
        Number that stands for a missing one.
    indicator : bool
        Whether a feature says that the value is missing.
    """

    name: str
    kind: str
    reason: str = ""
    levels: tuple[str, ...] = ()
    pooled: bool = False
    fill: float = 0.0
    indicator: bool = False

    @property
    def feature_names(self) -> list[str]:
        """Names of the features."""
        if self.kind == "left out":
            return []
        own = [f"{self.name}_{level}" for level in self.levels]
        own = own if self.kind == "category" else [self.name]
        own += [f"{self.name}_infrequent"] * self.pooled
        return own + [f"{self.name}_missing"] * self.indicator

    def encode(self, column: Any, out: Array) -> NDArray[np.bool_]:
        """Write the features of an Arrow array to ``out``, and return which values are missing."""
        if self.kind == "category":
            return self._encode_levels(column, out)
        values = numbers_of(column, self.kind)
        missing = np.isnan(values)
        out[:, 0] = np.where(missing, self.fill, values)
        if self.indicator:
            out[:, -1] = missing
        return missing

    def _encode_levels(self, column: Any, out: Array) -> NDArray[np.bool_]:
        codes, names = levels_of(column)
        place = {level: number for number, level in enumerate(self.levels)}
        n_levels = len(self.levels)
        other = n_levels if self.pooled else -1
        # The last place of the table is where the code -1 of a missing value leads.
        features = np.array([*(place.get(name, other) for name in names), -1], dtype=np.intp)
        if self.indicator:
            features[-1] = out.shape[1] - 1
        target = features[codes]
        out[:] = 0.0
        known = np.flatnonzero(target >= 0)
        out[known, target[known]] = 1.0
        missing: NDArray[np.bool_] = codes < 0
        return missing

    def plain(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {**asdict(self), "levels": list(self.levels)}

    @classmethod
    def meant(cls, entry: Mapping[str, Any]) -> EncodedColumn:
        """Return what :meth:`plain` has written."""
        return cls(**{**entry, "levels": tuple(entry["levels"])})


def kind_of(of: Any) -> str:
    """Return what an Arrow type is by itself: one of the kinds, or "left out"."""
    types = require_pyarrow().types
    if types.is_dictionary(of):
        return "category"
    for kind, tests in {
        "boolean": (types.is_boolean,),
        "number": (types.is_integer, types.is_floating, types.is_decimal, types.is_null),
        "date": (types.is_date, types.is_timestamp),
        "duration": (types.is_duration, types.is_time),
        "category": (types.is_string, types.is_large_string, types.is_string_view),
    }.items():
        if any(test(of) for test in tests):
            return kind
    return "left out"


def numbers_of(column: Any, kind: str) -> Floats:
    """Numbers of an Arrow array, NaN where there is none."""
    pa = require_pyarrow()
    column = _decoded(column)
    if kind in MICROSECONDS:
        if pa.types.is_time(column.type):
            column = column.cast(pa.time64("us"), safe=False)
        elif pa.types.is_duration(column.type):
            column = column.cast(pa.duration("us"), safe=False)
        else:
            zone = getattr(column.type, "tz", None)
            column = column.cast(pa.timestamp("us", tz=zone), safe=False)
        column = column.cast(pa.int64())
    numbers: Floats = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers / MICROSECONDS[kind] if kind in MICROSECONDS else numbers


def levels_of(column: Any) -> tuple[Array, list[str]]:
    """Return the place of the level of each value of an Arrow array, -1 where none, and levels.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from sparseksc.preprocessing.columns import levels_of
    >>> codes, levels = levels_of(pa.array(["b", "a", None, "b"]))
    >>> codes.tolist(), levels
    ([0, 1, -1, 0], ['b', 'a'])
    """
    encoded = _decoded(column).dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.intp)
    found = [_level(value) for value in encoded.dictionary.to_pylist()]
    names = list(dict.fromkeys(name for name in found if name is not None))
    place: dict[str | None, int] = {name: number for number, name in enumerate(names)}
    renumbered = np.array([*(place.get(name, -1) for name in found), -1], dtype=np.intp)
    return renumbered[codes], names


def _decoded(column: Any) -> Any:
    pa = require_pyarrow()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not pa.types.is_dictionary(column.type):
        return column
    if isinstance(column.type.value_type, pa.BaseExtensionType):  # intervals of pandas
        levels = [None if value is None else str(value) for value in column.dictionary.to_pylist()]
        column = pa.DictionaryArray.from_arrays(column.indices, pa.array(levels, pa.string()))
    return column.dictionary_decode()


def _level(value: Any) -> str | None:
    if value is None or value != value:  # NaN is not itself
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    text = str(value).strip()
    return text or None
