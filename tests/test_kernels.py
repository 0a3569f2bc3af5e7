"""Kernels: every tile entry is the formula, whatever the storage of the points."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparseksc import kernels
from sparseksc.kernels import KERNELS, make_kernel
from tests.reference.kernels import kernel_matrix

EXPONENTIAL = ("rbf", "laplacian", "chi2")
WITH_BANDWIDTH = (*EXPONENTIAL, "polynomial")
SPARSE = ("rbf", "cosine", "linear", "polynomial")
NAMED = (*EXPONENTIAL, "cosine", "linear", "polynomial")


def points(n, d=4, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).gamma(1.0, size=(n, d)).astype(dtype)


@pytest.mark.parametrize("bandwidth", [0.7, (0.2, 1.0, 3.0, 0.5)])
@pytest.mark.parametrize("name", NAMED)
def test_every_entry_of_a_tile_is_the_formula(name, bandwidth):
    X, P = points(17), points(5, seed=1)
    expected = kernel_matrix(name, X, P, bandwidth=bandwidth)
    tile = make_kernel(name, bandwidth).tile(X, P)
    np.testing.assert_allclose(tile, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", EXPONENTIAL)
def test_the_bandwidth_divides_the_distances(name):
    X, P = points(12), points(4, seed=1)
    kernel = make_kernel(name, 3.0)
    np.testing.assert_allclose(kernel.distances(X, P), -3.0 * np.log(kernel.tile(X, P)), rtol=1e-9)


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


@pytest.mark.parametrize("name", EXPONENTIAL)
def test_moments_do_not_depend_on_who_sums_them(monkeypatch, name):
    X, P, kernel = points(300), points(40, seed=1), make_kernel(name, 2.0)
    fused = kernel.moments(X, P, np.ones(300), np.ones(40), 0.1)
    monkeypatch.setattr(kernels, "FUSED_RANK", 39)
    from_tile = kernel.moments(X, P, np.ones(300), np.ones(40), 0.1)
    for a, b in zip(fused, from_tile, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_only_the_kernels_of_inner_products_and_distances_take_sparse_rows():
    assert {name for name, kind in KERNELS.items() if kind.accepts_sparse} == set(SPARSE)


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_one_bandwidth_per_feature_is_a_change_of_units(name):
    X, P, h = points(20), points(5, seed=1), np.array([0.25, 1.0, 4.0, 16.0])
    units = np.sqrt(h) if name == "rbf" else h
    tile = make_kernel(name, tuple(h)).tile(X, P)
    np.testing.assert_allclose(tile, make_kernel(name, 1.0).tile(X / units, P / units), rtol=1e-13)


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


@pytest.mark.parametrize("name", EXPONENTIAL)
def test_far_points_have_the_value_zero_and_not_an_overflow(name, no_warnings):
    X = np.array([[0.0, 0.0], [1e200, 1e200], [1e154, 0.0]])
    tile = make_kernel(name, 1e-3).tile(X, X)
    np.testing.assert_array_equal(tile, np.eye(3))


def test_far_sparse_points_have_the_value_zero_and_not_an_overflow(no_warnings):
    X = np.array([[0.0, 1.0], [1e4, 1e6], [1e5, 0.0]])
    tile = make_kernel("rbf", 1e-300).tile(sp.csr_array(X), sp.csr_array(X))
    np.testing.assert_array_equal(tile, np.eye(3))


@pytest.mark.parametrize("bandwidth", [1e-300, 1e300])
def test_an_extreme_bandwidth_of_the_polynomial_kernel_is_kept_in_float32(bandwidth, no_warnings):
    root = np.float32(np.sqrt(bandwidth) * 1e-10) if bandwidth < 1 else np.float32(1.0)
    X = root * np.ones((2, 2), dtype=np.float32)
    kernel = make_kernel("polynomial", bandwidth, {"degree": 1})
    assert np.isfinite(kernel.tile(X, X)).all()
    assert np.isfinite(kernel.diagonal(X)).all()


def test_a_zero_row_is_similar_to_nothing_under_the_cosine():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    kernel = make_kernel("cosine")
    np.testing.assert_allclose(kernel.tile(X, X), [[0.0, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(kernel.diagonal(X), [0.0, 1.0])


def test_the_cosine_does_not_depend_on_the_length_of_the_rows(no_warnings):
    X = points(6) - 0.5
    kernel = make_kernel("cosine")
    for factor in (2.0**-600, 2.0**600):
        np.testing.assert_allclose(kernel.tile(factor * X, X), kernel.tile(X, X), rtol=1e-12)
        np.testing.assert_array_equal(kernel.diagonal(factor * X), np.ones(6))


@pytest.mark.parametrize(("degree", "coef0"), [(1, 0.0), (2, 0.5), (5, 2.0)])
def test_the_polynomial_kernel_has_a_degree_and_a_constant(degree, coef0):
    X, P = points(8), points(3, seed=1)
    kernel = make_kernel("polynomial", 2.0, {"degree": degree, "coef0": coef0})
    expected = kernel_matrix("polynomial", X, P, bandwidth=2.0, degree=degree, coef0=coef0)
    np.testing.assert_allclose(kernel.tile(X, P), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"degree": 0}, r"kernel_params\['degree'\] must be a positive integer, got 0"),
        ({"degree": 2.5}, r"kernel_params\['degree'\] must be a positive integer, got 2.5"),
        pytest.param(
            {"degree": "a"},
            r"kernel_params\['degree'\] must be a positive integer, got 'a'",
        ),
        pytest.param(
            {"degree": np.inf},
            r"kernel_params\['degree'\] must be a positive integer, got inf",
        ),
        ({"coef0": -1.0}, r"kernel_params\['coef0'\] must be finite and not negative"),
        ({"coef0": np.nan}, r"kernel_params\['coef0'\] must be finite and not negative"),
        pytest.param(
            {"coef0": "a"},
            r"kernel_params\['coef0'\] must be finite and not negative",
        ),
    ],
)
def test_the_polynomial_kernel_refuses_parameters_that_make_no_kernel(params, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_kernel("polynomial", 1.0, params)


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


def test_the_chi2_kernel_refuses_negative_features():
    with pytest.raises(ValueError, match=r"Negative values in data .* the least is -0\.5"):
        make_kernel("chi2").check(np.array([[1.0, -0.5]]))


# Precomputed matrices


def test_a_precomputed_kernel_is_read_column_by_column():
    omega = kernel_matrix("rbf", points(6), points(6))
    kernel = make_kernel("precomputed")
    pivots = kernel.pivots(omega, np.array([4, 1]))
    np.testing.assert_array_equal(kernel.tile(omega[2:5], pivots), omega[2:5][:, [4, 1]])
    np.testing.assert_array_equal(kernel.diagonal(omega), np.ones(6))
    some = np.array([5, 2])
    np.testing.assert_array_equal(kernel.among(omega[some], some), omega[some][:, some])
    assert kernel.pivots(omega[some], np.array([1]), some) == [2]


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (np.ones((4, 3)), "square matrix of shape .n_samples, n_samples., got 4 x 3"),
        (np.array([[1.0, 0.5], [0.2, 1.0]]), r"symmetric; two mirrored entries differ by 0\.3"),
        (np.array([[-1.0, 0.5], [0.5, 1.0]]), "positive semi-definite, but its diagonal"),
    ],
)
def test_a_precomputed_matrix_must_be_a_kernel_matrix(matrix, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_kernel("precomputed").check(matrix)


def test_asymmetry_is_found_in_every_block_of_a_large_matrix():
    omega = np.eye(2500)
    omega[2300, 5] = 0.5
    with pytest.raises(ValueError, match="symmetric"):
        make_kernel("precomputed").check(omega)


# Functions


def triangle(X, Y, width=1.0):
    return np.maximum(0.0, 1.0 - np.abs(X[:, None, 0] - Y[None, :, 0]) / width)


def test_a_function_is_a_kernel_and_gets_its_parameters():
    X = np.array([[0.0], [1.0], [3.0]])
    kernel = make_kernel(triangle, params={"width": 2.0})
    np.testing.assert_allclose(kernel.tile(X, X[:2]), [[1.0, 0.5], [0.5, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(kernel.diagonal(np.repeat(X, 30, axis=0)), np.ones(90))


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda X, Y: np.ones((2, 2)), r"must return a matrix of shape \(3, 3\), got \(2, 2\)"),
        (lambda X, Y: np.full((3, 3), np.nan), "returned NaN or infinite values"),
        pytest.param(
            lambda X, Y: np.full((3, 3), "a"),
            "must return numbers",
        ),
    ],
)
def test_a_function_that_returns_something_else_is_named(function, sentence):
    X = np.zeros((3, 1))
    with pytest.raises(ValueError, match=sentence):
        make_kernel(function).tile(X, X)
