"""Bridges between clusters: left out of the training, in a cluster all the same."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from benchmarks.labelled_sets import DATA
from benchmarks.labelled_sets import load as load_sets
from benchmarks.noise import with_background
from sparseksc import KernelSpectralClustering, load, open_dataset, tune
from sparseksc.config import low_density
from sparseksc.search.constants import NOISE_SHARES
from sparseksc.tuning import DoubtWarning


@pytest.fixture(scope="module")
def moons():
    """Two moons with a tenth of background noise, whose label is 0."""
    return with_background(*make_moons(2000, noise=0.05, random_state=1), 0.11, 0)


@pytest.fixture(scope="module")
def model(moons):
    return fit(moons[0])


def fit(X, weights=None, **parameters):
    return KernelSpectralClustering(random_state=0, **parameters).fit(X, sample_weight=weights)


def test_moons_that_noise_bridges_are_found_with_nothing_given(moons, model):
    y = moons[1]
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(y[y > 0], model.labels_[y > 0]) > 0.98
    assert model.tuning_.doubt is None


def test_every_row_has_a_cluster_and_is_counted(moons, model):
    X, _ = moons
    assert (model.labels_ >= 0).all()
    assert model.noise_share_ == 0.0
    assert model.cluster_sizes_.tolist() == np.bincount(model.labels_).tolist()
    assert np.array_equal(model.predict(X), model.labels_)


def test_what_was_left_out_is_said(model, tmp_path):
    assert 0.0 < model.tuning_.left_out < 0.2
    said = f"The least dense {model.tuning_.left_out:.0%} of the rows bridge clusters"
    assert said in model.tuning_.summary()
    model.save(tmp_path / "model.ksc")
    again = load(tmp_path / "model.ksc")
    assert again.tuning_.left_out == model.tuning_.left_out
    assert again.tuning_.summary() == model.tuning_.summary()


def test_the_search_alone_leaves_out_the_same(moons, model):
    result = tune(moons[0], "auto", random_state=0)
    assert (result.best_n_clusters, result.left_out) == (2, model.tuning_.left_out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        # On given rows, models of all rows are compared.
        assert tune(moons[0], [2, 3], validation=300, random_state=0).left_out == 0.0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_streams_dask_and_threads_give_the_same_labels(moons, model, n_jobs):
    X, _ = moons
    assert np.array_equal(fit(X, n_jobs=n_jobs).labels_, model.labels_)
    stream = open_dataset([X[:700], X[700:]])
    for data in (stream, stream.to_dask()):
        assert np.array_equal(fit(data, n_jobs=n_jobs).predict(X), model.labels_)


def test_a_run_with_a_checkpoint_is_the_same(moons, model, tmp_path):
    saved = KernelSpectralClustering(random_state=0)
    saved.fit(open_dataset([moons[0][:700], moons[0][700:]]), checkpoint=tmp_path / "run")
    assert np.array_equal(saved.predict(moons[0]), model.labels_)


def test_weights_count_like_copies(moons):
    X = moons[0]
    weights = np.where(np.arange(len(X)) % 2, 1.0, 2.0)
    copies = np.repeat(np.arange(len(X)), weights.astype(int))
    weighted, copied = fit(X, weights), fit(X[copies])
    assert weighted.tuning_.left_out == pytest.approx(copied.tuning_.left_out, abs=0.01)
    assert adjusted_rand_score(weighted.labels_[copies], copied.labels_) > 0.98


def test_more_rows_than_are_searched(moons):
    """The rows that are left out are then looked for among all of them."""
    copies = np.random.default_rng(0).integers(len(moons[0]), size=40_000)
    X = moons[0][copies] + 0.02 * np.random.default_rng(1).normal(size=(40_000, 2))
    model = fit(X)
    y = moons[1][copies]
    assert model.tuning_.left_out > 0.0
    assert adjusted_rand_score(y[y > 0], model.labels_[y > 0]) > 0.97
    assert model.cluster_sizes_.sum() == 40_000


@pytest.mark.parametrize("K", ["auto", 3])
def test_a_cluster_that_is_less_dense_is_no_bridge(K):
    X, y = make_blobs(1500, cluster_std=[1.0, 2.5, 0.5], random_state=170)
    model = fit(X, n_clusters=K)
    assert adjusted_rand_score(y, model.labels_) > 0.8
    assert model.tuning_.left_out <= NOISE_SHARES[-1] + 1e-3


def test_clear_clusters_are_not_searched_again(monkeypatch):
    def refused(*arguments):
        raise AssertionError

    monkeypatch.setattr(low_density, "bridge_floors", refused)
    X, _ = make_blobs(600, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    assert fit(X).tuning_.left_out == 0.0
    cloud = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.warns(DoubtWarning):  # a kernel matrix has no density
        assert fit(cloud @ cloud.T, kernel="precomputed").tuning_.left_out == 0.0


@pytest.mark.parametrize("width", [0.02, 0.05])
@pytest.mark.parametrize("seed", range(3))
def test_holes_in_a_ring_are_no_borders(width, seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.0, 2.0 * np.pi, 3000)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    with pytest.warns(DoubtWarning, match="one cluster"):
        fit(ring + width * rng.normal(size=ring.shape))


def test_what_is_thin_in_one_feature_is_no_bridge():
    X = np.random.default_rng(5).uniform(size=(200, 1))
    assert KernelSpectralClustering(random_state=0).fit(X).tuning_.left_out == 0.0


def test_a_few_labels_name_the_moons(moons):
    X, y = moons
    known = np.where((np.arange(len(X)) % 50 == 0) & (y > 0), y, -1)
    model = KernelSpectralClustering(random_state=0).fit(X, known)
    assert model.tuning_.left_out > 0.0
    assert (model.labels_[y > 0] == y[y > 0]).mean() > 0.98


def test_the_rows_of_pairs_and_streams_are_all_trained_on(moons):
    X, y = moons
    one = np.flatnonzero(y == 1)[:2].tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        paired = KernelSpectralClustering(random_state=0).fit(X, must_link=[one])
        streamed = KernelSpectralClustering(random_state=0).partial_fit(X)
    assert paired.tuning_.left_out == streamed.tuning_.left_out == 0.0


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("K", ["auto", 6])
def test_letters_that_noise_bridges(K):
    folder = Path(DATA).parent / "battery-more"
    if not folder.exists():
        pytest.skip(f"needs {folder}")
    problem = next(one for one in load_sets(folder) if one.name == "chameleon_t4_8k")
    assert problem.ari(fit(problem.X, n_clusters=K).labels_) > 0.97
