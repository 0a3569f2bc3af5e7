"""Bad input: an error sentence that names the parameter, the value and what is allowed."""

import ast
import inspect
import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc import KernelSpectralClustering
from sparseksc.config.checks import (
    candidates_of_bandwidth,
    check_bandwidth,
    check_distinct_rows,
    check_weights,
)
from sparseksc.config.domains import check_value
from sparseksc.config.parameters import PARAMETERS
from sparseksc.core.criteria import CRITERIA
from sparseksc.core.encoding import ENCODINGS
from sparseksc.core.pivoting import RULES
from sparseksc.kernels import KERNELS

POSITIVE = "bandwidth must be positive and finite, got "
NUMBER = r"bandwidth must be a positive number or an array with one per feature, a list of "
INTEGER = "n_clusters must be an integer of at least 1, a list of them or 'auto', got "

SENTENCES = [
    ({"bandwidth": 0}, POSITIVE + "0"),
    ({"bandwidth": -1.0}, POSITIVE + r"-1\.0"),
    ({"bandwidth": np.inf}, POSITIVE + "inf"),
    ({"bandwidth": np.nan}, POSITIVE + "nan"),
    ({"bandwidth": 1e-320}, POSITIVE),
    ({"bandwidth": 10**400}, POSITIVE),
    ({"bandwidth": np.array([1.0, -1.0])}, POSITIVE + r"array\(\[ 1\., -1\.\]\)"),
    ({"bandwidth": "big"}, NUMBER + "candidates or 'auto', got 'big'"),
    ({"bandwidth": None}, NUMBER + "candidates or 'auto', got None"),
    ({"bandwidth": True}, NUMBER + "candidates or 'auto', got True"),
    ({"bandwidth": 1j}, NUMBER + "candidates or 'auto', got 1j"),
    ({"bandwidth": np.ones(5)}, "one value per feature: 2 expected, got 5"),
    ({"bandwidth": np.ones((2, 2))}, "bandwidth as an array must hold one number per feature"),
    ({"bandwidth": np.array(["a", "b"])}, "bandwidth as an array must hold one number per"),
    ({"bandwidth": []}, "bandwidth must not be an empty list"),
    ({"bandwidth": [1.0, -2.0]}, POSITIVE + r"-2\.0"),
    ({"icd_bandwidth": -1.0}, r"icd_bandwidth must be positive and finite, got -1\.0"),
    ({"icd_bandwidth": "auto"}, "icd_bandwidth must be a positive number or .* got 'auto'"),
    ({"icd_bandwidth": 1.0, "kernel": "linear"}, "icd_bandwidth needs a kernel with a bandwidth"),
    ({"n_clusters": 0}, INTEGER + "0"),
    ({"n_clusters": -3}, INTEGER + "-3"),
    ({"n_clusters": 2.5}, INTEGER + "2.5"),
    ({"n_clusters": True}, INTEGER + "True"),
    ({"n_clusters": None}, INTEGER + "None"),
    ({"n_clusters": "three"}, INTEGER + "'three'"),
    ({"n_clusters": []}, "n_clusters must not be an empty list"),
    ({"n_clusters": [1, 2]}, "n_clusters must be an integer of at least 2, got 1"),
    ({"n_clusters": 151}, "151 clusters asked for, but the data has 150 distinct rows"),
    ({"max_rank": 2}, "max_rank must be at least n_clusters, got max_rank=2 for 3 clusters"),
    ({"max_rank": 0}, "max_rank must be an integer of at least 1 .*'auto'.*, got 0"),
    ({"max_rank": 5.5}, r"max_rank must be an integer of at least 1 .*'auto'.*, got 5\.5"),
    ({"max_rank": None}, "max_rank must be an integer of at least 1 .*'auto'.*, got None"),
    ({"max_rank": "all"}, "max_rank must be an integer of at least 1 .*'auto'.*, got 'all'"),
    ({"selection_size": 2}, "selection_size must be at least n_clusters, got selection_size=2"),
    ({"selection_size": 0}, "selection_size must be an integer of at least 1"),
    ({"selection_size": "all"}, "selection_size must be .*'auto', .*got 'all'"),
    ({"tol": -1e-9}, "tol must be a number between 0 and 1, got -1e-09"),
    ({"tol": np.nan}, "tol must be a number between 0 and 1, got nan"),
    ({"tol": "small"}, "tol must be a number between 0 and 1, got 'small'"),
    ({"balance": 1.5}, r"balance must be a number between 0 and 1, got 1\.5"),
    ({"outlier_threshold": -1}, "outlier_threshold must be an integer of at least 0, got -1"),
    ({"n_jobs": 0}, "n_jobs must be an integer of at least 1"),
    ({"n_jobs": "two"}, "n_jobs must be an integer of at least 1 .*got 'two'"),
    ({"verbose": -1}, "verbose must be an integer of at least 0, got -1"),
    ({"random_state": -1}, "random_state must be a non-negative integer, .* got -1"),
    ({"random_state": "abc"}, "random_state must be a non-negative integer, .* got 'abc'"),
    ({"kernel": "RBF"}, "kernel must be one of 'rbf', .*got 'RBF'. Did you mean 'rbf'?"),
    ({"kernel": "laplace"}, "got 'laplace'. Did you mean 'laplacian'?"),
    ({"kernel": "poly"}, "got 'poly'. Did you mean 'polynomial'?"),
    ({"kernel": None}, r"kernel must be one of .*, got None\.$"),
    ({"pivoting": "gredy"}, "pivoting must be one of .*, got 'gredy'. Did you mean 'greedy'?"),
    ({"encoding": "signs"}, "encoding must be one of .*, got 'signs'. Did you mean 'sign'?"),
    ({"criterion": "AMS"}, "criterion must be one of .*, got 'AMS'. Did you mean 'ams'?"),
    ({"encoding": "angular", "n_clusters": 2}, "angular encoding needs n_clusters > 2, got 2"),
    ({"criterion": "bas", "n_clusters": 2}, "bas criterion needs n_clusters > 2, got 2"),
    ({"kernel_params": {"degre": 2}, "kernel": "polynomial"}, "unknown key 'degre'.* 'degree'"),
    ({"kernel_params": {"degree": 2}}, "unknown key 'degree'; the rbf kernel takes none"),
    ({"kernel_params": 3}, "kernel_params must be a dict or None, got 3"),
    ({"kernel_params": {"degree": 0}, "kernel": "polynomial"}, "must be a positive integer, got 0"),
    ({"kernel_params": {"coef0": -1}, "kernel": "polynomial"}, "finite and not negative"),
]


@pytest.mark.parametrize(("settings", "sentence"), SENTENCES)
def test_a_bad_parameter_is_named_with_its_value_and_what_is_allowed(blobs, settings, sentence):
    ksc = KernelSpectralClustering(3, bandwidth=2.0).set_params(**settings)
    with pytest.raises(ValueError, match=sentence):
        ksc.fit(blobs[0])
    assert not hasattr(ksc, "labels_")


@pytest.mark.parametrize(("settings", "sentence"), SENTENCES)
def test_parameters_are_checked_before_any_work(blobs, settings, sentence, monkeypatch):
    def work(*args, **kwargs):
        raise AssertionError("work was done")

    for name in ("estimator.train", "config.planning.search"):
        monkeypatch.setattr(f"sparseksc.{name}", work)
    with pytest.raises(ValueError, match=sentence):
        KernelSpectralClustering(3, bandwidth=2.0).set_params(**settings).fit(blobs[0])


def data_problems():
    X = np.random.default_rng(0).standard_normal((30, 2))
    nan, inf = X.copy(), X.copy()
    nan[3, 1], inf[3, 1] = np.nan, -np.inf
    return [
        ("NaN", nan, {}, "contains NaN"),
        ("infinity", inf, {}, "contains infinity"),
        ("words", np.array([["a", "b"]] * 5), {}, "could not convert string to float"),
        ("complex", X + 1j, {}, "Complex data not supported"),
        ("one dimension", X[:, 0], {}, "Expected 2D array, got 1D array"),
        ("three dimensions", X[None], {}, "dim 3"),
        ("no rows", X[:0], {}, r"0 sample\(s\)"),
        ("no features", X[:, :0], {}, r"0 feature\(s\)"),
        ("one row", X[:1], {}, r"1 sample\(s\) .*minimum of 2"),
        ("equal rows", np.ones((9, 2)), {}, "3 clusters asked for, .* 1 distinct row.$"),
        ("two kinds of rows", X[[0, 1] * 9], {}, "3 clusters asked for, .* 2 distinct rows"),
        ("negative", X, {"kernel": "chi2"}, "Negative values in data .* the least is -"),
        ("not square", X, {"kernel": "precomputed"}, "square matrix .* got 30 x 2"),
        ("asymmetric", X @ X[::-1].T, {"kernel": "precomputed"}, "must be symmetric"),
        ("distances", -np.ones((9, 9)), {"kernel": "precomputed"}, "semi-definite"),
        ("identity", np.eye(9), {"kernel": "precomputed"}, "No two different points are similar"),
        ("ones", np.ones((9, 9)), {"kernel": "precomputed"}, "1 distinct row"),
    ]


@pytest.mark.parametrize(
    ("X", "settings", "sentence"),
    [pytest.param(*problem[1:], id=problem[0]) for problem in data_problems()],
)
def test_bad_data_is_an_error(X, settings, sentence):
    ksc = KernelSpectralClustering(3, bandwidth=2.0).set_params(**settings)
    with pytest.raises(ValueError, match=sentence):
        ksc.fit(X)
    assert not hasattr(ksc, "labels_")


@pytest.mark.parametrize("kernel", ["laplacian", "chi2", "precomputed"])
def test_sparse_rows_are_refused_where_the_kernel_needs_dense_ones(kernel):
    X = sp.random_array((20, 20), density=0.5, rng=np.random.default_rng(0)).tocsr()
    with pytest.raises(TypeError, match="dense data is required"):
        KernelSpectralClustering(2, kernel=kernel, bandwidth=1.0).fit(X)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.ones(3), r"sample_weight must have shape \(150,\), got \(3,\)"),
        (np.ones((150, 1)), r"sample_weight must have shape \(150,\), got \(150, 1\)"),
        (-np.ones(150), "sample_weight must be finite and not negative"),
        (np.full(150, np.nan), "sample_weight must be finite and not negative"),
        (np.full(150, np.inf), "sample_weight must be finite and not negative"),
        (np.zeros(150), "sample_weight must be positive for at least one point"),
        ("heavy", "sample_weight must be an array of numbers"),
        (np.arange(150) < 2, "3 clusters asked for, but the data has 2 distinct rows"),
    ],
)
def test_bad_sample_weights_are_an_error(blobs, weights, sentence):
    with pytest.raises(ValueError, match=sentence):
        KernelSpectralClustering(3, bandwidth=2.0).fit(blobs[0], sample_weight=weights)


def test_weights_are_float64_and_the_given_array_is_left_alone():
    given = np.array([1, 2, 3])
    weights = check_weights(given, 3)
    weights[0] = 7.0
    assert weights.dtype == np.float64
    assert given.tolist() == [1, 2, 3]
    np.testing.assert_array_equal(check_weights(None, 2), [1.0, 1.0])
    np.testing.assert_array_equal(check_weights(2, 2), [2.0, 2.0])


def test_bandwidths_come_as_numbers_arrays_series_and_lists():
    import pandas as pd

    assert check_bandwidth("bandwidth", 3, 2) == 3.0
    assert check_bandwidth("bandwidth", np.float32(0.5), 2) == 0.5
    assert check_bandwidth("bandwidth", np.array([1, 2]), 2) == (1.0, 2.0)
    assert check_bandwidth("bandwidth", pd.Series([1.0, 2.0]), 2) == (1.0, 2.0)
    assert candidates_of_bandwidth([1, 2.0], 2) == [1.0, 2.0]
    assert candidates_of_bandwidth([0.5, np.array([1.0, 2.0])], 2) == [0.5, (1.0, 2.0)]


def test_numbers_of_clusters_come_as_integers_and_collections():
    def candidates(value):
        return check_value("n_clusters", value, PARAMETERS["n_clusters"].domain)

    assert candidates(3) == candidates(np.int64(3)) == candidates(np.array(3)[()]) == [3]
    assert candidates([4, 2, 4]) == [2, 4]
    assert candidates(np.array([2, 3])) == candidates(range(2, 4)) == [2, 3]
    assert candidates("auto") == list(range(2, 11))


def test_distinct_rows_are_found_wherever_they_are():
    X = np.zeros((5000, 2))
    X[-1] = 1.0
    check_distinct_rows(X, 2)
    check_distinct_rows(sp.csr_array(X), 2)
    with pytest.raises(ValueError, match="3 clusters asked for, but the data has 2 distinct rows"):
        check_distinct_rows(X, 3)


def test_the_constructor_has_the_parameters_of_the_table_in_its_order():
    signature = inspect.signature(KernelSpectralClustering).parameters
    assert list(signature) == list(PARAMETERS)
    assert {name: one.default for name, one in signature.items()} == {
        name: one.default for name, one in PARAMETERS.items()
    }


def test_the_docstring_describes_every_parameter_and_its_default():
    text = inspect.getdoc(KernelSpectralClustering)
    described = dict(re.findall(r"^(\w+) : .*default=(.+)$", text, re.MULTILINE))
    assert list(described) == list(PARAMETERS)
    for name, default in described.items():
        assert ast.literal_eval(default) == PARAMETERS[name].default


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("kernel", set(KERNELS)),
        ("pivoting", set(RULES)),
        ("encoding", {"auto", *ENCODINGS}),
        ("criterion", {"auto", *CRITERIA}),
    ],
)
def test_the_names_in_the_table_are_those_that_are_implemented(name, known):
    assert set(PARAMETERS[name].domain.names) == known


def test_the_table_can_be_read_without_numpy():
    code = "import sys, sparseksc.config.parameters; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
