"""The dense N × N and N × R formulas behind the statistics, the spectrum and the scores."""

import numpy as np


def factor_on(omega, pivots):
    """G of Ω ≈ G Gᵀ on the given pivots, shape (N, R), with L = G[pivots]."""
    L = np.linalg.cholesky(omega[np.ix_(pivots, pivots)])
    return np.linalg.solve(L, omega[:, pivots].T).T


def sums(G, weights):
    """s, d, A, u and ω of the two passes, added up point by point."""
    N, R = G.shape
    s = sum(weights[i] * G[i] for i in range(N))
    d = np.array([G[i] @ s for i in range(N)])
    A, u, omega = np.zeros((R, R)), np.zeros(R), 0.0
    for i in range(N):
        A += weights[i] / d[i] * np.outer(G[i], G[i])
        u += weights[i] / d[i] * G[i]
        omega += weights[i] / d[i]
    return s, d, A, u, omega


def dual_eigenpairs(omega, weights, count):
    """Leading eigenpairs of D⁻¹ M_D Ω W β = λ β, with N × N matrices.

    W = diag(weights), d = Ω w and M_D = I − 1 1ᵀ W D⁻¹ / (1ᵀ W D⁻¹ 1).
    β is scaled so that βᵀ W D β = 1.
    """
    N = len(omega)
    d = omega @ weights
    shares = weights / d
    M = np.eye(N) - np.outer(np.ones(N), shares) / shares.sum()
    values, vectors = np.linalg.eig(np.diag(1 / d) @ M @ omega @ np.diag(weights))
    order = np.argsort(-values.real)[:count]
    beta = vectors[:, order].real
    return values.real[order], beta / np.sqrt(((weights * d)[:, None] * beta**2).sum(axis=0)), d
