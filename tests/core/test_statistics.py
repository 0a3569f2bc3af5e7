"""Statistics: sums over chunks are the dense formulas, in both spaces and for any chunks."""

import numpy as np
import pytest

from sparseksc._native import moments_of
from sparseksc.core.reduced_set import select_reduced_set
from sparseksc.core.statistics import (
    OUTLIER_DEGREE,
    WELL_CONDITIONED,
    Degrees,
    FeatureMap,
    Statistics,
    collect_degrees,
    collect_statistics,
)
from sparseksc.data.source import ArraySource
from sparseksc.execution import threads
from sparseksc.kernels import make_kernel
from tests.conftest import pivots_of
from tests.reference.model import factor_on, sums


def chunk_statistics(features, weights, degrees):
    """Sums over one chunk from its features, which are overwritten."""
    return Statistics(*moments_of(features, weights, degrees.q, degrees.floor))


def symmetric(upper):
    return np.triu(upper) + np.triu(upper, 1).T


def in_g_space(features, statistics):
    """A and u in terms of g(x) = L⁻¹ k_P(x), whatever the features were."""
    A, u = symmetric(statistics.moment), statistics.mean
    if features.in_kernel_space:
        L = features.reduced_set.factor
        A = np.linalg.solve(L, np.linalg.solve(L, A).T)
        u = np.linalg.solve(L, u)
    return A, u


def collected(features, X, weights, n_jobs=1):
    degrees = collect_degrees(features, ArraySource(X, weights), n_jobs)
    return degrees, collect_statistics(features, ArraySource(X, weights), degrees, n_jobs)


@pytest.mark.parametrize("in_kernel_space", [True, False])
@pytest.mark.parametrize("kernel_name", ["rbf", "laplacian", "polynomial"])
def test_the_collected_sums_are_the_sums_over_all_points(shape, kernel_name, in_kernel_space):
    X = shape.X
    bandwidth = 4 * shape.bandwidth if kernel_name != "polynomial" else 10.0
    kernel, chosen = pivots_of(kernel_name, X, bandwidth=bandwidth, max_rank=12)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    features = FeatureMap(kernel, chosen, in_kernel_space)
    degrees, statistics = collected(features, X, weights)

    G = factor_on(kernel.tile(X, X), chosen.indices)
    s, d, _, _, _ = sums(G, weights)
    q = chosen.factor.T @ degrees.q if in_kernel_space else degrees.q
    np.testing.assert_allclose(q, s, rtol=1e-9, atol=1e-9 * np.abs(s).max())
    trusted = d > degrees.floor
    assert statistics.n_excluded == np.sum(~trusted)
    shares = np.where(trusted, weights / d, 0.0)
    A, u = in_g_space(features, statistics)
    expected = (G * shares[:, None]).T @ G
    np.testing.assert_allclose(A, expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(u, shares @ G, atol=1e-9 * np.abs(shares @ G).max())
    assert statistics.omega == pytest.approx(shares.sum(), rel=1e-10)


def test_without_outliers_nothing_is_left_out(gaussians):
    X = gaussians.X
    kernel, chosen = pivots_of("rbf", X, bandwidth=30.0, max_rank=40, tol=0.01)
    weights = np.ones(len(X))
    features = FeatureMap.choose(kernel, chosen)
    _, statistics = collected(features, X, weights)
    _, d, A, u, omega = sums(factor_on(kernel.tile(X, X), chosen.indices), weights)
    assert d.min() > 0
    assert statistics.n_excluded == 0
    assert statistics.excluded_weight == 0.0
    np.testing.assert_allclose(in_g_space(features, statistics)[0], A, atol=1e-10)
    np.testing.assert_allclose(in_g_space(features, statistics)[1], u, atol=1e-10)
    assert statistics.omega == pytest.approx(omega, rel=1e-12)


def test_kernel_space_is_chosen_where_the_pivots_are_well_conditioned(gaussians):
    kernel, few = pivots_of("rbf", gaussians.X, bandwidth=8.0, max_rank=10)
    # An estimate in another norm: the same up to the rank.
    exact = np.linalg.cond(kernel.tile(few.points, few.points))
    assert exact / few.rank <= few.condition <= exact * few.rank
    assert few.condition < WELL_CONDITIONED
    assert FeatureMap.choose(kernel, few).in_kernel_space
    kernel, many = pivots_of("rbf", gaussians.X, bandwidth=80.0, max_rank=100)
    assert many.condition > WELL_CONDITIONED
    assert not FeatureMap.choose(kernel, many).in_kernel_space


@pytest.mark.parametrize("in_kernel_space", [True, False])
def test_the_sums_do_not_depend_on_the_chunk_size(monkeypatch, gaussians, in_kernel_space):
    kernel, chosen = pivots_of("rbf", gaussians.X, bandwidth=8.0, max_rank=20)
    features = FeatureMap(kernel, chosen, in_kernel_space)
    weights = np.linspace(0.5, 1.5, len(gaussians.X))
    _, whole = collected(features, gaussians.X, weights)
    monkeypatch.setattr(threads, "LEAST_ROWS", 1)
    for rows in (1, 16, 64):
        monkeypatch.setattr(threads, "TILE_BYTES", rows * 20 * 8)
        assert threads.chunk_rows(20) == rows
        _, pieces = collected(features, gaussians.X, weights)
        scale = np.abs(whole.moment).max()
        np.testing.assert_allclose(pieces.moment, whole.moment, rtol=0, atol=1e-13 * scale)
        np.testing.assert_allclose(pieces.mean, whole.mean, rtol=1e-12, atol=1e-13)
        assert pieces.omega == pytest.approx(whole.omega, rel=1e-13)


def test_merging_chunks_in_any_grouping_gives_the_same_sums(gaussians):
    kernel, chosen = pivots_of("rbf", gaussians.X, bandwidth=8.0, max_rank=15)
    features = FeatureMap(kernel, chosen, True)
    weights = np.ones(len(gaussians.X))
    degrees = collect_degrees(features, ArraySource(gaussians.X, weights))

    def part(start, stop):
        rows = slice(start, stop)
        return chunk_statistics(features(gaussians.X[rows]), weights[rows], degrees)

    a, b, c = part(0, 100), part(100, 110), part(110, 280)
    for merged in (a.merge(b).merge(c), a.merge(b.merge(c)), c.merge(a).merge(b)):
        np.testing.assert_allclose(merged.moment, part(0, 280).moment, atol=1e-12)
        np.testing.assert_allclose(merged.mean, part(0, 280).mean, atol=1e-12)
        assert merged.omega == pytest.approx(part(0, 280).omega, rel=1e-13)


@pytest.mark.parametrize("in_kernel_space", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kernel_name", ["rbf", "laplacian", "chi2", "polynomial"])
def test_the_sums_over_rows_are_those_over_their_features(
    gaussians, kernel_name, dtype, in_kernel_space
):
    X = (gaussians.X - gaussians.X.min()).astype(dtype)
    kernel, chosen = pivots_of(kernel_name, X, bandwidth=8.0, max_rank=13)
    features = FeatureMap(kernel, chosen, in_kernel_space)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    degrees = collect_degrees(features, ArraySource(X, weights))
    values = features(X) @ degrees.q
    degrees = Degrees(degrees.q, np.sort(values)[20:22].mean(), degrees.total_weight)
    fused = Statistics.of_rows(features, degrees, X, weights)
    expected = chunk_statistics(features(X), weights, degrees)
    assert fused.n_excluded == expected.n_excluded == 21
    assert fused.excluded_weight == pytest.approx(expected.excluded_weight, rel=1e-12)
    tolerance = 1e-12 if dtype == np.float64 else 1e-6
    for name in ("moment", "mean", "omega"):
        wanted = getattr(expected, name)
        error = np.max(np.abs(getattr(fused, name) - wanted))
        assert error <= tolerance * np.max(np.abs(wanted))
    assert np.array_equal(fused.moment, fused.moment.T)


@pytest.mark.parametrize("in_kernel_space", [True, False])
def test_the_number_of_threads_does_not_change_a_bit(gaussians, in_kernel_space):
    X = np.tile(gaussians.X, (40, 1))
    kernel, chosen = pivots_of("rbf", gaussians.X, bandwidth=8.0, max_rank=60)
    features = FeatureMap(kernel, chosen, in_kernel_space)
    results = [collected(features, X, np.ones(len(X)), n_jobs)[1] for n_jobs in (1, 2, 4)]
    for other in results[1:]:
        assert other.moment.tobytes() == results[0].moment.tobytes()
        assert other.mean.tobytes() == results[0].mean.tobytes()
        assert other.omega == results[0].omega


# Guard rails


def test_a_point_that_no_pivot_represents_is_left_out_and_counted():
    X = np.random.default_rng(0).standard_normal((300, 2))
    kernel, chosen = pivots_of("rbf", X, bandwidth=2.0, max_rank=20, tol=0.05)
    assert chosen.residual <= 0.5
    far = np.concatenate([X, [[50.0, 50.0], [-80.0, 3.0]]])
    weights = np.concatenate([np.ones(300), [2.0, 3.0]])
    features = FeatureMap.choose(kernel, chosen)
    degrees, statistics = collected(features, far, weights)
    assert statistics.n_excluded == 2
    assert statistics.excluded_weight == 5.0
    _, without = collected(features, X, np.ones(300))
    np.testing.assert_allclose(statistics.moment, without.moment, rtol=1e-9, atol=1e-12)
    assert degrees.floor > 0


def test_a_degree_that_is_not_positive_never_becomes_a_weight():
    degrees = Degrees(np.array([1.0]), floor=1e-3, total_weight=1.0)
    features = np.array([[-5.0], [0.0], [1e-16], [1e-3], [2e-3], [4.0]])
    shares = degrees.shares(features, np.array([1.0, 1.0, 1.0, 1.0, 1.0, 2.0]))
    np.testing.assert_allclose(shares, [0.0, 0.0, 0.0, 0.0, 500.0, 0.5])


def test_points_of_weight_zero_are_not_counted_as_left_out():
    degrees = Degrees(np.array([1.0]), floor=0.0, total_weight=1.0)
    statistics = chunk_statistics(
        np.array([[1.0], [2.0], [-1.0]]), np.array([0.0, 1.0, 1.0]), degrees
    )
    assert statistics.n_excluded == 1
    assert statistics.excluded_weight == 1.0
    assert statistics.omega == 0.5


def test_the_floor_is_a_share_of_the_mean_degree(gaussians):
    X = gaussians.X
    kernel, chosen = pivots_of("rbf", X, bandwidth=30.0, max_rank=60, tol=0.01)
    for scale in (1.0, 1000.0):
        weights = np.full(len(X), scale)
        features = FeatureMap.choose(kernel, chosen)
        degrees = collect_degrees(features, ArraySource(X, weights))
        mean = (features(X) @ degrees.q).mean()
        assert degrees.floor == pytest.approx(OUTLIER_DEGREE * mean, rel=1e-9)


@pytest.mark.parametrize(
    "factor",
    [
        2.0**-600,
        2.0**-60,
        2.0**60,
        2.0**600,
    ],
)
def test_the_unit_of_the_sample_weights_does_not_matter(gaussians, factor, no_warnings):
    X = gaussians.X
    kernel, chosen = pivots_of("rbf", X, bandwidth=8.0, max_rank=30)
    features = FeatureMap.choose(kernel, chosen)
    _, ones = collected(features, X, np.ones(len(X)))
    _, scaled = collected(features, X, np.full(len(X), factor))
    np.testing.assert_allclose(scaled.moment, ones.moment, rtol=1e-12)
    assert scaled.n_excluded == ones.n_excluded == 0


def test_collecting_does_not_write_to_what_a_kernel_function_returned(gaussians):
    rbf = make_kernel("rbf", 8.0)
    kept = {}

    def remembering(X, Y):
        key = X.tobytes(), Y.tobytes()
        if key not in kept:
            kept[key] = rbf.tile(np.ascontiguousarray(X), np.ascontiguousarray(Y))
            kept[key].flags.writeable = False
        return kept[key]

    kernel = make_kernel(remembering)
    chosen = select_reduced_set(kernel, gaussians.X, max_rank=10, tol=0.0)
    features = FeatureMap.choose(kernel, chosen)
    assert features.in_kernel_space
    _, statistics = collected(features, gaussians.X, np.ones(280))
    _, expected = collected(FeatureMap.choose(rbf, chosen), gaussians.X, np.ones(280))
    np.testing.assert_allclose(statistics.moment, expected.moment, rtol=1e-12)
