"""Evaluating a model: its values are those of the fitted model."""

import pytest
from sklearn.datasets import make_blobs

from sparseksc import KernelSpectralClustering, tune

CENTRES = [[0, 0], [6, 0], [0, 6]]


@pytest.fixture(scope="module")
def three():
    """Three blobs: (X, y)."""
    return make_blobs(240, centers=CENTRES, cluster_std=0.8, random_state=0)


@pytest.mark.parametrize("criterion", ["ams", "blf", "bas"])
def test_the_surface_is_the_score_of_the_fitted_model(three, criterion):
    X = three[0]
    result = tune(X, [3], [1.0, 2.0], criterion=criterion, random_state=0)
    model = KernelSpectralClustering(3, bandwidth=1.0, criterion=criterion, random_state=0)
    assert result.surface[0, 0] == pytest.approx(model.fit(X).score(X))


def test_two_bandwidths(three):
    result = tune(three[0], [2, 3, 4], icd_bandwidth=1.0, random_state=0)
    assert result.best_n_clusters == 3
