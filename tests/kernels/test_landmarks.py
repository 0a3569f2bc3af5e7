"""The weights of the landmarks, however the nearest ones are found."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseksc.kernels import Landmarks, metrics
from tests.reference.landmarks import kernel_matrix, mixtures


def points(n, d, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("d", "R"), [(1, 4), (3, 50), (40, 300)])
def test_features_are_the_formula(d, R, dtype):
    X, P = points(90, d, dtype=dtype), points(R, d, 1, dtype)
    s = min(6, R // 2)
    Z = Landmarks().tile(X, P)
    tolerance = 1e-9 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(Z, mixtures(X.astype(float), P.astype(float), s), atol=tolerance)


@pytest.mark.parametrize("d", [1, 2, 8])
def test_a_tree_finds_the_same_landmarks_as_products(d, monkeypatch):
    X, P = points(500, d), points(200, d, 1)
    before = Landmarks().nearest(X, P, 7)
    monkeypatch.setattr(metrics, "TREE_POINTS", 100)
    after = Landmarks().nearest(X, P.copy(), 7)
    for left, right in zip(before, after, strict=True):
        np.testing.assert_array_equal(left, right)


def test_what_finds_landmarks_is_made_once_for_them(monkeypatch):
    P = points(3000, 2)
    first = Landmarks().nearest(P, P, 2)
    monkeypatch.setattr(metrics, "cKDTree", None)  # which could not be called
    np.testing.assert_array_equal(Landmarks().nearest(P, P, 2)[1], first[1])


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_rows_sum_to_one_and_no_weight_is_negative(data):
    n, R = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 30))
    numbers = st.integers(-3, 3)  # with many ties
    X = np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)), float)[:, None]
    P = np.array(data.draw(st.lists(numbers, min_size=R, max_size=R)), float)[:, None]
    Z = Landmarks(data.draw(st.integers(1, 8))).tile(X, P)
    np.testing.assert_allclose(Z.sum(axis=1), 1.0, rtol=1e-12)
    assert (Z >= 0.0).all()


def test_the_kernel_is_positive_semidefinite_and_its_degrees_are_one():
    X, P = points(80, 3), points(20, 3, 1)
    weights = np.random.default_rng(2).uniform(0.1, 3.0, 80)
    omega = kernel_matrix(Landmarks(4).tile(X, P), weights)
    assert np.linalg.eigvalsh(omega).min() > -1e-12
    np.testing.assert_allclose(omega @ weights, 1.0, rtol=1e-12)


@pytest.mark.parametrize("shift", [0.0, 1e8])
@pytest.mark.parametrize("factor", [1e-200, 1.0, 1e200])
def test_neither_the_origin_nor_the_unit_matters(shift, factor, no_warnings):
    # Whole numbers, so that shifting rounds nothing.
    rng = np.random.default_rng(0)
    X, P = rng.integers(-99, 99, (60, 5)) * 1.0, rng.integers(-99, 99, (30, 5)) * 1.0
    expected = Landmarks().tile(X, P)
    Z = Landmarks().tile((X + shift) * factor, (P + shift) * factor)
    np.testing.assert_allclose(Z, expected, atol=1e-6)


def test_sparse_rows_and_sparse_landmarks():
    X, P = (np.where(np.abs(part) < 1.0, 0.0, part) for part in (points(50, 9), points(30, 9, 1)))
    expected = Landmarks().tile(X, P)
    np.testing.assert_allclose(
        Landmarks().tile(sp.csr_array(X), sp.csr_array(P)), expected, atol=1e-9
    )
    np.testing.assert_allclose(Landmarks().tile(sp.csr_array(X), P), expected, atol=1e-9)


def test_degrees_are_minus_the_distance_to_the_nearest():
    X, P = points(40, 3), points(10, 3, 1)
    nearest = np.sqrt(((X[:, None] - P) ** 2).sum(axis=2).min(axis=1))
    np.testing.assert_allclose(Landmarks().degrees(X, P, np.ones(10)), -nearest)
    Z, degrees = Landmarks().features_and_degrees(X, P)
    np.testing.assert_allclose(degrees, -nearest)
    assert Z.nnz == 40 * 5  # at most half of them


def test_there_is_no_diagonal_without_the_data():
    with pytest.raises(NotImplementedError, match="no diagonal"):
        Landmarks().diagonal(points(3, 2))


def test_rows_beyond_all_numbers_have_even_weights(no_warnings):
    P = np.random.default_rng(0).normal(size=(20, 2))
    weights = Landmarks(3).features(np.array([[1e300, 0.0]]), P)
    np.testing.assert_allclose(weights.data, 1 / 3)
