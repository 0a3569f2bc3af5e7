"""The native loops over clusters and pivots against their NumPy twin, and their edge cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_native import VARIANTS, use

from sparseksc import _native
from sparseksc._native import clusters, hashing, twin

SIZES = [(0, 1, 1), (1, 1, 1), (7, 2, 3), (64, 3, 4), (501, 7, 8), (501, 8, 9), (333, 16, 17)]


@pytest.fixture(params=VARIANTS)
def core(request, monkeypatch):
    yield from use(request.param, monkeypatch)


@pytest.fixture(params=("twin", *VARIANTS))
def backend(request, monkeypatch):
    yield from use(request.param, monkeypatch)


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


def test_hashed_numbers_are_those_of_the_twin(core):
    rows = np.concatenate([np.arange(1000), 2**62 + np.arange(5), [2**63 - 1]])
    expected = np.empty(len(rows))
    for state in (0, 12345, 2**64 - 1):
        twin.uniform_into(rows, state, expected)
        np.testing.assert_array_equal(hashing.uniform(rows, state), expected)
    with pytest.raises(TypeError, match="rows must be int64"):
        hashing.uniform(np.arange(3.0), 0)


@pytest.mark.parametrize("bound", [-0.5, 0.0, 0.3, 0.999, 1.0])
@pytest.mark.parametrize("n", [0, 1, 2000, 40_000])
def test_rows_ahead_of_a_bound_are_those_with_larger_hashes(backend, n, bound):
    for rows in (n, 7 * np.arange(n), np.arange(2 * n)[::2]):
        numbers = hashing.uniform(np.arange(n) if isinstance(rows, int) else rows, 5)
        places, hashes = hashing.ahead(rows, 5, bound)
        np.testing.assert_array_equal(places, np.flatnonzero(numbers > bound))
        np.testing.assert_array_equal(hashes, numbers[numbers > bound])


def test_more_rows_than_expected_are_all_ahead(backend):
    rows = np.full(500, int(np.argmax(hashing.uniform(np.arange(1000), 5))))
    np.testing.assert_array_equal(hashing.ahead(rows, 5, 0.99)[0], np.arange(500))


@pytest.mark.parametrize(("n", "m", "K"), SIZES)
def test_scatter_is_that_of_the_twin(core, n, m, K):
    rng = np.random.default_rng(4)
    rows, weights = rng.standard_normal((n, m)), rng.uniform(0.0, 2.0, n)
    labels = rng.integers(0, max(K - 1, 1), n)  # the last cluster is empty
    expected = np.empty((K, m, m))
    twin.scatter_into(rows, labels, weights, expected)
    found = clusters.scatter(rows, labels, weights, K)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", _native.KERNELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d", "R"), [(1, 1, 1), (9, 2, 9), (600, 2, 40), (1100, 8, 75)])
def test_greedy_is_that_of_the_twin(core, name, dtype, n, d, R):
    rng = np.random.default_rng(5)
    X, weights = rng.uniform(0.0, 2.0, (n, d)).astype(dtype), rng.uniform(0.5, 2.0, n)
    inverse = np.full(d, 5.0)

    def state():
        return np.ones(n), np.zeros((R, n))

    (residual, G), (rest, factor) = state(), state()
    arguments = (0, float(weights.sum()), 1e-3, 1e-8)
    pivots, path = _native.greedy(name, X, inverse, weights, residual, G, *arguments)
    chosen, traces = np.empty(R, np.int64), np.empty(R)
    rank = twin.greedy_into(
        name, X, inverse, weights, arguments[1], *arguments[2:], 0, rest, factor, chosen, traces
    )
    tolerance = 1e-9 if dtype == np.float64 else 1e-3
    assert pivots == chosen[:rank].tolist()
    np.testing.assert_allclose(path, traces[:rank], atol=tolerance)
    np.testing.assert_allclose(G[:rank], factor[:rank], atol=tolerance)
    np.testing.assert_allclose(residual, rest, atol=tolerance)


def test_greedy_goes_on_where_it_was_left(backend):
    X = np.random.default_rng(6).uniform(size=(300, 2))
    inverse, weights = np.full(2, 8.0), np.ones(300)
    whole, G = np.ones(300), np.zeros((30, 300))
    pivots, path = _native.greedy("rbf", X, inverse, weights, whole, G, 0, 300.0, 0.0, 1e-9)
    rest, H = np.ones(300), np.zeros((30, 300))
    first = _native.greedy("rbf", X, inverse, weights, rest, H[:12], 0, 300.0, 0.0, 1e-9)
    second = _native.greedy("rbf", X, inverse, weights, rest, H, 12, 300.0, 0.0, 1e-9)
    assert first[0] + second[0] == pivots
    assert first[1] + second[1] == path
    np.testing.assert_array_equal(G, H)


def test_greedy_takes_the_first_of_equal_points_and_no_copy_of_it(backend):
    X = np.repeat(np.array([[0.0], [5.0], [9.0]]), 4, axis=0)
    residual, G = np.ones(12), np.zeros((12, 12))
    pivots, path = _native.greedy(
        "rbf", X, np.ones(1), np.ones(12), residual, G, 0, 12.0, 0.0, 1e-9
    )
    assert pivots == [0, 4, 8]
    assert path[-1] == pytest.approx(0.0, abs=1e-9)


def test_greedy_refuses_what_does_not_fit(backend):
    X, one = np.ones((3, 2)), np.ones(3)
    with pytest.raises(ValueError, match="rank must be between"):
        _native.greedy("rbf", X, np.ones(2), one, one, np.ones((1, 3)), 2, 3.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="residual must have the shape"):
        _native.greedy("rbf", X, np.ones(2), one, np.ones(4), np.ones((1, 3)), 0, 3.0, 0.0, 0.0)
    with pytest.raises(TypeError, match="weights must be float64"):
        _native.greedy("rbf", X, np.ones(2), one.astype("f4"), one, np.ones((1, 3)), 0, 3.0, 0, 0)


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
