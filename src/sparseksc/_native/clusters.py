"""Loops over score vectors and clusters: compiled where possible, in NumPy elsewhere.

All arrays are C-contiguous and float64, labels int64. The functions release the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import sparseksc._native as native
from sparseksc._typing import Floats

Labels = NDArray[np.int64]


class Assignment(NamedTuple):
    """The nearest cluster of each point, and how clearly it is the nearest.

    Attributes
    ----------
    labels : array of shape (n,)
    membership : array of shape (n,)
        Soft membership in it: the share of 1/d_nearest in the sum of all 1/d.
    angular : array of shape (n,)
        1 - d_nearest / d_second; 0 where both are 0.
    """

    labels: Labels
    membership: Floats
    angular: Floats


def _floats(array: Floats) -> Floats:
    return np.ascontiguousarray(array, dtype=np.float64)


def refine(rows: Floats, weights: Floats, prototypes: Floats, rounds: int) -> Floats:
    """Move each prototype to the mean direction of the rows nearest to it, until they stay.

    Parameters
    ----------
    rows : array of shape (n, m)
        Directions, of length 1 or 0.
    weights : array of shape (n,)
    prototypes : array of shape (K, m)
    rounds : int
        After so many rounds they are taken as they are.

    Returns
    -------
    array of shape (K, m)
        A prototype that no row is nearest to stays where it was.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0]])
    >>> refine(rows, np.ones(3), rows[[0, 2]], 10).round(3)
    array([[ 0.894,  0.447],
           [-1.   ,  0.   ]])
    """
    moved = np.array(prototypes, dtype=np.float64, order="C")
    native._backend.refine_into(_floats(rows), _floats(weights), rounds, moved)
    return moved


def spread(rows: Floats, count: int) -> Labels:
    """Return up to ``count`` rows, each the longest outside of the span of those before it.

    These are the first pivots of a column-pivoted QR decomposition of ``rows.T``; there are
    fewer where the rows span fewer dimensions.

    Examples
    --------
    >>> import numpy as np
    >>> spread(np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 1.0]]), 2)
    array([1, 2])
    """
    rest = np.array(rows, dtype=np.float64, order="C")
    chosen = np.empty(count, np.int64)
    found = native._backend.spread_into(rest, chosen)
    return chosen[:found]


def assign(distances: Floats) -> Assignment:
    """Find the nearest cluster of each point from its distances to all, shape (n, K).

    Examples
    --------
    >>> import numpy as np
    >>> assign(np.array([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]]))
    Assignment(labels=array([0, 1]), membership=array([0.6, 1. ]), angular=array([0.66666667, 1. ]))
    """
    n = len(distances)
    found = Assignment(np.empty(n, np.int64), np.empty(n), np.empty(n))
    native._backend.assign_into(_floats(distances), *found)
    return found


def scatter(rows: Floats, labels: Labels, weights: Floats, n_clusters: int) -> Floats:
    """Scatter matrix of each cluster about its mean, shape (n_clusters, m, m).

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0, 0.0], [2.0, 2.0], [5.0, 0.0]])
    >>> scatter(rows, np.array([0, 0, 1]), np.ones(3), 2)
    array([[[2., 2.],
            [2., 2.]],
    <BLANKLINE>
           [[0., 0.],
            [0., 0.]]])
    """
    m = rows.shape[1]
    out = np.empty((n_clusters, m, m))
    native._backend.scatter_into(
        _floats(rows), np.ascontiguousarray(labels, np.int64), _floats(weights), out
    )
    return out
