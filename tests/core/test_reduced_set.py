"""Reduced sets: selection stops exactly where it should, and L is the Cholesky factor."""

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc.core.pivoting import RULES
from tests.conftest import pivots_of
from tests.reference.kernels import kernel_matrix
from tests.reference.selection import residual_path


def omega_of(kernel, X):
    return kernel.tile(X, X)


@pytest.mark.parametrize("tol", [0.5, 0.1, 1e-2, 1e-4])
@pytest.mark.parametrize("pivoting", RULES)
def test_the_tolerance_is_met_by_the_last_pivot_and_not_before(shape, pivoting, tol):
    kernel, chosen = pivots_of(
        "rbf", shape.X, bandwidth=4 * shape.bandwidth, max_rank=400, tol=tol, pivoting=pivoting
    )
    path = residual_path(omega_of(kernel, shape.X), chosen.indices)
    # Pivots that nearly coincide ("uniform") cost either computation half of its digits.
    np.testing.assert_allclose(chosen.path, path, rtol=0, atol=1e-6)
    assert path[-1] <= tol + 1e-6
    assert chosen.residual <= tol
    assert chosen.rank == 1 or (chosen.path[-2] > tol and path[-2] > tol - 1e-6)


@pytest.mark.parametrize("kernel_name", ["linear", "polynomial"])
@pytest.mark.parametrize("pivoting", RULES)
def test_the_tolerance_is_relative_to_the_trace_where_the_diagonal_varies(
    gaussians, pivoting, kernel_name
):
    tol = 0.2 if kernel_name == "linear" else 0.02
    kernel, chosen = pivots_of(
        kernel_name, gaussians.X, bandwidth=10.0, max_rank=200, tol=tol, pivoting=pivoting
    )
    path = residual_path(omega_of(kernel, gaussians.X), chosen.indices)
    np.testing.assert_allclose(chosen.path, path, atol=1e-9)
    assert path[-1] <= tol < path[-2]
    assert not chosen.constant_diagonal


@pytest.mark.parametrize("max_rank", [1, 2, 37, 300])
@pytest.mark.parametrize("pivoting", RULES)
def test_no_rule_takes_more_pivots_than_max_rank(shape, pivoting, max_rank):
    _, chosen = pivots_of(
        "laplacian", shape.X, bandwidth=shape.bandwidth, max_rank=max_rank, pivoting=pivoting
    )
    assert chosen.rank == min(max_rank, len(shape.X))
    assert len(set(chosen.indices.tolist())) == chosen.rank


@pytest.mark.parametrize("pivoting", RULES)
def test_the_factor_is_the_cholesky_factor_of_the_kernel_matrix_of_the_pivots(shape, pivoting):
    kernel, chosen = pivots_of(
        "rbf", shape.X, bandwidth=shape.bandwidth, max_rank=40, pivoting=pivoting
    )
    np.testing.assert_array_equal(chosen.points, shape.X[chosen.indices])
    np.testing.assert_array_equal(chosen.factor, np.tril(chosen.factor))
    np.testing.assert_allclose(
        chosen.factor @ chosen.factor.T, omega_of(kernel, chosen.points), atol=1e-12
    )


@pytest.mark.parametrize("pivoting", RULES)
def test_a_point_and_its_copies_give_one_pivot(pivoting):
    distinct = np.random.default_rng(0).standard_normal((40, 2))
    X = np.repeat(distinct, 5, axis=0)
    _, chosen = pivots_of("rbf", X, bandwidth=0.05, max_rank=200, pivoting=pivoting)
    assert chosen.rank == 40
    assert len(np.unique(chosen.points, axis=0)) == 40
    assert chosen.residual <= 1e-12


def test_the_linear_kernel_has_no_more_pivots_than_features(gaussians):
    for pivoting in RULES:
        _, chosen = pivots_of("linear", gaussians.X, bandwidth=None, max_rank=50, pivoting=pivoting)
        assert chosen.rank == 5


@pytest.mark.parametrize("pivoting", RULES)
def test_weights_count_like_copies_in_the_trace(gaussians, pivoting):
    weights = np.random.default_rng(0).integers(1, 5, len(gaussians.X)).astype(float)
    kernel, chosen = pivots_of(
        "rbf", gaussians.X, bandwidth=8.0, max_rank=200, tol=0.1, pivoting=pivoting, weights=weights
    )
    path = residual_path(omega_of(kernel, gaussians.X), chosen.indices, weights)
    np.testing.assert_allclose(chosen.path, path, atol=1e-11)
    assert path[-1] <= 0.1 < path[-2]


@pytest.mark.parametrize("pivoting", RULES)
def test_sparse_and_precomputed_data_have_the_pivots_of_dense_data(gaussians, pivoting):
    X = np.round(gaussians.X)
    X = np.unique(X, axis=0)
    _, dense = pivots_of("rbf", X, bandwidth=8.0, max_rank=25, pivoting=pivoting)
    _, sparse = pivots_of("rbf", sp.csr_array(X), bandwidth=8.0, max_rank=25, pivoting=pivoting)
    assert sparse.rank == dense.rank
    np.testing.assert_allclose(sparse.points.toarray(), X[sparse.indices])
    if pivoting == "greedy":
        matrix = kernel_matrix("rbf", X, X, bandwidth=8.0)
        _, given = pivots_of("precomputed", matrix, bandwidth=None, max_rank=25)
        np.testing.assert_array_equal(given.indices, dense.indices)
        np.testing.assert_array_equal(given.points, dense.indices)
