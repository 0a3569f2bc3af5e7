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


def by_differences(X, P, count):
    """The nearest points, from all distances in float64."""
    all_pairs = ((X[:, None].astype(float) - P) ** 2).sum(axis=2)
    numbers = np.argsort(all_pairs, axis=1, kind="stable")[:, :count]
    return numbers, np.take_along_axis(all_pairs, numbers, 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("d", "R", "count"), [(1, 1, 1), (3, 40, 40), (8, 70, 65), (50, 300, 7)])
@pytest.mark.parametrize("n", [0, 1, 8, 9, 200])
def test_the_nearest_points_are_those_of_all_distances(backend, n, d, R, count, dtype):
    rng = np.random.default_rng(R)
    X, P = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(R, d)).astype(dtype)
    numbers, distances = neighbours.nearest(X, P, count)
    expected, squares = by_differences(X, P, count)
    np.testing.assert_array_equal(numbers, expected)
    np.testing.assert_allclose(distances, squares, rtol=1e-12)


def test_the_nearest_points_do_not_depend_on_the_rows_around():
    rng = np.random.default_rng(0)
    X, P = rng.normal(size=(203, 40)), rng.normal(size=(150, 40))
    whole = neighbours.nearest(X, P, 5)
    for size in (1, 7, 9, 100):
        parts = [neighbours.nearest(X[i : i + size], P, 5) for i in range(0, len(X), size)]
        for place in range(2):
            assert np.array_equal(np.concatenate([part[place] for part in parts]), whole[place])


def test_distances_below_the_rounding_of_float32_are_told_apart():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(5, 30))
    X, P = (
        centers[rng.integers(5, size=size)] + 1e-6 * rng.normal(size=(size, 30))
        for size in (100, 400)
    )
    np.testing.assert_array_equal(neighbours.nearest(X, P, 7)[0], by_differences(X, P, 7)[0])


def test_of_equally_near_points_the_first_are_taken(backend):
    P = np.tile(np.eye(3), (40, 1))
    numbers, distances = neighbours.nearest(np.zeros((20, 3)), P, 4)
    np.testing.assert_array_equal(numbers, np.tile(np.arange(4), (20, 1)))
    np.testing.assert_array_equal(distances, np.ones((20, 4)))


@pytest.mark.parametrize("value", [1e30, 1e200, np.inf, np.nan])
def test_a_row_that_overflows_has_neighbours_and_disturbs_no_other(value):
    rng = np.random.default_rng(0)
    X, P = rng.normal(size=(50, 4)), rng.normal(size=(60, 4))
    expected = neighbours.nearest(X, P, 3)
    X[7, 2] = value
    numbers, distances = neighbours.nearest(X, P, 3)
    others = np.arange(50) != 7
    assert np.array_equal(numbers[others], expected[0][others])
    assert np.array_equal(distances[others], expected[1][others])
    assert len(set(numbers[7].tolist())) == 3


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
    with pytest.raises(ValueError, match="columns"):
        neighbours.nearest(np.zeros((1, 2)), np.zeros((2, 2)), 3)
