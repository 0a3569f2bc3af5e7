"""Uniform numbers by hashing row numbers: compiled where possible, in NumPy elsewhere.

The functions release the GIL.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

import sparseksc._native as native
from sparseksc._native.checks import require, require_real, require_whole


def uniform(rows: NDArray[np.int64], state: int) -> NDArray[np.float64]:
    """Return a number in (0, 1) for each row number, the SplitMix64 hash of it and ``state``.

    Parameters
    ----------
    rows : ndarray of shape (n,), int64
    state : int
        Of 64 bits, not negative.

    Examples
    --------
    >>> import numpy as np
    >>> uniform(np.arange(3), 0).round(3)
    array([0.883, 0.432, 0.026])
    """
    rows = _checked(rows)
    state = require_whole("state", state, 0, 2**64 - 1)
    out = np.empty(len(rows))
    native._backend.uniform_into(rows, state, out)
    return out


def ahead(
    rows: NDArray[np.int64] | int, state: int, bound: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the places of the rows whose hash is above ``bound``, ascending, and the hashes.

    Parameters
    ----------
    rows : ndarray of shape (n,), int64, or int
        Row numbers, or how many rows there are: then the places are the numbers.
    state : int
        As for :func:`uniform`.
    bound : float

    Examples
    --------
    >>> places, hashes = ahead(3, 0, 0.4)
    >>> places, hashes.round(3)
    (array([0, 1]), array([0.883, 0.432]))
    """
    if isinstance(rows, int):
        numbers, count = None, require_whole("rows", rows, 0, 2**63 - 1)
    else:
        numbers = _checked(rows)
        count = len(numbers)
    state = require_whole("state", state, 0, 2**64 - 1)
    require_real("bound", bound)
    if math.isnan(bound):
        raise ValueError("bound must not be nan.")
    expected = (1.0 - min(max(bound, 0.0), 1.0)) * count
    room = min(count, int(expected + 6.0 * np.sqrt(expected) + 6.0))
    while True:
        places, hashes = np.empty(room, np.int64), np.empty(room)
        found = native._backend.ahead_into(numbers, count, state, bound, places, hashes)
        if found <= room:
            return places[:found], hashes[:found]
        room = found


def _checked(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    rows = np.require(rows, requirements=["C", "ALIGNED"])
    require("rows", rows, np.int64, (None,))
    return rows
