"""Spectrum: our route is the published QR route, to rounding."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc.core.spectrum import change_kernel, solve_spectrum
from sparseksc.core.statistics import FeatureMap, collect_degrees, collect_statistics
from sparseksc.data.source import ArraySource
from sparseksc.kernels import make_kernel
from sparseksc.reference import cholesky_on_pivots, dense_ksc, paper_ksc, sign_labels
from tests.conftest import SHAPES, make_shape, pivots_of
from tests.reference.model import dual_eigenpairs, factor_on

KERNELS = ("rbf", "laplacian", "chi2")
#: Bandwidths relative to that of the rbf kernel, and ranks: well and ill conditioned pivots.
SETTINGS = {"well conditioned": (1.0, 25), "ill conditioned": (60.0, 90)}


def spectrum_of(kernel, chosen, X, n_components, weights=None, in_kernel_space=None):
    weights = np.ones(X.shape[0]) if weights is None else weights
    features = FeatureMap.choose(kernel, chosen)
    if in_kernel_space is not None:
        features = FeatureMap(kernel, chosen, in_kernel_space)
    degrees = collect_degrees(features, ArraySource(X, weights), 1)
    statistics = collect_statistics(features, ArraySource(X, weights), degrees, 1)
    return features, degrees, statistics, solve_spectrum(features, statistics, n_components)


def aligned(ours, theirs):
    """Ours with the signs of theirs; eigenvectors have none of their own."""
    return ours * np.sign((ours * theirs).sum(axis=0))


def problem(name, kernel_name, setting):
    shape = make_shape(name)
    factor, rank = SETTINGS[setting]
    X = shape.X - shape.X.min(axis=0) if kernel_name == "chi2" else shape.X
    scale = {"rbf": shape.bandwidth, "laplacian": 3 * np.sqrt(shape.bandwidth)}
    bandwidth = factor * scale.get(kernel_name, shape.bandwidth)
    if setting == "well conditioned":
        bandwidth *= 4  # so that 25 pivots reach every point
    kernel, chosen = pivots_of(kernel_name, X, bandwidth=bandwidth, max_rank=rank, tol=1e-9)
    return shape, X, kernel, chosen


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("kernel_name", KERNELS)
@pytest.mark.parametrize("name", SHAPES)
def test_our_route_is_the_published_qr_route(name, kernel_name, setting):
    shape, X, kernel, chosen = problem(name, kernel_name, setting)
    K = shape.n_clusters
    _, _, statistics, ours = spectrum_of(kernel, chosen, X, K - 1)
    assert statistics.n_excluded == 0
    theirs = paper_ksc(X, K, kernel.tile, factor=cholesky_on_pivots(X, kernel.tile, chosen.indices))

    np.testing.assert_allclose(ours.eigenvalues, theirs.eigenvalues, rtol=0, atol=1e-10)
    scores = kernel.tile(X, chosen.points) @ ours.coef + ours.bias
    signs = np.sign((scores * theirs.scores).sum(axis=0))
    scale = np.abs(theirs.scores).max(axis=0)
    assert (np.abs(scores * signs - theirs.scores) <= 1e-8 * scale).all()
    assert (np.abs(ours.bias * signs - theirs.bias) <= 1e-8 * scale).all()
    np.testing.assert_array_equal(sign_labels(scores * signs, K), sign_labels(theirs.scores, K))


def test_the_settings_of_the_comparison_cover_both_feature_maps():
    found = {
        FeatureMap.choose(*problem("gaussians", kernel_name, setting)[2:]).in_kernel_space
        for setting in SETTINGS
        for kernel_name in KERNELS
    }
    assert found == {True, False}


def test_the_bias_is_the_published_expression(shape):
    X, K = shape.X, shape.n_clusters
    kernel, chosen = pivots_of("rbf", X, bandwidth=4 * shape.bandwidth, max_rank=80, tol=1e-6)
    _, _, _, ours = spectrum_of(kernel, chosen, X, K - 1)
    G = factor_on(kernel.tile(X, X), chosen.indices)
    values, beta, d = dual_eigenpairs(G @ G.T, np.ones(len(X)), K - 1)
    scores = kernel.tile(X, chosen.points) @ ours.coef + ours.bias
    beta = aligned(beta, scores)
    np.testing.assert_allclose(ours.eigenvalues, values, atol=1e-10)
    bias = (values - 1.0) * (d @ beta) / len(X)
    np.testing.assert_allclose(ours.bias, bias, atol=1e-8 * np.abs(scores).max())
    # and Ω̃β + b = λ D β
    np.testing.assert_allclose(scores, values * d[:, None] * beta, atol=1e-8 * np.abs(scores).max())


@pytest.mark.parametrize("in_kernel_space", [True, False])
def test_weighted_points_solve_the_weighted_dual_problem(gaussians, in_kernel_space):
    X = gaussians.X
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(X))
    kernel, chosen = pivots_of("rbf", X, bandwidth=20.0, max_rank=25)
    _, _, statistics, ours = spectrum_of(kernel, chosen, X, 3, weights, in_kernel_space)
    assert statistics.n_excluded == 0
    G = factor_on(kernel.tile(X, X), chosen.indices)
    values, beta, d = dual_eigenpairs(G @ G.T, weights, 3)
    np.testing.assert_allclose(ours.eigenvalues, values, atol=1e-10)
    scores = kernel.tile(X, chosen.points) @ ours.coef + ours.bias
    expected = aligned(values * d[:, None] * beta, scores)
    np.testing.assert_allclose(scores, expected, atol=1e-8 * np.abs(scores).max())


def test_with_all_points_as_pivots_our_route_is_dense_ksc():
    X = np.random.default_rng(0).standard_normal((60, 3))
    kernel, chosen = pivots_of("laplacian", X, bandwidth=3.0, max_rank=60)
    assert chosen.rank == 60
    _, _, _, ours = spectrum_of(kernel, chosen, X, 4)
    dense = dense_ksc(X, 5, kernel.tile)
    scores = kernel.tile(X, chosen.points) @ ours.coef + ours.bias
    np.testing.assert_allclose(ours.eigenvalues, dense.eigenvalues, atol=1e-12)
    np.testing.assert_allclose(aligned(scores, dense.scores), dense.scores, atol=1e-10)


def test_eigenvalues_descend_and_do_not_exceed_one(shape):
    kernel, chosen = pivots_of("rbf", shape.X, bandwidth=4 * shape.bandwidth, max_rank=50)
    _, _, _, spectrum = spectrum_of(kernel, chosen, shape.X, 20)
    assert all(a >= b for a, b in pairwise(spectrum.eigenvalues))
    assert spectrum.eigenvalues[0] <= 1.0 + 1e-12
    assert spectrum.eigenvalues[-1] > 0.0


def test_the_weighted_mean_of_the_scores_is_zero(shape):
    kernel, chosen = pivots_of("rbf", shape.X, bandwidth=4 * shape.bandwidth, max_rank=50)
    features, degrees, _, spectrum = spectrum_of(kernel, chosen, shape.X, 3)
    scores = kernel.tile(shape.X, chosen.points) @ spectrum.coef + spectrum.bias
    shares = degrees.shares(features(shape.X), np.ones(len(shape.X)))
    np.testing.assert_allclose(shares @ scores / shares.sum(), 0.0, atol=1e-10)


def test_the_sign_of_every_eigenvector_makes_its_bias_negative(shape):
    kernel, chosen = pivots_of("rbf", shape.X, bandwidth=shape.bandwidth, max_rank=50)
    _, _, _, spectrum = spectrum_of(kernel, chosen, shape.X, 6)
    assert (spectrum.bias < 0).all()


def test_directions_of_rounding_size_are_not_components():
    X = np.random.default_rng(0).standard_normal((200, 3))
    kernel, chosen = pivots_of("linear", X, bandwidth=None, max_rank=20)
    _, _, _, spectrum = spectrum_of(kernel, chosen, X, 10)
    assert chosen.rank == 3
    assert len(spectrum.eigenvalues) <= 3
    assert np.isfinite(spectrum.coef).all()


@pytest.mark.parametrize("rank", [*range(2, 30), 70, 149, 200])
def test_all_equal_eigenvalues_are_found(rank):
    # One point per pivot, similar to nothing else: the eigenvalue 1 is there rank - 1 times.
    X = 10.0 * np.arange(rank)[:, None]
    kernel, chosen = pivots_of("rbf", X, bandwidth=0.01, max_rank=rank)
    for count in {1, min(rank - 1, 3), rank - 1}:
        _, _, _, spectrum = spectrum_of(kernel, chosen, X, count)
        np.testing.assert_allclose(spectrum.eigenvalues, np.ones(count), atol=1e-12)
        V = spectrum.eigenvectors
        np.testing.assert_allclose(V.T @ V, np.eye(count), atol=1e-12)


def test_no_components_are_asked_for_and_none_come_back(gaussians):
    kernel, chosen = pivots_of("rbf", gaussians.X, bandwidth=8.0, max_rank=10)
    _, _, _, spectrum = spectrum_of(kernel, chosen, gaussians.X, 0)
    assert spectrum.coef.shape == (10, 0)
    assert spectrum.bias.shape == (0,)


def test_leading_components_are_those_of_the_smaller_problem(gaussians):
    kernel, chosen = pivots_of("rbf", gaussians.X, bandwidth=8.0, max_rank=30)
    _, _, _, five = spectrum_of(kernel, chosen, gaussians.X, 5)
    _, _, _, two = spectrum_of(kernel, chosen, gaussians.X, 2)
    np.testing.assert_allclose(five.leading(2).coef, two.coef, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(five.leading(2).eigenvalues, two.eigenvalues, rtol=1e-12)


# Two bandwidths


@pytest.mark.parametrize("in_kernel_space", [True, False])
@pytest.mark.parametrize("new_bandwidth", [4.0, 20.0, 200.0])
def test_two_bandwidths_are_the_dense_formula(gaussians, new_bandwidth, in_kernel_space):
    X = gaussians.X
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    icd, chosen = pivots_of("rbf", X, bandwidth=20.0, max_rank=25)
    kernel = make_kernel("rbf", new_bandwidth)
    features, degrees, statistics, first = spectrum_of(icd, chosen, X, 3, weights, in_kernel_space)
    assert statistics.n_excluded == 0
    second = change_kernel(first, features, degrees, kernel, ArraySource(X, weights), 1)

    G = factor_on(icd.tile(X, X), chosen.indices)
    _, beta, _ = dual_eigenpairs(G @ G.T, weights, 3)
    P = chosen.points
    xi = np.linalg.solve(kernel.tile(P, P), kernel.tile(P, X) @ (weights[:, None] * beta))
    xi = aligned(xi, second.coef)
    np.testing.assert_allclose(second.coef, xi, atol=1e-8 * np.abs(xi).max())
    np.testing.assert_array_equal(second.bias, first.bias)


def test_two_equal_bandwidths_are_one(gaussians):
    icd, chosen = pivots_of("rbf", gaussians.X, bandwidth=20.0, max_rank=25)
    weights = np.ones(len(gaussians.X))
    features, degrees, _, first = spectrum_of(icd, chosen, gaussians.X, 3)
    again = change_kernel(first, features, degrees, icd, ArraySource(gaussians.X, weights), 1)
    np.testing.assert_allclose(again.coef, first.coef, atol=1e-8 * np.abs(first.coef).max())


def test_two_bandwidths_are_the_published_experiment(gaussians):
    X = gaussians.X
    icd, chosen = pivots_of("rbf", X, bandwidth=20.0, max_rank=25)
    kernel = make_kernel("rbf", 6.0)
    features, degrees, _, first = spectrum_of(icd, chosen, X, 3)
    ours = change_kernel(first, features, degrees, kernel, ArraySource(X), 1)
    factor = cholesky_on_pivots(X, icd.tile, chosen.indices)
    theirs = paper_ksc(X, 4, icd.tile, factor=factor, reduced_kernel=kernel.tile)
    scores = kernel.tile(X, chosen.points) @ ours.coef + ours.bias
    scale = np.abs(theirs.scores).max()
    np.testing.assert_allclose(aligned(scores, theirs.scores), theirs.scores, atol=1e-8 * scale)


def test_two_bandwidths_work_on_sparse_rows(gaussians):
    X = np.round(gaussians.X)
    icd, chosen = pivots_of("rbf", X, bandwidth=20.0, max_rank=25)
    _, sparse_chosen = pivots_of("rbf", sp.csr_array(X), bandwidth=20.0, max_rank=25)
    coefs = []
    for data, pivots in ((X, chosen), (sp.csr_array(X), sparse_chosen)):
        features, degrees, _, first = spectrum_of(icd, pivots, data, 3)
        changed = change_kernel(
            first, features, degrees, make_kernel("rbf", 10.0), ArraySource(data), 1
        )
        coefs.append(changed.coef)
    assert coefs[0].shape == coefs[1].shape
