"""Models on disk: what is saved is what is loaded, bit for bit."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.validation import check_is_fitted

from sparseksc import KernelSpectralClustering, load
from sparseksc.persistence.container import read_header
from tests.persistence.conftest import assert_same, fitted, points, round_trip

KERNELS = ("rbf", "laplacian", "chi2", "cosine", "linear", "polynomial", "landmarks")

ENCODINGS = ("sign", "direction", "angular", "qr")

HERE = Path(__file__).parent

#: Mutations in an ordinary run of the tests; `python -m tests.fuzz_model_files 10000` for more.
N_MUTATIONS = int(os.environ.get("SPARSEKSC_FUZZ", "300"))


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


@pytest.mark.parametrize("kernel", ("rbf", "cosine", "linear", "polynomial", "landmarks"))
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


def test_the_header_says_what_is_in_the_file(tmp_path):
    X = pd.DataFrame(points(), columns=list("abc"))
    model = fitted(X, kernel="polynomial", kernel_params={"degree": 2, "coef0": 0.5})
    model.save(tmp_path / "model.ksc")
    header = read_header(tmp_path / "model.ksc")
    json.dumps(header, allow_nan=False)
    assert (header["format"], header["version"]) == ("sparseksc-model", 5)
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


def test_a_model_of_chunks_can_be_saved(tmp_path):
    X = points()
    model = KernelSpectralClustering(3, bandwidth=3.0, max_rank=40, random_state=0, scale=True)
    model.partial_fit(X[:150]).partial_fit(X[150:])
    again = round_trip(model, tmp_path)
    assert_same(again, model, X)
    assert again.n_samples_seen_ == len(X)


def test_the_golden_files_load_forever():
    for file in sorted(HERE.glob("golden/model-v*.ksc")):
        answers = json.loads(file.with_suffix(".json").read_text())
        model = load(file)
        X = pd.DataFrame(answers["X"], columns=model.feature_names_in_)
        assert list(model.feature_names_in_)[:2] == ["length", "width"]
        np.testing.assert_array_equal(model.predict(X), answers["labels"])
        np.testing.assert_allclose(model.transform(X), answers["scores"], atol=1e-9)
        np.testing.assert_allclose(model.membership(X), answers["membership"], atol=1e-9)
        assert model.tuning_.best_n_clusters == model.n_clusters_ == 3
        assert read_header(file)["training"]["n_samples"] == 300
    assert (HERE / "golden" / "model-v1.ksc").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited and measured in Linux's way")
def test_damaged_files_do_no_harm():
    run = subprocess.run(
        [sys.executable, "-m", "tests.fuzz_model_files", str(N_MUTATIONS)],
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


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
