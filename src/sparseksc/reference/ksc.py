"""Kernel spectral clustering: the dense problem, the original and the published sparse route."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

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
from sparseksc.reference.cholesky import IncompleteCholesky, incomplete_cholesky


@dataclass(frozen=True, eq=False)
class ReferenceModel:
    """Scores z(x) = Σ_r k(x, p_r) ξ_r + b of a fitted reference route.

    Attributes
    ----------
    pivots : ndarray of shape (R,)
        Rows of the training data that make up the reduced set; all rows for dense KSC.
    reduced_set : ndarray of shape (R, n_features)
        The points p_r themselves.
    coef : ndarray of shape (R, K - 1)
        Coefficients ξ.
    bias : ndarray of shape (K - 1,)
        Bias terms b.
    eigenvalues : ndarray of shape (K - 1,)
        Leading eigenvalues λ, largest first.
    beta : ndarray of shape (N, K - 1)
        Dual variables β; in each column the entry of largest absolute value is positive.
    scores : ndarray of shape (N, K - 1)
        Scores of the training points.
    degrees : ndarray of shape (N,)
        Degrees d of the matrix that the eigenvectors were computed from.
    kernel : callable
        The kernel of the scores.
    """

    pivots: IntArray
    reduced_set: FloatArray
    coef: FloatArray
    bias: FloatArray
    eigenvalues: FloatArray
    beta: FloatArray
    scores: FloatArray
    degrees: FloatArray
    kernel: Kernel

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the scores of new points, shape (n, K - 1).

        For a model of a precomputed matrix, X holds the kernel values of the new points with the
        training points, shape (n, N).
        """
        return block(self.kernel, matrix(X), self.reduced_set) @ self.coef + self.bias


class Eigenvectors(NamedTuple):
    """Leading eigenvalues λ (K − 1,), dual variables β (N, K − 1) and degrees d (N,)."""

    eigenvalues: FloatArray
    beta: FloatArray
    degrees: FloatArray


def dense_ksc(
    X: ArrayLike, n_clusters: int, kernel: Kernel | Literal["precomputed"]
) -> ReferenceModel:
    """Kernel spectral clustering on the full kernel matrix.

    Solves D⁻¹ M_D Ω β = λ β. The matrix is not symmetric, but multiplying by 1ᵀ from the left
    shows 1ᵀβ = 0 for every λ ≠ 0, hence M_Dᵀ β = β, and with α = D^(1/2) β the problem is the
    symmetric D^(−1/2) M_D Ω M_Dᵀ D^(−1/2) α = λ α. The bias is b = −1ᵀD⁻¹Ωβ / (1ᵀD⁻¹1) and the
    scores are Ωβ + b, which equals λ D β.

    Parameters
    ----------
    X : array-like of shape (N, n_features), or (N, N) for a precomputed kernel
        Training points, or the kernel matrix Ω itself.
    n_clusters : int
        Number of clusters K; K − 1 eigenvectors are computed.
    kernel : callable or "precomputed"
        Positive definite kernel ``kernel(X, Y) -> matrix``.

    Returns
    -------
    ReferenceModel
        With all points as the reduced set, ``coef`` equal to ``beta``, and unit vectors α.
    """
    X = matrix(X)
    function = _as_given if kernel == "precomputed" else kernel
    omega = block(function, X, X)
    if omega.shape != (len(X), len(X)):
        raise ValueError(f"The kernel matrix must be square, got the shape {omega.shape}.")
    n_vectors = count_vectors(n_clusters, len(X))

    degrees = omega.sum(axis=1)
    weights = inverse_degrees(degrees)
    centred = omega - weights @ omega / weights.sum()  # M_D Ω
    centred = centred - (centred @ weights / weights.sum())[:, None]  # M_D Ω M_Dᵀ
    root = np.sqrt(weights)
    symmetric = root[:, None] * (centred + centred.T) / 2 * root
    values, alpha = linalg.eigh(symmetric, subset_by_index=[len(X) - n_vectors, len(X) - 1])
    beta = fixed_signs(root[:, None] * alpha[:, ::-1])
    bias = -(weights @ omega @ beta) / weights.sum()
    return ReferenceModel(
        pivots=np.arange(len(X)),
        reduced_set=X,
        coef=beta,
        bias=bias,
        eigenvalues=values[::-1],
        beta=beta,
        scores=omega @ beta + bias,
        degrees=degrees,
        kernel=function,
    )


def paper_ksc(
    X: ArrayLike,
    n_clusters: int,
    kernel: Kernel,
    *,
    tol: float = 0.0,
    max_rank: int | None = None,
    factor: IncompleteCholesky | None = None,
    reduced_kernel: Kernel | None = None,
) -> ReferenceModel:
    """Sparse kernel spectral clustering by QR, the published route.

    The steps are `incomplete_cholesky`, `qr_eigenvectors`,
    `reduced_set_coefficients` and `paper_bias`.

    Parameters
    ----------
    X : array-like of shape (N, n_features)
        Training points.
    n_clusters : int
        Number of clusters K.
    kernel : callable
        Kernel of the decomposition and so of the eigenvectors.
    tol, max_rank
        As in `incomplete_cholesky`.
    factor : IncompleteCholesky or None, default=None
        A decomposition at hand, for example `cholesky_on_pivots`; then ``tol`` and
        ``max_rank`` are not used.
    reduced_kernel : callable or None, default=None
        A second kernel for the reduced set coefficients and the scores (the mode with two
        bandwidths); None means the same kernel. The bias always comes from the first.

    Returns
    -------
    ReferenceModel
        With unit vectors α = D^(1/2) β.
    """
    X = matrix(X)
    score_kernel = kernel if reduced_kernel is None else reduced_kernel
    if factor is None:
        factor = incomplete_cholesky(X, kernel, tol=tol, max_rank=max_rank)
    eigenvectors = qr_eigenvectors(factor.G, count_vectors(n_clusters, len(factor.pivots)))
    coef = reduced_set_coefficients(X, score_kernel, factor.pivots, eigenvectors.beta)
    bias = paper_bias(eigenvectors)
    return _sparse_model(X, score_kernel, factor.pivots, eigenvectors, coef, bias)


def original_ksc(
    X: ArrayLike,
    n_clusters: int,
    kernel: Kernel,
    *,
    tol: float = 0.0,
    max_rank: int | None = None,
    factor: IncompleteCholesky | None = None,
) -> ReferenceModel:
    """Sparse kernel spectral clustering by the SVD of G, the original route.

    The steps are `incomplete_cholesky`, `original_eigenvectors`,
    `reduced_set_coefficients` and `reduced_set_bias`. On the same pivots its ξ is
    that of `paper_ksc` times a constant per column; what differs is the bias, estimated
    on the reduced set alone. Parameters as in `paper_ksc`; β has unit columns.
    """
    X = matrix(X)
    if factor is None:
        factor = incomplete_cholesky(X, kernel, tol=tol, max_rank=max_rank)
    eigenvectors = original_eigenvectors(factor.G, count_vectors(n_clusters, len(factor.pivots)))
    coef = reduced_set_coefficients(X, kernel, factor.pivots, eigenvectors.beta)
    reduced_set = X[factor.pivots]
    bias = reduced_set_bias(block(kernel, reduced_set, reduced_set), coef)
    return _sparse_model(X, kernel, factor.pivots, eigenvectors, coef, bias)


def qr_eigenvectors(G: FloatArray, n_vectors: int) -> Eigenvectors:
    """Solve D⁻¹ M_D G Gᵀ β = λ β by a QR decomposition.

    d = G (Gᵀ1), D^(−1/2) M_D G = Q R, R = U Σ Vᵀ, α = Q U, λ = Σ², β = D^(−1/2) α.
    """
    degrees = G @ G.sum(axis=0)
    weights = inverse_degrees(degrees)
    root = np.sqrt(weights)[:, None]
    Q, R = linalg.qr(root * (G - weights @ G / weights.sum()), mode="economic")
    U, singular_values, _ = linalg.svd(R)
    beta = fixed_signs(root * (Q @ U[:, :n_vectors]))
    return Eigenvectors(singular_values[:n_vectors] ** 2, beta, degrees)


def original_eigenvectors(G: FloatArray, n_vectors: int) -> Eigenvectors:
    """Solve UᵀD⁻¹M_D U Λ² γ = λ γ with the SVD G = U Λ Vᵀ and d = G (Gᵀ1), then β = U γ.

    D⁻¹M_D is symmetric, so the R × R problem is too, once written for δ = Λ γ:
    Λ UᵀD⁻¹M_D U Λ δ = λ δ.
    """
    degrees = G @ G.sum(axis=0)
    weights = inverse_degrees(degrees)
    U, lengths, _ = linalg.svd(G, full_matrices=False)
    mean = weights @ U
    S = (U * weights[:, None]).T @ U - np.outer(mean, mean) / weights.sum()
    symmetric = lengths[:, None] * S * lengths
    last = len(lengths) - 1
    values, delta = linalg.eigh(symmetric, subset_by_index=[last + 1 - n_vectors, last])
    gamma = delta[:, ::-1] / lengths[:, None]
    beta = fixed_signs(U @ (gamma / np.linalg.norm(gamma, axis=0)))
    return Eigenvectors(values[::-1], beta, degrees)


def reduced_set_coefficients(
    X: FloatArray, kernel: Kernel, pivots: IntArray, beta: FloatArray
) -> FloatArray:
    """Return ξ of Ω_PP ξ = Ω_PX β, the best weights on the pivots for the expansion in β."""
    reduced_set = X[pivots]
    omega_pp = block(kernel, reduced_set, reduced_set)
    right = block(kernel, X, reduced_set).T @ beta
    return np.asarray(linalg.solve(omega_pp, right, assume_a="sym"), dtype=np.float64)


def paper_bias(eigenvectors: Eigenvectors) -> FloatArray:
    """Return b_k = (λ_k − 1) (1ᵀDβ_k) / N.

    Where all degrees are positive this is −1ᵀD⁻¹Ωβ_k / (1ᵀD⁻¹1): sum Ωβ + b = λDβ over the points.
    """
    eigenvalues, beta, degrees = eigenvectors
    return np.asarray((eigenvalues - 1.0) * (degrees @ beta) / len(degrees), dtype=np.float64)


def reduced_set_bias(omega_pp: FloatArray, coef: FloatArray) -> FloatArray:
    """Return b_k = −1ᵀD_P⁻¹Ω_PP ξ_k / (1ᵀD_P⁻¹1), with the degrees D_P of Ω_PP alone."""
    weights = inverse_degrees(omega_pp.sum(axis=1))
    return np.asarray(-(weights @ omega_pp @ coef) / weights.sum(), dtype=np.float64)


def sign_labels(scores: ArrayLike, n_clusters: int) -> IntArray:
    """Return labels by signs: the nearest of the K most frequent patterns in Hamming distance.

    Label 0 is the most frequent pattern; ties go to the more frequent one. For two clusters it is
    the sign of the score. Where fewer than K patterns occur, fewer labels are given.
    """
    signs = matrix(scores) > 0
    patterns, counts = np.unique(signs, axis=0, return_counts=True)
    code_book = patterns[np.argsort(-counts, kind="stable")[:n_clusters]]
    distances = (signs[:, None, :] != code_book[None]).sum(axis=2)
    return np.asarray(distances.argmin(axis=1), dtype=np.int64)


def _sparse_model(
    X: FloatArray,
    kernel: Kernel,
    pivots: IntArray,
    eigenvectors: Eigenvectors,
    coef: FloatArray,
    bias: FloatArray,
) -> ReferenceModel:
    scores = block(kernel, X, X[pivots]) @ coef + bias
    return ReferenceModel(
        pivots,
        X[pivots],
        coef,
        bias,
        eigenvectors.eigenvalues,
        eigenvectors.beta,
        scores,
        eigenvectors.degrees,
        kernel,
    )


def _as_given(X: FloatArray, _: FloatArray) -> FloatArray:
    return X
