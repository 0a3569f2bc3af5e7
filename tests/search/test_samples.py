"""The samples on which models are trained and evaluated."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import euclidean_distances

from sparseksc import tune
from sparseksc.data.sampling import Sample, weighted_sample
from sparseksc.search import samples
from sparseksc.search.samples import fewer_features

CENTRES = [[0, 0], [6, 0], [0, 6]]


@pytest.fixture(scope="module")
def three():
    """Three blobs: (X, y)."""
    return make_blobs(240, centers=CENTRES, cluster_std=0.8, random_state=0)


def test_validation_points_can_be_given(three):
    X, _ = three
    result = tune(X[::2], [2, 3, 4], validation=X[1::2], random_state=0)
    assert result.best_n_clusters == 3


def test_large_data_is_evaluated_on_other_points_than_those_of_training():
    X, _ = make_blobs(20_000, centers=CENTRES, cluster_std=0.8, random_state=1)
    result = tune(
        X, [2, 3], [1.0, 4.0], criterion="ams", validation=6000, max_rank=20, random_state=0
    )
    assert result.best_n_clusters == 3


def test_sampled_weights_stand_for_all():
    weights = np.random.default_rng(0).exponential(size=50_000)
    weights[:10] = 1000.0
    sample = Sample(np.arange(50_000), np.empty((50_000, 0)), weights)
    rows, mass = weighted_sample(sample, 5_000, 0)
    assert set(range(10)) <= set(rows)
    assert mass.sum() == pytest.approx(weights.sum(), rel=0.03)
    assert mass[:10] == pytest.approx(weights[:10])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_fewer_features_keep_all_distances(dtype):
    X = 1000.0 + np.random.default_rng(0).normal(size=(40, 900)).astype(dtype)
    X[7] = X[3]
    found = fewer_features(X)
    assert found.shape == (40, 39)  # of two equal ones
    np.testing.assert_array_equal(found[7], found[3])
    assert found.dtype == dtype
    expected = euclidean_distances(X.astype(float) - 1000.0)
    np.testing.assert_allclose(euclidean_distances(found.astype(float)), expected, atol=1e-3)


@pytest.mark.parametrize("criterion", ["auto", "ams"])
def test_a_search_in_many_features_finds_what_it_finds_in_all_of_them(criterion, monkeypatch):
    X, _ = make_blobs(60, n_features=400, centers=3, cluster_std=4.0, random_state=0)
    given = {"kernel": "rbf", "criterion": criterion, "random_state": 0}
    fewer = tune(X, range(2, 6), **given)
    monkeypatch.setattr(samples, "_has_many_features", lambda X, kernels: False)
    every = tune(X, range(2, 6), **given)
    assert fewer.best_n_clusters == every.best_n_clusters == 3
    assert fewer.best_bandwidth == every.best_bandwidth
    assert fewer.ranking[0].value == pytest.approx(every.ranking[0].value, abs=1e-6)


def test_each_feature_may_have_its_bandwidth_where_there_are_many():
    X, _ = make_blobs(40, n_features=200, centers=2, random_state=0)
    found = tune(X, [2, 3], [np.full(200, 5000.0), np.full(200, 9000.0)], random_state=0)
    assert found.best_n_clusters == 2
