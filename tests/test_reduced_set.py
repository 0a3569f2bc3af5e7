"""Reduced sets: each rule stops exactly where it should, and L is the Cholesky factor."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import battery_names, pivots_of, raster
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.kernels import kernel_matrix
from reference.selection import greedy_pivots, quadratic_entropy, residual_path
from scipy.stats import chisquare

from sparseksc.core import pivoting as pivoting_rules
from sparseksc.core.pivoting import RULES
from sparseksc.data import sampling
from sparseksc.data.sampling import hashed_uniform, selection_sample
from sparseksc.datasets import make_gaussians, make_rings, make_spirals

DRAWING = ("random", "uniform", "renyi")


def omega_of(kernel, X):
    return kernel.tile(X, X)


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


@pytest.mark.parametrize("tol", [0.5, 0.1, 1e-2, 1e-4])
@pytest.mark.parametrize("pivoting", RULES)
def test_the_tolerance_is_met_by_the_last_pivot_and_not_before(shape, pivoting, tol):
    kernel, chosen = pivots_of(
        "rbf", shape.X, bandwidth=4 * shape.bandwidth, max_rank=400, tol=tol, pivoting=pivoting
    )
    path = residual_path(omega_of(kernel, shape.X), chosen.indices)
    # Pivots that nearly coincide ("uniform") cost either computation half of its digits.
    np.testing.assert_allclose(chosen.path, path, rtol=0, atol=1e-6)
    assert path[-1] <= tol + 1e-6
    assert chosen.residual <= tol
    assert chosen.rank == 1 or (chosen.path[-2] > tol and path[-2] > tol - 1e-6)


@pytest.mark.parametrize("kernel_name", ["linear", "polynomial"])
@pytest.mark.parametrize("pivoting", RULES)
def test_the_tolerance_is_relative_to_the_trace_where_the_diagonal_varies(
    gaussians, pivoting, kernel_name
):
    tol = 0.2 if kernel_name == "linear" else 0.02
    kernel, chosen = pivots_of(
        kernel_name, gaussians.X, bandwidth=10.0, max_rank=200, tol=tol, pivoting=pivoting
    )
    path = residual_path(omega_of(kernel, gaussians.X), chosen.indices)
    np.testing.assert_allclose(chosen.path, path, atol=1e-9)
    assert path[-1] <= tol < path[-2]
    assert not chosen.constant_diagonal


@pytest.mark.parametrize("max_rank", [1, 2, 37, 300])
@pytest.mark.parametrize("pivoting", RULES)
def test_no_rule_takes_more_pivots_than_max_rank(shape, pivoting, max_rank):
    _, chosen = pivots_of(
        "laplacian", shape.X, bandwidth=shape.bandwidth, max_rank=max_rank, pivoting=pivoting
    )
    assert chosen.rank == min(max_rank, len(shape.X))
    assert len(set(chosen.indices.tolist())) == chosen.rank


@pytest.mark.parametrize("pivoting", RULES)
def test_the_factor_is_the_cholesky_factor_of_the_kernel_matrix_of_the_pivots(shape, pivoting):
    kernel, chosen = pivots_of(
        "rbf", shape.X, bandwidth=shape.bandwidth, max_rank=40, pivoting=pivoting
    )
    np.testing.assert_array_equal(chosen.points, shape.X[chosen.indices])
    np.testing.assert_array_equal(chosen.factor, np.tril(chosen.factor))
    np.testing.assert_allclose(
        chosen.factor @ chosen.factor.T, omega_of(kernel, chosen.points), atol=1e-12
    )


@pytest.mark.parametrize("pivoting", RULES)
def test_a_point_and_its_copies_give_one_pivot(pivoting):
    distinct = np.random.default_rng(0).standard_normal((40, 2))
    X = np.repeat(distinct, 5, axis=0)
    _, chosen = pivots_of("rbf", X, bandwidth=0.05, max_rank=200, pivoting=pivoting)
    assert chosen.rank == 40
    assert len(np.unique(chosen.points, axis=0)) == 40
    assert chosen.residual <= 1e-12


def test_candidates_that_are_passed_over_stay_in_the_trace():
    X = np.array([[0.0], [0.0], [0.0], [9.0], [20.0], [30.0]])
    kernel, chosen = pivots_of("rbf", X, bandwidth=1.0, max_rank=6, pivoting="uniform")
    path = residual_path(omega_of(kernel, X), chosen.indices)
    np.testing.assert_allclose(chosen.path, path, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("pivoting", RULES)
def test_selection_ends_at_the_numerical_rank_with_a_usable_factor(pivoting, dtype, seed):
    X = np.random.default_rng(seed).standard_normal((1000, 2)).astype(dtype)
    _, chosen = pivots_of("rbf", X, bandwidth=20.0, max_rank=900, pivoting=pivoting, seed=seed)
    assert 10 < chosen.rank < 200
    assert np.isfinite(chosen.factor).all()
    assert (np.diagonal(chosen.factor) > 0).all()
    assert chosen.residual <= 1e-4


def test_the_linear_kernel_has_no_more_pivots_than_features(gaussians):
    for pivoting in RULES:
        _, chosen = pivots_of("linear", gaussians.X, bandwidth=None, max_rank=50, pivoting=pivoting)
        assert chosen.rank == 5


# Which pivots


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


def assert_block_close_to_greedy(X, bandwidth):
    settings = {"bandwidth": bandwidth, "max_rank": 160}
    _, greedy = pivots_of("rbf", X, **settings)
    for seed in range(2):
        _, block = pivots_of("rbf", X, pivoting="block", seed=seed, **settings)
        for rank in (5, 10, 20, 40, 80, 120, 160):
            if rank <= min(greedy.rank, block.rank) and greedy.path[rank - 1] > 1e-8:
                assert block.path[rank - 1] <= 1.05 * greedy.path[rank - 1], (rank, seed)


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


@pytest.mark.parametrize("pivoting", RULES)
def test_weights_count_like_copies_in_the_trace(gaussians, pivoting):
    weights = np.random.default_rng(0).integers(1, 5, len(gaussians.X)).astype(float)
    kernel, chosen = pivots_of(
        "rbf", gaussians.X, bandwidth=8.0, max_rank=200, tol=0.1, pivoting=pivoting, weights=weights
    )
    path = residual_path(omega_of(kernel, gaussians.X), chosen.indices, weights)
    np.testing.assert_allclose(chosen.path, path, atol=1e-11)
    assert path[-1] <= 0.1 < path[-2]


@pytest.mark.parametrize("pivoting", RULES)
def test_sparse_and_precomputed_data_have_the_pivots_of_dense_data(gaussians, pivoting):
    X = np.round(gaussians.X)
    X = np.unique(X, axis=0)
    _, dense = pivots_of("rbf", X, bandwidth=8.0, max_rank=25, pivoting=pivoting)
    _, sparse = pivots_of("rbf", sp.csr_array(X), bandwidth=8.0, max_rank=25, pivoting=pivoting)
    assert sparse.rank == dense.rank
    np.testing.assert_allclose(sparse.points.toarray(), X[sparse.indices])
    if pivoting == "greedy":
        matrix = kernel_matrix("rbf", X, X, bandwidth=8.0)
        _, given = pivots_of("precomputed", matrix, bandwidth=None, max_rank=25)
        np.testing.assert_array_equal(given.indices, dense.indices)
        np.testing.assert_array_equal(given.points, dense.indices)


# Where pivots are looked for


def test_a_selection_sample_is_sorted_without_repetition_and_of_the_size_asked_for():
    rows = selection_sample(10_000, 700, seed=3)
    assert len(rows) == 700
    assert (np.diff(rows) > 0).all()
    assert rows[0] >= 0 and rows[-1] < 10_000


@pytest.mark.parametrize("size", [None, 50, 51])
def test_a_sample_as_large_as_the_data_is_all_of_it(size):
    np.testing.assert_array_equal(selection_sample(50, size, seed=0), np.arange(50))


def test_every_row_is_equally_likely_to_be_in_the_sample():
    counts = np.zeros(60)
    for seed in range(600):
        counts[selection_sample(60, 12, seed)] += 1
    assert chisquare(counts).pvalue > 1e-4


def test_a_weight_counts_like_copies_in_the_sample_and_weight_zero_never_wins():
    weights = np.array([0.0, 1.0, 2.0, 5.0] * 10)
    firsts = np.concatenate([selection_sample(40, 1, seed, weights) for seed in range(2000)])
    counts = np.bincount(firsts % 4, minlength=4)
    assert counts[0] == 0
    assert chisquare(counts[1:], 2000 * np.array([1, 2, 5]) / 8).pvalue > 1e-4


def test_hashed_numbers_are_uniform_and_belong_to_the_row():
    rows = np.arange(20_000)
    numbers = hashed_uniform(9, rows)
    assert 0.0 < numbers.min() and numbers.max() < 1.0
    assert chisquare(np.histogram(numbers, 20, (0, 1))[0]).pvalue > 1e-4
    np.testing.assert_array_equal(hashed_uniform(9, rows[500:600]), numbers[500:600])
    assert not np.array_equal(hashed_uniform(10, rows), numbers)


@given(st.integers(1, 60_000), st.floats(0.0, 1.0), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_the_sample_has_the_rows_with_the_largest_hashed_numbers(n, share, seed):
    size = max(1, int(share * n))
    numbers = hashed_uniform(seed, np.arange(n))
    expected = np.sort(np.argsort(-numbers)[:size])
    np.testing.assert_array_equal(selection_sample(n, size, seed), expected)
    np.testing.assert_array_equal(selection_sample(3 * np.arange(n), n, seed), np.arange(n))


def test_rows_are_drawn_by_their_numbers_and_returned_by_their_places():
    rows = np.sort(np.random.default_rng(0).choice(90_000, 40_000, replace=False))
    numbers = hashed_uniform(5, rows)
    expected = np.sort(np.argsort(-numbers)[:300])
    np.testing.assert_array_equal(selection_sample(rows, 300, 5), expected)
    np.testing.assert_array_equal(selection_sample(rows.astype(np.int32), 300, 5), expected)
    weights = np.where(rows % 2 == 0, 0.0, 2.0)
    odd = np.flatnonzero(weights)
    expected = odd[np.sort(np.argsort(-numbers[odd])[:300])]
    np.testing.assert_array_equal(selection_sample(rows, 300, 5, weights), expected)


def with_hashes(monkeypatch, numbers):
    """Let row r be drawn by ``numbers[r]``."""

    def ahead(rows, _, bound):
        drawn = numbers[np.arange(rows) if isinstance(rows, int) else rows]
        places = np.flatnonzero(drawn > bound)
        return places, drawn[places]

    monkeypatch.setattr(sampling, "uniform", lambda rows, _: numbers[rows])
    monkeypatch.setattr(sampling, "ahead", ahead)


def test_of_rows_that_finish_together_the_first_are_in_the_sample(monkeypatch):
    with_hashes(monkeypatch, np.full(20, 0.5))
    rows = np.arange(10, 20)
    np.testing.assert_array_equal(selection_sample(rows, 4, 0), np.arange(4))
    np.testing.assert_array_equal(selection_sample(rows, 4, 0, 1.0 + rows), np.arange(6, 10))


def test_a_sample_is_complete_where_too_few_rows_pass_the_bound(monkeypatch):
    numbers = hashed_uniform(0, np.arange(5000))
    with_hashes(monkeypatch, 0.5 * numbers)
    expected = np.sort(np.argsort(-numbers)[:100])
    np.testing.assert_array_equal(selection_sample(5000, 100, 0), expected)
