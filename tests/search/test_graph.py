"""The neighbour graph: weights, conductance and cohesion."""

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc.kernels import make_kernel
from sparseksc.search.graph import neighbour_graph


class TestNeighbours:
    def test_weights_count_like_copies(self):
        rng = np.random.default_rng(1)
        X, weights = rng.normal(size=(60, 2)), rng.integers(1, 4, size=60)
        kernel = make_kernel("rbf")
        one = neighbour_graph(kernel, X, weights.astype(float))
        copies = np.repeat(np.arange(60), weights)
        two = neighbour_graph(kernel, X[copies], np.ones(len(copies)))
        np.testing.assert_array_equal(X[one.rows], X[copies][two.rows])
        np.testing.assert_allclose(one.symmetric.toarray(), two.symmetric.toarray())

    @pytest.mark.parametrize("name", ["rbf", "laplacian", "chi2", "cosine", "linear"])
    def test_separate_clusters_have_no_conductance(self, name):
        rng = np.random.default_rng(2)
        X = np.abs(np.vstack([rng.normal([9, 1], 0.1, (50, 2)), rng.normal([1, 9], 0.1, (50, 2))]))
        graph = neighbour_graph(make_kernel(name), X, np.ones(100))
        conductance, _, cohesion = graph.evaluate(np.repeat([0, 1], 50)[graph.rows])
        assert (conductance, cohesion) == (0.0, 1.0)

    def test_sparse_and_dense_data_have_the_same_graph(self):
        X = np.random.default_rng(3).integers(0, 3, size=(50, 4)).astype(float)
        kernel = make_kernel("rbf")
        dense = neighbour_graph(kernel, X, np.ones(50))
        sparse = neighbour_graph(kernel, sp.csr_array(X), np.ones(50))
        np.testing.assert_array_equal(dense.rows, sparse.rows)
        assert len(dense.rows) < 50

    def test_a_slice_of_a_cluster_does_not_hold_together(self):
        X = np.random.default_rng(4).normal(size=(100, 2))
        graph = neighbour_graph(make_kernel("rbf"), X, np.ones(100))
        labels = np.zeros(100, dtype=int)
        labels[:2] = 1
        assert graph.evaluate(labels)[2] < 0.5
