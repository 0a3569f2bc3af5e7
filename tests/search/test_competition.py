"""The competition of kernels: what it finds, what it is asked, what it says."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from sparseksc import KernelSpectralClustering, load, tune
from sparseksc.datasets import make_spirals
from sparseksc.search.competition import proposed
from sparseksc.tuning import DoubtWarning


def fit(X, **parameters):
    return KernelSpectralClustering(random_state=0, **parameters).fit(X)


@pytest.mark.parametrize("K", [3, 15, 40])
def test_it_finds_any_number_of_clusters(K):
    X, y = make_blobs(50 * K, n_features=8, centers=K, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit(X)
    assert model.n_clusters_ == K
    assert adjusted_rand_score(y, model.labels_) > 0.99


def test_more_clusters_than_are_considered_at_first_are_found():
    centres = 10.0 * np.stack(np.meshgrid(range(10), range(10)), axis=-1).reshape(-1, 2)
    X = np.repeat(centres, 30, axis=0) + np.random.default_rng(0).normal(size=(3000, 2))
    assert fit(X).n_clusters_ == 100


@pytest.mark.parametrize(
    "problem",
    [
        lambda: make_moons(1000, noise=0.03, random_state=0),
        lambda: make_spirals(20_000, random_state=0),
    ],
    ids=["moons", "spirals"],
)
def test_it_finds_thin_shapes(problem):
    X, y = problem()
    assert adjusted_rand_score(y, fit(X).labels_) > 0.99


@pytest.mark.parametrize("d", [4, 10, 50])
def test_a_cloud_is_one_cluster_and_says_so(d):
    X = np.random.default_rng(d).normal(size=(600, d))
    with pytest.warns(DoubtWarning, match="one cluster"):
        model = fit(X)
    assert model.n_clusters_ == 1
    assert (model.labels_ == 0).all()


@pytest.mark.parametrize(("d", "distance"), [(2, 4.0), (10, 4.0), (128, 6.0)])
def test_two_gaussians_are_two_clusters_without_a_warning(d, distance):
    X = np.random.default_rng(0).normal(size=(800, d))
    y = np.arange(800) % 2
    X[:, 0] += distance * y
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit(X)
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(y, model.labels_) > 0.85


def test_the_numbers_that_are_asked_for_are_respected():
    X, _ = make_blobs(300, n_features=5, centers=4, random_state=0)
    assert fit(X, n_clusters=7).n_clusters_ == 7
    result = tune(X, n_clusters=[2, 4, 6], random_state=0)
    assert result.surfaces.n_clusters == [2, 4, 6]
    assert result.best_n_clusters == 4


def test_a_clump_of_noise_is_no_cluster():
    rng = np.random.default_rng(0)
    clump = rng.normal(10.0, 0.01, size=(5, 2))
    X = np.r_[rng.normal(size=(1500, 2)), rng.normal([6.0, 0.0], size=(1500, 2)), clump]
    assert fit(X, n_clusters=2).cluster_sizes_.min() > 1000
    assert min(fit(X).cluster_sizes_) > 1000


def test_a_few_distinct_rows_are_clusters():
    X = np.repeat([[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [5.0, 5.0, 0.0, 0.0]], 40, axis=0)
    model = fit(X)
    assert model.n_clusters_ == 3
    assert list(model.cluster_sizes_) == [40.0, 40.0, 40.0]


@pytest.mark.parametrize("n", [2, 3, 5])
def test_hardly_any_rows(n):
    X = np.random.default_rng(0).normal(size=(n, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert 1 <= fit(X).n_clusters_ <= n


def test_equal_rows_are_one_cluster():
    with pytest.warns(UserWarning):
        assert fit(np.ones((20, 3))).n_clusters_ == 1


def test_threads_do_not_change_a_bit():
    X, _ = make_blobs(2500, n_features=5, centers=6, random_state=0)
    one, two = fit(X, n_jobs=1), fit(X, n_jobs=2)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.tuning_.surface, two.tuning_.surface)


@pytest.mark.parametrize("unit", [1e-100, 1e-3, 1e100])
def test_the_unit_of_the_features_does_not_matter(unit):
    X, y = make_blobs(400, n_features=3, centers=5, random_state=3)
    assert adjusted_rand_score(y, fit(unit * X).labels_) == 1.0


def test_weights_count_like_copies():
    X, _ = make_blobs(300, n_features=6, centers=3, random_state=0)
    weights = np.where(np.arange(300) % 2 == 0, 3, 1)
    copies = np.repeat(np.arange(300), weights)
    weighted = KernelSpectralClustering(random_state=0).fit(X, sample_weight=weights)
    copied = fit(X[copies])
    assert weighted.n_clusters_ == copied.n_clusters_ == 3
    assert adjusted_rand_score(weighted.labels_[copies], copied.labels_) == 1.0


def test_what_is_given_names_the_kernel():
    X, _ = make_blobs(200, centers=[[0, 0], [9, 0]], random_state=0)

    def kernel(**parameters):
        return fit(X, n_clusters=2, **parameters).model_.projection.kernel.name

    assert kernel(bandwidth=3.0) == kernel(criterion="ams") == "rbf"
    assert kernel(n_neighbors=4) == kernel(metric="cosine") == "landmarks"


def test_the_result_tells_the_story(tmp_path):
    X, _ = make_blobs(400, n_features=6, centers=5, random_state=0)
    model = fit(X)
    result = model.tuning_
    assert result.by_quality
    assert f"{result.best_n_clusters} clusters, seen with" in result.summary()
    frame = result.to_frame()
    assert frame["chosen"].sum() == 1
    assert set(frame["kernel"]) == {"landmarks", "rbf"}
    model.save(tmp_path / "model.ksc")
    again = load(tmp_path / "model.ksc")
    assert again.tuning_.summary() == result.summary()
    assert again.tuning_.best_row == result.best_row
    np.testing.assert_array_equal(again.predict(X), model.labels_)


def test_coarser_and_finer_answers_that_are_nearly_as_good_are_named():
    X, _ = make_blobs(400, n_features=6, centers=5, random_state=0)
    result = tune(X, random_state=0)
    best = result.ranking[0]
    near = [
        replace(best, n_clusters=K, value=best.value - loss)
        for K, loss in ((4, 0.05), (7, 0.1), (8, 0.15), (9, 2.0))
    ]
    result = replace(result, ranking=[best, *near])
    assert [one.n_clusters for one in result.alternatives] == [4, 7]
    assert "A coarser answer with 4 clusters is nearly as good" in result.summary()
    assert "A finer answer with 7 clusters is nearly as good" in result.summary()


@pytest.mark.parametrize("K", [11, 16])
def test_kernels_compete_in_few_dimensions_too(K):
    centres = 10.0 * np.stack(np.meshgrid(range(4), range(4)), axis=-1).reshape(-1, 2)
    X = np.repeat(centres[:K], 40, axis=0)
    model = fit(X + np.random.default_rng(0).normal(size=X.shape))
    assert model.tuning_.by_quality
    assert model.n_clusters_ == K


def test_of_two_answers_beyond_doubt_the_finer_one_is_taken():
    centres = [[0, 0], [6, 0], [100, 0], [100, 6], [50, 90], [50, 96]]
    X, y = make_blobs([100] * 6, centers=centres, random_state=0)
    model = fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.99
    assert model.tuning_.ranking[1].n_clusters in (3, 4, 5)


def test_numbers_before_the_largest_gaps_are_proposed():
    values = np.concatenate([np.full(24, 0.999), np.full(30, 0.5)])
    assert 25 in proposed(values)
    assert proposed(np.array([0.9])) == [2]
    assert proposed(np.empty(0)) == []


def test_an_outlier_is_no_cluster_unless_there_is_no_other_answer():
    X = StandardScaler().fit_transform(load_iris().data)
    assert fit(X, n_clusters=3).cluster_sizes_.min() >= 3
    pairs = np.repeat(10.0 * np.eye(5), 2, axis=0) + np.random.default_rng(0).normal(size=(10, 5))
    assert fit(pairs, n_clusters=5).n_clusters_ == 5


@pytest.mark.parametrize("n", [2, 3])
def test_a_few_rows_are_no_clusters_beyond_doubt(n):
    with pytest.warns(DoubtWarning, match="fewer than 3 rows") as shown:
        model = fit(np.random.default_rng(0).normal(size=(n, 2)))
    assert len(shown) == 1
    assert model.n_clusters_ > 1


def test_as_many_clusters_as_rows_are_refused_by_their_number():
    X, _ = make_blobs(300, random_state=0)
    with pytest.raises(ValueError, match="as many clusters as asked for, 300: ask for fewer"):
        fit(X, n_clusters=300)


@pytest.mark.parametrize(("seed", "K"), [(3, 3), (24, 2), (34, 3), (58, 3)])
def test_models_with_more_parts_than_clusters_leave_nothing_to_rounding_errors(seed, K):
    rng = np.random.default_rng(seed)
    n, d, centres = int(rng.integers(20, 120)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
    X = rng.normal(size=(n, d)) + 5.0 * rng.normal(size=(centres, d))[rng.integers(0, centres, n)]
    weights = rng.uniform(0.1, 3.0, n)
    found = [
        KernelSpectralClustering(K, random_state=0).fit(X, sample_weight=factor * weights)
        for factor in (1.0, 3.0)
    ]
    np.testing.assert_array_equal(found[0].labels_, found[1].labels_)
