"""Inner products of sparse rows and points, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checks import require, require_apart, require_output

Array = NDArray[Any]


def sparse_products_into(
    starts: Array,
    features: Array,
    values: Array,
    point_starts: Array,
    numbers: Array,
    point_values: Array,
    places: Array,
    dense: Array,
    out: Array,
) -> None:
    """Write the products of rows and points; a feature with a place is a row of ``dense``."""
    dtype = getattr(values, "dtype", None)
    if dtype not in (np.float64, np.float32):
        raise TypeError(f"values must be float32 or float64, got {dtype}.")
    require_output("out", out, dtype, (None, None))
    require("places", places, np.int64, (None,))
    require("values", values, dtype, (None,))
    require("point_values", point_values, dtype, (None,))
    n, R, d = *out.shape, len(places)
    require("starts", starts, np.int64, (n + 1,))
    require("features", features, np.int64, values.shape)
    require("dense", dense, dtype, (None, R))
    require("point_starts", point_starts, np.int64, (d + 1,))
    require("numbers", numbers, np.int64, point_values.shape)
    inputs = {"starts": starts, "features": features, "values": values, "numbers": numbers,
              "point_starts": point_starts, "point_values": point_values, "places": places,
              "dense": dense}  # fmt: skip
    require_apart({"out": out}, inputs)
    for first, count in ((starts, len(values)), (point_starts, len(numbers))):
        if first[0] < 0 or first[-1] > count or (np.diff(first) < 0).any():
            raise ValueError("a number is out of range.")
    used, place = np.unique(features[starts[0] : starts[-1]], return_inverse=True)
    _require_inside(used, d)
    _require_inside(np.maximum(places[used], -1) + 1, len(dense) + 1)
    columns = np.zeros((len(used), R), dtype)
    for column, f in zip(columns, used, strict=True):
        if places[f] >= 0:
            column[:] = dense[places[f]]
            continue
        part = slice(point_starts[f], point_starts[f + 1])
        _require_inside(numbers[part], R)
        np.add.at(column, numbers[part], point_values[part])
    for i, row in enumerate(out):
        entries = slice(starts[i], starts[i + 1])
        own = place[starts[i] - starts[0] : starts[i + 1] - starts[0]]
        row[:] = values[entries] @ columns[own]


def _require_inside(numbers: Array, most: int) -> None:
    if len(numbers) > 0 and not (numbers.min() >= 0 and numbers.max() < most):
        raise ValueError("a number is out of range.")
