"""Kernel blocks, fused scores, sums, moments and pivots: compiled where possible, else in NumPy.

The compiled module ``_core`` is used when it was built and the environment variable
``SPARSEKSC_NATIVE`` is not ``"0"``; otherwise :mod:`sparseksc._native.twin` does the same work.
``IS_NATIVE`` tells which one it is.

The kernels, by name, with one inverse bandwidth ``c_f`` for each feature:

- ``"rbf"``: exp(-Σ_f c_f (x_f - p_f)²)
- ``"laplacian"``: exp(-Σ_f c_f |x_f - p_f|)
- ``"chi2"``: exp(-½ Σ_f c_f (x_f - p_f)² / (x_f + p_f)), for data without negative values; a term
  with x_f + p_f = 0 counts as 0

``X`` of shape (n, d) and ``P`` of shape (R, d) are C-contiguous and of one type, float32 or
float64; the inverse bandwidth is positive, finite, float64. An exponent that overflows gives the
value 0. Sums leave out pivots beyond the reach of a row, whose values are below e^-40 (float32:
e^-24) of its largest. From 32 features on, the exponents of "rbf" come from inner products of
differences from the mean of P, unless these cancel; tiles are symmetric, and 1 for equal points, as
elsewhere. Tiles and scores of a row do not depend on the rows around it. The functions
release the GIL, so that chunks can be computed in threads. What they write must not share memory
with anything else that they are given.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import twin
from .checks import (
    KERNELS,
    require,
    require_apart,
    require_floor,
    require_kernel,
    require_output,
)
from .twin import moments_of

__all__ = [
    "IS_NATIVE",
    "KERNELS",
    "column_sums",
    "greedy",
    "moments",
    "moments_of",
    "scores",
    "tile",
]


def _load() -> ModuleType | None:
    if os.environ.get("SPARSEKSC_NATIVE") == "0":
        return None
    try:
        from . import _core
    except ImportError:
        return None
    return _core


_loaded = _load()
_backend: ModuleType = twin if _loaded is None else _loaded
IS_NATIVE: bool = _loaded is not None


def tile(
    name: str,
    X: NDArray[Any],
    P: NDArray[Any],
    inverse_bandwidth: NDArray[Any],
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return the block k(x_i, p_r) of the kernel matrix.

    Parameters
    ----------
    name : {"rbf", "laplacian", "chi2"}
        The kernel.
    X : ndarray of shape (n, d)
        The rows.
    P : ndarray of shape (R, d)
        The pivots.
    inverse_bandwidth : ndarray of shape (d,)
        One positive factor for each feature.
    out : ndarray of shape (n, R), optional
        Where to write the block; of the type of X, C-contiguous, and apart from the inputs.

    Returns
    -------
    ndarray of shape (n, R)
        ``out`` if it was given, else a new array of the type of X.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> tile("rbf", X, X, np.array([0.5, 0.5])).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """
    shape = require_kernel(name, X, P, inverse_bandwidth)
    if out is None:
        out = np.empty(shape, X.dtype)
    else:
        require_output("out", out, X.dtype, shape)
        require_apart({"out": out}, {"X": X, "P": P, "inverse_bandwidth": inverse_bandwidth})
    _backend.tile_into(name, X, P, inverse_bandwidth, out)
    return out


def scores(
    name: str,
    X: NDArray[Any],
    P: NDArray[Any],
    inverse_bandwidth: NDArray[Any],
    coef: NDArray[np.float64],
    bias: NDArray[np.float64],
) -> NDArray[Any]:
    """Return ``tile(name, X, P, inverse_bandwidth) @ coef + bias`` without the block in memory.

    Parameters
    ----------
    name, X, P, inverse_bandwidth
        As for :func:`tile`.
    coef : ndarray of shape (R, m), float64
        The coefficients of the pivots.
    bias : ndarray of shape (m,), float64
        Added to every row.

    Returns
    -------
    ndarray of shape (n, m)
        Of the type of X; the sums are taken in float64.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0]])
    >>> scores("rbf", X, X, np.ones(1), np.array([[1.0], [-1.0]]), np.zeros(1)).round(3)
    array([[ 0.632],
           [-0.632]])
    """
    rows, pivots = require_kernel(name, X, P, inverse_bandwidth)
    require("coef", coef, np.float64, (pivots, None))
    require("bias", bias, np.float64, (coef.shape[1],))
    out = np.empty((rows, coef.shape[1]), X.dtype)
    _backend.scores_into(name, X, P, inverse_bandwidth, coef, bias, out)
    return out


def column_sums(
    name: str,
    X: NDArray[Any],
    P: NDArray[Any],
    inverse_bandwidth: NDArray[Any],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return ``weights @ tile(name, X, P, inverse_bandwidth)`` without the block in memory.

    Parameters
    ----------
    name, X, P, inverse_bandwidth
        As for :func:`tile`.
    weights : ndarray of shape (n,), float64
        The weights of the rows.

    Returns
    -------
    ndarray of shape (R,), float64
        The weighted sum of each column.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0]])
    >>> column_sums("laplacian", X, X, np.ones(1), np.array([1.0, 0.0])).round(3)
    array([1.   , 0.368])
    """
    rows, pivots = require_kernel(name, X, P, inverse_bandwidth)
    require("weights", weights, np.float64, (rows,))
    out = np.empty(pivots)
    _backend.column_sums_into(name, X, P, inverse_bandwidth, weights, out)
    return out


def moments(
    name: str,
    X: NDArray[Any],
    P: NDArray[Any],
    inverse_bandwidth: NDArray[Any],
    weights: NDArray[np.float64],
    q: NDArray[np.float64],
    floor: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, int, float]:
    """Return weighted moments of the rows of the block, without the block in memory.

    The row ``k_i`` of the block has the degree ``d_i = k_i . q`` and the share
    ``s_i = weights[i] / d_i``. The sums are over the rows whose degree is above ``floor``.

    Parameters
    ----------
    name, X, P, inverse_bandwidth
        As for :func:`tile`.
    weights : ndarray of shape (n,), float64
        The weights of the rows, not negative.
    q : ndarray of shape (R,), float64
        The coefficients of the degrees.
    floor : float
        Rows whose degree is not above this number are left out; not negative.

    Returns
    -------
    moment : ndarray of shape (R, R), float64
        Σ_i s_i k_i k_iᵀ, symmetric.
    mean : ndarray of shape (R,), float64
        Σ_i s_i k_i.
    omega : float
        Σ_i s_i.
    n_excluded : int
        How many rows of positive weight were left out.
    excluded_weight : float
        Their weight.

    Examples
    --------
    >>> import numpy as np
    >>> X, P = np.array([[0.0], [1.0], [9.0]]), np.array([[0.0], [1.0]])
    >>> moment, mean, omega, n_excluded, excluded_weight = moments(
    ...     "laplacian", X, P, np.ones(1), np.ones(3), np.array([1.0, 0.0]), 0.01
    ... )
    >>> moment.round(3)
    array([[1.368, 1.368],
           [1.368, 2.854]])
    >>> mean.round(3), round(omega, 3)
    (array([2.   , 3.086]), 3.718)
    >>> n_excluded, excluded_weight
    (1, 1.0)
    """
    rows, pivots = require_kernel(name, X, P, inverse_bandwidth)
    require("weights", weights, np.float64, (rows,))
    require("q", q, np.float64, (pivots,))
    if not (weights >= 0).all():
        raise ValueError("weights must not be negative.")
    require_floor(floor)
    moment, mean, totals = np.empty((pivots, pivots)), np.empty(pivots), np.empty(3)
    _backend.moments_into(name, X, P, inverse_bandwidth, weights, q, floor, moment, mean, totals)
    omega, n_excluded, excluded_weight = totals.tolist()
    return moment, mean, omega, int(n_excluded), excluded_weight


def greedy(
    name: str,
    X: NDArray[Any],
    inverse_bandwidth: NDArray[Any],
    weights: NDArray[np.float64],
    residual: NDArray[np.float64],
    G: NDArray[np.float64],
    rank: int,
    trace: float,
    tol: float,
    floor: float,
) -> tuple[list[int], list[float]]:
    """Continue a pivoted Cholesky decomposition of ``tile(name, X, X, ...)`` by the greedy rule.

    The next pivot is the point with the largest residual, the first of them. It ends when G is
    full, when the residual trace reaches ``tol``, or when no residual is above ``floor``.

    Parameters
    ----------
    name, X, inverse_bandwidth
        As for :func:`tile`.
    weights : ndarray of shape (n,), float64
        The trace is a sum with these weights.
    residual : ndarray of shape (n,), float64
        The diagonal of what is left of the matrix; overwritten.
    G : ndarray of shape (R, n), float64
        Row l is the l-th column of the factor; rows from ``rank`` on are written.
    rank : int
        How many rows of G there are already.
    trace : float
        The trace of the whole matrix.
    tol, floor : float
        When to end; ``floor`` is not negative.

    Returns
    -------
    pivots : list of int
        The new pivots.
    path : list of float
        The trace that is left after each of them, relative to ``trace``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [5.0]])
    >>> residual, G = np.ones(3), np.empty((2, 3))
    >>> greedy("rbf", X, np.ones(1), np.ones(3), residual, G, 0, 3.0, 0.0, 1e-9)[0]
    [0, 2]
    """
    points, _ = require_kernel(name, X, X, inverse_bandwidth)
    require("weights", weights, np.float64, (points,))
    require("residual", residual, np.float64, (points,))
    require("G", G, np.float64, (None, points))
    for label, array in (("residual", residual), ("G", G)):
        if not array.flags.writeable:
            raise ValueError(f"{label} must be writable, got a read-only array.")
    if not 0 <= rank <= len(G):
        raise ValueError(f"rank must be between 0 and {len(G)}, got {rank}.")
    pivots, path = np.empty(len(G), np.int64), np.empty(len(G))
    found = _backend.greedy_into(
        name, X, inverse_bandwidth, weights, trace, tol, floor, rank, residual, G, pivots, path
    )
    return pivots[rank:found].tolist(), path[rank:found].tolist()
