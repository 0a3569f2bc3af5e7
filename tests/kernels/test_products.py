"""Kernels of inner products."""

import numpy as np
import pytest

from sparseksc.kernels import make_kernel
from tests.kernels.examples import points
from tests.reference.kernels import kernel_matrix


@pytest.mark.parametrize("bandwidth", [1e-300, 1e300])
def test_an_extreme_bandwidth_of_the_polynomial_kernel_is_kept_in_float32(bandwidth, no_warnings):
    root = np.float32(np.sqrt(bandwidth) * 1e-10) if bandwidth < 1 else np.float32(1.0)
    X = root * np.ones((2, 2), dtype=np.float32)
    kernel = make_kernel("polynomial", bandwidth, {"degree": 1})
    assert np.isfinite(kernel.tile(X, X)).all()
    assert np.isfinite(kernel.diagonal(X)).all()


def test_a_zero_row_is_similar_to_nothing_under_the_cosine():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    kernel = make_kernel("cosine")
    np.testing.assert_allclose(kernel.tile(X, X), [[0.0, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(kernel.diagonal(X), [0.0, 1.0])


def test_the_cosine_does_not_depend_on_the_length_of_the_rows(no_warnings):
    X = points(6) - 0.5
    kernel = make_kernel("cosine")
    for factor in (2.0**-600, 2.0**600):
        np.testing.assert_allclose(kernel.tile(factor * X, X), kernel.tile(X, X), rtol=1e-12)
        np.testing.assert_array_equal(kernel.diagonal(factor * X), np.ones(6))


@pytest.mark.parametrize(("degree", "coef0"), [(1, 0.0), (2, 0.5), (5, 2.0)])
def test_the_polynomial_kernel_has_a_degree_and_a_constant(degree, coef0):
    X, P = points(8), points(3, seed=1)
    kernel = make_kernel("polynomial", 2.0, {"degree": degree, "coef0": coef0})
    expected = kernel_matrix("polynomial", X, P, bandwidth=2.0, degree=degree, coef0=coef0)
    np.testing.assert_allclose(kernel.tile(X, P), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"degree": 0}, r"kernel_params\['degree'\] must be a positive integer, got 0"),
        ({"degree": 2.5}, r"kernel_params\['degree'\] must be a positive integer, got 2.5"),
        pytest.param(
            {"degree": "a"},
            r"kernel_params\['degree'\] must be a positive integer, got 'a'",
        ),
        pytest.param(
            {"degree": np.inf},
            r"kernel_params\['degree'\] must be a positive integer, got inf",
        ),
        ({"coef0": -1.0}, r"kernel_params\['coef0'\] must be finite and not negative"),
        ({"coef0": np.nan}, r"kernel_params\['coef0'\] must be finite and not negative"),
        pytest.param(
            {"coef0": "a"},
            r"kernel_params\['coef0'\] must be finite and not negative",
        ),
    ],
)
def test_the_polynomial_kernel_refuses_parameters_that_make_no_kernel(params, sentence):
    with pytest.raises(ValueError, match=sentence):
        make_kernel("polynomial", 1.0, params)
