"""Kernels of a distance."""

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc.data.sparse import times_columns
from sparseksc.kernels import RBF, exponential, make_kernel
from tests.kernels.examples import EXPONENTIAL, points


@pytest.mark.parametrize("name", EXPONENTIAL)
def test_the_bandwidth_divides_the_distances(name):
    X, P = points(12), points(4, seed=1)
    kernel = make_kernel(name, 3.0)
    np.testing.assert_allclose(kernel.distances(X, P), -3.0 * np.log(kernel.tile(X, P)), rtol=1e-9)


@pytest.mark.parametrize("name", EXPONENTIAL)
def test_moments_do_not_depend_on_who_sums_them(monkeypatch, name):
    X, P, kernel = points(300), points(40, seed=1), make_kernel(name, 2.0)
    fused = kernel.moments(X, P, np.ones(300), np.ones(40), 0.1)
    monkeypatch.setattr(exponential, "FUSED_RANK", 39)
    from_tile = kernel.moments(X, P, np.ones(300), np.ones(40), 0.1)
    for a, b in zip(fused, from_tile, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_one_bandwidth_per_feature_is_a_change_of_units(name):
    X, P, h = points(20), points(5, seed=1), np.array([0.25, 1.0, 4.0, 16.0])
    units = np.sqrt(h) if name == "rbf" else h
    tile = make_kernel(name, tuple(h)).tile(X, P)
    np.testing.assert_allclose(tile, make_kernel(name, 1.0).tile(X / units, P / units), rtol=1e-13)


@pytest.mark.parametrize("name", EXPONENTIAL)
def test_far_points_have_the_value_zero_and_not_an_overflow(name, no_warnings):
    X = np.array([[0.0, 0.0], [1e200, 1e200], [1e154, 0.0]])
    tile = make_kernel(name, 1e-3).tile(X, X)
    np.testing.assert_array_equal(tile, np.eye(3))


def test_far_sparse_points_have_the_value_zero_and_not_an_overflow(no_warnings):
    X = np.array([[0.0, 1.0], [1e4, 1e6], [1e5, 0.0]])
    tile = make_kernel("rbf", 1e-300).tile(sp.csr_array(X), sp.csr_array(X))
    np.testing.assert_array_equal(tile, np.eye(3))


@pytest.mark.parametrize("name", EXPONENTIAL)
def test_distances_of_rows_that_are_only_read(name):
    X, kernel = points(12), make_kernel(name)
    expected = kernel.distances(X, X)
    X.setflags(write=False)
    np.testing.assert_array_equal(kernel.distances(X, X), expected)


def test_the_chi2_kernel_refuses_negative_features():
    with pytest.raises(ValueError, match=r"Negative values in data .* the least is -0\.5"):
        make_kernel("chi2").check(np.array([[1.0, -0.5]]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_sparse_row_has_the_same_bits_alone(dtype):
    rng = np.random.default_rng(0)
    X = sp.random_array((40, 300), density=0.1, rng=rng, format="csr").astype(dtype)
    P = sp.random_array((30, 300), density=0.1, rng=rng, format="csr").astype(dtype)
    rows, points = X.toarray(), P.toarray()
    rows[3], points[5] = 0.0, rows[7]  # empty, and equal
    X, P = sp.csr_array(rows), sp.csr_array(points)
    block = RBF(5.0).tile(X, P)
    alone = np.vstack([RBF(5.0).tile(X[i : i + 1], P) for i in range(40)])
    np.testing.assert_array_equal(alone, block)
    assert alone.dtype == dtype
    # Entries in another order are other sums, and are left to the product of the matrices.
    backwards = times_columns(X, np.ones(300))
    alone = np.vstack([RBF(5.0).tile(backwards[i : i + 1], P) for i in range(40)])
    np.testing.assert_array_equal(alone, RBF(5.0).tile(backwards, P))
