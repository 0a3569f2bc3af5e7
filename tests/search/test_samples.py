"""The samples on which models are trained and evaluated."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sparseksc import tune
from sparseksc.data.sampling import Sample
from sparseksc.search.samples import weighted_sample

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
    result = tune(X, [2, 3], [1.0, 4.0], validation=6000, max_rank=20, random_state=0)
    assert result.best_n_clusters == 3


def test_sampled_weights_stand_for_all():
    weights = np.random.default_rng(0).exponential(size=50_000)
    weights[:10] = 1000.0
    sample = Sample(np.arange(50_000), np.empty((50_000, 0)), weights)
    rows, mass = weighted_sample(sample, 5_000, 0)
    assert set(range(10)) <= set(rows)
    assert mass.sum() == pytest.approx(weights.sum(), rel=0.03)
    assert mass[:10] == pytest.approx(weights[:10])
