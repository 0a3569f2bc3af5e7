"""Models on disk: what is saved is what is loaded, bit for bit."""

import json
import pickle
import warnings
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.validation import check_is_fitted

from sparseksc import KernelSpectralClustering, ModelFileError, load
from sparseksc.datasets import make_gaussians
from sparseksc.persistence.container import read_header

KERNELS = ("rbf", "laplacian", "chi2", "cosine", "linear", "polynomial")
ENCODINGS = ("sign", "direction", "angular", "qr")


def points(n_clusters=4, n_features=3, dtype=np.float64):
    X, _ = make_gaussians(
        240, n_clusters=n_clusters, n_features=n_features, overlap=0.2, random_state=5
    )
    return (X - X.min(axis=0) + 0.1).astype(dtype)


def fitted(X, n_clusters=3, **parameters):
    parameters = {"max_rank": 40, "random_state": 0, **parameters}
    if parameters.get("kernel", "rbf") in ("rbf", "laplacian", "chi2", "polynomial"):
        parameters.setdefault("bandwidth", 3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KernelSpectralClustering(n_clusters, **parameters).fit(X)


def assert_same(one, other, X):
    """The same bits for everything that a model says of points."""
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    for say in ("transform", "membership", "outliers"):
        ours, theirs = getattr(one, say)(X), getattr(other, say)(X)
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes(), say
    assert one.score(X) == other.score(X)


def round_trip(model, tmp_path, **options):
    model.save(tmp_path / "model.ksc")
    return load(tmp_path / "model.ksc", **options)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [False, True])
def test_a_loaded_model_gives_the_same_bits(kernel, encoding, dtype, scale, tmp_path):
    if scale and kernel == "chi2":
        pytest.skip("refused")
    X = points(n_features=6, dtype=dtype)
    model = fitted(X, kernel=kernel, encoding=encoding, scale=scale)
    assert_same(round_trip(model, tmp_path), model, X[::-1] * dtype(1.1))


@pytest.mark.parametrize("encoding", ("sign", "direction", "qr"))
@pytest.mark.parametrize("n_clusters", [1, 2])
def test_few_clusters(encoding, n_clusters, tmp_path):
    X = points()
    model = fitted(X, n_clusters, encoding=encoding)
    again = round_trip(model, tmp_path)
    assert again.n_clusters_ == n_clusters
    assert_same(again, model, X)


def test_many_clusters_and_a_bandwidth_for_each_feature(tmp_path):
    X = points(n_clusters=12)
    bandwidth = np.array([0.5, 1.0, 2.0])
    model = fitted(X, 12, bandwidth=bandwidth, max_rank=100)
    again = round_trip(model, tmp_path)
    assert_same(again, model, X)
    np.testing.assert_array_equal(again.bandwidth, bandwidth)
    assert again.bandwidth_ == model.bandwidth_ == (0.5, 1.0, 2.0)


def test_two_bandwidths(tmp_path):
    X = points()
    model = fitted(X, icd_bandwidth=6.0, bandwidth=2.0)
    again = round_trip(model, tmp_path)
    assert again.icd_bandwidth == 6.0
    assert again.model_.projection.degree_kernel.bandwidth == 6.0
    assert_same(again, model, X)


@pytest.mark.parametrize("kernel", ("rbf", "cosine", "linear", "polynomial"))
@pytest.mark.parametrize("scale", [False, True])
def test_sparse_data(kernel, scale, tmp_path):
    X = points()
    X[X < np.median(X)] = 0.0
    X = sp.csr_matrix(X[X.any(axis=1)])
    model = fitted(X, kernel=kernel, scale=scale)
    assert_same(round_trip(model, tmp_path), model, X)


def test_a_precomputed_kernel(tmp_path):
    K = rbf_kernel(points(), gamma=0.5)
    model = fitted(K, kernel="precomputed")
    again = round_trip(model, tmp_path)
    assert_same(again, model, K)
    assert again.n_features_in_ == len(K)


def similarity(X, Y, gamma=1.0, mode=None):
    return rbf_kernel(X, Y, gamma=gamma)


def test_a_function_is_handed_over_again(tmp_path):
    X = points()
    model = fitted(X, kernel=similarity, kernel_params={"gamma": 0.4, "mode": "any"})
    again = round_trip(model, tmp_path, kernel=similarity)
    assert again.kernel_params == {"gamma": 0.4, "mode": "any"}
    assert_same(again, model, X)
    path = tmp_path / "model.ksc"
    with pytest.raises(ModelFileError, match=r"hand it over as load\(path, kernel=function\)\.$"):
        load(path)
    with pytest.raises(ModelFileError, match="another kernel function"):
        load(path, kernel=lambda X, Y, gamma, mode: rbf_kernel(X, Y, gamma=2 * gamma))
    with pytest.raises(ModelFileError, match="must return a matrix of shape"):
        load(path, kernel=lambda X, Y, gamma, mode: np.ones(3))


def test_a_function_for_a_model_that_has_none_is_refused(tmp_path):
    with pytest.raises(ValueError, match="has the rbf kernel; kernel= is for models"):
        round_trip(fitted(points()), tmp_path, kernel=similarity)


def test_arguments_of_a_function_that_are_not_plain_are_refused(tmp_path):
    model = fitted(points(), kernel=similarity, kernel_params={"mode": {1, 2}})
    with pytest.raises(ValueError, match=r"kernel_params\['mode'\] must be a number.*partial"):
        model.save(tmp_path / "model.ksc")
    assert not any(tmp_path.iterdir())
    bound = fitted(points(), kernel=partial(similarity, mode={1, 2}))
    assert_same(round_trip(bound, tmp_path, kernel=bound.kernel), bound, points())


def test_everything_but_the_labels_comes_back(tmp_path):
    X = pd.DataFrame(points(), columns=["höhe", "x[1]", 'say "hi"'])
    model = fitted(X, [2, 3, 4], bandwidth=[1.0, 3.0], kernel="rbf", scale=True)
    again = round_trip(model, tmp_path)
    check_is_fitted(again)
    assert not hasattr(again, "labels_")
    left_out = {"labels_", "model_", "tuning_", "scaling_"}
    for name, value in vars(model).items():
        if name.endswith("_") and name not in left_out:
            np.testing.assert_array_equal(getattr(again, name), value, err_msg=name)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.scaling_.mean, model.scaling_.mean)
    np.testing.assert_array_equal(again.scaling_.scale, model.scaling_.scale)
    assert again.tuning_.summary() == model.tuning_.summary()
    pd.testing.assert_frame_equal(again.tuning_.to_frame(), model.tuning_.to_frame())
    np.testing.assert_array_equal(again.tuning_.eigenvalues, model.tuning_.eigenvalues)
    assert list(again.get_feature_names_out()) == list(model.get_feature_names_out())
    with pytest.raises(ValueError, match="feature names"):
        again.predict(X.rename(columns={"höhe": "breite"}))
    np.testing.assert_array_equal(clone(again).fit(X).labels_, model.labels_)


def test_the_parameters_of_the_machine_stay_there(tmp_path):
    rng = np.random.RandomState(0)
    model = fitted(points(), n_jobs=1, memory_limit="1GB", verbose=0, random_state=rng)
    again = round_trip(model, tmp_path)
    assert again.n_jobs is None and again.memory_limit is None
    assert again.random_state is None


def test_the_header_says_what_is_in_the_file(tmp_path):
    X = pd.DataFrame(points(), columns=list("abc"))
    model = fitted(X, kernel="polynomial", kernel_params={"degree": 2, "coef0": 0.5})
    model.save(tmp_path / "model.ksc")
    header = read_header(tmp_path / "model.ksc")
    json.dumps(header, allow_nan=False)
    assert (header["format"], header["version"]) == ("sparseksc-model", 1)
    assert header["kernel"] == {
        "name": "polynomial",
        "bandwidth": 3.0,
        "degree": 2,
        "coef0": 0.5,
    }
    assert header["feature_names"] == ["a", "b", "c"]
    assert header["training"]["n_samples"] == len(X)
    assert header["training"]["cluster_sizes"] == np.bincount(model.labels_).tolist()
    assert header["training"]["eigenvalues"] == model.eigenvalues_.tolist()
    assert header["tuning"] is None and header["scaled"] is False
    assert set(header["libraries"]) == {"sparseksc", "numpy", "scipy", "scikit-learn", "python"}


def test_a_model_that_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(Exception, match="not fitted"):
        KernelSpectralClustering().save(tmp_path / "model.ksc")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change", [{"kernel": "linear"}, {"scale": True}, {"kernel": similarity}, {"tol": -1.0}]
)
def test_parameters_that_were_changed_after_the_fit_are_refused(change, tmp_path):
    model = fitted(points()).set_params(**change)
    with pytest.raises(ValueError, match=r"changed after fit|tol must be"):
        model.save(tmp_path / "model.ksc")


def test_a_model_of_chunks_can_be_saved(tmp_path):
    X = points()
    model = KernelSpectralClustering(3, bandwidth=3.0, max_rank=40, random_state=0, scale=True)
    model.partial_fit(X[:150]).partial_fit(X[150:])
    again = round_trip(model, tmp_path)
    assert_same(again, model, X)
    assert again.n_samples_seen_ == len(X)


@pytest.mark.parametrize("copy", ["pickle", "joblib"])
def test_pickle_and_joblib_still_work(copy, tmp_path):
    X = points()
    model = fitted(X, scale=True)
    if copy == "pickle":
        again = pickle.loads(pickle.dumps(model))
    else:
        joblib.dump(model, tmp_path / "model.joblib")
        again = joblib.load(tmp_path / "model.joblib")
    assert_same(again, model, X)
    np.testing.assert_array_equal(again.labels_, model.labels_)
