"""Kernels that the user brings."""

import numpy as np
import pytest

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
