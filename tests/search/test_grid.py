"""The criteria of the literature on a grid: their values are those of the fitted model."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sparseksc import KernelSpectralClustering, tune

CENTRES = [[0, 0], [6, 0], [0, 6]]


@pytest.fixture(scope="module")
def three():
    """Three blobs: (X, y)."""
    return make_blobs(240, centers=CENTRES, cluster_std=0.8, random_state=0)


@pytest.fixture(scope="module")
def found(three):
    """A search among them."""
    return tune(three[0], n_clusters=range(2, 6), criterion="ams", random_state=0)


@pytest.mark.parametrize("criterion", ["ams", "blf", "bas"])
def test_the_surface_is_the_score_of_the_fitted_model(three, criterion):
    X = three[0]
    result = tune(X, [3], [1.0, 2.0], criterion=criterion, random_state=0)
    model = KernelSpectralClustering(3, bandwidth=1.0, criterion=criterion, random_state=0)
    assert result.surface[0, 0] == pytest.approx(model.fit(X).score(X))


def test_two_bandwidths(three):
    result = tune(three[0], [2, 3, 4], criterion="ams", icd_bandwidth=1.0, random_state=0)
    assert result.best_n_clusters == 3
    given = {"icd_bandwidth": 1.0, "criterion": "ams", "random_state": 0}
    model = KernelSpectralClustering(3, bandwidth=result.best_bandwidth, **given).fit(three[0])
    assert result.ranking[0].ams == pytest.approx(model.score(three[0]))


def test_the_surfaces_have_every_model_and_criterion(found):
    shape = (len(found.surfaces.bandwidths), len(found.surfaces.n_clusters))
    assert {values.shape for values in found.surfaces.values.values()} == {shape}
    assert set(found.surfaces.values) == {"ams", "blf", "bas"}
    assert found.surfaces.bandwidths == sorted(found.surfaces.bandwidths)
    assert len(found.eigenvalues) == shape[0]
    assert np.isnan(found.surfaces["bas"][:, 0]).all()  # two clusters


def test_the_best_bandwidths_have_neighbours_nearby(found):
    logs = np.log(found.surfaces.bandwidths)
    best = found.surfaces.bandwidths.index(found.ranking[0].bandwidth)
    assert np.diff(logs)[max(best - 1, 0) : best + 1].min() < 0.6 * np.median(np.diff(logs))


def test_given_candidates_are_not_refined(three):
    result = tune(three[0], [2, 3], [4.0, 1.0], criterion="ams", random_state=0)
    assert result.surfaces.bandwidths == [4.0, 1.0]


def test_no_available_model_is_an_error():
    X = np.arange(20.0)[:, None]
    with pytest.raises(ValueError, match="widen the range"):
        tune(X, [6, 7], [1e9, 2e9], criterion="ams")


def test_where_nothing_is_available_auto_is_one_cluster():
    X = np.ones((20, 1))
    with pytest.warns(UserWarning, match="one cluster"):
        model = KernelSpectralClustering(criterion="ams", random_state=0).fit(X)
    assert model.n_clusters_ == 1
