"""Nyström approximation of normalised cuts, the baseline from another family of methods."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn.cluster import KMeans

from sparseksc.datasets import RandomState, as_generator
from sparseksc.reference._common import (
    FloatArray,
    IntArray,
    Kernel,
    block,
    count_vectors,
    fixed_signs,
    inverse_degrees,
    matrix,
)


class NystromClustering(NamedTuple):
    """Result of Nyström normalised cuts: labels (N,), embedding (N, K − 1), eigenvalues (K,)."""

    labels: IntArray
    embedding: FloatArray
    eigenvalues: FloatArray


def nystrom_spectral_clustering(
    X: ArrayLike,
    n_clusters: int,
    kernel: Kernel,
    *,
    n_samples: int,
    random_state: RandomState = None,
) -> NystromClustering:
    """Normalised cuts by the one-shot Nyström method of Fowlkes et al. [1]_.

    ``n_samples`` points are drawn uniformly; A is the kernel among them and B that with all the
    others. The degrees are the row sums of the approximation [A; Bᵀ] A⁻¹ [A B]. As published, both
    blocks are then divided by √(d_i d_j), and S = A + A^(−1/2) B Bᵀ A^(−1/2) = U Λ Uᵀ gives the
    orthonormal eigenvectors V = [A; Bᵀ] A^(−1/2) U Λ^(−1/2). The rows of the second to the K-th,
    divided by √d_i, are clustered by k-means.

    Here the scaling comes after the root: F = D^(−1/2) [A; Bᵀ] A^(−1/2), S = FᵀF, V = F U Λ^(−1/2).
    For positive definite A these are the same Λ and V. It needs one root instead of two, and the
    degrees remain exact row sums where A is singular or indefinite: eigenvalues of A that are
    negative or lost in rounding are left out of A^(−1/2). A point without a positive degree has
    the embedding 0.

    Parameters
    ----------
    X : array-like of shape (N, n_features)
        Points.
    n_clusters : int
        Number of clusters K.
    kernel : callable
        Similarity ``kernel(X, Y) -> matrix``.
    n_samples : int
        Number of points drawn, from K to N.
    random_state : int, Generator, RandomState or None, default=None
        Source of randomness of the sample and of k-means.

    References
    ----------
    .. [1] C. Fowlkes, S. Belongie, F. Chung, J. Malik, "Spectral grouping using the Nyström
       method", IEEE Transactions on Pattern Analysis and Machine Intelligence 26(2), 2004.
    """
    X = matrix(X)
    count_vectors(n_clusters, len(X))
    if not n_clusters <= n_samples <= len(X):
        raise ValueError(
            f"n_samples must lie between n_clusters = {n_clusters} and the number of points, "
            f"{len(X)}, got {n_samples!r}."
        )
    rng = as_generator(random_state)
    order = rng.permutation(len(X))
    sample, others = X[order[:n_samples]], X[order[n_samples:]]
    A = block(kernel, sample, sample)
    B = block(kernel, sample, others) if len(others) else np.empty((n_samples, 0))

    F = np.hstack([A, B]).T @ _inverse_root(A)
    root = np.sqrt(inverse_degrees(F @ F.sum(axis=0)))
    F *= root[:, None]
    values, U = linalg.eigh(F.T @ F, subset_by_index=[n_samples - n_clusters, n_samples - 1])
    values, U = values[::-1], U[:, ::-1]
    usable = values > n_samples * np.finfo(np.float64).eps * values[0]
    V = F @ (U * np.where(usable, 1.0 / np.sqrt(np.where(usable, values, 1.0)), 0.0))

    embedding = np.empty((len(X), n_clusters - 1))
    embedding[order] = fixed_signs(root[:, None] * V[:, 1:])
    k_means = KMeans(n_clusters, n_init=10, random_state=int(rng.integers(2**31)))
    labels = k_means.fit_predict(embedding).astype(np.int64)
    return NystromClustering(labels, embedding, values)


def _inverse_root(A: FloatArray) -> FloatArray:
    """Return A^(−1/2) on the eigenvectors of A whose eigenvalues are safely positive."""
    values, vectors = linalg.eigh(A)
    kept = values > len(A) * np.finfo(np.float64).eps * np.abs(values).max()
    return np.asarray((vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T)
