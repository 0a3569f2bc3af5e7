"""Plans: what is trained follows from the settings and the data."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from sparseksc import (
    BandwidthWarning,
    DoubtWarning,
    KernelSpectralClustering,
    open_dataset,
    tune,
)
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
    return tune(three[0], n_clusters=range(2, 6), kernel="rbf", random_state=0)


def make():
    return KernelSpectralClustering(2, bandwidth=0.01, max_rank=115, random_state=0)


def test_the_model_has_the_pivots_that_were_evaluated():
    X, y = make_blobs(20_000, centers=CENTRES, cluster_std=[0.2, 0.6, 1.2], random_state=0)
    ksc = KernelSpectralClustering(kernel="rbf", random_state=0).fit(X)
    found = tune(X, "auto", kernel="rbf", random_state=0)
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


@pytest.mark.filterwarnings("ignore::sparseksc.DoubtWarning")
def test_a_run_after_a_search_is_not_one_with_the_values_that_it_found():
    X, _ = make_spirals(12_000, random_state=0)
    purposes = [
        make_plan(Settings(make().set_params(n_clusters=K).get_params()), ArraySource(X)).purpose
        for K in (2, [2, 3], [2, 3])
    ]
    assert purposes[0] != purposes[1] == purposes[2]


def test_one_feature_that_is_all_that_counts_is_named():
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {"age": rng.normal(40.0, 10.0, 400), "income": rng.normal(40_000.0, 10_000.0, 400)}
    )
    with pytest.warns(DoubtWarning, match="The feature 'income' makes up 100 % of all squared"):
        KernelSpectralClustering(2, random_state=0).fit(people)
    with pytest.warns(DoubtWarning, match="Feature 1 makes up"):
        KernelSpectralClustering(2, kernel="landmarks", random_state=0).fit(people.to_numpy())


def test_two_doubts_are_one_warning():
    X = np.random.default_rng(0).normal(size=(400, 3)) * [1.0, 1.0, 1e6]
    with pytest.warns(DoubtWarning) as shown:
        model = KernelSpectralClustering([2, 3, 4], random_state=0).fit(X)
    assert len(shown) == 1
    assert str(shown[0].message) == model.warnings_[0]
    assert model.warnings_[0].startswith("Feature 2 makes up 100 % of all squared distances")
    assert model.warnings_[0].endswith(model.tuning_.doubt)


def test_a_bandwidth_that_is_too_small_is_the_only_warning():
    X, _ = make_blobs(3000, n_features=10, centers=30, random_state=2)
    with pytest.warns(BandwidthWarning, match="is too small for this rank") as shown:
        KernelSpectralClustering(bandwidth=1.0, random_state=0).fit(X)
    assert len(shown) == 1


@pytest.mark.parametrize("given", [{"scale": True}, {"bandwidth": 1e6}, {"metric": "cosine"}])
def test_scales_that_were_thought_of_are_no_surprise(given):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) * [1.0, 1000.0] + [0.0, 5000.0] * rng.integers(0, 2, (400, 1))
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        KernelSpectralClustering(2, random_state=0, **given).fit(X)
    assert not [one for one in shown if "squared distances" in str(one.message)]


def test_a_constant_feature_or_a_strip_is_no_reason_to_warn():
    rng = np.random.default_rng(0)
    strip = rng.uniform(size=(500, 2)) * [10.0, 1.0]
    for X in (strip, np.column_stack([strip[:, 0], np.ones(500)])):
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            KernelSpectralClustering(2, random_state=0).fit(X)
        assert not [one for one in shown if "squared distances" in str(one.message)]
