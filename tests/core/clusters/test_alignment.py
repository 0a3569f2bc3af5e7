import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sparseksc.core.clusters.alignment import align, shared_weight


@given(st.permutations(list(range(6))), st.integers(0, 100))
def test_the_same_clusters_in_another_order_keep_their_names(permutation, seed):
    rng = np.random.default_rng(seed)
    old = np.append(np.arange(6), rng.integers(0, 6, 100))
    new = np.asarray(permutation)[old]
    order, names = align(shared_weight(old, new, np.ones(106), 6, 6), np.arange(6))
    np.testing.assert_array_equal(names, np.arange(6))
    np.testing.assert_array_equal(np.argsort(order)[new], old)


def test_a_vanished_cluster_leaves_a_gap_and_a_new_one_gets_a_new_name():
    table = np.array([[9.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, 7.0, 0.0]])
    order, names = align(table, np.array(["a", "b", "c"]))
    assert order.tolist() == [0, 1, 2] and names.tolist() == ["a", "c", "cluster 1"]
    assert align(table, np.arange(3), close_gaps=True).names.tolist() == [0, 1, 2]


def test_noise_counts_nowhere():
    table = shared_weight(np.array([-1, 0, 1]), np.array([0, -1, 1]), np.ones(3), 2, 2)
    np.testing.assert_array_equal(table, [[0, 0], [0, 1]])
