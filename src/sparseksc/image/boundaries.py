"""Boundaries of segments, one pixel wide."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Mask = NDArray[np.bool_]


def boundaries(labels: ArrayLike) -> Mask:
    """Return the boundary map of a label map, one pixel wide.

    A pixel is on the boundary if it differs from the one to the right, the one below or the one
    between them; the map is then thinned.

    Parameters
    ----------
    labels : array-like of shape (height, width)
        Integers or booleans.

    Returns
    -------
    array of shape (height, width), bool

    Examples
    --------
    >>> from sparseksc.image import boundaries
    >>> boundaries([[0, 0, 1], [0, 0, 1]]).astype(int)
    array([[0, 1, 0],
           [0, 1, 0]])
    """
    return thin(differences(check_label_map(labels)))


def check_label_map(labels: Any, name: str = "labels") -> NDArray[Any]:
    """Return a two-dimensional array of integers."""
    array = np.asarray(labels)
    if array.dtype.kind == "f" and np.isfinite(array).all() and (array == np.rint(array)).all():
        array = array.astype(np.int64)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "iub":
        raise ValueError(
            f"{name} must be a label map, integers of the shape (height, width), got "
            f"{array.dtype} of the shape {array.shape}."
        )
    return array


def differences(labels: NDArray[Any]) -> Mask:
    """Whether the square of four pixels to the right and below holds more than one label."""
    result = np.zeros(labels.shape, dtype=bool)
    across = labels[:, 1:] != labels[:, :-1]
    down = labels[1:] != labels[:-1]
    result[:, :-1] |= across
    result[:-1] |= down
    result[:-1, :-1] |= labels[1:, 1:] != labels[:-1, :-1]
    return result


def thin(mask: ArrayLike) -> Mask:
    """Thin the shapes of a map to lines one pixel wide that are connected as before.

    The parallel algorithm of Guo and Hall: in turns, from the south-east and from the
    north-west, all pixels are removed that are simple (one connected group of neighbours), not
    the end of a line, and on that side of their shape, until none is left.
    `skimage.morphology.thin` gives the same bits, and visits all pixels of the image in each turn
    instead of those that are left.

    Parameters
    ----------
    mask : array-like of shape (height, width)

    Returns
    -------
    array of shape (height, width), bool

    References
    ----------
    .. [1] Z. Guo, R. W. Hall, "Parallel thinning with two-subiteration algorithms",
       Communications of the ACM 32(3), 359-373, 1989.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image.boundaries import thin
    >>> thin(np.ones((3, 7))).astype(int)
    array([[0, 0, 0, 0, 0, 0, 0],
           [0, 1, 1, 1, 1, 1, 0],
           [0, 0, 0, 0, 0, 0, 0]])
    """
    given = np.asarray(mask, dtype=bool)
    padded = np.pad(given, 1)
    flat = padded.reshape(-1)
    pitch = padded.shape[1]
    # Clockwise from the north; bit k of a pixel's code is its neighbour k.
    ring = (-pitch, -pitch + 1, 1, pitch + 1, pitch, pitch - 1, -1, -pitch - 1)
    candidates = np.flatnonzero(flat)
    changed = True
    while changed:
        changed = False
        for removable in REMOVABLE:
            code = np.zeros(len(candidates), dtype=np.uint8)
            for bit, step in enumerate(ring):
                code |= flat[candidates + step].astype(np.uint8) << np.uint8(bit)
            gone = removable[code]
            if gone.any():
                flat[candidates[gone]] = False
                candidates = candidates[~gone]
                changed = True
    return np.ascontiguousarray(padded[1:-1, 1:-1])


def _removable(side: int) -> Mask:
    """Whether a pixel goes, for each of the 256 codes of its neighbours, in one of two turns."""
    codes = np.arange(256)
    p = [(codes >> bit & 1).astype(bool) for bit in range(8)]
    groups = sum((~p[k] & (p[k + 1] | p[(k + 2) % 8])).astype(int) for k in (0, 2, 4, 6))
    pairs = [
        sum((p[(k + shift) % 8] | p[(k + shift + 1) % 8]).astype(int) for k in (0, 2, 4, 6))
        for shift in (0, 1)
    ]
    neighbours = np.minimum(*pairs)
    north, east, south, west = p[0], p[2], p[4], p[6]
    if side == 0:
        inside = (north | p[1] | ~p[3]) & east
    else:
        inside = (south | p[5] | ~p[7]) & west
    return (groups == 1) & (neighbours >= 2) & (neighbours <= 3) & ~inside


REMOVABLE = (_removable(0), _removable(1))
