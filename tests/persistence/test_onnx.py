"""ONNX graphs say what the model says."""

import sys
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc import KernelSpectralClustering
from sparseksc.core.encoding import Encoding
from sparseksc.datasets import make_gaussians, make_spirals
from sparseksc.kernels import Linear
from sparseksc.persistence.onnx import export

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

KERNELS = ("rbf", "laplacian", "chi2", "cosine", "linear", "polynomial", "landmarks")
ENCODINGS = ("sign", "direction", "angular", "qr")


def rows(n_rows=600, n_features=6):
    X, _ = make_gaussians(n_rows, n_clusters=4, n_features=n_features, overlap=0.3, random_state=0)
    return X - X.min(axis=0) + 0.1


def new_points(X, n_rows):
    """Points in and around the training data, some of them far out."""
    low, high = X.min(axis=0), X.max(axis=0)
    wide = 0.4 * (high - low)
    return np.random.default_rng(1).uniform(low - wide, high + wide, (n_rows, X.shape[1]))


def fitted(X, n_clusters=4, **parameters):
    parameters = {"max_rank": 40, "random_state": 0, **parameters}
    if parameters.get("kernel") != "landmarks":
        parameters.setdefault("bandwidth", 3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KernelSpectralClustering(n_clusters, **parameters).fit(X)


def run(model, X, tmp_path):
    path = tmp_path / "model.onnx"
    model.to_onnx(path)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 2
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(["labels", "scores"], {"X": X})


def assert_same(model, X, tmp_path):
    labels, scores = run(model, X, tmp_path)
    expected = model.transform(X)
    np.testing.assert_array_equal(labels, model.predict(X))
    assert scores.shape == expected.shape
    np.testing.assert_allclose(
        scores, expected, atol=1e-5 * max(np.abs(expected).max(initial=0), 1)
    )


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("scale", [False, True])
def test_labels_and_scores_are_those_of_the_model(kernel, encoding, scale, tmp_path):
    if scale and kernel == "chi2":
        pytest.skip("refused")
    X = rows()
    new = new_points(X, 3000)
    assert_same(
        fitted(X, kernel=kernel, encoding=encoding, scale=scale),
        np.abs(new) if kernel == "chi2" else new,
        tmp_path,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_hundred_thousand_points(kernel, tmp_path):
    X = rows()
    new = new_points(X, 100_000)
    model = fitted(X, kernel=kernel, scale=kernel != "chi2")
    assert_same(model, np.abs(new) if kernel == "chi2" else new, tmp_path)


def test_a_hundred_thousand_points_on_two_spirals(tmp_path):
    X, _ = make_spirals(100_000, random_state=0)
    assert_same(fitted(X, 2, bandwidth=0.006, max_rank=120), X, tmp_path)


@pytest.mark.parametrize("encoding", ("sign", "direction", "qr"))
@pytest.mark.parametrize("n_clusters", [1, 2])
def test_few_clusters(encoding, n_clusters, tmp_path):
    X = rows()
    model = fitted(X, n_clusters, encoding=encoding)
    assert model.n_clusters_ == n_clusters
    assert_same(model, new_points(X, 500), tmp_path)


def test_parameters_of_kernels(tmp_path):
    X = rows()
    new = new_points(X, 500)
    each = np.linspace(1.0, 9.0, X.shape[1])
    for kernel in ("rbf", "laplacian", "polynomial"):
        assert_same(fitted(X, kernel=kernel, bandwidth=each), new, tmp_path)
    params = {"degree": 2, "coef0": 0.0}
    assert_same(fitted(X, kernel="polynomial", kernel_params=params), new, tmp_path)
    assert_same(fitted(X, icd_bandwidth=6.0), new, tmp_path)


def test_rows_on_which_one_could_stumble(tmp_path):
    """Zeros, pivots themselves, points out of reach of everything, one row and none."""
    for kernel in KERNELS:
        X = rows()
        X[:5] = 0.0
        model = fitted(X, kernel=kernel)
        odd = np.vstack([np.zeros((1, 6)), model.reduced_set_, np.full((1, 6), 1e3)])
        assert_same(model, odd, tmp_path)
        assert_same(model, odd[:1], tmp_path)
        labels, scores = run(model, odd[:0], tmp_path)
        assert labels.shape == (0,) and scores.shape == (0, 3)


@pytest.mark.parametrize("scale", [False, True])
def test_models_of_float32_take_float32(scale, tmp_path):
    X = rows().astype(np.float32)
    model = fitted(X, scale=scale)
    new = new_points(X, 3000).astype(np.float32)
    labels, scores = run(model, new, tmp_path)
    np.testing.assert_allclose(scores, model.transform(new), atol=1e-5)
    # Both round to single precision, but not in the same places.
    assert np.mean(labels != model.predict(new)) < 1e-3
    assert set(labels) == {0, 1, 2, 3}


def test_models_of_sparse_data_take_dense_rows(tmp_path):
    X = np.where(rows() > 4.0, rows(), 0.0)
    X = X[X.any(axis=1)]
    single = fitted(sp.csr_array(X.astype(np.float32)), 3)
    labels, _ = run(single, X.astype(np.float32), tmp_path)
    np.testing.assert_array_equal(labels, single.labels_)
    for kernel in ("rbf", "cosine", "linear", "polynomial", "landmarks"):
        model = fitted(sp.csr_array(X), 3, kernel=kernel, scale=kernel == "linear")
        labels, scores = run(model, X, tmp_path)
        np.testing.assert_array_equal(labels, model.labels_)
        np.testing.assert_allclose(scores, model.transform(sp.csr_array(X)), atol=1e-8)


def test_only_standard_operators_are_used(tmp_path):
    fitted(rows(), scale=True).to_onnx(tmp_path / "model.onnx")
    content = onnx.load(tmp_path / "model.onnx")
    assert [(opset.domain, opset.version) for opset in content.opset_import] == [("", 17)]
    assert {node.domain for node in content.graph.node} == {""}
    shape = content.graph.input[0].type.tensor_type.shape
    assert [dim.dim_param or dim.dim_value for dim in shape.dim] == ["n", 6]


@pytest.mark.parametrize("kernel", ["precomputed", lambda X, Y: X @ Y.T + 9.0])
def test_kernels_that_are_not_in_the_model(kernel, tmp_path):
    X = rows(60)
    model = fitted(X @ X.T if kernel == "precomputed" else X, 2, kernel=kernel)
    with pytest.raises(
        ValueError, match=r"has no ONNX form, since the kernel is not in the model\.$"
    ):
        model.to_onnx(tmp_path / "model.onnx")
    assert not any(tmp_path.iterdir())


def test_without_the_package_the_error_names_the_extra(tmp_path, monkeypatch):
    model = fitted(rows(60), 2)
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.delitem(sys.modules, "sparseksc.persistence.onnx", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'sparseksc\[onnx\]'\.$"):
        model.to_onnx(tmp_path / "model.onnx")


def test_a_model_that_is_not_fitted(tmp_path):
    with pytest.raises(Exception, match="not fitted"):
        KernelSpectralClustering().to_onnx(tmp_path / "model.onnx")


@dataclass(frozen=True)
class Unknown(Linear):
    """A kernel that has no nodes."""

    name = "unknown"


@dataclass(frozen=True)
class Elsewhere(Encoding):
    """An encoding that has no nodes."""

    def distances(self, scores):
        return np.zeros((len(scores), len(self.prototypes)))


def test_what_has_no_nodes_yet_is_refused(tmp_path):
    model = fitted(rows(60), 3, kernel="linear").model_
    kernel = replace(model, projection=replace(model.projection, kernel=Unknown()))
    encoding = replace(model, encoding=Elsewhere(model.encoding.prototypes))
    for changed, sentence in (
        (kernel, "the unknown kernel has no"),
        (encoding, "Elsewhere has no"),
    ):
        with pytest.raises(ValueError, match=sentence):
            export(changed, None, tmp_path / "model.onnx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("names", [["oak", "elm", "Ümlaut 木"], [7, 3, 12]])
@pytest.mark.parametrize("noise", [None, 0.1])
def test_labels_are_the_names_of_the_classes(names, noise, tmp_path):
    X, y = make_gaussians(600, n_clusters=3, n_features=3, overlap=0.01, random_state=0)
    unknown = None if isinstance(names[0], str) else -1
    some = [names[k] if at % 10 == 0 else unknown for at, k in enumerate(y)]
    some = np.array(some, dtype=object if unknown is None else int)
    model = KernelSpectralClustering(3, bandwidth=3.0, noise=noise, random_state=0).fit(X, some)
    labels, _ = run(model, X, tmp_path)
    expected = model.predict(X)
    assert labels.tolist() == expected.tolist()
    assert set(names) <= set(labels.tolist())
    assert (noise is None) == (set(labels.tolist()) == set(names))
    assert labels.dtype == (object if unknown is None else np.int64)


def test_labels_of_an_aligned_model_are_its_numbers(tmp_path):
    X, _ = make_gaussians(600, n_clusters=3, n_features=3, overlap=0.01, random_state=0)
    old = fitted(X, 3)
    new = KernelSpectralClustering(2, bandwidth=3.0, random_state=0)
    new.fit(X[old.labels_ != 1], align_to=old)
    assert new.classes_.tolist() == [0, 2]
    assert_same(new, X, tmp_path)
