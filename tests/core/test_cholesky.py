"""A decomposition under construction: candidates, the trace and the numerical rank."""

import numpy as np
import pytest

from sparseksc.core.pivoting import RULES
from tests.conftest import pivots_of
from tests.reference.selection import residual_path


def omega_of(kernel, X):
    return kernel.tile(X, X)


def test_candidates_that_are_passed_over_stay_in_the_trace():
    X = np.array([[0.0], [0.0], [0.0], [9.0], [20.0], [30.0]])
    kernel, chosen = pivots_of("rbf", X, bandwidth=1.0, max_rank=6, pivoting="uniform")
    path = residual_path(omega_of(kernel, X), chosen.indices)
    np.testing.assert_allclose(chosen.path, path, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("pivoting", RULES)
def test_selection_ends_at_the_numerical_rank_with_a_usable_factor(pivoting, dtype, seed):
    X = np.random.default_rng(seed).standard_normal((1000, 2)).astype(dtype)
    _, chosen = pivots_of("rbf", X, bandwidth=20.0, max_rank=900, pivoting=pivoting, seed=seed)
    assert 10 < chosen.rank < 200
    assert np.isfinite(chosen.factor).all()
    assert (np.diagonal(chosen.factor) > 0).all()
    assert chosen.residual <= 1e-4
