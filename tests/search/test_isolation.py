"""Isolated points, which a search does without."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from sparseksc import DoubtWarning, KernelSpectralClustering
from sparseksc.kernels import make_kernel
from sparseksc.search.isolation import isolated_points


class TestLonelyRows:
    @staticmethod
    def lonely(X, kernel=None, weights=None):
        weights = np.ones(X.shape[0]) if weights is None else weights
        return isolated_points(kernel or make_kernel("rbf"), X, weights, 0)

    @staticmethod
    def ari(X, y, n_clusters):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtWarning)
            ksc = KernelSpectralClustering(n_clusters, random_state=0).fit(X)
        return adjusted_rand_score(y, ksc.labels_)

    def test_a_loose_cluster_beside_tight_ones_is_kept(self):
        rng = np.random.default_rng(0)
        y = np.repeat([0, 1, 2], [500, 460, 40])
        X = np.array([[0.0, 0], [3, 3], [10, 10]])[y]
        X += np.array([0.01, 0.01, 1.0])[y, None] * rng.normal(size=X.shape)
        assert not self.lonely(X).any()
        assert self.ari(X, y, 3) == self.ari(X, y, "auto") == 1.0

    @pytest.mark.parametrize("weighted", [False, True])
    def test_a_row_that_is_there_often_is_not_lonely(self, weighted):
        X = np.r_[np.random.default_rng(0).normal(10.0, 1.0, size=(500, 2)), np.zeros((1, 2))]
        copies = np.r_[np.ones(500, int), 500]
        assert self.lonely(X)[-1]
        if weighted:
            assert not self.lonely(X, weights=copies).any()
        else:
            assert not self.lonely(X.repeat(copies, axis=0)).any()
            assert self.ari(X.repeat(copies, axis=0), np.repeat([0, 1], 500), 2) == 1.0

    def test_a_cloud_has_hardly_any(self):
        for d in (1, 2, 10, 40):
            X = np.random.default_rng(d).normal(size=(3000, d))
            assert self.lonely(X).sum() <= 2

    @pytest.mark.parametrize("d", [2, 40])
    def test_rows_far_from_all_are(self, d):
        X = np.random.default_rng(0).normal(size=(3000, d))
        X[7], X[70] = 100.0, -100.0
        X[[8, 9]] = 200.0  # equal rows are one
        for kernel in (make_kernel("rbf"), make_kernel("laplacian")):
            assert np.flatnonzero(self.lonely(X, kernel)).tolist() == [7, 8, 9, 70]

    def test_small_clusters_are_not_and_units_are_those_of_the_bandwidths(self):
        X = np.random.default_rng(0).normal(size=(300, 2))
        X[:5] += 50.0
        assert not self.lonely(X).any()
        X[10] = 0.0, 40.0
        assert np.flatnonzero(self.lonely(X)).tolist() == [10]
        wide = make_kernel("rbf", (1.0, 1e6))
        assert np.flatnonzero(self.lonely(X * (1.0, 1e3), wide)).tolist() == [10]

    def test_where_hardly_anybody_is_or_nothing_is_known_none_are(self):
        X = np.r_[np.arange(10.0), 1e6][:, None]
        assert not self.lonely(X).any()
        far = np.r_[np.arange(100.0), 1e6][:, None]
        assert self.lonely(far).sum() == 1
        assert not self.lonely(far, make_kernel("chi2")).any()
        assert not self.lonely(sp.csr_array(far)).any()
