"""A second look with more rows and pivots, where the first leaves doubt."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sparseksc import DoubtWarning, KernelSpectralClustering, load
from sparseksc.datasets import make_spirals


@pytest.fixture(scope="module")
def arms():
    """Four long spirals, which 200 pivots cannot cover: (X, y)."""
    return make_spirals(40_000, n_arms=4, random_state=0)


def fit(X, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        return KernelSpectralClustering(random_state=0, **parameters).fit(X)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["auto", "rbf"])
@pytest.mark.parametrize("K", ["auto", 4])
def test_it_finds_long_thin_shapes(arms, kernel, K, tmp_path):
    X, y = arms
    model = fit(X, n_clusters=K, kernel=kernel)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.tuning_.max_rank == len(model.reduced_set_) == 1000
    assert model.tuning_.to_frame()["chosen"].sum() == 1
    model.save(tmp_path / "arms.ksc")
    assert load(tmp_path / "arms.ksc").tuning_.max_rank == 1000


@pytest.mark.slow
def test_a_given_number_of_pivots_is_not_exceeded(arms):
    assert len(fit(arms[0], n_clusters=[3, 4], kernel="rbf", max_rank=60).reduced_set_) <= 60


@pytest.mark.slow
def test_it_is_left_out_where_it_does_not_fit_into_memory(arms):
    model = fit(arms[0], kernel="rbf", memory_limit="60MB", n_jobs=1)
    assert model.tuning_.max_rank == 200
    assert len(model.reduced_set_) <= 200


@pytest.mark.slow
def test_it_finds_nothing_in_noise():
    X = np.random.default_rng(0).uniform(size=(60_000, 2))
    with pytest.warns(DoubtWarning, match="one cluster"):
        model = KernelSpectralClustering(kernel="rbf", random_state=0).fit(X)
    assert model.n_clusters_ == 1
