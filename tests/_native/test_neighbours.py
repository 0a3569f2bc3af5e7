"""The nearest points: compiled, in NumPy, and by sorting everything."""

import numpy as np
import pytest

from sparseksc import _native
from sparseksc._native import neighbours, twin


@pytest.fixture(params=["native", "twin"])
def backend(request, monkeypatch):
    if request.param == "twin":
        monkeypatch.setattr(_native, "_backend", twin)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("R", "count"), [(1, 1), (15, 4), (16, 16), (17, 2), (300, 7)])
def test_the_smallest_of_each_row(backend, dtype, R, count):
    values = np.random.default_rng(R).normal(size=(50, R)).astype(dtype)
    expected = np.argsort(values, axis=1)[:, :count]
    np.testing.assert_array_equal(neighbours.smallest(values, count), expected)


def test_of_equal_values_the_first_are_taken(backend):
    values = np.array([[1.0, 0.0, 0.0, 0.0, 2.0]])
    np.testing.assert_array_equal(neighbours.smallest(values, 2), [[1, 2]])


@pytest.mark.parametrize("d", [1, 7, 8, 20])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_distances_are_sorted_with_their_numbers(backend, dtype, d):
    rng = np.random.default_rng(0)
    X, P = rng.normal(size=(30, d)).astype(dtype), rng.normal(size=(12, d)).astype(dtype)
    numbers = np.argsort(rng.uniform(size=(30, 12)), axis=1)[:, :5].copy()
    asked = numbers.copy()
    distances = neighbours.distances_to(X, P, numbers)
    all_pairs = ((X[:, None].astype(float) - P) ** 2).sum(axis=2)
    np.testing.assert_allclose(distances, np.take_along_axis(all_pairs, numbers, 1), rtol=1e-12)
    np.testing.assert_array_equal(np.sort(numbers), np.sort(asked))
    assert (np.diff(distances) >= 0.0).all()


def test_both_give_the_same_order_where_distances_are_equal(monkeypatch):
    X, P = np.zeros((3, 2)), np.ones((4, 2))
    for module in (_native._backend, twin):
        monkeypatch.setattr(_native, "_backend", module)
        numbers = np.array([[3, 1], [2, 0], [1, 3]])
        neighbours.distances_to(X, P, numbers)
        np.testing.assert_array_equal(numbers, [[1, 3], [0, 2], [1, 3]])


def test_numbers_out_of_range_are_refused(backend):
    with pytest.raises(ValueError, match="out of range"):
        neighbours.distances_to(np.zeros((1, 2)), np.zeros((2, 2)), np.array([[2]]))
    with pytest.raises(ValueError, match="columns"):
        neighbours.smallest(np.zeros((1, 2)), 3)
