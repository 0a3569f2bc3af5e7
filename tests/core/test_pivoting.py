"""The rules that propose pivots: each takes the points that its definition says."""

import numpy as np
import pytest
from scipy.stats import chisquare

from sparseksc.core import pivoting as pivoting_rules
from sparseksc.core.pivoting import RULES
from sparseksc.datasets import make_gaussians, make_rings, make_spirals
from tests.conftest import battery_names, pivots_of, raster
from tests.reference.selection import greedy_pivots, quadratic_entropy

DRAWING = ("random", "uniform", "renyi")


def omega_of(kernel, X):
    return kernel.tile(X, X)


def assert_block_close_to_greedy(X, bandwidth):
    settings = {"bandwidth": bandwidth, "max_rank": 160}
    _, greedy = pivots_of("rbf", X, **settings)
    for seed in range(2):
        _, block = pivots_of("rbf", X, pivoting="block", seed=seed, **settings)
        for rank in (5, 10, 20, 40, 80, 120, 160):
            if rank <= min(greedy.rank, block.rank) and greedy.path[rank - 1] > 1e-8:
                assert block.path[rank - 1] <= 1.05 * greedy.path[rank - 1], (rank, seed)


@pytest.mark.parametrize("kernel_name", ["rbf", "laplacian", "linear", "polynomial"])
def test_greedy_takes_the_pivots_of_the_full_residual_matrix(shape, kernel_name):
    rank = 3 if kernel_name == "linear" else 10
    rank = min(rank, shape.X.shape[1]) if kernel_name == "linear" else rank
    kernel, chosen = pivots_of(kernel_name, shape.X, bandwidth=shape.bandwidth, max_rank=rank)
    assert chosen.indices.tolist() == greedy_pivots(omega_of(kernel, shape.X), rank)


def test_weighted_takes_the_largest_squared_residual_times_weight(gaussians):
    weights = np.random.default_rng(0).pareto(1.0, len(gaussians.X)) + 0.01
    kernel, chosen = pivots_of(
        "rbf", gaussians.X, bandwidth=8.0, max_rank=40, pivoting="weighted", weights=weights
    )
    expected = greedy_pivots(omega_of(kernel, gaussians.X), 40, weights=weights)
    assert chosen.indices.tolist() == expected


def test_weighted_is_greedy_where_all_points_weigh_the_same(gaussians):
    _, chosen = pivots_of("laplacian", gaussians.X, bandwidth=8.0, max_rank=40)
    _, same = pivots_of("laplacian", gaussians.X, bandwidth=8.0, max_rank=40, pivoting="weighted")
    np.testing.assert_array_equal(same.indices, chosen.indices)


def test_greedy_gives_ties_to_the_lowest_index():
    X = np.array([[0.0], [10.0], [20.0], [10.0]])
    _, chosen = pivots_of("rbf", X, bandwidth=1.0, max_rank=4)
    assert chosen.indices.tolist() == [0, 1, 2]


@pytest.mark.parametrize("factor", [0.25, 1.0, 8.0])
def test_block_pivots_leave_at_most_5_percent_more_than_greedy_ones(shape, factor):
    assert_block_close_to_greedy(shape.X, factor * shape.bandwidth)


@pytest.mark.parametrize("bandwidth", [0.006, 0.05, 0.5])
def test_block_pivots_are_close_to_greedy_ones_on_larger_sets(bandwidth):
    assert_block_close_to_greedy(make_spirals(4000, random_state=0)[0], bandwidth)
    assert_block_close_to_greedy(make_rings(3000, random_state=0)[0], 4 * bandwidth)
    assert_block_close_to_greedy(raster(60)[0], 4 * bandwidth)
    X = make_gaussians(3000, n_clusters=5, n_features=8, random_state=0)[0]
    assert_block_close_to_greedy(X, 400 * bandwidth)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", battery_names() or ["absent"])
def test_block_pivots_are_close_to_greedy_ones_on_the_battery(name, battery):
    X = battery(name)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for bandwidth in (0.02, 0.2):
        assert_block_close_to_greedy(X, bandwidth)


@pytest.mark.parametrize("pivoting", DRAWING)
def test_the_rules_that_draw_do_not_see_the_order_of_the_rows(shape, pivoting):
    order = np.random.default_rng(5).permutation(len(shape.X))
    settings = {"bandwidth": shape.bandwidth, "max_rank": 60, "pivoting": pivoting, "seed": 3}
    _, chosen = pivots_of("rbf", shape.X, **settings)
    _, shuffled = pivots_of("rbf", shape.X[order], **settings)
    np.testing.assert_array_equal(shuffled.points, chosen.points)
    np.testing.assert_array_equal(order[shuffled.indices], chosen.indices)


@pytest.mark.parametrize("pivoting", ["greedy", "block"])
def test_the_greedy_rules_do_not_see_the_order_of_the_rows_beyond_ties(gaussians, pivoting):
    order = np.random.default_rng(5).permutation(len(gaussians.X))
    settings = {"bandwidth": 10.0, "max_rank": 30, "pivoting": pivoting}
    _, chosen = pivots_of("polynomial", gaussians.X, **settings)
    _, shuffled = pivots_of("polynomial", gaussians.X[order], **settings)
    np.testing.assert_array_equal(shuffled.points, chosen.points)


def test_block_does_as_well_on_pixels_in_raster_order_as_on_shuffled_ones():
    X, _ = raster(60)
    order = np.random.default_rng(5).permutation(len(X))
    settings = {"bandwidth": 0.05, "max_rank": 300, "pivoting": "block"}
    _, in_order = pivots_of("rbf", X, **settings)
    _, shuffled = pivots_of("rbf", X[order], **settings)
    assert in_order.residual <= 1.1 * shuffled.residual


@pytest.mark.parametrize("seed", range(4))
def test_random_selection_survives_rounds_in_which_no_candidate_is_good_enough(seed, monkeypatch):
    # After the first pivot, one point is left that is worth a pivot, in a crowd that is not.
    monkeypatch.setattr(pivoting_rules, "POOL_SIZE", 2)
    X = np.eye(60) * np.sqrt(0.5e-11)
    X[0, 0] = np.sqrt(2e-11)
    _, chosen = pivots_of("rbf", X, bandwidth=1.0, max_rank=5, pivoting="random", seed=seed)
    assert chosen.rank == 2


@pytest.mark.parametrize("pivoting", RULES)
def test_the_same_seed_gives_the_same_pivots_and_another_seed_others(gaussians, pivoting):
    def indices(seed):
        _, chosen = pivots_of(
            "rbf", gaussians.X, bandwidth=8.0, max_rank=20, pivoting=pivoting, seed=seed
        )
        return chosen.indices.tolist()

    assert indices(1) == indices(1)
    if pivoting in ("random", "uniform", "renyi"):
        assert len({tuple(indices(seed)) for seed in range(5)}) > 1


@pytest.mark.parametrize("pool_size", [1, 3, 50])
def test_random_pivots_follow_the_residual_diagonal(monkeypatch, pool_size):
    # Two points of similarity 0.9 and a stranger: after one of the pair, the residual of the
    # other is 0.19, that of the stranger 1.
    monkeypatch.setattr(pivoting_rules, "POOL_SIZE", pool_size)
    X = np.array([[0.0], [np.sqrt(-np.log(0.9))], [30.0]])
    pairs = [
        pivots_of("rbf", X, bandwidth=1.0, max_rank=2, pivoting="random", seed=seed)[1].indices
        for seed in range(600)
    ]
    assert chisquare(np.bincount([first for first, _ in pairs], minlength=3)).pvalue > 1e-4
    second = [pair[1] == 2 for pair in pairs if pair[0] != 2]
    counts = np.bincount(second, minlength=2)
    expected = len(second) * np.array([0.19, 1.0]) / 1.19
    assert chisquare(counts, expected).pvalue > 1e-4


@pytest.mark.parametrize("kernel_name", ["rbf", "polynomial"])
def test_renyi_pivots_add_least_to_the_information_potential(gaussians, kernel_name):
    kernel, chosen = pivots_of(
        kernel_name, gaussians.X, bandwidth=8.0, max_rank=15, pivoting="renyi", seed=2
    )
    omega = omega_of(kernel, gaussians.X)
    for size in range(1, 15):
        before = chosen.indices[:size].tolist()
        entropies = [
            quadratic_entropy(omega, [*before, i]) if i not in before else -np.inf
            for i in range(len(omega))
        ]
        assert entropies[chosen.indices[size]] == pytest.approx(max(entropies), abs=1e-12)
