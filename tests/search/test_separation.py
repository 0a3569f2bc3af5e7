"""Separated clusters, which are harder to divide than to cut off."""

import numpy as np
import pytest

from sparseksc.kernels import make_kernel
from sparseksc.search.graph import neighbour_graph
from sparseksc.search.separation import count_separated
from tests.reference import separation as twin


def graph_of(X, weights=None):
    """Return the neighbour graph of some points."""
    return neighbour_graph(make_kernel("rbf"), X, np.ones(len(X)) if weights is None else weights)


@pytest.fixture(scope="module")
def strip():
    """A long strip, and a square far away: (X, y)."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.uniform(size=(400, 2)) * [20, 1], rng.uniform(size=(200, 2)) * 3 + 50])
    return X, np.repeat([0, 1], [400, 200])


@pytest.mark.parametrize("seed", range(5))
def test_the_number_of_separated_clusters_is_that_of_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 2)) + 3.0 * rng.integers(0, 3, size=(150, 1))
    graph = graph_of(X)
    labels = np.digitize(X[:, 0], [1.5, 4.5])[graph.rows]
    assert count_separated(graph, labels) == pytest.approx(
        twin.count_separated(graph, labels), abs=1e-9
    )


def test_clusters_that_nothing_joins_are_separated(strip):
    X, y = strip
    assert count_separated(graph_of(X), y) == 2.0


@pytest.mark.parametrize("pieces", [2, 3, 4])
def test_pieces_of_a_strip_are_not_separated(strip, pieces):
    X, y = strip
    labels = np.where(y == 1, pieces, np.floor(X[:, 0] * pieces / 20))
    assert count_separated(graph_of(X), labels) <= 1.0 + 0.2 * pieces


def test_clusters_taken_together_are_not_separated(strip):
    X, y = strip
    X = np.vstack([X, X[y == 1] + 50.0])
    together = np.repeat([0, 1], [400, 400])
    assert count_separated(graph_of(X), together) == 1.0


def test_halves_of_a_cloud_are_not_separated():
    X = np.random.default_rng(0).normal(size=(500, 2))
    assert count_separated(graph_of(X), (X[:, 0] > 0).astype(int)) == 0.0


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_scale_of_the_weights_does_not_matter(strip, factor):
    X, y = strip
    labels = np.where(y == 1, 2, X[:, 0] > 10)
    scaled = count_separated(graph_of(X, np.full(len(X), factor)), labels)
    assert scaled == pytest.approx(count_separated(graph_of(X), labels))


def test_single_points_are_not_separated_clusters():
    graph = graph_of(np.arange(30.0)[:, None])
    assert count_separated(graph, np.arange(30)) == 0.0
    assert count_separated(graph_of(np.zeros((5, 2))), np.zeros(1, dtype=int)) == 0.0


def test_a_cluster_in_many_small_pieces_is_not_separated():
    """No piece has a tenth of the points, so that the order of the rows would decide."""
    rng = np.random.default_rng(0)
    places = 100.0 * np.arange(15)[:, None]
    X = np.repeat(places, 40, axis=0) + rng.normal(size=(600, 2))
    X = np.vstack([X[rng.permutation(600)], rng.normal(size=(300, 2)) - 100.0])
    labels = np.repeat([0, 1], [600, 300])
    assert count_separated(graph_of(X), labels) == 1.0
