"""The published incomplete Cholesky decomposition."""

from functools import partial

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from sparseksc.datasets import make_gaussians
from sparseksc.reference import (
    cholesky_on_pivots,
    incomplete_cholesky,
)


def rbf(bandwidth):
    return partial(rbf_kernel, gamma=1 / bandwidth)


@pytest.fixture(scope="module")
def blobs():
    return make_gaussians(150, n_clusters=3, n_features=3, overlap=0.35, random_state=0)


def test_the_cholesky_factor_is_exact_on_its_pivots_and_at_full_rank(blobs):
    X, _ = blobs
    omega = rbf(0.5)(X, X)
    G, pivots, residual = incomplete_cholesky(X, rbf(0.5), max_rank=70)
    assert G.shape == (150, 70)
    assert len(set(pivots.tolist())) == 70
    np.testing.assert_allclose((G @ G.T)[:, pivots], omega[:, pivots], atol=1e-12)
    assert residual == pytest.approx(np.trace(omega - G @ G.T) / 150)
    full = incomplete_cholesky(X, rbf(0.5)).G
    np.testing.assert_allclose(full @ full.T, omega, atol=1e-12)


def test_each_pivot_has_the_largest_residual(blobs):
    X, _ = blobs
    omega = rbf(1.0)(X, X)
    pivots = incomplete_cholesky(X, rbf(1.0), max_rank=12).pivots
    for r in range(12):
        before = pivots[:r]
        projection = omega[:, before] @ np.linalg.pinv(omega[np.ix_(before, before)])
        residual = np.diag(omega - projection @ omega[before])
        assert residual[pivots[r]] == pytest.approx(residual.max(), abs=1e-10)


def test_ties_go_to_the_lowest_index():
    X = 100.0 * np.arange(5.0)[:, None]
    assert incomplete_cholesky(X, rbf(1.0)).pivots.tolist() == [0, 1, 2, 3, 4]


def test_the_last_pivot_is_the_first_that_meets_the_tolerance(blobs):
    X, _ = blobs
    factor = incomplete_cholesky(X, rbf(2.0), tol=0.05)
    one_less = incomplete_cholesky(X, rbf(2.0), max_rank=len(factor.pivots) - 1)
    assert factor.residual <= 0.05 < one_less.residual


def test_the_decomposition_stops_at_the_rank_of_the_kernel(blobs):
    X, _ = blobs
    factor = incomplete_cholesky(X, linear_kernel)
    assert len(factor.pivots) == X.shape[1]
    np.testing.assert_allclose(factor.G @ factor.G.T, X @ X.T, atol=1e-10)


def test_duplicated_points_are_taken_once(blobs):
    X = np.repeat(blobs[0][:20], 3, axis=0)
    factor = incomplete_cholesky(X, rbf(0.5))
    assert len(factor.pivots) == 20
    assert (factor.pivots % 3 == 0).all()


def test_a_factor_on_the_greedy_pivots_is_the_greedy_factor(blobs):
    X, _ = blobs
    greedy = incomplete_cholesky(X, rbf(2.0), max_rank=25)
    given = cholesky_on_pivots(X, rbf(2.0), greedy.pivots)
    np.testing.assert_allclose(given.G, greedy.G, atol=1e-9)
    assert given.residual == pytest.approx(greedy.residual)
