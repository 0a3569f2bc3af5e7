"""Chunks that are seen once: a reservoir, and pivots that follow the data."""

import pickle

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_gaussians, make_spirals


def chunks(X, rows):
    return [X[start : start + rows] for start in range(0, len(X), rows)]


def blob(center, n, seed):
    return np.random.default_rng(seed).normal(center, 0.3, (n, 2))


def test_one_chunk_gives_the_model_of_fit():
    X, _ = make_spirals(5000, random_state=0)
    make = lambda: KernelSpectralClustering(2, bandwidth=0.006, random_state=0)  # noqa: E731
    once, whole = make().partial_fit(X), make().fit(X)
    assert once.coef_.tobytes() == whole.coef_.tobytes()
    np.testing.assert_array_equal(once.predict(X), whole.labels_)


def test_many_chunks_give_the_clusters_of_all_rows():
    X, y = make_spirals(80_000, random_state=1)
    ksc = KernelSpectralClustering(2, bandwidth=0.006, random_state=0)
    for chunk in chunks(X, 10_000):
        ksc.partial_fit(chunk)
    assert adjusted_rand_score(y, ksc.predict(X)) == 1.0


def test_the_residual_tells_that_new_data_is_not_covered_and_pivots_are_added():
    ksc = KernelSpectralClustering(2, bandwidth=0.5, tol=0.01, random_state=0)
    two = np.concatenate([blob(0, 2000, 0), blob(5, 2000, 1)])
    ksc.partial_fit(two)
    covered = len(ksc.reduced_set_)
    ksc.partial_fit(blob(0, 500, 2))
    assert ksc.residual_ < 0.05
    ksc.partial_fit(blob(-9, 2000, 3))
    assert ksc.residual_ > 0.99
    assert len(ksc.reduced_set_) > covered
    ksc.partial_fit(blob(-9, 2000, 4))
    assert ksc.residual_ < 0.05


def test_old_rows_fade_with_a_forgetting_factor():
    ksc = KernelSpectralClustering(2, bandwidth=1.0, tol=0.01, random_state=0)
    ksc.partial_fit(np.concatenate([blob(0, 500, 0), blob(6, 500, 1)]))
    for step in range(40):
        new = np.concatenate([blob(20, 300, 2 + step), blob(26, 300, 60 + step)])
        ksc.partial_fit(new, forgetting=0.5)
    labels = ksc.predict(np.concatenate([blob(20, 200, 200), blob(26, 200, 201)]))
    assert adjusted_rand_score(np.repeat([0, 1], 200), labels) == 1.0


@pytest.mark.parametrize("bad", [0.0, 1.5, -1, "half"])
def test_a_forgetting_factor_is_between_zero_and_one(bad):
    with pytest.raises(ValueError, match="forgetting"):
        KernelSpectralClustering(2, bandwidth=1.0).partial_fit(blob(0, 50, 0), forgetting=bad)


def test_later_chunks_must_have_the_columns_of_the_first():
    ksc = KernelSpectralClustering(2, bandwidth=1.0).partial_fit(blob(0, 50, 0))
    with pytest.raises(ValueError, match="features"):
        ksc.partial_fit(np.ones((5, 3)))


@pytest.mark.parametrize("options", [{"kernel": "precomputed"}, {"icd_bandwidth": 2.0}])
def test_what_needs_all_rows_at_once_is_refused(options):
    X = np.eye(20)
    ksc = KernelSpectralClustering(2, bandwidth=1.0, **options)
    assert not hasattr(ksc, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        ksc.partial_fit(X)


def test_fit_starts_anew():
    X = np.concatenate([blob(0, 200, 0), blob(5, 200, 1)])
    ksc = KernelSpectralClustering(2, bandwidth=1.0, random_state=0).partial_fit(X + 100)
    ksc.fit(X).partial_fit(X)
    fresh = KernelSpectralClustering(2, bandwidth=1.0, random_state=0).partial_fit(X)
    assert ksc.coef_.tobytes() == fresh.coef_.tobytes()


def test_there_are_no_labels_of_rows_that_are_gone():
    X, _ = make_spirals(1000, random_state=0)
    ksc = KernelSpectralClustering(2, bandwidth=0.006, random_state=0).fit(X)
    assert not hasattr(ksc.partial_fit(X), "labels_")
    assert not hasattr(ksc.partial_fit(X), "labels_")


def test_parameters_that_decide_cannot_change_between_chunks():
    X, _ = make_spirals(1000, random_state=0)
    ksc = KernelSpectralClustering(2, bandwidth=0.006, random_state=0).partial_fit(X)
    ksc.set_params(n_jobs=2, verbose=1, random_state=3).partial_fit(X)
    with pytest.raises(ValueError, match="those of the first chunk"):
        ksc.set_params(bandwidth=0.5).partial_fit(X)
    ksc.set_params(bandwidth=np.float64(0.006), n_clusters=np.int64(2)).partial_fit(X)
    assert ksc.n_samples_seen_ == 3000
    assert pickle.loads(pickle.dumps(ksc)).partial_fit(X).n_samples_seen_ == 4000


# ------------------------------------------------------------------------------------ landmarks


def landmarks_of(X, chunk, n_clusters=4, **more):
    ksc = KernelSpectralClustering(n_clusters, kernel="landmarks", random_state=0)
    for start in range(0, len(X), chunk):
        ksc.partial_fit(X[start : start + chunk], **more)
    return ksc


def test_sums_over_landmarks_add_up_exactly():
    X, y = make_gaussians(3000, n_clusters=4, n_features=5, overlap=0.2, random_state=0)
    whole = KernelSpectralClustering(4, kernel="landmarks", random_state=0).fit(X[:1000])
    first = landmarks_of(X[:1000], 1000)
    assert first.coef_.tobytes() == whole.coef_.tobytes()
    # Whatever the chunks after the first, the sums are those over all rows.
    several, one = landmarks_of(X[:1000], 1000), landmarks_of(X[:1000], 1000)
    for start in range(1000, 3000, 500):
        several.partial_fit(X[start : start + 500])
    one.partial_fit(X[1000:])
    np.testing.assert_allclose(several.eigenvalues_, one.eigenvalues_, rtol=1e-9)
    np.testing.assert_array_equal(several.predict(X), one.predict(X))
    assert adjusted_rand_score(y, one.predict(X)) > 0.95
    assert one.n_samples_seen_ == 3000
    assert one.cluster_sizes_.sum() == pytest.approx(3000)


def test_landmarks_forget_and_see_that_the_data_has_moved():
    X, _ = make_gaussians(2000, n_clusters=4, n_features=5, overlap=0.2, random_state=0)
    ksc = landmarks_of(X, 1000, forgetting=0.5)
    assert ksc.cluster_sizes_.sum() == pytest.approx(1500)
    near = ksc.residual_
    ksc.partial_fit(X[:500] + 1000.0)
    assert ksc.residual_ > 100.0 * near
    assert ksc.n_outliers_ >= 500


def test_chunks_with_weights_in_other_units():
    X, _ = make_gaussians(2000, n_clusters=4, n_features=5, overlap=0.2, random_state=0)
    models = []
    for unit in (1.0, 1e200):
        ksc = KernelSpectralClustering(4, kernel="landmarks", random_state=0)
        ksc.partial_fit(X[:1000], sample_weight=np.full(1000, unit))
        models.append(ksc.partial_fit(X[1000:], sample_weight=np.full(1000, unit)))
    np.testing.assert_allclose(models[1].cluster_sizes_, 1e200 * models[0].cluster_sizes_)
    np.testing.assert_array_equal(models[0].predict(X), models[1].predict(X))
