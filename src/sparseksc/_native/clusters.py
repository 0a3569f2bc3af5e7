"""Loops over score vectors and clusters: compiled where possible, in NumPy elsewhere.

All arrays are C-contiguous and float64, labels int64. The functions release the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import sparseksc._native as native
from sparseksc._native.checks import require, require_labels, require_whole
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


def _floats(name: str, array: Floats, *shape: int | None) -> Floats:
    floats = np.require(array, np.float64, ["C", "ALIGNED"])
    require(name, floats, np.float64, shape)
    return floats


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
    rows = _floats("rows", rows, None, None)
    weights = _floats("weights", weights, len(rows))
    moved = np.array(_floats("prototypes", prototypes, None, rows.shape[1]))
    rounds = require_whole("rounds", rounds, 0, 2**64 - 1)
    native._backend.refine_into(rows, weights, rounds, moved)
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
    rest = np.array(_floats("rows", rows, None, None))
    count = require_whole("count", count, 0, 2**63 - 1)
    chosen = np.empty(min(count, len(rest)), np.int64)
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
    distances = _floats("distances", distances, None, None)
    n = len(distances)
    found = Assignment(np.empty(n, np.int64), np.empty(n), np.empty(n))
    native._backend.assign_into(distances, *found)
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
    rows = _floats("rows", rows, None, None)
    n, m = rows.shape
    if not np.can_cast(np.asarray(labels).dtype, np.int64, "same_kind"):
        raise TypeError(f"labels must be integers, got {np.asarray(labels).dtype}.")
    labels = np.require(labels, np.int64, ["C", "ALIGNED"])
    require("labels", labels, np.int64, (n,))
    weights = _floats("weights", weights, n)
    n_clusters = require_whole("n_clusters", n_clusters, 0, 2**63 - 1)
    require_labels(labels, n_clusters)
    out = np.empty((n_clusters, m, m))
    native._backend.scatter_into(rows, labels, weights, out)
    return out
