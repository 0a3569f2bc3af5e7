"""Values that are checked against the data: bandwidths, weights, validation points."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import rbf_kernel

from sparseksc import KernelSpectralClustering, tune
from sparseksc.config.checks import (
    candidates_of_bandwidth,
    check_bandwidth,
    check_distinct_rows,
    check_weights,
)

CENTRES = [[0, 0], [6, 0], [0, 6]]


@pytest.fixture(scope="module")
def three():
    """Three blobs: (X, y)."""
    return make_blobs(240, centers=CENTRES, cluster_std=0.8, random_state=0)


def test_what_cannot_be_validation_is_refused(three):
    X, _ = three
    with pytest.raises(ValueError, match="with 2 columns"):
        tune(X, validation=np.ones((5, 3)))
    with pytest.raises(ValueError, match="number of points for a precomputed"):
        tune(rbf_kernel(X), kernel="precomputed", validation=X)
    with pytest.raises(ValueError, match="integer of at least 1"):
        tune(X, validation=0)


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


def test_distinct_rows_are_found_wherever_they_are():
    X = np.zeros((5000, 2))
    X[-1] = 1.0
    check_distinct_rows(X, 2)
    check_distinct_rows(sp.csr_array(X), 2)
    with pytest.raises(ValueError, match="3 clusters asked for, but the data has 2 distinct rows"):
        check_distinct_rows(X, 3)
