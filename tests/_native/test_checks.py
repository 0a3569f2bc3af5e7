"""What the native functions are given is checked in words."""

import numpy as np
import pytest

from sparseksc._native.checks import require, require_apart, require_kernel, require_whole


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.zeros((2, 2), dtype=np.float32), "X must be float64, got float32"),
        (np.zeros(2), r"X must have the shape \(any, 2\), got \(2,\)"),
        (np.zeros((2, 2), order="F")[:, ::-1], "X must be C-contiguous"),
        ([[1.0, 2.0]], "X must be a NumPy array, got list"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(array, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        require("X", array, np.float64, (None, 2))


def test_views_of_one_array_are_not_apart():
    A = np.zeros(10)
    require_apart({"out": A[:5]}, {"X": A[5:]})
    with pytest.raises(ValueError, match="out must not share memory with X"):
        require_apart({"out": A[:6]}, {"X": A[5:]})


def test_whole_numbers_have_bounds():
    assert require_whole("rank", np.int64(3), 0, 5) == 3
    for value in (-1, 6, 2.5, "3"):
        with pytest.raises((ValueError, TypeError), match="rank must be"):
            require_whole("rank", value, 0, 5)


def test_an_unknown_kernel_is_named():
    X = np.ones((3, 2))
    assert require_kernel("rbf", X, X[:2], np.ones(2)) == (3, 2)
    with pytest.raises(ValueError, match="got 'matern'"):
        require_kernel("matern", X, X, np.ones(2))
