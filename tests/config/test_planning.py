"""Plans: what is trained follows from the settings and the data."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from sparseksc import KernelSpectralClustering, open_dataset, tune
from sparseksc.config.planning import make_plan
from sparseksc.config.settings import Settings
from sparseksc.data.source import ArraySource
from sparseksc.datasets import make_spirals

CENTRES = [[0, 0], [6, 0], [0, 6]]


@pytest.fixture(scope="module")
def three():
    """Three blobs: (X, y)."""
    return make_blobs(240, centers=CENTRES, cluster_std=0.8, random_state=0)


@pytest.fixture(scope="module")
def found(three):
    """A search among them."""
    return tune(three[0], n_clusters=range(2, 6), random_state=0)


def make():
    return KernelSpectralClustering(2, bandwidth=0.01, max_rank=115, random_state=0)


def test_the_model_has_the_pivots_that_were_evaluated():
    X, y = make_blobs(20_000, centers=CENTRES, cluster_std=[0.2, 0.6, 1.2], random_state=0)
    ksc = KernelSpectralClustering(random_state=0).fit(X)
    found = tune(X, "auto", random_state=0)
    assert ksc.bandwidth_ == found.best_bandwidth
    np.testing.assert_array_equal(X[ksc.reduced_set_indices_], ksc.reduced_set_)
    assert adjusted_rand_score(y, ksc.labels_) > 0.99


def test_an_array_and_a_stream_give_the_same_model():
    X, _ = make_blobs(70_000, centers=CENTRES, cluster_std=0.8, random_state=0)
    fitted = [
        KernelSpectralClustering([2, 3, 4], random_state=0).fit(data)
        for data in (X, open_dataset([X[:65_536], X[65_536:]]))
    ]
    assert fitted[0].bandwidth_ == fitted[1].bandwidth_
    np.testing.assert_array_equal(*(ksc.reduced_set_indices_ for ksc in fitted))
    np.testing.assert_array_equal(*(ksc.coef_ for ksc in fitted))


@pytest.mark.filterwarnings("ignore::sparseksc.DoubtWarning")
def test_all_rows_are_looked_at_for_pivots_where_that_is_asked_for():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(14_000, 2)), 100.0 * np.arange(1, 15)[:, None] * [[1.0, -1.0]]])
    parameters = {"bandwidth": 1.0, "max_rank": 60, "tol": 0.0, "selection_size": None}
    for K in (2, [2, 3]):
        ksc = KernelSpectralClustering(K, random_state=0, **parameters).fit(X)
        assert set(range(14_000, 14_014)) <= set(ksc.reduced_set_indices_)


def test_a_run_after_a_search_is_not_one_with_the_values_that_it_found():
    X, _ = make_spirals(12_000, random_state=0)
    purposes = [
        make_plan(Settings(make().set_params(n_clusters=K).get_params()), ArraySource(X)).purpose
        for K in (2, [2, 3], [2, 3])
    ]
    assert purposes[0] != purposes[1] == purposes[2]
