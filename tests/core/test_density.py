"""The density that tells noise from clusters."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseksc.core.density import N_NEIGHBORS, REFERENCE_ROWS, Density
from sparseksc.data.sampling import Sample
from tests.reference import density as reference


def sampled(X, weights=None):
    weights = np.ones(X.shape[0]) if weights is None else weights
    return Sample(np.arange(X.shape[0]), X, weights)


@pytest.mark.parametrize("n_features", [1, 2, 3, 40])
def test_it_is_that_of_the_definition(n_features):
    X = np.random.default_rng(n_features).normal(size=(250, n_features))
    density = Density.of_sample(sampled(X), 0)
    assert density.bandwidth == pytest.approx(reference.scale(X, N_NEIGHBORS))
    expected = reference.densities(X, density.points, density.mass, density.bandwidth)
    np.testing.assert_allclose(density.values(X), expected, rtol=1e-9)


def test_more_rows_than_the_native_core_takes_at_once_are_summed_in_parts():
    X = np.random.default_rng(0).normal(size=(9_000, 2))
    density = Density.of_sample(sampled(X), 0)
    assert len(density.points) == REFERENCE_ROWS
    some = X[:40]
    expected = reference.densities(some, density.points, density.mass, density.bandwidth)
    np.testing.assert_allclose(density.values(some), expected, rtol=1e-9)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_change_no_bit(n_jobs):
    X = np.random.default_rng(1).normal(size=(7_000, 3))
    density = Density.of_sample(sampled(X), 0)
    assert np.array_equal(density.values(X, 1), density.values(X, n_jobs))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_an_integer_weight_counts_like_copies(seed):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(60, 2)), rng.integers(1, 4, 60)
    weights[:31] = 1  # a typical row has the weight of one copy
    weighted = Density.of_sample(sampled(X, weights.astype(float)), 0)
    copied = Density.of_sample(sampled(X.repeat(weights, axis=0)), 0)
    assert np.array_equal(weighted.points, copied.points)
    assert np.array_equal(weighted.values(X), copied.values(X))


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 1000), share=st.floats(0.001, 0.999))
def test_at_most_the_share_is_below_the_floor_and_no_row_more_would_fit(seed, share):
    rng = np.random.default_rng(seed)
    values, weights = rng.integers(0, 8, 40).astype(float), rng.integers(1, 5, 40).astype(float)
    floor = Density(np.zeros((1, 1)), np.ones(1), 1.0).with_share(share, values, weights).floor
    total = weights.sum()
    assert weights[values < floor].sum() <= share * total
    assert weights[values <= floor].sum() > share * total


def test_sparse_rows_have_the_density_of_dense_ones():
    X = sp.random_array((300, 30), density=0.2, rng=0, format="csr")
    dense, sparse = (Density.of_sample(sampled(rows), 0) for rows in (X.toarray(), X))
    np.testing.assert_allclose(sparse.values(X), dense.values(X.toarray()), rtol=1e-6)


def test_by_angle_the_length_of_a_row_does_not_matter():
    X = np.random.default_rng(2).normal(size=(200, 4))
    density = Density.of_sample(sampled(X), 0, by_angle=True)
    lengths = np.random.default_rng(3).uniform(1.0, 100.0, 200)
    np.testing.assert_allclose(density.values(X * lengths[:, None]), density.values(X), rtol=1e-9)


def test_distances_whose_squares_are_no_numbers_give_no_warning():
    X = np.random.default_rng(4).normal(size=(50, 2))
    for factor in (1e-200, 1e200):
        density = Density.of_sample(sampled(factor * X), 0)
        with np.errstate(over="ignore"):
            assert np.isfinite(density.values(factor * X)).all()
