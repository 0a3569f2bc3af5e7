"""The fitted model: a small immutable object that needs nothing but its pivots."""

import pickle
from dataclasses import FrozenInstanceError, fields, is_dataclass

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_gaussians
from sparseksc.execution import threads


@pytest.fixture(scope="module")
def fitted():
    X, _ = make_gaussians(3000, n_clusters=4, n_features=3, overlap=0.3, random_state=0)
    ksc = KernelSpectralClustering(4, bandwidth=8.0, max_rank=60, random_state=0).fit(X)
    return X, ksc, ksc.model_


def test_scores_are_kernel_values_times_coefficients_plus_bias(fitted):
    X, ksc, model = fitted
    distances = ((X[:200, None] - ksc.reduced_set_) ** 2).sum(axis=2)
    expected = np.exp(-distances / 8.0) @ ksc.coef_ + ksc.bias_
    scale = np.abs(ksc.coef_).sum(axis=0).max()
    np.testing.assert_allclose(model.scores(X[:200]), expected, atol=1e-14 * scale)


def test_labels_memberships_and_outliers_follow_from_scores_and_degrees(fitted):
    X, _, model = fitted
    scores = model.scores(X)
    np.testing.assert_array_equal(model.labels(X), model.encoding.labels(scores))
    np.testing.assert_allclose(model.membership(X), model.encoding.membership(scores), rtol=1e-12)
    degrees = model.projection.degrees(X)
    np.testing.assert_array_equal(model.outliers(X), degrees <= model.degree_floor)


def test_degrees_approximate_the_sums_of_similarities(fitted):
    X = fitted[0][:600]
    ksc = KernelSpectralClustering(4, bandwidth=8.0, max_rank=400, tol=1e-6).fit(X)
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    expected = np.exp(-distances / 8.0).sum(axis=1)
    np.testing.assert_allclose(ksc.model_.projection.degrees(X), expected, rtol=1e-3)


def test_scores_and_degrees_in_one_go_are_those_taken_one_by_one(fitted):
    X, _, model = fitted
    scores, degrees = model.projection.scores_and_degrees(X)
    scale = np.abs(model.projection.coef).sum(axis=0).max()
    np.testing.assert_allclose(scores, model.scores(X), atol=1e-13 * scale)
    np.testing.assert_allclose(degrees, model.projection.degrees(X), rtol=1e-9)


def test_scores_do_not_depend_on_the_chunk_size(fitted, monkeypatch):
    X, model = fitted[0][:700], fitted[2]
    whole, labels = model.scores(X), model.labels(X)
    monkeypatch.setattr(threads, "LEAST_ROWS", 1)
    scale = np.abs(model.projection.coef).sum(axis=0).max()
    for rows in (1, 8, 512):
        monkeypatch.setattr(threads, "TILE_BYTES", rows * 8 * model.projection.rank)
        np.testing.assert_allclose(model.scores(X), whole, atol=1e-14 * scale)
        np.testing.assert_array_equal(model.labels(X), labels)


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_scores_have_the_same_bits_for_any_number_of_threads(fitted, n_jobs):
    X, _, model = fitted
    assert model.scores(X, n_jobs).tobytes() == model.scores(X, 1).tobytes()


def test_a_far_point_is_an_outlier_with_a_finite_score(fitted, no_warnings):
    _, ksc, model = fitted
    far = np.array([[1e3, 1e3, 1e3], [1e200, 0.0, 0.0]])
    assert model.outliers(far).all()
    np.testing.assert_allclose(model.scores(far), np.tile(ksc.bias_, (2, 1)), rtol=1e-12)
    np.testing.assert_allclose(model.membership(far).sum(axis=1), 1.0)


def test_most_training_points_are_no_outliers(fitted):
    X, ksc, model = fitted
    assert model.outliers(X).sum() == ksc.n_outliers_ <= 30


def test_leading_scores_are_the_first_ones(fitted):
    X, _, model = fitted
    np.testing.assert_allclose(
        model.projection.leading(2).scores(X), model.scores(X)[:, :2], rtol=1e-12, atol=1e-12
    )


def test_the_model_is_immutable(fitted):
    model = fitted[2]
    with pytest.raises(FrozenInstanceError):
        model.encoding = None
    with pytest.raises(FrozenInstanceError):
        model.projection.coef = None


def arrays_of(thing):
    if isinstance(thing, np.ndarray):
        yield thing
    elif is_dataclass(thing):
        for field in fields(thing):
            yield from arrays_of(getattr(thing, field.name))


def test_the_model_does_not_hold_the_training_data(fitted):
    X, _, model = fitted
    sizes = [array.size if array.base is None else array.base.size for array in arrays_of(model)]
    assert sizes
    assert max(sizes) < X.shape[0]
    assert len(pickle.dumps(model)) < 12_000


def test_a_pickled_model_scores_the_same_bits(fitted):
    X, _, model = fitted
    copy = pickle.loads(pickle.dumps(model))
    assert copy.scores(X[:100]).tobytes() == model.scores(X[:100]).tobytes()
    np.testing.assert_array_equal(copy.labels(X), model.labels(X))
