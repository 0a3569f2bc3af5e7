"""Nyström's approximation of normalised cuts."""

from functools import partial

import numpy as np
import pytest
from scipy import linalg
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

from sparseksc.datasets import make_gaussians
from sparseksc.reference import (
    nystrom_spectral_clustering,
)


def rbf(bandwidth):
    return partial(rbf_kernel, gamma=1 / bandwidth)


@pytest.fixture(scope="module")
def blobs():
    return make_gaussians(150, n_clusters=3, n_features=3, overlap=0.35, random_state=0)


def test_nystrom_recovers_separate_gaussians():
    X, y = make_gaussians(2000, n_clusters=4, n_features=2, overlap=0.2, random_state=0)
    result = nystrom_spectral_clustering(X, 4, rbf(2.0), n_samples=200, random_state=0)
    assert adjusted_rand_score(y, result.labels) > 0.99
    assert result.embedding.shape == (2000, 3)


def test_nystrom_on_all_points_is_the_dense_normalised_cut(blobs):
    X, _ = blobs
    result = nystrom_spectral_clustering(X, 3, rbf(0.5), n_samples=len(X), random_state=0)
    omega = rbf(0.5)(X, X)
    root = np.sqrt(omega.sum(axis=1))
    values, vectors = np.linalg.eigh(omega / np.outer(root, root))
    np.testing.assert_allclose(result.eigenvalues, values[::-1][:3], atol=1e-10)
    expected = (vectors / root[:, None])[:, [-2, -3]]
    signs = np.sign((expected * result.embedding).sum(axis=0))
    np.testing.assert_allclose(result.embedding, expected * signs, atol=1e-8)


def test_nystrom_agrees_with_the_published_formula_on_scaled_blocks(blobs):
    X, _ = blobs
    n = 40
    result = nystrom_spectral_clustering(X, 3, rbf(0.5), n_samples=n, random_state=3)
    order = np.random.default_rng(3).permutation(len(X))
    omega = rbf(0.5)(X[order], X[order])
    A, B = omega[:n, :n], omega[:n, n:]
    below = B.sum(axis=0) + B.T @ np.linalg.solve(A, B.sum(axis=1))
    root = np.sqrt(np.concatenate([A.sum(axis=1) + B.sum(axis=1), below]))
    A, B = A / np.outer(root[:n], root[:n]), B / np.outer(root[:n], root[n:])
    inverse_root = np.real(linalg.inv(linalg.sqrtm(A)))
    values, U = np.linalg.eigh(A + inverse_root @ B @ B.T @ inverse_root)
    V = np.vstack([A, B.T]) @ inverse_root @ U / np.sqrt(values)
    np.testing.assert_allclose(result.eigenvalues, values[::-1][:3], atol=1e-10)
    expected = (V / root[:, None])[:, [-2, -3]]
    found = result.embedding[order]
    np.testing.assert_allclose(found, expected * np.sign((expected * found).sum(axis=0)), atol=1e-8)


def test_nystrom_copes_with_singular_and_indefinite_samples(blobs):
    X, y = blobs

    def indefinite(A, B):
        return np.tanh(0.2 * A @ B.T - 0.2) + 1.2

    shifted = X - X.mean(axis=0)
    assert np.linalg.eigvalsh(indefinite(shifted, shifted)).min() < -0.1
    result = nystrom_spectral_clustering(shifted, 3, indefinite, n_samples=60, random_state=0)
    assert np.isfinite(result.embedding).all()
    assert result.eigenvalues[0] == pytest.approx(1.0)
    twice = np.repeat(X, 2, axis=0)  # A has equal rows
    result = nystrom_spectral_clustering(twice, 3, rbf(2.0), n_samples=200, random_state=0)
    assert adjusted_rand_score(np.repeat(y, 2), result.labels) > 0.9


def test_nystrom_repeats_itself_for_a_seed(blobs):
    X, _ = blobs
    first, second, other = (
        nystrom_spectral_clustering(X, 3, rbf(2.0), n_samples=30, random_state=seed)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.embedding, second.embedding)
    np.testing.assert_array_equal(first.labels, second.labels)
    assert not np.array_equal(first.embedding, other.embedding)
