"""The native loops over clusters against their NumPy twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseksc._native import clusters, twin

SIZES = [(0, 1, 1), (1, 1, 1), (7, 2, 3), (64, 3, 4), (501, 7, 8), (501, 8, 9), (333, 16, 17)]


def directions(n, m, seed=0):
    rows = np.random.default_rng(seed).standard_normal((n, m))
    rows[: n // 3] += 3.0
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)


@pytest.mark.parametrize(("n", "m", "K"), SIZES)
def test_refine_is_that_of_the_twin(core, n, m, K):
    rows, weights = directions(n, m), np.random.default_rng(1).uniform(0.0, 2.0, n)
    start = directions(K, m, seed=2)
    expected = start.copy()
    twin.refine_into(rows, weights, 50, expected)
    np.testing.assert_allclose(clusters.refine(rows, weights, start, 50), expected, atol=1e-12)


@pytest.mark.parametrize(("n", "m", "K"), SIZES)
def test_spread_is_that_of_the_twin(core, n, m, K):
    rows = directions(n, m) * np.linspace(1.0, 2.0, n)[:, None]
    chosen = np.empty(K, np.int64)
    found = twin.spread_into(rows.copy(), chosen)
    # Beyond the number of dimensions nothing but rounding errors is left.
    np.testing.assert_array_equal(clusters.spread(rows, K)[:m], chosen[: min(found, m)])


@pytest.mark.parametrize(("n", "m", "K"), SIZES)
def test_assign_is_that_of_the_twin(core, n, m, K):
    rng = np.random.default_rng(3)
    distances = rng.integers(0, 4, (n, K)).astype(float)  # ties and zeros
    distances[n // 2 :] = rng.uniform(0.0, 2.0, (n - n // 2, K))
    found = clusters.assign(distances)
    expected = clusters.Assignment(np.empty(n, np.int64), np.empty(n), np.empty(n))
    twin.assign_into(distances, *expected)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_allclose(found.membership, expected.membership, rtol=1e-14)
    np.testing.assert_allclose(found.angular, expected.angular, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(("n", "m", "K"), SIZES)
def test_scatter_is_that_of_the_twin(core, n, m, K):
    rng = np.random.default_rng(4)
    rows, weights = rng.standard_normal((n, m)), rng.uniform(0.0, 2.0, n)
    labels = rng.integers(0, max(K - 1, 1), n)  # the last cluster is empty
    expected = np.empty((K, m, m))
    twin.scatter_into(rows, labels, weights, expected)
    found = clusters.scatter(rows, labels, weights, K)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_labels_out_of_range_are_refused(core):
    with pytest.raises(ValueError, match="out of range"):
        clusters.scatter(np.ones((2, 1)), np.array([0, 5]), np.ones(2), 2)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_the_order_of_the_rows_does_not_matter(n, K, seed):
    rng = np.random.default_rng(seed)
    distances = rng.uniform(size=(n, K))
    order = rng.permutation(n)
    for whole, shuffled in zip(
        clusters.assign(distances), clusters.assign(distances[order]), strict=True
    ):
        np.testing.assert_array_equal(whole[order], shuffled)


def test_read_only_and_fortran_arrays_are_taken(backend):
    rows = np.asfortranarray(directions(20, 3))
    rows.setflags(write=False)
    kept = rows.copy()
    clusters.refine(rows, np.ones(20), rows[:2], 10)
    clusters.spread(rows, 2)
    clusters.assign(rows)
    np.testing.assert_array_equal(rows, kept)
