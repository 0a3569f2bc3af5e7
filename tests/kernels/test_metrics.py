"""Places and sets: the metrics of landmarks against their formulas, and through all doors."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, pairwise_distances

from sparseksc import DoubtWarning, KernelSpectralClustering, load, open_dataset
from sparseksc.kernels import Landmarks
from sparseksc.kernels.metrics import METRICS
from tests.reference import landmarks as slow


def places(n=400, seed=0):
    """Four groups: about the pole, on both sides of the date line, near it, and elsewhere."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n)
    X = np.array([[0.0, 0.0], [10.0, 180.0], [10.0, -165.0], [-45.0, 60.0]])[y]
    X += rng.normal(size=(n, 2))
    around = np.column_stack([90.0 - np.abs(rng.normal(size=n)), rng.uniform(-180, 180, n)])
    X = np.where(y[:, None] == 0, around, X)
    X[:, 1] = (X[:, 1] + 180.0) % 360.0 - 180.0
    return X, y


def sets(n=400, seed=0):
    """Three groups that prefer other items."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    preferred = np.arange(45) // 15 == y[:, None]
    return (rng.random((n, 45)) < np.where(preferred, 0.5, 0.05)).astype(float), y


DATA = {"haversine": places, "jaccard": sets}
each = pytest.mark.parametrize("metric", DATA)


def make(metric, n_clusters=None, **more):
    K = n_clusters or {"haversine": 4, "jaccard": 3}[metric]
    return KernelSpectralClustering(K, kernel="landmarks", metric=metric, random_state=0, **more)


@each
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_features_are_the_formula(metric, dtype):
    X, _ = DATA[metric](60)
    P = make(metric).fit(DATA[metric](300, 1)[0].astype(dtype)).reduced_set_
    assert P.dtype == dtype
    assert P.shape[1] == X.shape[1]
    X = X.astype(dtype)
    expected = slow.mixtures(X.astype(float), P.astype(float), 6, squared=getattr(slow, metric))
    tolerance = 1e-9 if dtype == np.float64 else 1e-3
    Z = Landmarks(metric=metric).tile(X, P)
    near = np.abs(Z - expected).max(axis=1) < tolerance
    # Of landmarks that are equally far, either may be the last.
    assert near.mean() > (0.95 if metric == "jaccard" else 0.99)
    np.testing.assert_allclose(Z.sum(axis=1), 1.0, rtol=1e-6)


@each
def test_distances_are_those_of_scikit_learn(metric):
    X, P = DATA[metric](50)[0], DATA[metric](30, 1)[0]
    numbers, distances = Landmarks(metric=metric).nearest(X, P, 30)
    if metric == "haversine":
        theirs = 2 * np.sin(pairwise_distances(*map(np.radians, (X, P)), metric=metric) / 2)
    else:
        theirs = np.sqrt(pairwise_distances(X > 0, P > 0, metric=metric))
    np.testing.assert_allclose(distances, np.sort(theirs, axis=1), atol=1e-9)
    np.testing.assert_allclose(np.take_along_axis(theirs, numbers, 1), distances, atol=1e-9)


@each
def test_groups_are_found(metric):
    X, y = DATA[metric](800)
    assert adjusted_rand_score(y, make(metric).fit(X).labels_) > 0.95
    found = KernelSpectralClustering(metric=metric, random_state=0).fit(X)
    assert adjusted_rand_score(y, found.labels_) > 0.95
    assert not found.warnings_


def test_landmarks_of_places_are_places():
    X, _ = places(800)
    P = make("haversine").fit(X).reduced_set_
    METRICS["haversine"].check(P)
    nearest = Landmarks(metric="haversine").nearest(P, X, 1)[1]
    assert nearest.max() < np.radians(3.0)


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_a_place_has_one_embedding_whatever_its_longitude_is_called(seed):
    X, _ = places(20, seed)
    metric = METRICS["haversine"]
    np.testing.assert_allclose(
        metric.embedded(X), metric.embedded(X + np.array([0.0, 360.0])), rtol=0, atol=1e-12
    )
    back = metric.kept(metric.embedded(X))
    np.testing.assert_allclose(metric.embedded(back), metric.embedded(X), atol=1e-12)
    np.testing.assert_allclose(back[:, 0], X[:, 0], atol=1e-7)


def test_sparse_sets_are_sets():
    X, _ = sets()
    dense, sparse = (make("jaccard").fit(kind(X)) for kind in (np.asarray, sp.csr_array))
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)
    np.testing.assert_array_equal(sparse.predict(sp.csr_array(X)), sparse.labels_)
    assert sp.issparse(sparse.reduced_set_)
    np.testing.assert_array_equal(make("jaccard").fit(X > 0).labels_, dense.labels_)


def test_empty_sets_are_equal_and_far_from_all_others():
    X = np.vstack([np.zeros((40, 45)), sets(300)[0]])
    labels = make("jaccard", 4).fit(X).labels_
    assert len(set(labels[:40])) == 1
    assert np.mean(labels[40:] == labels[0]) < 0.02  # sets of one item


@each
def test_a_row_is_labelled_alike_alone_and_among_others(metric):
    X, _ = DATA[metric]()
    model = make(metric).fit(X)
    whole = model.transform(X)
    np.testing.assert_array_equal(
        whole, np.vstack([model.transform(X[i : i + 1]) for i in range(len(X))])
    )


@each
def test_files_threads_and_parts_give_the_same(metric, tmp_path):
    X, y = DATA[metric](3000)
    model = make(metric, max_rank=200).fit(X)
    np.save(tmp_path / "x.npy", X)
    file = make(metric, max_rank=200, n_jobs=3).fit(open_dataset(tmp_path / "x.npy"))
    assert file.coef_.tobytes() == model.coef_.tobytes()
    np.testing.assert_array_equal(file.predict(open_dataset(tmp_path / "x.npy")), model.labels_)
    parts = make(metric, max_rank=200)
    for part in np.array_split(X, 3):
        parts.partial_fit(part)
    assert adjusted_rand_score(y, parts.predict(X)) > 0.95


@each
def test_a_model_file_keeps_the_metric(metric, tmp_path):
    X, _ = DATA[metric]()
    for rows in (X, sp.csr_array(X)) if metric == "jaccard" else (X,):
        model = make(metric).fit(rows)
        model.save(tmp_path / "model.ksc")
        again = load(tmp_path / "model.ksc")
        assert again.metric == metric
        assert again.transform(rows).tobytes() == model.transform(rows).tobytes()


@each
def test_dask_arrays(metric):
    da = pytest.importorskip("dask.array", reason="needs dask")
    X, _ = DATA[metric](3000)
    model = make(metric, max_rank=200).fit(X)
    lazy = make(metric, max_rank=200).fit(da.from_array(X, chunks=(700, -1)))
    np.testing.assert_array_equal(np.asarray(lazy.labels_), model.labels_)


@each
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_onnx_graphs_say_the_same(metric, dtype, tmp_path):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    X, new = (DATA[metric](400, seed)[0].astype(dtype) for seed in (0, 1))
    if metric == "jaccard":
        new[0] = 0.0
    model = make(metric).fit(X)
    model.to_onnx(tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(
        tmp_path / "model.onnx", providers=["CPUExecutionProvider"]
    )
    labels, scores = session.run(["labels", "scores"], {"X": new})
    agree = np.abs(scores - model.transform(new)).max(axis=1) < 1e-4
    assert agree.mean() > 0.95  # ties between landmarks
    np.testing.assert_array_equal(labels[agree], model.predict(new)[agree])


@pytest.mark.parametrize(
    ("metric", "X", "sentence"),
    [
        ("haversine", np.eye(9), "X must have two columns, got 9 columns"),
        ("haversine", sp.csr_array(np.eye(9)[:, :2]), "got a sparse matrix"),
        ("haversine", np.full((9, 2), 100.0), "Row 0 has the latitude 100, beyond 90"),
        ("haversine", np.outer(np.arange(9), [1.0, 80.0]), "Row 5 has the longitude 400"),
        ("jaccard", np.eye(9) * 3.0, "X has the value 3: pass X > 0"),
        ("jaccard", sp.csr_array(np.eye(9) * 0.5), "X has the value 0.5"),
    ],
)
def test_rows_that_are_no_places_or_sets_get_one_sentence(metric, X, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        make(metric).fit(X)
    if isinstance(X, np.ndarray):
        np.save(tmp_path / "x.npy", X)
        with pytest.raises(ValueError, match=sentence):
            make(metric).fit(open_dataset(tmp_path / "x.npy"))


def test_radians_and_exchanged_columns_are_doubted():
    X, _ = places()
    with pytest.warns(DoubtWarning, match="as small as radians"):
        make("haversine").fit(np.radians(X))
    frame = pd.DataFrame(X[:, ::-1] / [[2.0, 1.0]], columns=["Longitude", "Latitude"])
    with pytest.warns(DoubtWarning, match="takes the latitude first"):
        make("haversine").fit(frame)


@each
def test_new_rows_are_checked(metric):
    model = make(metric).fit(DATA[metric]()[0])
    with pytest.raises(ValueError, match=r"beyond 90|pass X > 0"):
        model.predict(np.full((1, model.n_features_in_), 100.0))


@each
@pytest.mark.parametrize("more", [{"scale": True}, {"noise": 0.1}, {"noise": "auto"}])
def test_what_needs_other_rows_is_refused(metric, more):
    with pytest.raises(ValueError, match=f"as they are: leave {next(iter(more))} out"):
        make(metric, **more).fit(DATA[metric]()[0])


@each
@pytest.mark.parametrize("n", [2, 5])
def test_few_and_equal_rows(metric, n):
    X = DATA[metric]()[0][:n]
    assert make(metric, 2).fit(X).n_clusters_ == 2
    assert make(metric, 1).fit(np.repeat(X[:1], 30, axis=0)).n_clusters_ == 1
