"""The NumPy twin against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel, rbf_kernel

from sparseksc._native import KERNELS, column_sums, moments, moments_of, scores, tile
from tests._native.conftest import DIMENSIONS, DTYPES, problem


def assert_same_moments(actual, expected, tolerance):
    for sums, wanted in zip(actual[:3], expected[:3], strict=True):
        assert np.shape(sums) == np.shape(wanted)
        assert np.max(np.abs(np.subtract(sums, wanted))) <= tolerance * np.max(np.abs(wanted))
    assert actual[3] == expected[3]
    assert actual[4] == pytest.approx(expected[4], rel=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("features", DIMENSIONS)
def test_twin_agrees_with_scikit_learn(numpy_twin, features, dtype):
    X, P, _ = problem(50, 20, features, dtype)
    gamma = 1.5
    # scikit-learn's rbf expands the square and its chi2 has no factor of one half.
    pairs = [
        ("rbf", rbf_kernel(X, P, gamma=gamma), gamma),
        ("laplacian", laplacian_kernel(X, P, gamma=gamma), gamma),
        ("chi2", chi2_kernel(X, P, gamma=gamma), 2 * gamma),
    ]
    for name, expected, factor in pairs:
        actual = tile(name, X, P, np.full(features, factor))
        np.testing.assert_allclose(actual, expected, atol=1e-12 if dtype == np.float64 else 5e-6)


def test_twin_weighs_features_one_by_one(numpy_twin):
    X, P = np.array([[1.0, 4.0]]), np.array([[3.0, 1.0]])
    factors = np.array([0.25, 0.5])
    assert tile("rbf", X, P, factors)[0, 0] == pytest.approx(np.exp(-(1.0 + 4.5)))
    assert tile("laplacian", X, P, factors)[0, 0] == pytest.approx(np.exp(-(0.5 + 1.5)))
    assert tile("chi2", X, P, factors)[0, 0] == pytest.approx(np.exp(-0.5 * (0.25 + 0.9)))


@pytest.mark.parametrize("name", KERNELS)
def test_twin_scores_and_sums_follow_from_its_tile(numpy_twin, name):
    X, P, factors = problem(30, 12, 2, np.float64)
    rng = np.random.default_rng(0)
    coef, bias, weights = rng.normal(size=(12, 3)), rng.normal(size=3), rng.random(30)
    block = tile(name, X, P, factors)
    np.testing.assert_allclose(scores(name, X, P, factors, coef, bias), block @ coef + bias)
    np.testing.assert_allclose(column_sums(name, X, P, factors, weights), weights @ block)
    q, floor = rng.random(12), 0.5
    expected = moments_of(block, weights, q, floor)
    assert_same_moments(moments(name, X, P, factors, weights, q, floor), expected, 1e-13)
