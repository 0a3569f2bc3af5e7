"""Kernel spectral clustering with the landmarks kernel, from the N x N kernel matrix."""

import numpy as np
from scipy.linalg import eigh


def euclidean(x, y):
    return ((x - y) ** 2).sum()


def haversine(x, y):
    """Squared chord between two places on the unit sphere, by the haversine formula."""
    (a, b), (c, d) = np.radians(x), np.radians(y)
    return 4 * (np.sin((a - c) / 2) ** 2 + np.cos(a) * np.cos(c) * np.sin((b - d) / 2) ** 2)


def jaccard(x, y):
    """1 less the size of what two sets share, relative to that of both together."""
    both = np.maximum(x, y).sum()
    return 1 - np.minimum(x, y).sum() / both if both > 0 else 0.0


def mixtures(X, P, s, even=0.2, squared=euclidean):
    """Weights of the landmarks, one row after the other."""
    Z = np.zeros((len(X), len(P)))
    for z, x in zip(Z, X, strict=True):
        D = np.array([squared(x, p) for p in P])
        nearest = np.argsort(D, kind="stable")
        mine, last = nearest[:s], D[nearest[min(s, len(P) - 1)]]
        gaps = last - D[mine]
        shares = gaps / gaps.sum() if gaps.sum() > 0 else np.full(s, 1 / s)
        z[mine] = (1 - even) * shares + even / s
    return Z


def kernel_matrix(Z, weights):
    """``Z diag(lam)^-1 Z^T``."""
    lam = weights @ Z
    used = lam > 0
    return (Z[:, used] / lam[used]) @ Z[:, used].T


def dense_scores(Z, weights, m):
    """Eigenvalues and scores of weighted kernel PCA on the whole matrix; weights are counts.

    With degrees of 1 the dual problem is that of the centred kernel matrix.
    """
    omega = kernel_matrix(Z, weights)
    total = weights.sum()
    roots = np.sqrt(weights)
    mean = weights @ omega / total
    centred = omega - mean - mean[:, None] + weights @ mean / total
    values, V = eigh(roots[:, None] * centred * roots)
    values, V = values[::-1][:m], V[:, ::-1][:, :m]
    return values, centred @ (roots[:, None] * V)
