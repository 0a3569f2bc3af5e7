"""The conductance of clusters: compiled and in NumPy, and by counting over all pairs of rows."""

import numpy as np
import pytest

from sparseksc._native import twin
from sparseksc._native.conductance import conductances


def landmark_graph(seed, n=60, R=12, s=3, K=3, strays=5):
    rng = np.random.default_rng(seed)
    numbers = np.sort(rng.permuted(np.tile(np.arange(R), (n, 1)), axis=1)[:, :s], axis=1)
    # Rows of one cluster share landmarks more often.
    labels = rng.integers(K, size=n)
    numbers = np.ascontiguousarray((numbers // K * K + labels[:, None]) % R, np.int64)
    shares = rng.uniform(0.1, 1.0, size=(n, s))
    shares /= shares.sum(axis=1, keepdims=True)
    weights = rng.uniform(0.5, 2.0, size=n)
    volumes = np.bincount(numbers.ravel(), (weights[:, None] * shares).ravel(), R)
    labels[rng.integers(n, size=strays)] = 0
    return numbers, shares, weights, np.maximum(volumes, 1e-300), labels


def kernel_matrix(numbers, shares, volumes):
    Z = np.zeros((len(numbers), len(volumes)))
    np.add.at(Z, (np.arange(len(Z))[:, None], numbers), shares)
    return Z @ np.diag(1.0 / volumes) @ Z.T


@pytest.mark.parametrize("seed", range(5))
def test_outside_is_what_leaves_the_cluster_over_the_smaller_side(backend, seed):
    numbers, shares, weights, volumes, labels = landmark_graph(seed)
    found = conductances(numbers, shares, weights, volumes, labels, 3)
    W = weights[:, None] * kernel_matrix(numbers, shares, volumes) * weights
    for k in range(3):
        mine = labels == k
        size, total = weights[mine].sum(), weights.sum()
        expected = W[mine][:, ~mine].sum() / min(size, total - size)
        np.testing.assert_allclose(found.outside[k], expected, atol=1e-12)
        np.testing.assert_allclose(found.sizes[k], size)


@pytest.mark.parametrize("resolution", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_the_backends_agree(seed, resolution):
    # Without strays: equally slow modes have no order that both would find.
    graph = landmark_graph(seed, n=200, R=30, s=4, strays=0)
    found = conductances(*graph, 3, resolution)
    expected = [np.empty(3) for _ in range(3)]
    twin.conductances_into(*graph, resolution, *expected)
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-9)


def test_the_resolution_is_added_to_every_cut(backend):
    numbers, shares, weights, volumes, labels = landmark_graph(1)
    plain = conductances(numbers, shares, weights, volumes, labels, 3)
    found = conductances(numbers, shares, weights, volumes, labels, 3, 0.5)
    smaller = np.minimum(plain.sizes, plain.sizes.sum() - plain.sizes)
    np.testing.assert_allclose(found.outside, plain.outside + 0.5 / smaller)
    assert (found.inside >= plain.inside + 0.5 / plain.sizes).all()


def test_two_clusters_taken_as_one_are_divided_for_nothing(backend):
    numbers = np.array([[0, 1], [1, 2], [3, 4], [4, 5]])
    shares, weights = np.full((4, 2), 0.5), np.ones(4)
    volumes = np.bincount(numbers.ravel(), shares.ravel())
    found = conductances(numbers, shares, weights, volumes, np.zeros(4, np.int64), 1)
    np.testing.assert_allclose(found.inside, 0.0, atol=1e-9)
    np.testing.assert_allclose(found.outside, 0.0, atol=1e-12)


def test_rows_can_come_in_any_order(backend):
    numbers, shares, weights, volumes, labels = landmark_graph(0, n=200, R=30, s=4)
    order = np.random.default_rng(1).permutation(len(labels))
    first = conductances(numbers, shares, weights, volumes, labels, 3)
    second = conductances(
        *(np.ascontiguousarray(a[order]) for a in (numbers, shares, weights)),
        volumes,
        labels[order],
        3,
    )
    for one, other in zip(first, second, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def test_a_weight_of_two_counts_like_two_rows(backend):
    numbers, shares, weights, volumes, labels = landmark_graph(3)
    weights[:] = 1.0
    weights[:10] = 2.0
    volumes = np.bincount(numbers.ravel(), (weights[:, None] * shares).ravel(), len(volumes))
    volumes = np.maximum(volumes, 1e-300)
    copies = np.r_[np.arange(10), np.arange(len(labels))]
    first = conductances(numbers, shares, weights, volumes, labels, 3)
    second = conductances(
        numbers[copies], shares[copies], np.ones(len(copies)), volumes, labels[copies], 3
    )
    for one, other in zip(first, second, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def test_a_landmark_cannot_be_divided_and_empty_clusters_are_empty(backend):
    numbers, shares = np.array([[0]]), np.array([[1.0]])
    found = conductances(numbers, shares, np.ones(1), np.ones(1), np.zeros(1, np.int64), 2)
    np.testing.assert_array_equal(found.inside, 1.0)
    np.testing.assert_array_equal(found.sizes, [1.0, 0.0])


def test_what_is_out_of_range_is_refused(backend):
    numbers, shares, weights, volumes, labels = landmark_graph(0)
    with pytest.raises(ValueError, match="label"):
        conductances(numbers, shares, weights, volumes, labels + 1, 3)
    with pytest.raises((ValueError, IndexError)):
        conductances(numbers + 100, shares, weights, volumes, labels, 3)


def test_a_long_chain_is_divided_in_its_middle():
    n = 20_000
    numbers = np.column_stack([np.arange(n), np.arange(1, n + 1)])
    order = np.random.default_rng(0).permutation(n)
    shares, volumes = np.full((n, 2), 0.5), np.full(n + 1, 1.0)
    volumes[[0, -1]] = 0.5
    found = conductances(numbers[order], shares, np.ones(n), volumes, np.zeros(n, np.int64), 1)
    np.testing.assert_allclose(found.inside, 0.25 / (n / 2.0), rtol=0.02)
