"""Pivoted Cholesky decomposition with the full residual matrix, one pivot at a time."""

import numpy as np


def eliminate(residual, pivot):
    """Residual matrix after one more pivot."""
    column = residual[:, pivot]
    return residual - np.outer(column, column) / column[pivot]


def residual_path(omega, pivots, weights=None):
    """trace(Ω − G Gᵀ) / trace(Ω) after each of the given pivots, both weighted."""
    weights = np.ones(len(omega)) if weights is None else weights
    residual, path = omega, []
    for pivot in pivots:
        residual = eliminate(residual, pivot)
        path.append(weights @ np.diagonal(residual) / (weights @ np.diagonal(omega)))
    return np.array(path)


def greedy_pivots(omega, max_rank, tol=0.0, weights=1.0):
    """The largest residual first, ties to the lowest index, until the trace meets ``tol``.

    With weights, the largest squared residual times weight.
    """
    residual, pivots = omega, []
    while len(pivots) < max_rank:
        pivots.append(int(np.argmax(np.diagonal(residual) ** 2 * weights)))
        residual = eliminate(residual, pivots[-1])
        if np.trace(residual) <= tol * np.trace(omega):
            break
    return pivots


def quadratic_entropy(omega, subset):
    """Quadratic Rényi entropy −log Σ_{i,j ∈ S} k(x_i, x_j) / |S|² of a subset."""
    return -np.log(omega[np.ix_(subset, subset)].sum() / len(subset) ** 2)
