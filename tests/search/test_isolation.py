"""Isolated points, which a search does without."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from sparseksc import DoubtWarning, KernelSpectralClustering
from sparseksc.data.sampling import Sample
from sparseksc.kernels import make_kernel
from sparseksc.search.isolation import isolated_rows


def isolated(X, kernel=None, weights=None):
    weights = np.ones(X.shape[0]) if weights is None else weights
    return isolated_rows(
        kernel or make_kernel("rbf"), Sample(np.arange(len(weights)), X, weights), 0
    )


def ari(X, y, n_clusters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        ksc = KernelSpectralClustering(n_clusters, kernel="rbf", random_state=0).fit(X)
    return adjusted_rand_score(y, ksc.labels_)


def test_a_loose_cluster_beside_tight_ones_is_kept():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [500, 460, 40])
    X = np.array([[0.0, 0], [3, 3], [10, 10]])[y]
    X += np.array([0.01, 0.01, 1.0])[y, None] * rng.normal(size=X.shape)
    assert not isolated(X).any()
    assert ari(X, y, 3) == ari(X, y, "auto") == 1.0


@pytest.mark.parametrize("weighted", [False, True])
def test_a_row_with_many_copies_is_not_isolated(weighted):
    X = np.r_[np.random.default_rng(0).normal(10.0, 1.0, size=(500, 2)), np.zeros((1, 2))]
    copies = np.r_[np.ones(500, int), 500]
    assert isolated(X)[-1]
    if weighted:
        assert not isolated(X, weights=copies).any()
    else:
        assert not isolated(X.repeat(copies, axis=0)).any()
        assert ari(X.repeat(copies, axis=0), np.repeat([0, 1], 500), 2) == 1.0


def test_a_normal_cloud_has_hardly_any_isolated_points():
    for d in (2, 10, 40):
        X = np.random.default_rng(d).normal(size=(3000, d))
        assert isolated(X).sum() <= 2


@pytest.mark.parametrize("d", [2, 40])
def test_points_far_from_all_others_are_isolated(d):
    X = np.random.default_rng(0).normal(size=(3000, d))
    X[7], X[70] = 100.0, -100.0
    X[[8, 9]] = 200.0  # equal rows are one
    for kernel in (make_kernel("rbf"), make_kernel("laplacian")):
        assert np.flatnonzero(isolated(X, kernel)).tolist() == [7, 8, 9, 70]


def test_small_clusters_are_not_isolated_and_units_are_those_of_the_bandwidths():
    X = np.random.default_rng(0).normal(size=(300, 2))
    X[:4] += 50.0
    assert not isolated(X).any()
    X[10] = 0.0, 40.0
    assert np.flatnonzero(isolated(X)).tolist() == [10]
    wide = make_kernel("rbf", (1.0, 1e6))
    assert np.flatnonzero(isolated(X * (1.0, 1e3), wide)).tolist() == [10]


def test_few_points_and_kernels_without_a_distance_have_no_isolated_points():
    assert not isolated(np.array([[0.0], [1.0], [2.0], [1e6]])).any()
    far = np.r_[np.arange(100.0), 1e6][:, None]
    assert isolated(far).sum() == 1
    assert not isolated(far, make_kernel("chi2")).any()
    assert not isolated(sp.csr_array(far)).any()


def test_of_many_rows_each_is_compared_with_a_sample():
    X = np.random.default_rng(0).normal(size=(6000, 3))
    X[::1500] += 100.0 * np.arange(1, 5)[:, None]
    assert np.flatnonzero(isolated(X)).tolist() == [0, 1500, 3000, 4500]
