"""The reference routes: their equations hold, and they agree where they must."""

from functools import partial

import numpy as np
import pytest
from scipy import linalg
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

from sparseksc.datasets import make_gaussians, make_spirals
from sparseksc.reference import (
    IncompleteCholesky,
    cholesky_on_pivots,
    dense_ksc,
    incomplete_cholesky,
    original_eigenvectors,
    original_ksc,
    paper_ksc,
    qr_eigenvectors,
    sign_labels,
)


def rbf(bandwidth):
    return partial(rbf_kernel, gamma=1 / bandwidth)


def truncated(factor, rank):
    return IncompleteCholesky(factor.G[:, :rank], factor.pivots[:rank], np.nan)


@pytest.fixture(scope="module")
def blobs():
    return make_gaussians(150, n_clusters=3, n_features=3, overlap=0.35, random_state=0)


@pytest.fixture(scope="module")
def spirals():
    return make_spirals(5000, random_state=0)


@pytest.fixture(scope="module")
def spirals_factor(spirals):
    return incomplete_cholesky(spirals[0], rbf(0.006), max_rank=130)


def centring(degrees):
    return np.eye(len(degrees)) - np.outer(np.ones_like(degrees), 1 / degrees) / (1 / degrees).sum()


def test_dense_ksc_solves_the_eigenvalue_problem(blobs):
    X, _ = blobs
    omega = rbf(2.0)(X, X)
    model = dense_ksc(X, 4, rbf(2.0))
    degrees = omega.sum(axis=1)
    left = np.diag(1 / degrees) @ centring(degrees) @ omega @ model.beta
    np.testing.assert_allclose(left, model.beta * model.eigenvalues, atol=1e-12)


def test_dense_ksc_finds_the_leading_eigenvalues_of_the_nonsymmetric_matrix(blobs):
    X, _ = blobs
    omega = rbf(2.0)(X, X)
    degrees = omega.sum(axis=1)
    values = linalg.eigvals(np.diag(1 / degrees) @ centring(degrees) @ omega)
    np.testing.assert_allclose(
        dense_ksc(X, 5, rbf(2.0)).eigenvalues, np.sort(values.real)[::-1][:4], atol=1e-10
    )


def test_the_weighted_mean_of_the_dense_scores_is_zero(blobs):
    model = dense_ksc(blobs[0], 4, rbf(2.0))
    assert np.abs(model.scores).max() > 0.1
    np.testing.assert_allclose((1 / model.degrees) @ model.scores, 0.0, atol=1e-12)


def test_dense_scores_are_eigenvalue_times_degree_times_dual_variable(blobs):
    model = dense_ksc(blobs[0], 4, rbf(2.0))
    expected = model.eigenvalues * model.degrees[:, None] * model.beta
    np.testing.assert_allclose(model.scores, expected, atol=1e-12)


def test_both_expressions_of_the_bias_agree(blobs):
    model = dense_ksc(blobs[0], 4, rbf(2.0))
    by_sums = (model.eigenvalues - 1) * (model.degrees @ model.beta) / len(model.degrees)
    assert np.abs(model.bias).max() > 1e-3
    np.testing.assert_allclose(model.bias, by_sums, atol=1e-12)


def test_separate_blocks_give_one_eigenvalue_of_one_less_than_their_number():
    sizes = (20, 30, 25, 15)
    omega = linalg.block_diag(*[np.full((n, n), 0.5) + 0.5 * np.eye(n) for n in sizes])
    values = dense_ksc(omega, 6, "precomputed").eigenvalues
    np.testing.assert_allclose(values[:3], 1.0, atol=1e-12)
    assert values[3] < 0.2
    model = dense_ksc(omega, 4, "precomputed")
    truth = np.repeat(np.arange(4), sizes)
    within = [np.ptp(model.scores[truth == k], axis=0).max() for k in range(4)]
    np.testing.assert_allclose(within, 0.0, atol=1e-10)


def test_a_precomputed_matrix_gives_the_model_of_its_kernel(blobs):
    X, _ = blobs
    by_kernel = dense_ksc(X[:100], 3, rbf(2.0))
    by_matrix = dense_ksc(rbf(2.0)(X[:100], X[:100]), 3, "precomputed")
    np.testing.assert_allclose(by_matrix.scores, by_kernel.scores, atol=1e-12)
    np.testing.assert_allclose(
        by_matrix.transform(rbf(2.0)(X[100:], X[:100])), by_kernel.transform(X[100:]), atol=1e-12
    )


def test_the_published_route_at_full_rank_is_dense_ksc(blobs):
    X, _ = blobs
    sparse, dense = paper_ksc(X, 3, rbf(0.5)), dense_ksc(X, 3, rbf(0.5))
    assert len(sparse.pivots) == len(X)
    np.testing.assert_allclose(sparse.eigenvalues, dense.eigenvalues, atol=1e-10)
    signs = np.sign((sparse.scores * dense.scores).sum(axis=0))
    np.testing.assert_allclose(sparse.scores * signs, dense.scores, atol=1e-8)
    np.testing.assert_allclose(sparse.bias * signs, dense.bias, atol=1e-8)


def test_the_published_route_is_dense_ksc_of_the_low_rank_matrix(blobs):
    X, _ = blobs
    factor = incomplete_cholesky(X, rbf(2.0), max_rank=20)
    sparse = paper_ksc(X, 4, rbf(2.0), factor=factor)
    dense = dense_ksc(factor.G @ factor.G.T, 4, "precomputed")
    np.testing.assert_allclose(sparse.eigenvalues, dense.eigenvalues, atol=1e-10)
    signs = np.sign((sparse.scores * dense.scores).sum(axis=0))
    np.testing.assert_allclose(sparse.scores * signs, dense.scores, atol=1e-8)


def test_the_original_eigenvectors_solve_their_small_problem(blobs):
    X, _ = blobs
    G = incomplete_cholesky(X, rbf(2.0), max_rank=20).G
    values, beta, degrees = original_eigenvectors(G, 3)
    U, lengths, _ = np.linalg.svd(G, full_matrices=False)
    gamma = U.T @ beta
    small = U.T @ np.diag(1 / degrees) @ centring(degrees) @ U @ np.diag(lengths**2)
    np.testing.assert_allclose(U @ gamma, beta, atol=1e-10)
    np.testing.assert_allclose(small @ gamma, gamma * values, atol=1e-10)
    np.testing.assert_allclose(values, qr_eigenvectors(G, 3).eigenvalues, atol=1e-10)


def test_the_routes_differ_only_in_scale_and_bias(blobs):
    X, _ = blobs
    factor = incomplete_cholesky(X, rbf(2.0), max_rank=30)
    paper = paper_ksc(X, 3, rbf(2.0), factor=factor)
    original = original_ksc(X, 3, rbf(2.0), factor=factor)
    scale = (original.coef * paper.coef).sum(axis=0) / (paper.coef**2).sum(axis=0)
    np.testing.assert_allclose(original.coef, scale * paper.coef, atol=1e-7)
    assert (np.abs(original.bias - scale * paper.bias) > 1e-3).any()


def test_the_original_bias_centres_the_scores_of_the_reduced_set(blobs):
    X, _ = blobs
    model = original_ksc(X, 3, rbf(2.0), max_rank=30)
    weights = 1 / rbf(2.0)(model.reduced_set, model.reduced_set).sum(axis=1)
    np.testing.assert_allclose(weights @ model.scores[model.pivots], 0.0, atol=1e-9)


def test_a_second_kernel_serves_the_coefficients_but_not_the_eigenvectors(blobs):
    X, _ = blobs
    one = paper_ksc(X, 3, rbf(1.0), max_rank=40)
    two = paper_ksc(X, 3, rbf(1.0), max_rank=40, reduced_kernel=rbf(2.0))
    np.testing.assert_array_equal(two.beta, one.beta)
    omega = rbf(2.0)(X, X)
    rows = omega[two.pivots]
    np.testing.assert_allclose(rows[:, two.pivots] @ two.coef, rows @ two.beta, atol=1e-9)
    np.testing.assert_allclose(two.scores, rows.T @ two.coef + two.bias, atol=1e-9)
    assert np.abs(two.coef - one.coef).max() > 1e-3


@pytest.mark.parametrize("route", [dense_ksc, paper_ksc, original_ksc])
def test_training_points_as_new_points_get_the_training_scores(blobs, route):
    X = blobs[0][:60]
    model = route(X, 3, rbf(1.0))
    assert model.scores.shape == (60, 2)
    np.testing.assert_allclose(model.transform(X[20:30]), model.scores[20:30], atol=1e-12)


@pytest.mark.parametrize("route", [dense_ksc, paper_ksc, original_ksc])
def test_the_largest_dual_variable_is_positive(blobs, route):
    beta = route(blobs[0][:40], 4, rbf(2.0)).beta
    largest = beta[np.abs(beta).argmax(axis=0), np.arange(3)]
    assert (largest > 0).all()


def test_a_point_without_similarity_to_the_pivots_does_not_disturb_the_others(blobs):
    X, _ = blobs
    with_outlier = np.vstack([X, [[1e3, 1e3, 1e3]]])
    pivots = incomplete_cholesky(X, rbf(2.0), max_rank=30).pivots
    alone = paper_ksc(X, 3, rbf(2.0), factor=cholesky_on_pivots(X, rbf(2.0), pivots))
    both = paper_ksc(
        with_outlier, 3, rbf(2.0), factor=cholesky_on_pivots(with_outlier, rbf(2.0), pivots)
    )
    assert both.degrees[-1] == 0.0
    np.testing.assert_allclose(both.eigenvalues, alone.eigenvalues, atol=1e-10)
    np.testing.assert_allclose(both.coef, alone.coef, atol=1e-7)


def test_the_published_route_separates_the_spirals_with_130_pivots(spirals, spirals_factor):
    X, y = spirals
    model = paper_ksc(X, 2, rbf(0.006), factor=spirals_factor)
    assert adjusted_rand_score(y, sign_labels(model.scores, 2)) == 1.0


def test_the_spirals_are_not_separated_with_80_pivots(spirals, spirals_factor):
    X, y = spirals
    model = paper_ksc(X, 2, rbf(0.006), factor=truncated(spirals_factor, 80))
    assert adjusted_rand_score(y, sign_labels(model.scores, 2)) < 0.5


def test_the_original_bias_needs_more_pivots_than_the_published_one(spirals, spirals_factor):
    X, y = spirals
    same = original_ksc(X, 2, rbf(0.006), factor=spirals_factor)
    assert adjusted_rand_score(y, sign_labels(same.scores, 2)) < 1.0
    wider = original_ksc(X, 2, rbf(0.0102), max_rank=180)
    assert adjusted_rand_score(y, sign_labels(wider.scores, 2)) == 1.0


def test_two_clusters_are_the_signs_of_the_score():
    labels = sign_labels([[0.5], [-2.0], [0.1], [3.0], [-0.2]], 2)
    assert labels.tolist() == [0, 1, 0, 0, 1]


def test_rare_sign_patterns_join_the_nearest_code_word():
    codes = {"a": [1, 1, 1], "b": [-1, -1, 1], "c": [-1, -1, -1], "rare": [-1, 1, -1]}
    scores = [codes[name] for name in ["a", "a", "a", "a", "b", "b", "c", "c", "c", "rare"]]
    assert sign_labels(scores, 3).tolist() == [0, 0, 0, 0, 2, 2, 1, 1, 1, 1]


def test_fewer_patterns_than_clusters_give_fewer_labels():
    assert sign_labels([[1.0], [2.0]], 2).tolist() == [0, 0]
