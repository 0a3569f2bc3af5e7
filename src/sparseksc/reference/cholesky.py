"""Incomplete Cholesky decomposition as published: on all points, one pivot at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from sparseksc.reference._common import FloatArray, IntArray, Kernel, block, diagonal, matrix


class IncompleteCholesky(NamedTuple):
    """Low rank factor Ω ≈ G Gᵀ on pivots.

    ``G`` has shape (N, R), ``pivots`` holds R row numbers in the order of their choice, and
    ``residual`` is trace(Ω − G Gᵀ) / N.
    """

    G: FloatArray
    pivots: IntArray
    residual: float


def incomplete_cholesky(
    X: ArrayLike, kernel: Kernel, *, tol: float = 0.0, max_rank: int | None = None
) -> IncompleteCholesky:
    """Greedy incomplete Cholesky decomposition on all points, one pivot at a time.

    Each step takes the point with the largest diagonal entry of the residual Ω − G Gᵀ, the first
    one among equals, and adds the column ``(Ω_:p − G G_pᵀ) / √(residual of p)``. It stops once
    trace(Ω − G Gᵀ) / N ≤ ``tol``, at ``max_rank`` pivots, or when the largest residual is below
    eps^(2/3) = 4e-11 of the largest diagonal entry. The tolerance is relative to N, as published;
    for kernels with k(x, x) = 1 this is the tolerance relative to trace(Ω).

    Parameters
    ----------
    X : array-like of shape (N, n_features)
        Points.
    kernel : callable
        Positive definite kernel ``kernel(X, Y) -> matrix``.
    tol : float, default=0.0
        Mean residual of the diagonal to stop at.
    max_rank : int or None, default=None
        Largest number of pivots; None allows N.

    Returns
    -------
    IncompleteCholesky
        ``(G, pivots, residual)``.
    """
    X = matrix(X)
    n = len(X)
    if not tol >= 0:
        raise ValueError(f"tol must be zero or positive, got {tol!r}.")
    if max_rank is not None and max_rank < 1:
        raise ValueError(f"max_rank must be a positive integer or None, got {max_rank!r}.")
    limit = n if max_rank is None else min(max_rank, n)
    residual = diagonal(X, kernel)
    # rounding errors of the kernel values are divided by the root of the pivot
    smallest_pivot = np.finfo(np.float64).eps ** (2 / 3) * residual.max()
    columns = np.empty((min(limit, 64), n))  # Gᵀ, so that each new column is contiguous
    pivots: list[int] = []
    while len(pivots) < limit and residual.sum() / n > tol:
        p = int(np.argmax(residual))
        if residual[p] <= smallest_pivot:
            break
        r = len(pivots)
        if r == len(columns):
            columns = np.concatenate([columns, np.empty((min(r, limit - r), n))])
        new = block(kernel, X, X[p : p + 1])[:, 0] - columns[:r, p] @ columns[:r]
        columns[r] = new / np.sqrt(residual[p])
        residual = np.maximum(residual - columns[r] ** 2, 0.0)
        residual[p] = 0.0
        pivots.append(p)
    G = np.ascontiguousarray(columns[: len(pivots)].T)
    return IncompleteCholesky(G, np.array(pivots, dtype=np.int64), float(residual.sum() / n))


def cholesky_on_pivots(X: ArrayLike, kernel: Kernel, pivots: ArrayLike) -> IncompleteCholesky:
    """Return the factor on given pivots: G = Ω_XP L⁻ᵀ with Ω_PP = L Lᵀ."""
    X = matrix(X)
    chosen = np.asarray(pivots, dtype=np.int64)
    reduced_set = X[chosen]
    L = linalg.cholesky(block(kernel, reduced_set, reduced_set), lower=True)
    G = linalg.solve_triangular(L, block(kernel, X, reduced_set).T, lower=True).T
    residual = np.maximum(diagonal(X, kernel) - (G**2).sum(axis=1), 0.0)
    return IncompleteCholesky(np.ascontiguousarray(G), chosen, float(residual.mean()))
