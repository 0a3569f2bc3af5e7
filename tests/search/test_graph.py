"""The neighbour graph: its weights, and what it connects."""

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc.kernels import make_kernel
from sparseksc.search.graph import neighbour_graph


def test_weights_count_like_copies():
    rng = np.random.default_rng(1)
    X, weights = rng.normal(size=(60, 2)), rng.integers(1, 4, size=60)
    kernel = make_kernel("rbf")
    one = neighbour_graph(kernel, X, weights.astype(float))
    copies = np.repeat(np.arange(60), weights)
    two = neighbour_graph(kernel, X[copies], np.ones(len(copies)))
    np.testing.assert_array_equal(X[one.rows], X[copies][two.rows])
    for first, second in zip(one.edges, two.edges, strict=True):
        np.testing.assert_allclose(first, second)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "chi2", "cosine", "linear"])
def test_nothing_connects_separate_clusters(name):
    rng = np.random.default_rng(2)
    X = np.abs(np.vstack([rng.normal([9, 1], 0.1, (50, 2)), rng.normal([1, 9], 0.1, (50, 2))]))
    graph = neighbour_graph(make_kernel(name), X, np.ones(100))
    labels = np.repeat([0, 1], 50)[graph.rows]
    assert (labels[graph.edges.first] == labels[graph.edges.second]).all()
    assert len(graph.edges.first) > 100


def test_a_precomputed_kernel_has_the_neighbours_of_its_rows():
    X = np.random.default_rng(5).normal(size=(80, 2))
    gram = make_kernel("rbf", 2.0).tile(X, X)
    expected = neighbour_graph(make_kernel("rbf"), X, np.ones(80)).edges
    found = neighbour_graph(make_kernel("precomputed"), gram, np.ones(80), np.arange(80)).edges
    for first, second in zip(expected, found, strict=True):
        np.testing.assert_allclose(first, second)
    some = np.arange(0, 80, 2)
    expected = neighbour_graph(make_kernel("rbf"), X[some], np.ones(40)).edges
    found = neighbour_graph(make_kernel("precomputed"), gram[some], np.ones(40), some).edges
    np.testing.assert_array_equal(expected.first, found.first)


def test_sparse_and_dense_data_have_the_same_graph():
    X = np.random.default_rng(3).integers(0, 3, size=(50, 4)).astype(float)
    kernel = make_kernel("rbf")
    dense = neighbour_graph(kernel, X, np.ones(50))
    sparse = neighbour_graph(kernel, sp.csr_array(X), np.ones(50))
    np.testing.assert_array_equal(dense.rows, sparse.rows)
    assert len(dense.rows) < 50
