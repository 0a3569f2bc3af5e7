"""Products of sparse rows: compiled, in SciPy, and of dense ones."""

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc import _native
from sparseksc._native import sparse, twin


@pytest.fixture(params=["native", "twin"])
def backend(request, monkeypatch):
    if request.param == "twin":
        monkeypatch.setattr(_native, "_backend", twin)


def drawn(shape, seed, dtype=np.float64, index=np.int32):
    """A matrix with features that all, some and no rows have."""
    rng = np.random.default_rng(seed)
    shares = np.linspace(0.0, 1.0, shape[1])
    dense = rng.normal(size=shape) * (rng.random(shape) < shares)
    matrix = sp.csr_array(dense.astype(dtype))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-13), (np.float32, 1e-5)])
@pytest.mark.parametrize(("n", "R", "d"), [(1, 1, 1), (0, 3, 4), (40, 130, 30), (5, 1000, 7)])
def test_products_are_those_of_dense_rows(backend, n, R, d, dtype, tolerance, index):
    X, P = drawn((n, d), 0, dtype, index), drawn((R, d), 1, dtype, index)
    found = sparse.products(X, sparse.PointsByFeature.of(P))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, X.toarray() @ P.toarray().T, atol=tolerance * 10)


def test_frequent_features_are_dense_and_rare_ones_are_not():
    points = sparse.PointsByFeature.of(drawn((200, 11), 0))
    assert (points.places[:2] < 0).all()
    assert (points.places[3:] >= 0).all()
    assert len(points.values) == points.starts[-1] < 0.2 * 2 * 200


def test_a_product_depends_on_its_row_alone_and_is_symmetric():
    X, P = drawn((50, 40), 0), drawn((70, 40), 1)
    of_rows, of_points = sparse.PointsByFeature.of(X), sparse.PointsByFeature.of(P)
    found = sparse.products(X, of_points)
    np.testing.assert_array_equal(found[7:8], sparse.products(X[7:8], of_points))
    np.testing.assert_array_equal(found, sparse.products(P, of_rows).T)
