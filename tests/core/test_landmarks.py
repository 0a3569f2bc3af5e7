"""The landmarks kernel against the whole kernel matrix, and what must not change a bit."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from sparseksc import KernelSpectralClustering, open_dataset
from sparseksc.config.settings import Settings
from sparseksc.core import landmarks
from sparseksc.core.landmarks import LandmarkSums, choose_landmarks, solve_landmarks
from sparseksc.data.source import ArraySource
from sparseksc.datasets import make_gaussians
from sparseksc.kernels import Landmarks
from tests.reference.landmarks import dense_scores, mixtures


def gaussians(n=900, n_clusters=4, d=5, seed=0):
    return make_gaussians(n, n_clusters=n_clusters, n_features=d, overlap=0.3, random_state=seed)


def make(n_clusters=4, **more):
    return KernelSpectralClustering(n_clusters, kernel="landmarks", random_state=0, **more)


def up_to_sign(left, right, tolerance=1e-7):
    signs = np.sign(np.sum(left * right, axis=0))
    np.testing.assert_allclose(left * signs, right, atol=tolerance * np.abs(right).max())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("rank", "entries"), [(40, 0), (700, 0), (700, 10_000)])
def test_scores_are_those_of_the_whole_kernel_matrix(weighted, rank, entries, monkeypatch):
    monkeypatch.setattr(landmarks, "DENSE_RANK", 100)  # all three ways to the eigenvectors
    monkeypatch.setattr(landmarks, "INVERTED_ENTRIES", entries)
    X, _ = gaussians(1500 if rank > 100 else 300)
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    weights = weights if weighted else np.ones(len(X))
    ksc = make(max_rank=rank, n_neighbors=5).fit(X, sample_weight=weights)
    Z = mixtures(X, ksc.reduced_set_, 5)
    np.testing.assert_allclose(ksc.model_.projection.kernel.tile(X, ksc.reduced_set_), Z, atol=1e-9)
    values, scores = dense_scores(Z, weights, 3)
    np.testing.assert_allclose(ksc.eigenvalues_, values, atol=1e-7)
    up_to_sign(ksc.transform(X), scores, 1e-5)


@pytest.mark.parametrize("dense", [True, False])  # both ways to the eigenvectors
def test_what_all_landmarks_share_is_that_of_the_whole_kernel_matrix(dense, monkeypatch):
    monkeypatch.setattr(landmarks, "DENSE_RANK", 10_000 if dense else 100)
    X, _ = gaussians(1200, n_clusters=2, d=20)
    weights = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    ksc = make(2).fit(X, sample_weight=weights)
    R, s = len(ksc.reduced_set_), ksc.model_.projection.kernel.n_neighbors
    assert s == R // 64 > 6
    Z = mixtures(X, ksc.reduced_set_, s)
    share = 1.0 - dense_scores(Z, weights, 1)[0][0]
    values, scores = dense_scores((1.0 - share) * Z + share / R, weights, 1)
    np.testing.assert_allclose((1.0 - share) ** 2 * ksc.eigenvalues_, values, atol=1e-7)
    up_to_sign((1.0 - share) ** 2 * ksc.transform(X), scores, 1e-5)


def test_far_points_in_many_dimensions_are_no_clusters():
    rng, n, d = np.random.default_rng(0), 2048, 64
    directions = rng.normal(size=(n, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    X = directions * np.abs(rng.normal(size=(n, 1))) * 0.6 * d
    X[::2] += 1.0
    nearest = X.sum(axis=1) > 0.5 * d
    assert adjusted_rand_score(nearest, make(2).fit_predict(X)) > 0.7


def test_neighbours_that_were_asked_for_are_taken():
    X, _ = gaussians(1200, n_clusters=2)
    for asked in (5, 6, 20):
        ksc = make(2, n_neighbors=asked).fit(X)
        assert ksc.model_.projection.kernel.n_neighbors == asked
        np.testing.assert_array_equal(ksc.bias_, 0.0)


def test_many_dimensions_do_not_merge_what_one_bandwidth_cannot_see():
    X, y = load_digits(return_X_y=True)
    assert normalized_mutual_info_score(y, make(10).fit_predict(X)) > 0.85


def test_a_hundred_clusters():
    centers = np.stack(np.meshgrid(np.arange(10.0), np.arange(10.0)), -1).reshape(-1, 2)
    y = np.repeat(np.arange(100), 60)
    X = centers[y] + 0.12 * np.random.default_rng(0).normal(size=(len(y), 2))
    assert adjusted_rand_score(y, make(100).fit_predict(X)) > 0.97


def test_the_bits_are_the_same_for_any_number_of_threads_and_any_source(tmp_path):
    X, _ = gaussians(40_000)
    one = make(max_rank=200, n_jobs=1).fit(X)
    three = make(max_rank=200, n_jobs=3).fit(X)
    np.save(tmp_path / "x.npy", X)
    file = make(max_rank=200).fit(open_dataset(tmp_path / "x.npy"))
    for other in (three, file):
        assert other.coef_.tobytes() == one.coef_.tobytes()
        assert other.prototypes_.tobytes() == one.prototypes_.tobytes()
    np.testing.assert_array_equal(one.labels_, three.labels_)
    np.testing.assert_array_equal(one.labels_, one.predict(X))


@pytest.mark.parametrize("n_clusters", [2, 4])  # with and without what all landmarks share
def test_the_bits_are_the_same_from_an_array_a_stream_a_cluster_and_chunks(n_clusters, tmp_path):
    da, pq = pytest.importorskip("dask.array"), pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    X, _ = gaussians(3000, n_clusters=n_clusters)
    array = make(n_clusters, max_rank=600).fit(X)
    table = pa.table({f"x{f}": column for f, column in enumerate(X.T)})
    pq.write_table(table, tmp_path / "x.parquet")
    others = [
        make(n_clusters, max_rank=600).fit(open_dataset(tmp_path / "x.parquet")),
        make(n_clusters, max_rank=600).fit(da.from_array(X, chunks=(3000, -1))),
        make(n_clusters, max_rank=600).partial_fit(X),
    ]
    assert (array.model_.projection.kernel.n_neighbors > 6) == (n_clusters == 2)
    for other in others:
        assert other.reduced_set_.tobytes() == array.reduced_set_.tobytes()
        assert other.coef_.tobytes() == array.coef_.tobytes()
        assert other.bias_.tobytes() == array.bias_.tobytes()
        # The numbers of clusters that are equally large may differ: chunks count landmarks.
        assert {row.tobytes() for row in other.prototypes_} == {
            row.tobytes() for row in array.prototypes_
        }


def test_sums_over_parts_add_up_to_those_over_all():
    X, _ = gaussians()
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    kernel, P = Landmarks(4), X[::20]
    whole = LandmarkSums.of_rows(kernel, P, -1.0, X, weights)[0]
    first = LandmarkSums.of_rows(kernel, P, -1.0, X[:400], weights[:400])[0]
    parts = first.merge(LandmarkSums.of_rows(kernel, P, -1.0, X[400:], weights[400:])[0])
    np.testing.assert_allclose(parts.matrix.toarray(), whole.matrix.toarray(), atol=1e-12)
    assert parts.n_outliers == whole.n_outliers
    assert parts.outlier_weight == pytest.approx(whole.outlier_weight)
    np.testing.assert_allclose(whole.matrix.sum(), weights.sum())
    Z = kernel.tile(X, P)
    np.testing.assert_allclose(whole.matrix.toarray(), (Z.T * weights) @ Z, atol=1e-12)


@given(factor=st.sampled_from([1e-12, 1e-3, 7.0, 1e12]), shift=st.sampled_from([0.0, 1e6]))
@settings(max_examples=8, deadline=None)
def test_units_of_the_data_and_of_the_weights_change_no_label(factor, shift):
    X, _ = gaussians(600)
    before = make().fit(X).labels_
    np.testing.assert_array_equal(make().fit(X * factor).labels_, before)
    np.testing.assert_array_equal(make().fit(X + shift).labels_, before)
    weights = np.full(len(X), factor)
    np.testing.assert_array_equal(make().fit(X, sample_weight=weights).labels_, before)


@pytest.mark.parametrize("factor", [1e-150, 1e150])
def test_extreme_units(factor, no_warnings):
    X, y = gaussians(600)
    assert adjusted_rand_score(y, make().fit(X * factor).labels_) > 0.9


def test_separate_pieces_are_found_whatever_the_rank(monkeypatch):
    y = np.repeat(np.arange(5), 300)
    X = np.random.default_rng(0).normal(size=(1500, 3)) + 100.0 * y[:, None]
    for rank, entries in ((10_000, 0), (10, 0), (10, 10_000)):
        monkeypatch.setattr(landmarks, "DENSE_RANK", rank)
        monkeypatch.setattr(landmarks, "INVERTED_ENTRIES", entries)
        ksc = make(5).fit(X)
        assert adjusted_rand_score(y, ksc.labels_) == 1.0
        np.testing.assert_allclose(ksc.eigenvalues_, 1.0, atol=1e-9)


def test_more_landmarks_represent_more():
    X, _ = gaussians(3000)
    ksc = make(max_rank=50).fit(X)
    assert len(ksc.reduced_set_) == 50
    assert len(ksc.reduced_set_indices_) == 0
    assert 0.0 < ksc.residual_ < 1.0
    finer = make(max_rank=400).fit(X)
    assert finer.residual_ < ksc.residual_


def test_points_far_from_all_landmarks_are_outliers():
    X, _ = gaussians()
    ksc = make().fit(X)
    assert ksc.n_outliers_ == np.count_nonzero(ksc.outliers(X))
    np.testing.assert_array_equal(ksc.outliers(np.array([X[0], X[0] + 1e3])), [False, True])


def test_sparse_rows_give_the_clusters_of_dense_ones():
    X, _ = gaussians(600, d=8)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense, sparse = make().fit(X), make().fit(sp.csr_array(X))
    assert sp.issparse(sparse.reduced_set_)
    assert adjusted_rand_score(dense.labels_, sparse.labels_) > 0.95
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)), sparse.labels_)


def test_the_cosine_heeds_directions_alone():
    X, _ = gaussians(900, d=12)
    lengths = np.random.default_rng(0).uniform(0.1, 10.0, (len(X), 1))
    ksc = make(metric="cosine").fit(X)
    np.testing.assert_array_equal(make(metric="cosine").fit(X * 3.0).labels_, ksc.labels_)
    np.testing.assert_array_equal(ksc.predict(X * lengths), ksc.labels_)


def test_float32_is_kept():
    X, y = gaussians()
    ksc = make().fit(X.astype(np.float32))
    assert ksc.reduced_set_.dtype == np.float32
    assert ksc.transform(X[:5].astype(np.float32)).dtype == np.float32
    assert adjusted_rand_score(y, ksc.labels_) > 0.95


def test_rows_of_weight_zero_count_like_none():
    X, _ = gaussians()
    weights = np.ones(len(X))
    weights[600:] = 0.0
    some = make().fit(X[:600])
    weighted = make().fit(X, sample_weight=weights)
    np.testing.assert_array_equal(weighted.labels_[:600], some.labels_)
    np.testing.assert_allclose(weighted.cluster_sizes_, some.cluster_sizes_)


def test_a_row_that_comes_twice_counts_like_twice_the_weight_in_any_order():
    X, _ = gaussians(400)
    rng = np.random.default_rng(0)
    copies = rng.integers(1, 4, len(X))
    weighted = make().fit(X, sample_weight=copies)
    order = rng.permutation(copies.sum())
    repeated = make().fit(np.repeat(X, copies, axis=0)[order])
    np.testing.assert_allclose(repeated.reduced_set_, weighted.reduced_set_, rtol=1e-9)
    np.testing.assert_allclose(repeated.transform(X), weighted.transform(X), atol=1e-8)
    np.testing.assert_array_equal(repeated.predict(X), weighted.predict(X))


def test_constant_data_and_few_rows():
    assert make(1).fit(np.ones((50, 3))).n_clusters_ == 1
    for n in (2, 3, 5, 10):
        X = np.arange(float(n))[:, None] ** 3
        ksc = make(2).fit(X)
        assert ksc.n_clusters_ <= 2
        np.testing.assert_array_equal(ksc.outliers(np.array([X[0] + 0.5, X[-1] * 1e3])), [0, 1])


@pytest.mark.parametrize(
    ("parameters", "X", "sentence"),
    [
        ({"bandwidth": 1.0}, np.eye(9), "has no bandwidth"),
        ({"n_neighbors": 5, "max_rank": 9}, np.eye(9), "at most half of max_rank"),
        ({"n_neighbors": 7}, np.random.default_rng(0).normal(size=(7, 2)), "7 points give"),
        ({"n_neighbors": 6}, np.random.default_rng(0).normal(size=(6, 2)), "6 points give 6"),
        ({"n_neighbors": 0}, np.eye(9), "n_neighbors must be an integer of at least 1"),
        ({"metric": "manhattan"}, np.eye(9), "metric must be one of"),
        ({"metric": "cosine"}, np.eye(9) * (np.arange(9) != 4), "Row 4 is all zeros"),
        ({}, np.ones((9, 2)), "1 distinct row"),
        ({"n_neighbors": -3}, np.eye(9), "n_neighbors must be an integer of at least 1"),
        ({"n_neighbors": np.nan}, np.eye(9), "n_neighbors must be an integer of at least 1"),
        ({}, np.where(np.eye(9) > 0, np.nan, 0.0), "NaN"),
        ({"metric": "cosine"}, np.where(np.eye(9) > 0, np.inf, 1.0), "infinity"),
        ({"max_rank": 1}, np.eye(9), "max_rank must be at least n_clusters"),
    ],
)
def test_what_cannot_be_done_gets_one_sentence(parameters, X, sentence):
    with pytest.raises(ValueError, match=sentence):
        make(2, **parameters).fit(X)


def test_equal_rows_share_a_landmark():
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]]), 30, axis=0)
    with pytest.warns(UserWarning, match="n_neighbors=2 is lowered to 1, half of the 3 landmarks"):
        ksc = make(3, n_neighbors=2).fit(X)
    assert len(ksc.reduced_set_) == 3
    assert len(set(ksc.labels_)) == 3


def test_no_components_are_left_of_a_single_landmark():
    S = LandmarkSums(np.ones(1), np.zeros(1, np.int64), np.array([0, 1]), 0, 0.0)
    spectrum, lam = solve_landmarks(S, 3)
    assert spectrum.coef.shape == (1, 0)
    np.testing.assert_array_equal(lam, [1.0])


def test_the_sample_decides_the_landmarks():
    X, _ = gaussians()
    source = ArraySource(X)
    sample = source.sample(None, 0)
    recipe = Settings(make(max_rank=30).get_params(deep=False)).recipe(None, X.shape[1])
    chosen = choose_landmarks(sample, recipe)
    np.testing.assert_array_equal(chosen.points, make(max_rank=30).fit(X).reduced_set_)


def test_labels_are_the_same_whether_features_are_kept_or_not(monkeypatch):
    X, _ = gaussians(20_000)
    kept = make(max_rank=100).fit(X)
    monkeypatch.setattr(landmarks, "KEPT_BYTES", 0)
    again = make(max_rank=100).fit(X)
    np.testing.assert_array_equal(kept.labels_, again.labels_)
    np.testing.assert_array_equal(kept.cluster_sizes_, again.cluster_sizes_)
    assert kept.coef_.tobytes() == again.coef_.tobytes()


def test_thousands_of_connected_parts_need_little_memory():
    parts = 3000
    pairs = [np.array([[2.0, 1.0], [1.0, 2.0]]) * (1.0 + k % 7) for k in range(parts)]
    sums = LandmarkSums.of_matrix(sp.csr_array(sp.block_diag(pairs)), 0, 0.0)
    tracemalloc.start()
    spectrum, lam = solve_landmarks(sums, 9)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 * 2**20  # a dense column for each part would be 144 MB
    np.testing.assert_allclose(spectrum.eigenvalues, 1.0)
    V = spectrum.eigenvectors
    np.testing.assert_allclose(V.T @ V, np.eye(9), atol=1e-12)
    np.testing.assert_allclose(V.T @ np.sqrt(lam), 0.0, atol=1e-9)
    root = sp.diags_array(1.0 / np.sqrt(lam))
    np.testing.assert_allclose(root @ sums.matrix @ root @ V, V, atol=1e-12)
