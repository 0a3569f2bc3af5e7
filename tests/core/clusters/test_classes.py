import numpy as np
import pytest
from sklearn.datasets import load_digits, make_moons

from sparseksc import KernelSpectralClustering, load
from sparseksc.core.clusters.classes import simplex_corners


def some_labels(y, per_class, seed=0, classes=None):
    rng = np.random.default_rng(seed)
    known = np.full(len(y), -1)
    for c in np.unique(y) if classes is None else classes:
        rows = rng.choice(np.flatnonzero(y == c), per_class, replace=False)
        known[rows] = c
    return known


def dense_classes(model, X, known, components):
    """One class against the rest, with the formulas of the whole kernel matrix."""
    projection = model.model_.projection
    Z = projection.kernel.tile(X, projection.points)
    lam = Z.sum(axis=0)
    G = Z / np.sqrt(lam)
    C = G.T @ G - np.outer(np.sqrt(lam), np.sqrt(lam)) / len(X)
    values, V = np.linalg.eigh(C)
    values, V = values[::-1][:components], V[:, ::-1][:, :components]
    center = np.sqrt(lam) / len(X)
    psi = np.column_stack([np.ones(len(X)), np.sqrt(len(X)) * (G - center) @ V])
    L = np.flatnonzero(known >= 0)
    penalty = np.diag(np.append(1e-6, 1 - 0.999 * np.minimum(values, 1)))
    against = np.where(known[L][:, None] == np.unique(known[L]), 1.0, -1.0)
    a = np.linalg.solve(penalty + 0.01 * psi[L].T @ psi[L], 0.01 * psi[L].T @ against)
    return np.unique(known[L])[np.argmax(psi @ a, axis=1)]


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


@pytest.mark.parametrize("count", [1, 2, 3, 10])
def test_corners_are_at_equal_distances(count):
    corners = simplex_corners(count)
    assert corners.shape == (count, count - 1)
    if count > 1:
        products = np.full((count, count), -1.0 / (count - 1))
        np.fill_diagonal(products, 1.0)
        np.testing.assert_allclose(corners @ corners.T, products, atol=1e-12)


def test_classes_are_those_of_one_class_against_the_rest(digits):
    X, y = digits[0][:600], digits[1][:600]
    known = some_labels(y, 4)
    model = KernelSpectralClustering(10, kernel="landmarks", max_rank=150, random_state=0)
    model.fit(X, known)
    expected = dense_classes(model, X, known, 60)
    assert np.mean(model.labels_ == expected) > 0.995


def test_a_few_labels_name_the_clusters_of_digits(digits):
    X, y = digits
    known = some_labels(y, 5)
    model = KernelSpectralClustering(10, kernel="landmarks", random_state=0).fit(X, known)
    assert np.mean(model.labels_ == y) > 0.92
    np.testing.assert_array_equal(model.classes_, np.arange(10))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.classes_[model.predict_proba(X).argmax(1)], model.labels_)


def test_labels_that_contradict_nothing_help_where_the_shape_does():
    X, y = make_moons(600, noise=0.08, random_state=0)
    names = np.full(len(X), None, dtype=object)
    names[np.flatnonzero(y == 0)[:3]] = "upper"
    names[np.flatnonzero(y == 1)[:3]] = "lower"
    model = KernelSpectralClustering(2, bandwidth=0.05, random_state=0).fit(X, names)
    assert set(model.labels_) == {"upper", "lower"}
    assert np.mean(model.labels_ == np.array(["upper", "lower"])[y]) > 0.98


def test_clusters_without_labels_get_new_names(digits):
    X, y = digits
    rows = np.flatnonzero(y < 4)
    X, y = X[rows], y[rows]
    known = some_labels(y, 10, classes=[1, 3])
    model = KernelSpectralClustering(4, kernel="landmarks", random_state=0).fit(X, known)
    assert model.classes_.tolist() == [1, 3, 4, 5]
    assert np.mean(model.labels_[y == 3] == 3) > 0.9
    new = [np.bincount(model.labels_[y == c], minlength=6).argmax() for c in (0, 2)]
    assert sorted(new) == [4, 5]


def test_a_cluster_that_many_labels_have_missed_is_new(digits):
    X, y = digits
    rows = np.flatnonzero(np.isin(y, [0, 4, 6]))
    X, y = X[rows], y[rows]
    known = some_labels(y, 10, classes=[4, 6])
    model = KernelSpectralClustering("auto", kernel="landmarks", random_state=0).fit(X, known)
    assert model.classes_.tolist() == [4, 6, 7]
    assert np.mean(model.labels_ == np.where(y == 0, 7, y)) > 0.95
    few = KernelSpectralClustering("auto", kernel="landmarks", random_state=0)
    few.fit(X, some_labels(y, 3, classes=[4, 6]))
    assert few.classes_.tolist() == [4, 6]  # six labels may well have missed a third of the rows


def test_the_name_of_a_class_is_kept_in_a_file(digits, tmp_path):
    X, y = digits[0][:500], digits[1][:500]
    names = np.array(list("abcdefghij"), dtype=object)[y]
    names[60:] = None
    model = KernelSpectralClustering(10, kernel="landmarks", random_state=0).fit(X, names)
    model.save(tmp_path / "model.ksc")
    again = load(tmp_path / "model.ksc")
    np.testing.assert_array_equal(again.predict(X), model.labels_)
    np.testing.assert_array_equal(again.classes_, model.classes_)
    model.predict(X, out=tmp_path / "labels.csv")
    lines = (tmp_path / "labels.csv").read_text().split()
    assert lines[0] == "label" and lines[1:] == model.labels_.tolist()
    with pytest.raises(ValueError, match="labels are text"):
        model.predict(X, out=tmp_path / "labels.npy")


def test_the_class_does_not_depend_on_the_number_of_threads(digits):
    X, y = digits
    known = some_labels(y, 5)
    one, two = (
        KernelSpectralClustering(10, kernel="landmarks", random_state=0, n_jobs=n).fit(X, known)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_noise_stays_noise_beside_classes():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(300, 2)), rng.normal(9.0, 1.0, size=(300, 2))])
    X = np.concatenate([X, rng.uniform(-6, 15, size=(40, 2))])
    names = np.full(len(X), None, dtype=object)
    names[:5], names[300:305] = "low", "high"
    model = KernelSpectralClustering(2, bandwidth=2.0, noise=0.05, random_state=0).fit(X, names)
    assert set(model.labels_) == {"low", "high", "noise"}
    np.testing.assert_array_equal(model.predict(X), model.labels_)
