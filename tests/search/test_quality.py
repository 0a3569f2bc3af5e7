"""The quality of clusterings: against pairs of rows, its invariances, its scale."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import NearestNeighbors

from sparseksc import KernelSpectralClustering
from sparseksc.config.settings import Settings
from sparseksc.data.sampling import Sample
from sparseksc.search.constants import N_NEIGHBOURS, RESOLUTION
from sparseksc.search.graph import Edges
from sparseksc.search.quality import Graphs, LandmarkGraph, MutualGraph, joined
from tests.reference.quality import landmark_ratios, mutual_ratios, separation


def recipe(seed=0, **parameters):
    ksc = KernelSpectralClustering(kernel="landmarks", random_state=seed, **parameters)
    return Settings(ksc.get_params()).recipe(None, 2)


def sample_of(X, weights=None):
    return Sample(np.arange(len(X)), X, np.ones(len(X)) if weights is None else weights)


def two_clouds(n=200, distance=6.0, d=2, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[n // 2 :, 0] += distance
    return X, np.repeat([0, 1], [n // 2, n - n // 2])


@pytest.mark.parametrize("seed", range(3))
def test_ratios_are_what_all_pairs_of_rows_say(seed):
    X, labels = two_clouds(seed=seed)
    graph = LandmarkGraph.of(sample_of(X), recipe().with_landmarks(30, 5))
    graph = replace(graph, resolution=RESOLUTION)
    Z = np.zeros((len(X), len(graph.volumes)))
    np.add.at(Z, (np.arange(len(X))[:, None], graph.numbers), graph.shares)
    expected = landmark_ratios(Z, labels, RESOLUTION)
    np.testing.assert_allclose(graph.ratios(labels, 2), expected, atol=0.02)


@pytest.mark.parametrize("distance", [2.0, 3.0, 4.0])
def test_ratios_in_the_mutual_graph_are_those_between_its_points(distance):
    X, _ = two_clouds(distance=distance)
    labels = (X[:, 0] > distance / 2).astype(int)
    near = NearestNeighbors(n_neighbors=N_NEIGHBOURS).fit(X).kneighbors_graph().toarray()
    W = 2.0 * near * near.T  # as many votes as rows
    # The reference takes clusters that are connected.
    _, part = connected_components(W * (labels[:, None] == labels))
    kept = np.isin(part, np.argsort(np.bincount(part))[-2:])
    X, labels, W = X[kept], labels[kept], W[np.ix_(kept, kept)]
    first, second = np.nonzero(np.triu(W))
    edges = Edges(first, second, W[first, second], W.sum(axis=1))
    found = MutualGraph(np.arange(len(X)), edges).ratios(labels, 2)
    expected = mutual_ratios(W, labels, RESOLUTION * W.sum() / len(X))
    np.testing.assert_allclose(found, expected, atol=0.02)
    assert kept.mean() > 0.9


def test_separation_is_half_the_mean_and_half_the_worst_cluster_of_the_better_graph():
    ratios = [np.array([2.0, 0.0, 4.0]), np.array([1.0, 0.5, 1.0])]
    graphs = Graphs(
        tuple(lambda labels, K, one=one: one for one in ratios), np.ones(8), np.arange(8)
    )
    found = graphs.separation(np.array([0, 0, 0, 0, 1, 1, 2, 2]), 3)
    assert found.value == separation(ratios[0], [4, 2, 2]) == 1.0
    assert found.firm == pytest.approx(separation([1.0, 0.5, 1.0], [4, 2, 2]))


def test_the_worst_tenth_of_many_clusters_counts_half_whatever_their_sizes():
    rng = np.random.default_rng(0)
    ratios, sizes = rng.normal(size=40), rng.integers(1, 90, size=40)
    assert joined(ratios, sizes) == pytest.approx(separation(ratios, sizes))
    few = np.array([5, 1])
    assert joined(np.array([0.0, 1.0]), few) == pytest.approx(separation([0.0, 1.0], few))


def test_a_cluster_that_nothing_holds_together_is_none():
    X, labels = two_clouds()
    graphs = Graphs.of(sample_of(X), recipe())
    assert (
        graphs.separation(np.arange(len(X)) % 2, 2).value < graphs.separation(labels, 2).value - 3
    )
    assert graphs.separation(labels, 3).value == -np.inf


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 100), st.sampled_from([1e-6, 0.5, 3.0, 1e6]))
def test_it_depends_neither_on_names_nor_order_nor_units(seed, unit):
    X, labels = two_clouds(n=120, seed=seed)
    order = np.random.default_rng(seed).permutation(len(X))
    first = Graphs.of(sample_of(X), recipe()).separation(labels, 2).value
    assert Graphs.of(sample_of(X), recipe()).separation(1 - labels, 2).value == pytest.approx(first)
    moved = Graphs.of(sample_of(unit * X + 3.0 * unit), recipe()).separation(labels, 2).value
    assert moved == pytest.approx(first, abs=1e-3)
    shuffled = Sample(order, X[order], np.ones(len(X)))
    assert Graphs.of(shuffled, recipe()).separation(labels[order], 2).value == pytest.approx(
        first, abs=0.5
    )


def test_weights_count_like_copies():
    X, labels = two_clouds(n=100)
    weights = np.where(np.arange(100) % 3 == 0, 2.0, 1.0)
    copies = np.repeat(np.arange(100), weights.astype(int))
    one = Graphs.of(sample_of(X, weights), recipe()).separation(labels, 2).value
    other = Graphs.of(sample_of(X[copies]), recipe()).separation(labels[copies], 2).value
    assert one == pytest.approx(other, abs=1e-6)


@pytest.mark.parametrize("distance", [4.0, 6.0, 10.0])
def test_clusters_that_are_apart_have_more_than_any_division_of_a_cloud(distance):
    X, _ = two_clouds(400, distance)
    sides = (X[:, 0] > distance / 2.0).astype(int)
    apart = Graphs.of(sample_of(X), recipe()).separation(sides, 2).value
    cloud, _ = two_clouds(400, 0.0)
    divided = (
        Graphs.of(sample_of(cloud), recipe()).separation((cloud[:, 0] > 0.0).astype(int), 2).value
    )
    assert apart > 0.8 > 0.3 > divided


def test_one_bad_cluster_makes_a_bad_clustering():
    X, labels = two_clouds(400, 8.0)
    cut = np.where((labels == 0) & (X[:, 1] > 0.0), 2, labels)
    graphs = Graphs.of(sample_of(X), recipe())
    assert graphs.separation(cut, 3).value < graphs.separation(labels, 2).value - 1.0


def test_a_handful_of_rows_can_be_compared():
    X = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]])
    value = Graphs.of(sample_of(X), recipe()).separation(np.array([0, 0, 1, 1]), 2).value
    assert np.isfinite(value)
