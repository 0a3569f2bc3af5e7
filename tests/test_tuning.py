"""The search over numbers of clusters and bandwidths, through the public functions."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

from sparseksc import DoubtWarning, KernelSpectralClustering, open_dataset, tune
from sparseksc.datasets import make_rings

CENTRES = [[0, 0], [6, 0], [0, 6]]


@pytest.fixture(scope="module")
def three():
    """Three blobs: (X, y)."""
    return make_blobs(240, centers=CENTRES, cluster_std=0.8, random_state=0)


@pytest.fixture(scope="module")
def found(three):
    """A search among them."""
    return tune(three[0], n_clusters=range(2, 6), kernel="rbf", random_state=0)


class TestTune:
    @pytest.mark.parametrize("factor", [1e-150, 1e-60, 1e60, 1e150])
    def test_units_do_not_matter(self, three, found, factor):
        result = tune(factor * three[0], n_clusters=range(2, 6), kernel="rbf", random_state=0)
        assert result.best_n_clusters == 3
        assert result.best_bandwidth == pytest.approx(factor**2 * found.best_bandwidth, rel=0.5)

    @pytest.mark.parametrize("n_clusters", ["auto", 3])
    @pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
    @pytest.mark.parametrize("far", [[[30.0, 30.0]], [[999_999.0, 4.0]], [[-40, 40], [50, 0]]])
    def test_rows_far_away_do_not_matter(self, three, n_clusters, kernel, far):
        ksc = KernelSpectralClustering(n_clusters, kernel=kernel, random_state=0)
        alone = ksc.fit(three[0]).labels_
        together = ksc.fit(np.r_[three[0], far])
        assert together.n_clusters_ == 3
        assert adjusted_rand_score(alone, together.labels_[: len(alone)]) == 1.0
        assert together.outliers(np.array(far)).all()

    def test_rows_far_away_are_the_same_from_a_stream(self, three):
        X = np.r_[three[0], [[30.0, 30.0]]]
        ksc = KernelSpectralClustering(random_state=0)
        np.testing.assert_array_equal(
            ksc.fit(open_dataset([X])).predict(X),
            KernelSpectralClustering(random_state=0).fit_predict(X),
        )

    def test_it_finds_the_clusters(self, found):
        assert found.best_n_clusters == 3
        assert found.doubt is None
        assert found.ranking[0].bandwidth == found.best_bandwidth

    @pytest.mark.parametrize("criterion", ["ams", "blf", "bas"])
    def test_the_paper_criteria_choose_their_maximum(self, three, criterion):
        result = tune(three[0], [2, 3, 4], [0.5, 2.0, 8.0], criterion=criterion, random_state=0)
        best = np.unravel_index(np.nanargmax(result.surface), result.surface.shape)
        assert result.best_bandwidth == result.surfaces.bandwidths[best[0]]
        assert result.best_n_clusters == result.surfaces.n_clusters[best[1]]
        assert result.criterion in result.summary()

    def test_what_fit_refuses_tune_refuses_with_the_same_words(self):
        X = np.repeat([[0.0], [1.0], [5.0]], 5, axis=0)
        for given, words in (
            ({"n_clusters": [6, 7]}, "6 clusters asked for, but the data has 3 distinct rows"),
            ({"memory_limit": "10kB"}, "memory_limit is 0 MB"),
        ):
            for call in (tune, lambda X, **given: KernelSpectralClustering(**given).fit(X)):
                with pytest.raises((ValueError, MemoryError), match=words):
                    call(X, bandwidth=[1.0, 2.0], **given)


class TestFit:
    @pytest.mark.parametrize("scale", [1e-3, 1e3])
    def test_the_scale_of_the_data_does_not_matter(self, scale):
        X, y = make_moons(200, noise=0.05, random_state=0)
        plain = KernelSpectralClustering([2, 3, 4], random_state=0).fit(X)
        scaled = KernelSpectralClustering([2, 3, 4], random_state=0).fit(scale * X)
        assert adjusted_rand_score(y, plain.labels_) == 1.0
        np.testing.assert_array_equal(plain.labels_, scaled.labels_)

    def test_rings(self):
        X, y = make_rings(600, random_state=0)
        model = KernelSpectralClustering(random_state=0).fit(X)
        assert adjusted_rand_score(y, model.labels_) == 1.0
        assert model.bandwidth_ == model.tuning_.best_bandwidth

    def test_blobs_of_very_different_width(self):
        X, y = make_blobs(
            600, centers=[[-6, 0], [3, 0], [7, 4]], cluster_std=[2.0, 0.3, 0.6], random_state=0
        )
        model = KernelSpectralClustering(random_state=0).fit(X)
        assert model.n_clusters_ == 3
        assert adjusted_rand_score(y, model.labels_) > 0.98

    def test_known_clusters_need_only_a_bandwidth(self, three):
        X, y = three
        model = KernelSpectralClustering(3, random_state=0).fit(X)
        assert adjusted_rand_score(y, model.labels_) == 1.0

    @pytest.mark.parametrize("dimension", [2, 5])
    def test_one_blob_is_one_cluster(self, dimension):
        X = np.random.default_rng(0).normal(size=(400, dimension))
        with pytest.warns(DoubtWarning, match="one cluster"):
            model = KernelSpectralClustering(random_state=0).fit(X)
        assert model.n_clusters_ == 1
        assert not model.labels_.any()
        assert "single cluster" in model.tuning_.summary()
        assert model.transform(X).shape == (400, 0)

    @pytest.mark.parametrize("dimension", [2, 8])
    def test_a_normal_cloud_is_one_cluster(self, dimension):
        # Its outliers give two halves of it the conductance ratio of clusters.
        X = np.random.default_rng(7).standard_t(8, size=(2000, dimension))
        with pytest.warns(DoubtWarning, match="one cluster"):
            assert KernelSpectralClustering(random_state=0).fit(X).n_clusters_ == 1

    def test_clusters_in_groups_are_found(self):
        centres = [[0, 0], [5, 0], [100, 0], [100, 5]]
        X, y = make_blobs([150] * 4, centers=centres, random_state=0)
        assert (
            adjusted_rand_score(y, KernelSpectralClustering(random_state=0).fit(X).labels_) > 0.95
        )

    def test_equal_rows_are_one_cluster(self):
        with pytest.warns(DoubtWarning):
            model = KernelSpectralClustering(random_state=0).fit(np.ones((20, 2)))
        assert model.n_clusters_ == 1

    def test_an_outlier_is_not_a_cluster(self, three):
        X, y = three
        far = np.vstack([X, [[60.0, 60.0]]])
        model = KernelSpectralClustering(random_state=0).fit(far)
        assert adjusted_rand_score(y, model.labels_[:-1]) == 1.0

    @pytest.mark.parametrize("kernel", ["laplacian", "cosine", "linear", "polynomial"])
    def test_other_kernels(self, kernel):
        rng = np.random.default_rng(0)
        X = np.vstack([rng.normal(centre, 0.3, (60, 2)) for centre in ([5, 0], [0, 5], [-4, -4])])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtWarning)
            model = KernelSpectralClustering(kernel=kernel, random_state=0).fit(X)
        assert model.n_clusters_ == 3

    def test_histograms_with_chi2(self):
        rng = np.random.default_rng(0)
        X = np.vstack([rng.dirichlet(50 * np.roll([0.6, 0.2, 0.1, 0.1], k), 60) for k in range(4)])
        model = KernelSpectralClustering(kernel="chi2", random_state=0).fit(X)
        assert adjusted_rand_score(np.repeat(range(4), 60), model.labels_) > 0.95

    def test_a_precomputed_kernel_and_a_function(self, three):
        X, y = three
        gram = rbf_kernel(X, gamma=0.5)
        for model, data in (
            (KernelSpectralClustering(kernel="precomputed", random_state=0), gram),
            (KernelSpectralClustering(kernel=rbf_kernel, random_state=0), X),
        ):
            assert adjusted_rand_score(y, model.fit(data).labels_) == 1.0

    @pytest.mark.filterwarnings("ignore::sparseksc.DoubtWarning")
    def test_weights_count_like_copies(self):
        rng = np.random.default_rng(5)
        X, _ = make_blobs(60, centers=CENTRES, random_state=2)
        weights = rng.integers(0, 3, size=60)
        copies = np.repeat(X, weights, axis=0)
        weighted = KernelSpectralClustering(random_state=0).fit(X, sample_weight=weights)
        repeated = KernelSpectralClustering(random_state=0).fit(copies)
        assert weighted.bandwidth_ == pytest.approx(repeated.bandwidth_)
        np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))

    def test_auto_scores_by_the_membership(self, three):
        X, _ = three
        auto = KernelSpectralClustering(3, bandwidth=2.0, random_state=0).fit(X)
        ams = KernelSpectralClustering(3, bandwidth=2.0, criterion="ams", random_state=0).fit(X)
        assert auto.score(X) == ams.score(X)


def test_four_spirals_of_one_turn_are_found():
    rng = np.random.default_rng(0)
    arm, t = rng.integers(0, 4, 4000), rng.uniform(size=4000)
    angle, radius = 2.0 * np.pi * (arm / 4 + t), 0.1 + 0.9 * t
    X = np.column_stack([radius * np.sin(angle), radius * np.cos(angle)])
    X += 0.01 * rng.standard_normal(X.shape)
    ksc = KernelSpectralClustering(random_state=0).fit(X)
    assert ksc.n_clusters_ == 4
    assert adjusted_rand_score(arm, ksc.labels_) == 1.0
