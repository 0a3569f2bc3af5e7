"""The nearest of many points, for each row: compiled where possible, in NumPy elsewhere.

Rows and points are C-contiguous and of one type, float32 or float64. The functions release the GIL.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import sparseksc._native as native
from sparseksc._native.checks import require_whole
from sparseksc._typing import Floats

Numbers = NDArray[np.int64]


def smallest(values: NDArray[Any], count: int) -> Numbers:
    """Return the columns of the ``count`` smallest values of each row, ascending by value.

    Examples
    --------
    >>> import numpy as np
    >>> smallest(np.array([[3.0, 1.0, 2.0]]), 2)
    array([[1, 2]])
    """
    numbers = _empty_numbers(values, count)
    native._backend.smallest_into(values, numbers)
    return numbers


def nearest(X: NDArray[Any], P: NDArray[Any], count: int) -> tuple[Numbers, Floats]:
    """Return the ``count`` nearest points of each row, and their squared distances.

    The points should be about the origin: products are taken of their coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> nearest(np.array([[0.0]]), np.array([[3.0], [1.0], [-2.0]]), 2)
    (array([[1, 2]]), array([[1., 4.]]))
    """
    numbers = _empty_numbers(X, count)
    distances = np.empty(numbers.shape)
    native._backend.nearest_into(X, P, numbers, distances)
    return numbers, distances


def distances_to(X: NDArray[Any], P: NDArray[Any], numbers: Numbers) -> Floats:
    """Return the squared distances of each row to its points, after sorting both by them.

    Examples
    --------
    >>> import numpy as np
    >>> numbers = np.array([[0, 1]])
    >>> distances_to(np.array([[0.0]]), np.array([[3.0], [1.0]]), numbers), numbers
    (array([[1., 9.]]), array([[1, 0]]))
    """
    distances = np.empty(numbers.shape)
    native._backend.distances_into(X, P, numbers, distances)
    return distances


def _empty_numbers(X: NDArray[Any], count: int) -> Numbers:
    return np.empty((len(X), require_whole("count", count, 1, 2**31)), np.int64)
