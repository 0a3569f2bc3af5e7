"""Kernels that the user brings."""

import re

import numpy as np
import pytest
from sklearn.base import clone

from sparseksc import KernelSpectralClustering
from sparseksc.kernels import make_kernel
from tests.kernels.examples import points
from tests.reference.kernels import kernel_matrix


def test_a_precomputed_kernel_is_read_column_by_column():
    omega = kernel_matrix("rbf", points(6), points(6))
    kernel = make_kernel("precomputed")
    pivots = kernel.pivots(omega, np.array([4, 1]))
    np.testing.assert_array_equal(kernel.tile(omega[2:5], pivots), omega[2:5][:, [4, 1]])
    np.testing.assert_array_equal(kernel.diagonal(omega), np.ones(6))
    some = np.array([5, 2])
    np.testing.assert_array_equal(kernel.among(omega[some], some), omega[some][:, some])
    assert kernel.pivots(omega[some], np.array([1]), some) == [2]


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (np.ones((4, 3)), "square matrix of shape .n_samples, n_samples., got 4 x 3"),
        (np.array([[1.0, 0.5], [0.2, 1.0]]), r"symmetric; two mirrored entries differ by 0\.3"),
        (np.array([[-1.0, 0.5], [0.5, 1.0]]), "positive semi-definite, but its diagonal"),
    ],
)
def test_a_precomputed_matrix_must_be_a_kernel_matrix(matrix, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_kernel("precomputed").check(matrix)


def test_asymmetry_is_found_in_every_block_of_a_large_matrix():
    omega = np.eye(2500)
    omega[2300, 5] = 0.5
    with pytest.raises(ValueError, match="symmetric"):
        make_kernel("precomputed").check(omega)


def triangle(X, Y, width=1.0):
    return np.maximum(0.0, 1.0 - np.abs(X[:, None, 0] - Y[None, :, 0]) / width)


def test_a_function_is_a_kernel_and_gets_its_parameters():
    X = np.array([[0.0], [1.0], [3.0]])
    kernel = make_kernel(triangle, params={"width": 2.0})
    np.testing.assert_allclose(kernel.tile(X, X[:2]), [[1.0, 0.5], [0.5, 1.0], [0.0, 0.0]])
    np.testing.assert_allclose(kernel.diagonal(np.repeat(X, 30, axis=0)), np.ones(90))


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda X, Y: np.ones((2, 2)), r"must return a matrix of shape \(3, 3\), got \(2, 2\)"),
        (lambda X, Y: np.full((3, 3), np.nan), "returned NaN or infinite values"),
        pytest.param(
            lambda X, Y: np.full((3, 3), "a"),
            "must return numbers",
        ),
    ],
)
def test_a_function_that_returns_something_else_is_named(function, sentence):
    X = np.zeros((3, 1))
    with pytest.raises(ValueError, match=sentence):
        make_kernel(function).tile(X, X)


def test_distances_are_recognised_and_the_remedy_works():
    X = np.concatenate([points(40), points(40) + 20.0])
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    with pytest.raises(ValueError, match="must hold similarities, but these are dist") as refusal:
        make_kernel("precomputed").check(D)
    (remedy,) = re.findall(r"numpy\.exp\(.*?\)", str(refusal.value))
    (h,) = re.findall(r"h around ([0-9.e+-]+),", str(refusal.value))
    omega = eval(remedy, {"numpy": np, "X": D, "h": float(h)})
    labels = KernelSpectralClustering(2, kernel="precomputed", random_state=0).fit_predict(omega)
    assert len(set(labels[:40])) == len(set(labels[40:])) == 1 != len(set(labels))


@pytest.mark.parametrize("kind", [list, np.array, lambda rows: np.array(rows, object)[:, None]])
def test_a_function_gets_rows_of_objects(kind):
    words = ["red", "crimson", "rose", "12", "345", "6789"]

    def both_are_digits(X, Y):
        assert X.shape[1] == Y.shape[1] == 1
        assert X.dtype == object
        return [[float(x[0].isdigit() == y[0].isdigit()) for y in Y] for x in X]

    model = KernelSpectralClustering(2, kernel=both_are_digits, random_state=0).fit(kind(words))
    assert model.n_features_in_ == 1
    assert model.labels_.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    assert model.predict(kind(["white", "0"])).tolist() == model.labels_[[0, 3]].tolist()
    assert model.transform(kind(words)).dtype == np.float64


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        ([{"x": float(one % 2), "n": one} for one in range(20)], lambda row: row[0]["x"]),
        ([np.full(3 + one, float(one % 2)) for one in range(20)], lambda row: row[0].mean()),
        ([[f"name {one}", float(one % 2)] for one in range(20)], lambda row: float(row[1])),
    ],
    ids=["dictionaries", "series", "tables"],
)
def test_objects_of_any_kind_with_a_search_and_a_checkpoint(rows, value, tmp_path):
    def kernel(X, Y):
        x, y = (np.array([value(row) for row in some]) for some in (X, Y))
        return np.exp(-((x[:, None] - y) ** 2) / 0.1)

    for n_clusters in (2, [2, 3]):
        model = KernelSpectralClustering(n_clusters, kernel=kernel, random_state=0)
        model.fit(rows, checkpoint=tmp_path / "run.ckpt")
        assert model.labels_.tolist() == (np.arange(20) % 2 ^ model.labels_[0]).tolist()


def test_what_objects_cannot_do_is_said(tmp_path):
    def kernel(X, Y):
        return [[float(x[0] == y[0]) for y in Y] for x in X]

    model = KernelSpectralClustering(2, kernel=kernel, random_state=0)
    words = ["a", "b"] * 5
    with pytest.raises(ValueError, match="cannot be saved: its pivots are objects"):
        model.fit(words).save(tmp_path / "model.ksc")
    assert not (tmp_path / "model.ksc").exists()
    with pytest.raises(ValueError, match=r"2 columns of objects, but .* trained with 1"):
        model.predict([["a", "b"]])
    with pytest.raises(ValueError, match="at least 2 rows, got 1"):
        model.fit(["a"])
    with pytest.raises(ValueError, match="scale=True needs numbers"):
        clone(model).set_params(scale=True).fit(words)
    with pytest.raises(ValueError, match="3 clusters asked for, but the data has 2 distinct rows"):
        clone(model).set_params(n_clusters=3).fit(words)
    with pytest.raises(ValueError, match="X must hold numbers only"):
        KernelSpectralClustering(2, kernel="rbf").fit(words)
