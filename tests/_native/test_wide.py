"""The rbf kernel in many dimensions, which is computed from inner products."""

from __future__ import annotations

import numpy as np
import pytest

from sparseksc._native import column_sums, moments, scores, tile, twin
from tests._native.conftest import DTYPES, problem

FEATURES = (32, 127, 128, 129, 300, 784)


def exact(X, P, factors):
    """Tile in float64, from differences."""
    out = np.empty((len(X), len(P)))
    twin.tile_into("rbf", X.astype(np.float64), P.astype(np.float64), factors, out)
    return out


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("features", FEATURES)
def test_the_tile_of_some_points_is_symmetric_and_one_on_its_diagonal(core, features, dtype):
    X, _, factors = problem(205, 1, features, dtype)
    X[7] = X[150]
    block = tile("rbf", X, X, factors)
    assert np.array_equal(block, block.T)
    assert np.all(np.diag(block) == 1.0)
    assert block[7, 150] == 1.0
    assert block.max() <= 1.0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shift", (0.0, 1e2, 1e4))
def test_nothing_cancels_far_from_the_origin(core, shift, dtype):
    X, P, factors = problem(60, 40, 64, np.float64)
    X, P = (X + shift).astype(dtype), (P + shift).astype(dtype)
    tolerance = 1e-12 if dtype == np.float64 else 2e-6
    np.testing.assert_allclose(
        tile("rbf", X, P, factors), exact(X, P, factors), rtol=0, atol=tolerance
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("distance", (1e1, 1e3, 1e5))
def test_nothing_cancels_between_clusters_that_are_far_apart(core, distance, dtype):
    rng = np.random.default_rng(0)
    centers = distance * rng.normal(size=(4, 50))
    X, P = (
        (centers[rng.integers(4, size=n)] + rng.normal(size=(n, 50))).astype(dtype)
        for n in (130, 70)
    )
    factors = np.full(50, 0.02)
    expected = exact(X, P, factors)
    assert (expected > 0.05).any()
    tolerance = 1e-12 if dtype == np.float64 else 3e-6
    np.testing.assert_allclose(tile("rbf", X, P, factors), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
def test_points_that_nearly_coincide_are_told_apart(core, dtype):
    rng = np.random.default_rng(0)
    P = rng.normal(size=(20, 64)).astype(dtype)
    gap = 1e-6 if dtype == np.float64 else 1e-3
    X = P + (gap * rng.normal(size=P.shape)).astype(dtype)
    factors = np.full(64, gap**-2 / 64)
    np.testing.assert_allclose(
        tile("rbf", X, P, factors),
        exact(X, P, factors),
        rtol=0,
        atol=1e-9 + np.finfo(dtype).eps * 9,
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_that_overflow_or_are_none_do_not_spread(core, dtype):
    X, P, factors = problem(30, 20, 40, dtype)
    expected = tile("rbf", X, P, factors)
    highest = np.finfo(dtype).max
    X[3, 5], X[4, 6], P[2, 7] = highest, np.nan, -highest
    block = tile("rbf", X, P, factors)
    assert np.all(block[3] == 0.0)
    assert np.isnan(block[4]).all()
    others = np.ix_(np.delete(np.arange(30), [3, 4]), np.delete(np.arange(20), 2))
    np.testing.assert_allclose(block[others], expected[others], rtol=0, atol=1e-6)
    assert np.all(np.delete(block[:, 2], 4) == 0.0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_functions_take_their_values_from_the_tile(core, dtype):
    X, P, factors = problem(230, 37, 70, dtype)
    block = tile("rbf", X, P, factors).astype(np.float64)
    rng = np.random.default_rng(0)
    coef, weights = rng.normal(size=(37, 3)), rng.random(230) * (rng.random(230) > 0.3)
    found = scores("rbf", X, P, factors, coef, np.zeros(3))
    np.testing.assert_allclose(found, block @ coef, rtol=0, atol=20 * np.finfo(dtype).eps)
    sums = column_sums("rbf", X, P, factors, weights)
    np.testing.assert_allclose(sums, weights @ block, rtol=1e-13)
    q = np.ones(37)
    shares = weights / (block @ q)
    moment, mean, *_ = moments("rbf", X, P, factors, weights, q, 0.0)
    np.testing.assert_allclose(moment, (block.T * shares) @ block, rtol=1e-12)
    np.testing.assert_allclose(mean, shares @ block, rtol=1e-12)
