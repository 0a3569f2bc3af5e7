"""The quality of clusterings: against pairs of rows, its invariances, its scale."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseksc import KernelSpectralClustering
from sparseksc.config.settings import Settings
from sparseksc.data.sampling import Sample
from sparseksc.search.constants import LEAST_CONDUCTANCE
from sparseksc.search.quality import Judge, LandmarkGraph
from tests.reference.quality import quality_over_pairs


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
def test_it_is_what_all_pairs_of_rows_say(seed):
    X, labels = two_clouds(seed=seed)
    graph = LandmarkGraph.of(sample_of(X), recipe().with_landmarks(30, 5))
    Z = np.zeros((len(X), len(graph.volumes)))
    np.add.at(Z, (np.arange(len(X))[:, None], graph.numbers), graph.shares)
    expected = quality_over_pairs(Z, labels, LEAST_CONDUCTANCE)
    assert graph.quality(labels, 2) == pytest.approx(expected, abs=0.02)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 100), st.sampled_from([1e-6, 0.5, 3.0, 1e6]))
def test_it_depends_neither_on_names_nor_order_nor_units(seed, unit):
    X, labels = two_clouds(n=120, seed=seed)
    order = np.random.default_rng(seed).permutation(len(X))
    first = Judge.of(sample_of(X), recipe()).quality(labels, 2)
    assert Judge.of(sample_of(X), recipe()).quality(1 - labels, 2) == pytest.approx(first)
    moved = Judge.of(sample_of(unit * X + 3.0 * unit), recipe()).quality(labels, 2)
    assert moved == pytest.approx(first, abs=1e-3)
    shuffled = Sample(order, X[order], np.ones(len(X)))
    assert Judge.of(shuffled, recipe()).quality(labels[order], 2) == pytest.approx(first, abs=0.5)


def test_weights_count_like_copies():
    X, labels = two_clouds(n=100)
    weights = np.where(np.arange(100) % 3 == 0, 2.0, 1.0)
    copies = np.repeat(np.arange(100), weights.astype(int))
    one = Judge.of(sample_of(X, weights), recipe()).quality(labels, 2)
    other = Judge.of(sample_of(X[copies]), recipe()).quality(labels[copies], 2)
    assert one == pytest.approx(other, abs=1e-6)


@pytest.mark.parametrize("distance", [4.0, 6.0, 10.0])
def test_clusters_that_are_apart_have_more_than_any_division_of_a_cloud(distance):
    X, _ = two_clouds(400, distance)
    sides = (X[:, 0] > distance / 2.0).astype(int)
    apart = Judge.of(sample_of(X), recipe()).quality(sides, 2)
    cloud, _ = two_clouds(400, 0.0)
    divided = Judge.of(sample_of(cloud), recipe()).quality((cloud[:, 0] > 0.0).astype(int), 2)
    assert apart > 0.8 > 0.3 > divided


def test_one_bad_cluster_makes_a_bad_clustering():
    X, labels = two_clouds(400, 8.0)
    cut = np.where((labels == 0) & (X[:, 1] > 0.0), 2, labels)
    judge = Judge.of(sample_of(X), recipe())
    assert judge.quality(cut, 3) < judge.quality(labels, 2) - 1.0


def test_a_handful_of_rows_can_be_judged():
    X = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]])
    value = Judge.of(sample_of(X), recipe()).quality(np.array([0, 0, 1, 1]), 2)
    assert np.isfinite(value)
