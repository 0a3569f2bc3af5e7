import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.datasets import make_blobs

from sparseksc import KernelSpectralClustering, load
from sparseksc.core.clusters.hierarchy import groups_below, groups_of, merge_tree
from tests.reference import hierarchy as slow


def blobs(n=400, centers=6, seed=0):
    return make_blobs(n, centers=centers, center_box=(-8, 8), random_state=seed)[0]


def low_rank(model, X):
    """The kernel matrix that the pivots represent."""
    kernel, P = model.model_.projection.kernel, model.reduced_set_
    tile = kernel.tile(X, P)
    return tile @ np.linalg.solve(kernel.tile(P, P), tile.T)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_tree_is_that_of_the_whole_kernel_matrix(weighted):
    X = blobs()
    weights = np.random.default_rng(0).integers(1, 4, len(X)) if weighted else np.ones(len(X))
    model = KernelSpectralClustering(6, bandwidth=3.0, tol=1e-2, random_state=0)
    model.fit(X, sample_weight=weights)
    members = np.eye(6)[model.labels_] * weights[:, None]
    expected = slow.merge_tree(low_rank(model, X), members)
    np.testing.assert_allclose(model.tree_, expected, rtol=1e-5)
    assert is_valid_linkage(model.tree_)


def test_the_tree_of_landmarks_is_that_of_the_whole_kernel_matrix():
    X = blobs(600)
    model = KernelSpectralClustering(6, kernel="landmarks", random_state=0).fit(X)
    projection = model.model_.projection
    Z = projection.kernel.tile(X, projection.points)
    lam = Z.sum(axis=0)
    scores = projection.coef + projection.bias
    members = Z @ np.eye(6)[model.model_.encoding.labels(scores)]
    expected = slow.merge_tree(Z @ np.diag(1.0 / lam) @ Z.T, members)
    np.testing.assert_allclose(model.tree_, expected, rtol=1e-6)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_merges_equal_the_slow_ones_and_levels_are_nested(K, seed):
    rng = np.random.default_rng(seed)
    G = rng.uniform(size=(30, 5))
    members = np.eye(K)[rng.integers(0, K, 30)] + rng.uniform(1e-3, 0.1, size=(30, K))
    omega = G @ G.T
    tree = merge_tree(slow.cuts(omega, members))
    np.testing.assert_allclose(tree[:, 2], slow.merge_tree(omega, members)[:, 2], rtol=1e-8)
    sizes = members.sum(axis=0)
    for m in range(1, K):
        coarse, fine = groups_of(tree, m, sizes), groups_of(tree, m + 1, sizes)
        assert len(np.unique(coarse)) == m
        assert len(np.unique(np.stack([coarse, fine]), axis=1).T) == m + 1
    assert groups_below(tree, np.inf) == 1 and groups_below(tree, -1.0) == K


def test_clusters_without_similarity_merge_last():
    cuts = np.array([[4.0, 1.0, 0.0], [1.0, 4.0, -1e-20], [0.0, -1e-20, 5.0]])
    tree = merge_tree(cuts)
    assert tree[0, :2].tolist() == [0, 1] and np.isfinite(tree).all()
    assert merge_tree(np.zeros((3, 3))).shape == (2, 4)
    assert merge_tree(np.ones((1, 1))).shape == (0, 4)


def test_coarser_labels_are_groups_of_the_finer_ones(tmp_path):
    X = blobs()
    model = KernelSpectralClustering(6, bandwidth=3.0, random_state=0).fit(X)
    for m in range(1, 7):
        labels = model.predict(X, n_clusters=m)
        np.testing.assert_array_equal(labels, model.cut(m)[model.labels_])
        assert np.all(np.diff(np.bincount(labels)) <= 0)
    np.testing.assert_array_equal(model.cut(6), np.arange(6))
    np.testing.assert_array_equal(model.cut(height=model.distances_[1]), model.cut(4))
    np.testing.assert_array_equal(model.children_, model.tree_[:, :2])
    model.save(tmp_path / "model.ksc")
    np.testing.assert_array_equal(load(tmp_path / "model.ksc").tree_, model.tree_)
    model.predict(X, n_clusters=3, out=tmp_path / "labels.npy")
    written = np.load(tmp_path / "labels.npy")
    np.testing.assert_array_equal(written, model.predict(X, n_clusters=3))


@pytest.mark.parametrize("wrong", [0, 7, 2.5, "3"])
def test_a_wrong_number_of_groups_gets_a_sentence(wrong):
    model = KernelSpectralClustering(6, bandwidth=3.0, random_state=0).fit(blobs())
    with pytest.raises(ValueError, match="an integer from 1 to 6"):
        model.cut(wrong)
    with pytest.raises(ValueError, match="one of the two"):
        model.cut(2, height=1.0)


def test_the_tree_does_not_depend_on_the_number_of_threads():
    X = blobs(3000)
    one, two = (
        KernelSpectralClustering(6, bandwidth=3.0, random_state=0, n_jobs=n).fit(X) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.tree_, two.tree_)


def test_old_models_have_no_tree(request):
    old = load(request.path.parents[2] / "golden" / "model-v4.ksc")
    with pytest.raises(AttributeError, match="saved before"):
        old.cut(2)


def test_weights_count_once_in_a_sample():
    """Rows of a part are drawn by their weights, which must not count again."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.8, size=(8000, 2)) for c in (0.0, 3.0, 7.0)])
    weights = np.repeat([1.0, 4.0, 1.0], 8000)
    settings = {"bandwidth": 3.0, "random_state": 0}
    sampled = KernelSpectralClustering(3, **settings).fit(X, sample_weight=weights)
    copies = KernelSpectralClustering(3, **settings).fit(np.repeat(X, weights.astype(int), axis=0))
    np.testing.assert_allclose(sampled.distances_, copies.distances_, rtol=0.05)
