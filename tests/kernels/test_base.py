"""What all kernels do: every tile entry is the formula, whatever the storage of the points."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparseksc.kernels import KERNELS, make_kernel
from tests.kernels.examples import NAMED, SPARSE, WITH_BANDWIDTH, points
from tests.reference.kernels import kernel_matrix


@pytest.mark.parametrize("bandwidth", [0.7, (0.2, 1.0, 3.0, 0.5)])
@pytest.mark.parametrize("name", NAMED)
def test_every_entry_of_a_tile_is_the_formula(name, bandwidth):
    X, P = points(17), points(5, seed=1)
    expected = kernel_matrix(name, X, P, bandwidth=bandwidth)
    tile = make_kernel(name, bandwidth).tile(X, P)
    np.testing.assert_allclose(tile, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", NAMED)
def test_the_diagonal_is_that_of_the_square_tile(name):
    X = points(9)
    X[3] = 0.0
    kernel = make_kernel(name, 0.7)
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(kernel.tile(X, X)), rtol=1e-12)
    assert kernel.diagonal(X.astype(np.float32)).dtype == np.float64


@pytest.mark.parametrize("name", NAMED)
def test_float32_points_give_float32_tiles_close_to_the_float64_ones(name):
    X, P = points(40), points(6, seed=1)
    tile = make_kernel(name, 0.7).tile(X.astype(np.float32), P.astype(np.float32))
    assert tile.dtype == np.float32
    np.testing.assert_allclose(tile, make_kernel(name, 0.7).tile(X, P), rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bandwidth", [0.7, (0.2, 1.0, 3.0, 0.5)])
@pytest.mark.parametrize("name", SPARSE)
def test_sparse_rows_give_the_tile_of_dense_rows(name, bandwidth, dtype):
    X, P = points(30, dtype=dtype), points(6, seed=1, dtype=dtype)
    X[X < 0.6], P[P < 0.6] = 0.0, 0.0
    kernel = make_kernel(name, bandwidth)
    tile = kernel.tile(sp.csr_array(X), sp.csr_array(P))
    assert isinstance(tile, np.ndarray)
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(tile, kernel.tile(X, P), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(kernel.diagonal(sp.csr_array(X)), kernel.diagonal(X), rtol=tolerance)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("name", "storage"),
    [*((name, np.asarray) for name in NAMED), *((name, sp.csr_array) for name in SPARSE)],
)
def test_moments_are_the_sums_over_the_rows_of_the_tile(name, storage, dtype):
    X, P = storage(points(30, dtype=dtype)), storage(points(6, seed=1, dtype=dtype))
    kernel = make_kernel(name, 2.0)
    weights, q = np.arange(30) % 4 / 2.0, np.linspace(0.5, 1.5, 6)
    tile = kernel.tile(X, P).astype(np.float64)
    degrees = tile @ q
    floor = np.sort(degrees)[9:11].mean()
    shares = np.where(degrees > floor, weights / degrees, 0.0)
    moment, mean, omega, n_excluded, excluded_weight = kernel.moments(X, P, weights, q, floor)
    left_out = weights[(degrees <= floor) & (weights > 0)]
    assert (n_excluded, excluded_weight) == (len(left_out), left_out.sum())
    assert moment.dtype == mean.dtype == np.float64
    tolerance = 1e-12 if dtype == np.float64 else 1e-6
    np.testing.assert_allclose(moment, (tile.T * shares) @ tile, rtol=tolerance)
    np.testing.assert_allclose(mean, shares @ tile, rtol=tolerance)
    assert omega == pytest.approx(shares.sum(), rel=tolerance)


def test_only_the_kernels_of_inner_products_and_distances_take_sparse_rows():
    taking = {name for name, kind in KERNELS.items() if kind.accepts_sparse}
    assert taking == {"rbf", "cosine", "linear", "polynomial", "landmarks"}


@pytest.mark.parametrize("name", NAMED)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_kernel_matrices_are_symmetric_and_positive_semidefinite(name, data):
    numbers = st.floats(0.0, 8.0, width=32)
    X = data.draw(arrays(np.float64, (data.draw(st.integers(1, 12)), 3), elements=numbers))
    omega = make_kernel(name, data.draw(st.floats(0.01, 100.0))).tile(X, X)
    scale = np.abs(omega).max()
    assert np.abs(omega - omega.T).max() <= 1e-14 * scale
    assert np.linalg.eigvalsh(omega).min() >= -1e-12 * max(scale, 1.0)


def test_kernels_are_immutable_and_compare_by_value():
    kernel = make_kernel("rbf", 2.0)
    with pytest.raises(FrozenInstanceError):
        kernel.bandwidth = 3.0
    assert kernel == make_kernel("rbf", 2.0) != make_kernel("rbf", 3.0)
    assert kernel != make_kernel("laplacian", 2.0)
    assert hash(kernel) == hash(make_kernel("rbf", 2.0))


@pytest.mark.parametrize("name", NAMED)
def test_only_kernels_with_a_bandwidth_change_with_it(name):
    kernel = make_kernel(name)
    changed = kernel.with_bandwidth(5.0)
    assert (changed is not kernel) == (name in WITH_BANDWIDTH)
    assert getattr(changed, "bandwidth", None) == (5.0 if name in WITH_BANDWIDTH else None)
