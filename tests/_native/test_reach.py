"""Narrow kernels: the native functions leave out pivots beyond the reach of a row."""

from __future__ import annotations

import numpy as np
import pytest

from sparseksc import _native
from sparseksc._native import KERNELS, column_sums, moments, scores, tile, twin

try:
    from sparseksc._native import _core
except ImportError:
    _core = None

pytestmark = pytest.mark.skipif(_core is None, reason="the extension module is not built")
TOLERANCE = {np.float64: 1e-12, np.float32: 2e-5}


@pytest.fixture(params=() if _core is None else tuple(_core.variants()), autouse=True)
def variant(request, monkeypatch):
    before = _core.active_variant()
    _core.use_variant(request.param)
    monkeypatch.setattr(_native, "_backend", _core)
    yield
    _core.use_variant(before)


def strings_of_beads(n_rows, n_pivots, n_features, dtype, seed=0):
    """Rows and pivots around well separated places, in an order that has nothing to do with them.

    Within a place exponents are about 1 for inverse bandwidths of 1, between places they are 20
    to many thousands.
    """
    rng = np.random.default_rng(seed)
    places = 30.0 * rng.permutation(40)[:, None] + rng.uniform(5, 10, (40, n_features))
    X = places[rng.integers(40, size=n_rows)] + rng.uniform(0, 1, (n_rows, n_features))
    P = places[rng.integers(40, size=n_pivots)] + rng.uniform(0, 1, (n_pivots, n_features))
    return X.astype(dtype), P.astype(dtype)


@pytest.mark.parametrize(
    ("n_features", "n_pivots"), [(2, 33), (1, 115), (2, 115), (9, 115), (2, 2100)]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", KERNELS)
def test_sums_are_those_of_all_pivots(name, dtype, n_features, n_pivots):
    X, P = strings_of_beads(300, n_pivots, n_features, dtype)
    rng = np.random.default_rng(1)
    inverse = np.full(n_features, 2.0)
    weights, coef = rng.uniform(0, 2, len(X)), rng.normal(size=(n_pivots, 3))
    full = twin._tile(name, X, P, inverse)
    tolerance = TOLERANCE[dtype]

    found = scores(name, X, P, inverse, coef, np.array([0.5, 0.0, -0.5]))
    np.testing.assert_allclose(
        found,
        full @ coef + [0.5, 0.0, -0.5],
        rtol=0,
        atol=tolerance * (np.abs(full) @ np.abs(coef)).max(),
    )
    sums = column_sums(name, X, P, inverse, weights)
    np.testing.assert_allclose(sums, weights @ full, rtol=tolerance, atol=1e-15)

    q = rng.uniform(0.5, 1, n_pivots)
    floor = 1e-3
    expected = twin.moments_of(full.copy(), weights, q, floor)
    got = moments(name, X, P, inverse, weights, q, floor)
    np.testing.assert_allclose(got[0], expected[0], rtol=0, atol=tolerance * expected[0].max())
    np.testing.assert_array_equal(got[0], got[0].T)
    np.testing.assert_allclose(got[1], expected[1], rtol=0, atol=tolerance * expected[1].max())
    np.testing.assert_allclose(got[2], expected[2], rtol=tolerance)
    assert got[3] == expected[3]
    assert got[4] == pytest.approx(expected[4])


@pytest.mark.parametrize(("n_features", "scale"), [(2, 34.8), (3, 34.8), (5, 80.0)])
def test_every_kernel_value_of_a_row_is_the_same_alone(n_features, scale):
    rng = np.random.default_rng(0)
    X, P = rng.normal(size=(2000, n_features)), rng.normal(size=(300, n_features))
    inverse, none = np.full(n_features, scale), np.zeros(300)
    middle = np.argsort((X**2).sum(axis=1))[:40]  # they reach most regions
    together = scores("rbf", X, P, inverse, np.eye(300), none)[middle]
    alone = [scores("rbf", X[[row]], P, inverse, np.eye(300), none)[0] for row in middle]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("scale", [2.0, 8.0, 30.0])
def test_moments_of_rows_that_reach_most_pivots(scale):
    """Groups are joined until their matrix is worth its additions."""
    rng = np.random.default_rng(5)
    X, P = rng.normal(size=(3000, 5)), rng.normal(size=(600, 5))
    weights, q, inverse = np.ones(len(X)), np.ones(len(P)), np.full(5, scale)
    found = moments("rbf", X, P, inverse, weights, q, 1e-9)
    expected = twin.moments_of(twin._tile("rbf", X, P, inverse), weights, q, 1e-9)
    for ours, theirs in zip(found[:2], expected[:2], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())
    assert found[3] == expected[3]


@pytest.mark.parametrize("name", KERNELS)
def test_pivots_beyond_the_reach_count_as_zero(name):
    """What the others gain from: without regions this sum would be small, but not zero."""
    rng = np.random.default_rng(0)
    near, far, farther = (rng.uniform((x, 1), (x + 1, 2), (200, 2)) for x in (1, 15, 30))
    P = np.vstack([near, far, farther])
    inverse = np.full(2, {"rbf": 0.5, "laplacian": 6.0, "chi2": 30.0}[name])
    coef = np.repeat([0.0, 0.0, 1.0], 200)[:, None]
    values = tile(name, near, farther, inverse)
    assert 0.0 < values.min() and values.max() < np.exp(-45)
    assert not scores(name, near, P, inverse, coef, np.zeros(1)).any()
    assert scores(name, farther, P, inverse, coef, np.zeros(1)).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", KERNELS)
def test_the_bits_of_a_row_depend_on_nothing_around_it(name, dtype):
    X, P = strings_of_beads(999, 300, 2, dtype)
    inverse, coef, bias = np.ones(2), np.random.default_rng(2).normal(size=(300, 2)), np.zeros(2)
    whole = scores(name, X, P, inverse, coef, bias)
    order = np.random.default_rng(3).permutation(len(X))
    shuffled = scores(name, np.ascontiguousarray(X[order]), P, inverse, coef, bias)
    np.testing.assert_array_equal(shuffled, whole[order])
    for start, end in [(0, 1), (5, 8), (100, 117), (998, 999)]:
        part = scores(name, np.ascontiguousarray(X[start:end]), P, inverse, coef, bias)
        np.testing.assert_array_equal(part, whole[start:end])


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_rows_far_from_everything_keep_their_small_values(name):
    """The reach is relative to the nearest pivot: sums of tiny values keep their digits."""
    rng = np.random.default_rng(0)
    P = rng.uniform(0, 200, (400, 2))
    X = np.column_stack([rng.uniform(0, 200, 50), rng.uniform(-22, -12, 50)])
    inverse = np.full(2, 0.6 if name == "rbf" else 15.0)
    exact = twin._tile(name, X, P, inverse).sum(axis=1)
    assert 0.0 < exact.min() and exact.max() < 1e-30
    found = scores(name, X, P, inverse, np.ones((400, 1)), np.zeros(1))[:, 0]
    np.testing.assert_allclose(found, exact, rtol=1e-12)


@pytest.mark.parametrize("value", [1e308, -1e308, 1e-308])
def test_extreme_rows(value):
    X, P = strings_of_beads(5, 200, 2, np.float64)
    X[2] = value
    inverse = np.ones(2)
    found = scores("rbf", X, P, inverse, np.ones((200, 1)), np.zeros(1))
    np.testing.assert_allclose(found[:, 0], tile("rbf", X, P, inverse).sum(axis=1), atol=1e-13)
    assert column_sums("rbf", X, P, inverse, np.ones(5)).sum() == pytest.approx(found.sum())


def test_pivots_that_are_all_equal_or_repeated():
    X, P = strings_of_beads(100, 50, 2, np.float64)
    P = np.repeat(P, 8, axis=0)
    inverse, coef = np.ones(2), np.ones((400, 1))
    for pivots in (P, np.repeat(P[:1], 400, axis=0)):
        expected = twin._tile("rbf", X, pivots, inverse).sum(axis=1)
        found = scores("rbf", X, pivots, inverse, coef, np.zeros(1))[:, 0]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)
