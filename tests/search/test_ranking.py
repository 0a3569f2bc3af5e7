"""The ranking of models: which is the best of each number, and what is doubtful."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sparseksc import KernelSpectralClustering
from sparseksc.config.settings import Settings
from sparseksc.search.constants import CLEAR, CLOUD, CLOUD_CLUSTERS
from sparseksc.search.ranking import (
    Clustering,
    bandwidth_of,
    best_separation,
    doubt_about,
    is_cloud,
    place_of,
    ranked,
)
from sparseksc.search.surfaces import RankedModel
from sparseksc.tuning import tune


@pytest.fixture(scope="module")
def recipes():
    """Landmarks, and rbf at three bandwidths."""
    settings = Settings(KernelSpectralClustering(random_state=0).get_params())
    return settings.models([1.0, 2.0, 4.0], 2)


def model(n_clusters, separation):
    return RankedModel(n_clusters, None, 1.0, conductance_ratio=float(np.exp(separation)))


def test_the_best_quality_of_each_number_comes_first(recipes):
    found = [
        Clustering(0, 2, 1.0, 2.0),
        Clustering(1, 2, 1.5, 1.0),
        Clustering(1, 3, 1.7, 1.2),
        Clustering(0, 3, 0.1, 0.2),
    ]
    best, second = ranked(recipes, found)
    assert (best.n_clusters, best.value) == (3, 1.7)
    assert (second.n_clusters, second.value) == (2, 1.5)
    assert best.conductance_ratio == pytest.approx(np.exp(1.2))
    assert place_of(best, recipes) == 1


def test_of_bandwidths_that_show_the_same_the_middle_one_is_taken(recipes):
    rbf = [place for place, one in enumerate(recipes) if one.kernel.name == "rbf"]
    best = ranked(recipes, [Clustering(place, 2, 1.0, 2.0) for place in rbf])[0]
    assert best.bandwidth == bandwidth_of(recipes[rbf[1]]) == 2.0
    few = ranked(recipes, [Clustering(place, 2, 1.0, 2.0) for place in range(3)])[0]
    assert few.max_rank == recipes[0].max_rank


def test_a_division_of_a_cloud_is_none_of_many_clusters():
    assert is_cloud(model(2, CLOUD - 0.01))
    assert not is_cloud(model(2, CLOUD + 0.01))
    assert not is_cloud(model(CLOUD_CLUSTERS + 1, CLOUD - 0.01))


def test_doubt_is_said_below_clear_separation():
    assert doubt_about(model(3, CLEAR + 0.01), single=False) is None
    assert "The 3 clusters are only 2.7 times" in doubt_about(model(3, CLEAR - 0.01), single=False)
    assert "one cluster" in doubt_about(model(3, 0.0), single=True)
    assert "one cluster" in doubt_about(None, single=True)


def test_the_separation_is_that_of_the_best():
    X, _ = make_blobs(200, centers=[[0, 0], [9, 0]], random_state=0)
    result = tune(X, random_state=0)
    assert best_separation(result) == pytest.approx(np.log(result.ranking[0].conductance_ratio))


def test_the_doubt_says_what_may_be():
    overlapping, clear = model(2, CLEAR - 0.1), model(2, CLEAR + 0.1)
    assert doubt_about(overlapping, False).endswith("or the data is one cluster.")
    assert doubt_about(overlapping, False, listed=True).endswith("clusters was not tried.")
    assert "fewer than 3 rows" in doubt_about(clear, False, few=True)
    assert doubt_about(clear, False, listed=True) is None
