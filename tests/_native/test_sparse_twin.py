"""The twin of the products of sparse rows refuses what the compiled ones refuse."""

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc import _native
from sparseksc._native import sparse, twin


@pytest.fixture(params=["native", "twin"])
def backend(request, monkeypatch):
    if request.param == "twin":
        monkeypatch.setattr(_native, "_backend", twin)


@pytest.fixture
def points():
    """Two features that some of the points have, and one that all have."""
    rng = np.random.default_rng(0)
    filled = rng.random((60, 3)) < [0.1, 0.05, 1.0]
    return sparse.PointsByFeature.of(sp.csr_array(filled, dtype=float))


@pytest.mark.parametrize("name", ["starts", "numbers", "places"])
def test_points_out_of_range_are_refused(backend, points, name):
    wrong = points._replace(**{name: getattr(points, name) + 1000})
    with pytest.raises(ValueError, match="out of range"):
        sparse.products(sp.csr_array(np.ones((3, 3))), wrong)


def test_features_out_of_range_are_refused(backend, points):
    X = sp.csr_array(np.ones((3, 3)))
    X.indices[0] = 3
    with pytest.raises(ValueError, match="out of range"):
        sparse.products(X, points)


def test_other_types_are_refused(backend, points):
    with pytest.raises(TypeError, match="float32"):
        sparse.products(sp.csr_array(np.ones((3, 3))), points._replace(dense=np.ones((1, 60), int)))
