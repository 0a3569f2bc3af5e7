"""Standardised features, from any kind of data."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from sparseksc import KernelSpectralClustering, open_dataset, tune
from sparseksc.data.source import BLOCK_ROWS, ArraySource
from sparseksc.data.stream import IterableSource
from sparseksc.datasets import make_gaussians
from sparseksc.scaling import Scaling, Spread, measure_scaling


@pytest.fixture(scope="module")
def table():
    """Clusters in features of very different units: (X, y)."""
    X, y = make_gaussians(400, n_clusters=3, n_features=3, overlap=0.2, random_state=2)
    return X * np.array([1e-4, 1.0, 1e5]) + np.array([1e3, 0.0, -1e6]), y


def estimator(**parameters):
    return KernelSpectralClustering(
        3, **{"bandwidth": 0.7, "max_rank": 50, "random_state": 0, "scale": True, **parameters}
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_mean_and_deviation_are_those_of_scikit_learn(table, weighted):
    X, _ = table
    weights = np.random.default_rng(0).integers(0, 4, len(X)).astype(float) if weighted else None
    ours = measure_scaling(ArraySource(X, weights))
    theirs = StandardScaler().fit(X, sample_weight=weights)
    np.testing.assert_allclose(ours.mean, theirs.mean_, rtol=1e-12)
    np.testing.assert_allclose(ours.scale, theirs.scale_, rtol=1e-8)
    np.testing.assert_allclose(ours.apply(X), theirs.transform(X), atol=1e-6)


def test_a_model_of_scaled_data_is_a_model_of_standardised_data(table):
    X, _ = table
    model = estimator().fit(X)
    standardised = model.scaling_.apply(X)
    plain = estimator(scale=False).fit(standardised)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.transform(X), plain.transform(standardised))
    np.testing.assert_array_equal(model.membership(X), plain.membership(standardised))
    np.testing.assert_array_equal(model.outliers(X), plain.outliers(standardised))
    assert model.score(X) == plain.score(standardised)
    assert plain.scaling_ is None
    rows = model.reduced_set_indices_
    np.testing.assert_array_equal(model.reduced_set_, standardised[rows])
    np.testing.assert_allclose(model.scaling_.undo(model.reduced_set_), X[rows], rtol=1e-12)


def test_labels_do_not_depend_on_the_units(table):
    X, _ = table
    labels = estimator().fit(X).labels_
    np.testing.assert_array_equal(estimator().fit(X * 1024.0 - 7.0).labels_, labels)


def test_arrays_streams_and_clusters_give_the_same_bits(table, tmp_path):
    da = pytest.importorskip("dask.array")
    rng = np.random.default_rng(1)
    X = np.repeat(table[0], 200, axis=0)[rng.permutation(200 * len(table[0]))]
    assert len(X) > BLOCK_ROWS
    cuts = range(0, len(X), BLOCK_ROWS)
    blocks = [X[start : start + BLOCK_ROWS] for start in cuts]
    np.save(tmp_path / "X.npy", X)
    model = estimator().fit(X)
    for data in (
        IterableSource(blocks),
        open_dataset(tmp_path / "X.npy"),
        da.from_array(X, chunks=(BLOCK_ROWS, 3)),
    ):
        other = estimator().fit(data)
        np.testing.assert_array_equal(other.scaling_.mean, model.scaling_.mean)
        np.testing.assert_array_equal(other.scaling_.scale, model.scaling_.scale)
        np.testing.assert_array_equal(other.coef_, model.coef_)
        np.testing.assert_array_equal(np.asarray(other.predict(data)), model.labels_)
        np.testing.assert_array_equal(np.asarray(other.transform(data)), model.transform(X))


def test_labels_that_go_to_a_file(table, tmp_path):
    X, _ = table
    model = estimator().fit(X)
    model.predict(IterableSource([X[:150], X[150:]]), out=tmp_path / "labels.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), model.labels_)


def test_merging_is_measuring_together():
    X = 1e6 + np.random.default_rng(0).standard_normal((1000, 4))
    weights = np.random.default_rng(1).random(1000)
    parts = Spread.of(X[:300], weights[:300]).merge(Spread.of(X[300:], weights[300:]))
    whole = Spread.of(X, weights)
    np.testing.assert_allclose(parts.mean, whole.mean, rtol=1e-14)
    np.testing.assert_allclose(parts.deviation, whole.deviation, rtol=1e-9)
    empty = Spread.of(X[:5], np.zeros(5))
    for merged in (empty.merge(whole), whole.merge(empty)):
        np.testing.assert_array_equal(merged.mean, whole.mean)
        np.testing.assert_array_equal(merged.deviation, whole.deviation)
        np.testing.assert_array_equal(merged.least, whole.least)


@pytest.mark.parametrize("value", [0.1, 0.0, 1e300, -7.3e-5])
@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_constant_features_become_zero(value, weight):
    X = np.column_stack([np.full(99, value), np.arange(99.0)])
    scaling = measure_scaling(ArraySource(X, np.full(99, weight)))
    assert scaling.scale[0] == 1.0
    assert not scaling.apply(X)[:, 0].any()


def test_rows_of_weight_zero_do_not_count(table):
    X = table[0].copy()
    weights = np.ones(len(X))
    X[::7], weights[::7] = 1e9, 0.0
    scaling = measure_scaling(ArraySource(X, weights))
    kept = measure_scaling(ArraySource(X[weights > 0]))
    np.testing.assert_array_equal(scaling.mean, kept.mean)
    np.testing.assert_array_equal(scaling.scale, kept.scale)


def test_sparse_data_is_divided_only(table):
    X = np.where(np.random.default_rng(0).random(table[0].shape) < 0.6, 0.0, table[0])
    weights = np.random.default_rng(1).random(len(X))
    scaling = measure_scaling(ArraySource(sp.csr_array(X), weights))
    np.testing.assert_array_equal(scaling.mean, 0.0)
    dense = measure_scaling(ArraySource(X, weights))
    np.testing.assert_allclose(scaling.scale, dense.scale, rtol=1e-12)
    scaled = scaling.apply(sp.csr_array(X))
    np.testing.assert_allclose(scaled.toarray(), X / scaling.scale, rtol=1e-14)
    np.testing.assert_allclose(scaling.undo(scaled).toarray(), X, rtol=1e-14)


def test_a_centred_model_refuses_sparse_rows(table):
    X, _ = table
    model = estimator().fit(X)
    with pytest.raises(ValueError, match=r"would fill a sparse matrix; pass X\.toarray\(\)"):
        model.predict(sp.csr_array(X))


def test_float32_stays_float32(table):
    X = table[0].astype(np.float32)
    model = estimator().fit(X)
    assert model.reduced_set_.dtype == model.transform(X).dtype == np.float32


def test_the_first_chunk_decides(table):
    X, _ = table
    model = estimator().partial_fit(X[:200])
    scaling = model.scaling_
    np.testing.assert_array_equal(scaling.scale, estimator().fit(X[:200]).scaling_.scale)
    model.partial_fit(X[200:])
    assert model.scaling_ is scaling
    assert model.n_samples_seen_ == len(X)
    assert model.predict(X).max() == 2


def test_a_search_sees_scaled_data(table):
    X, _ = table
    candidates = {"n_clusters": [2, 3, 4], "bandwidth": [0.3, 0.7], "random_state": 0}
    result = tune(X, **candidates, scale=True, validation=X[::2])
    standardised = measure_scaling(ArraySource(X)).apply(X)
    plain = tune(standardised, **candidates, validation=standardised[::2])
    assert result.best_n_clusters == plain.best_n_clusters == 3
    for name, values in result.surfaces.values.items():
        np.testing.assert_array_equal(values, plain.surfaces[name])


@pytest.mark.parametrize("kernel", ["chi2", "precomputed"])
def test_kernels_that_cannot_be_scaled(kernel):
    with pytest.raises(ValueError, match=f"scale=True .*{kernel} kernel"):
        estimator(kernel=kernel).fit(np.eye(9))


@pytest.mark.parametrize("scale", ["yes", 1, None])
def test_scale_is_true_or_false(scale):
    with pytest.raises(ValueError, match="scale must be True or False"):
        estimator(scale=scale).fit(np.eye(9))


def test_numbers_that_have_no_square():
    X = np.array([[1e200, 0.0], [-1e200, 1.0], [1.0, 1.0]])
    with pytest.raises(ValueError, match="too large to be standardised"):
        measure_scaling(ArraySource(X))
    with pytest.raises(ValueError, match="too small to be standardised"):
        measure_scaling(ArraySource(np.array([[1e-300, 0.0], [-1e-300, 1.0], [0.0, 1.0]])))


def test_a_checkpoint_continues_with_the_same_scaling(table, tmp_path):
    blocks = [table[0][start : start + 50] for start in range(0, 400, 50)]
    plain = estimator().fit(IterableSource(blocks))
    saved = estimator().fit(IterableSource(blocks), checkpoint=tmp_path / "run.ckpt")
    np.testing.assert_array_equal(saved.coef_, plain.coef_)


def test_a_scaling_cannot_be_changed(table):
    scaling = estimator().fit(table[0]).scaling_
    with pytest.raises(ValueError, match="read-only"):
        scaling.mean[0] = 0.0


def test_a_scaling_does_not_change_its_input(table):
    X = table[0].copy()
    X.flags.writeable = False
    scaling = Scaling(X.mean(axis=0), X.std(axis=0))
    assert scaling.apply(np.asfortranarray(X)).tobytes() == scaling.apply(X).tobytes()
