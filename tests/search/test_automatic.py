"""The search of "auto" at one kernel: any kernel, and what it is asked."""

import gc
import warnings
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

from sparseksc import DoubtWarning, KernelSpectralClustering, open_dataset, tune
from sparseksc.search import competition
from sparseksc.search.samples import draw_samples

CENTRES = [[0, 0], [6, 0], [0, 6]]


@pytest.fixture(scope="module")
def three():
    """Three blobs: (X, y)."""
    return make_blobs(240, centers=CENTRES, cluster_std=0.8, random_state=0)


def fit(X, **parameters):
    return KernelSpectralClustering(random_state=0, **parameters).fit(X)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "landmarks"])
@pytest.mark.parametrize("K", [3, 25])
def test_a_kernel_finds_any_number_of_clusters(kernel, K):
    X, y = make_blobs(50 * K, n_features=8, centers=K, random_state=1)
    model = fit(X, kernel=kernel)
    assert model.n_clusters_ == K
    assert adjusted_rand_score(y, model.labels_) > 0.99
    assert model.tuning_.best_kernel == kernel
    assert set(model.tuning_.surfaces.kernels) == {kernel}


def test_a_precomputed_kernel_is_compared_in_its_own_neighbours(three):
    X, y = make_blobs(300, centers=5, n_features=6, random_state=3)
    gram = rbf_kernel(X, gamma=0.01)
    model = fit(gram, kernel="precomputed")
    assert model.n_clusters_ == 5
    assert adjusted_rand_score(y, model.labels_) == 1.0
    weights = np.where(np.arange(300) % 2 == 0, 2.0, 1.0)
    weighted = KernelSpectralClustering(kernel="precomputed", random_state=0)
    assert adjusted_rand_score(y, weighted.fit(gram, sample_weight=weights).labels_) == 1.0
    result = tune(gram, [4, 5], kernel="precomputed", validation=150, random_state=0)
    assert result.best_n_clusters == 5


def test_rows_that_only_a_function_understands():
    words = ["aaaa", "aaab", "aaba", "abaa", "baaa", "zzzz", "zzzy", "zzyz", "zyzz", "yzzz"]
    X = np.array([[word + letter] for word in words for letter in "cdefgh"], dtype=object)

    def alike(A, B):
        """Share of the letters that two words have at the same places, cubed."""
        same = [[sum(a == b for a, b in zip(s, t, strict=True)) for (t,) in B] for (s,) in A]
        return (np.array(same) / 5.0) ** 3

    model = fit(X, kernel=alike, n_clusters=[2, 3])
    assert model.n_clusters_ == 2
    assert (model.labels_ == np.repeat([model.labels_[0], model.labels_[-1]], 30)).all()


@pytest.mark.parametrize("kernel", ["auto", "rbf", "linear", "cosine"])
def test_sparse_rows_are_compared_as_dense_ones(kernel):
    rng = np.random.default_rng(0)
    X = np.kron(np.eye(3), np.ones((60, 6))) * rng.poisson(3.0, size=(180, 18))
    dense, thin = fit(X, kernel=kernel), fit(sp.csr_array(X), kernel=kernel)
    assert dense.n_clusters_ == thin.n_clusters_ == 3
    np.testing.assert_array_equal(dense.labels_, thin.labels_)


@pytest.mark.parametrize("kernel", ["auto", "rbf"])
@pytest.mark.parametrize("validation", [100, "rows"])
def test_models_are_compared_on_the_rows_that_are_given(three, kernel, validation):
    X = three[0]
    rows = X[1::2] if validation == "rows" else validation
    result = tune(X[::2], [2, 3, 4], kernel=kernel, validation=rows, random_state=0)
    assert result.best_n_clusters == 3
    assert result.by_quality


def test_a_few_rows_to_compare_on_do_not_find_the_prototypes(three):
    X = three[0]
    rows = np.repeat(np.array(CENTRES, float), 4, axis=0)
    rows += 0.1 * np.random.default_rng(0).normal(size=rows.shape)
    assert tune(X, [3], [1.0, 2.0], validation=rows, random_state=0).best_n_clusters == 3


def test_two_bandwidths(three):
    X, y = three
    result = tune(X, [2, 3, 4], icd_bandwidth=1.0, random_state=0)
    assert result.best_n_clusters == 3
    model = fit(X, icd_bandwidth=1.0)
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_given_candidates_are_taken_as_they_are(three):
    result = tune(three[0], [2, 3], [4.0, 1.0], random_state=0)
    assert result.surfaces.bandwidths == [4.0, 1.0]
    vectors = [np.array([4.0, 2.0]), np.array([1.0, 3.0])]
    result = tune(three[0], [2, 3], vectors, random_state=0)
    assert result.surfaces.bandwidths == [(4.0, 2.0), (1.0, 3.0)]
    assert result.best_n_clusters == 3


def test_of_equal_answers_the_bandwidth_in_the_middle_is_taken(three):
    grid = [1e-4, 0.5, 0.7, 1.0, 1.4, 2.0, 1e4]
    result = tune(three[0], [3], grid, random_state=0)
    assert result.best_bandwidth == 1.0


def test_single_precision(three):
    model = fit(three[0].astype(np.float32), kernel="rbf")
    assert adjusted_rand_score(three[1], model.labels_) == 1.0


def test_the_same_for_any_number_of_threads(three):
    X = np.vstack([three[0] + 0.01 * k for k in range(5)])
    one, two = (tune(X, kernel="rbf", random_state=0, n_jobs=jobs) for jobs in (1, 2))
    assert one.best_bandwidth == two.best_bandwidth
    np.testing.assert_array_equal(one.surface, two.surface)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_a_few_different_rows_are_clusters(kernel):
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]])
    model = fit(rows.repeat([30, 20, 25], axis=0), kernel=kernel)
    assert model.cluster_sizes_.tolist() == [30, 25, 20]
    weighted = KernelSpectralClustering(kernel=kernel, random_state=0)
    weighted.fit(rows.repeat(10, axis=0), sample_weight=np.repeat([3.0, 2.0, 2.5], 10))
    assert weighted.labels_.tolist() == np.repeat([0, 2, 1], 10).tolist()


@pytest.mark.filterwarnings("ignore")
def test_a_rare_row_is_no_cluster():
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 5.0]])
    X = rows.repeat([15_000, 14_985, 15], axis=0)
    X = X[np.random.default_rng(0).permutation(len(X))]
    found = fit(X).n_clusters_
    assert found < 3
    assert fit(open_dataset([X])).n_clusters_ == found


@pytest.mark.filterwarnings("ignore::sparseksc.DoubtWarning")
def test_rows_that_are_not_repeated_are_no_clusters():
    X = np.random.default_rng(0).normal(size=(6, 2))
    assert tune(X, "auto", random_state=0).best_n_clusters < 6


@pytest.mark.parametrize("kernel", ["auto", "rbf"])
def test_uniform_noise_raises_doubt(kernel):
    X = np.random.default_rng(1).uniform(size=(500, 2))
    with pytest.warns(DoubtWarning):
        fit(X, kernel=kernel)


@pytest.mark.filterwarnings("ignore::sparseksc.BandwidthWarning")
@pytest.mark.parametrize("seed", range(3))
def test_parts_of_a_ring_raise_doubt_and_two_rings_do_not(seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.0, 2.0 * np.pi, 3000)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    ring += 0.02 * rng.standard_normal(ring.shape)
    with pytest.warns(DoubtWarning, match="one cluster"):
        fit(ring)
    ring[1500:] *= 0.5
    model = fit(ring)
    assert model.n_clusters_ == 2
    assert model.tuning_.doubt is None


@pytest.mark.parametrize("K", ["auto", 3, [2, 3]])
def test_what_is_wrong_with_a_function_is_said(three, K):
    def nothing(A, B):
        return np.full((len(A), len(B)), np.nan)

    ksc = KernelSpectralClustering(K, kernel=nothing, random_state=0)
    with pytest.raises(ValueError, match="The kernel function returned NaN"):
        ksc.fit(three[0])
    with pytest.raises(ValueError, match="The kernel is zero on all the data"):
        ksc.set_params(kernel=lambda A, B: np.zeros((len(A), len(B)))).fit(three[0])


def test_no_available_model_is_an_error():
    X = np.arange(20.0)[:, None]
    with pytest.raises(ValueError, match="ask for fewer"):
        tune(X, [6, 7], [1e9, 2e9])


def test_one_cluster_is_nothing_to_compare(three):
    for kernel in ("auto", "rbf", "landmarks"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = tune(three[0], 1, kernel=kernel, random_state=0)
        assert result.best_n_clusters == 1
        assert "no others to compare" in result.summary()


def test_a_search_leaves_nothing_for_the_garbage_collector():
    """Its samples may be as large as the data."""
    kept = []

    def noted(*arguments, **options):
        samples = draw_samples(*arguments, **options)
        kept.append(weakref.ref(samples))
        return samples

    X = np.random.default_rng(0).normal(size=(200, 2))
    X[100:] += 8.0
    gc.collect()
    gc.disable()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(competition, "draw_samples", noted)
            tune(X, [2, 3], kernel="rbf", random_state=0)
        assert [reference() for reference in kept] == [None]
    finally:
        gc.enable()
