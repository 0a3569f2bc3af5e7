"""Settings: an error names the parameter, its value and what is allowed."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sparseksc import KernelSpectralClustering, tune

CENTRES = [[0, 0], [6, 0], [0, 6]]

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
    (
        {"n_clusters": [1, 2]},
        "n_clusters must be a list of integers of at least 2, got 1 among them: leave it out",
    ),
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
    ({"kernel": "RBF"}, "kernel must be one of 'auto', 'rbf', .*got 'RBF'. Did you mean 'rbf'?"),
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


@pytest.fixture(scope="module")
def three():
    """Three blobs: (X, y)."""
    return make_blobs(240, centers=CENTRES, cluster_std=0.8, random_state=0)


def test_the_second_bandwidth_stays_where_it_is_also_a_candidate():
    X, _ = make_blobs(300, centers=CENTRES, cluster_std=0.8, random_state=0)
    ksc = KernelSpectralClustering(3, bandwidth=[4.0, 8.0], icd_bandwidth=4.0, random_state=0)
    assert ksc.fit(X).model_.projection.degree_kernel.bandwidth == 4.0


@pytest.mark.filterwarnings("ignore:.*has no points:sklearn.exceptions.ConvergenceWarning")
def test_more_clusters_than_the_usual_pivots():
    X = np.random.default_rng(0).uniform(size=(1000, 2))
    ksc = KernelSpectralClustering(250, bandwidth=1e-4, random_state=0)
    assert len(ksc.fit(X).reduced_set_) == 250


def test_an_unknown_criterion_is_refused(three):
    with pytest.raises(ValueError, match="criterion must be one of 'auto'"):
        tune(three[0], criterion="amms")


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

    for name in ("config.planning.train", "config.planning.search"):
        monkeypatch.setattr(f"sparseksc.{name}", work)
    with pytest.raises(ValueError, match=sentence):
        KernelSpectralClustering(3, bandwidth=2.0).set_params(**settings).fit(blobs[0])
