"""The native functions against their NumPy twin, and their edge cases."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseksc import _native
from sparseksc._native import (
    KERNELS,
    column_sums,
    moments,
    moments_of,
    scores,
    tile,
    twin,
)
from tests._native.conftest import DIMENSIONS, DTYPES, _core, problem

PIVOTS = (1, 2, 7, 115, 300)

ROWS = (0, 1, 5, 2049)

#: Around the sizes of the tiles and panels in which moments are summed.
MOMENT_PIVOTS = (1, 2, 7, 12, 13, 115, 300)

MOMENT_ROWS = (0, 1, 5, 63, 64, 65, 2049)

needs_core = pytest.mark.skipif(_core is None, reason="the extension module is not built")


def expected_tile(name, X, P, factors):
    out = np.empty((len(X), len(P)))
    twin.tile_into(name, X, P, factors, out)
    return out


def assert_close(actual, expected, dtype, features):
    if dtype == np.float64:
        # The relative error of exp(-a) is that of the exponential plus the absolute error of a.
        slack = 2e-14 + 4e-16 * (8 + features) * -np.log(np.maximum(expected, 1e-300))
        assert np.all(np.abs(actual - expected) <= slack * expected + 1e-307)
    else:
        assert np.abs(actual - expected).max(initial=0.0) <= 2e-7 * (1 + features / 16)


def moment_problem(name, rows, pivots, features, dtype):
    """Some rows of weight zero, and a floor between two degrees that leaves about a fifth out."""
    X, P, factors = problem(rows, pivots, features, dtype)
    rng = np.random.default_rng([rows, pivots])
    weights = rng.uniform(0.5, 2.0, rows) * (rng.random(rows) > 0.2)
    q = rng.uniform(0.1, 1.0, pivots)
    degrees = np.sort(expected_tile(name, X, P, factors) @ q)[rows // 10 : rows // 3 + 2]
    gap = np.argmax(np.diff(degrees)) if len(degrees) > 1 else None
    floor = 0.0 if gap is None else degrees[gap : gap + 2].mean()
    return X, P, factors, weights, q, floor


def assert_same_moments(actual, expected, tolerance):
    for sums, wanted in zip(actual[:3], expected[:3], strict=True):
        assert np.shape(sums) == np.shape(wanted)
        assert np.max(np.abs(np.subtract(sums, wanted))) <= tolerance * np.max(np.abs(wanted))
    assert actual[3] == expected[3]
    assert actual[4] == pytest.approx(expected[4], rel=1e-12)


def exponential(core, values):
    out = np.empty_like(values)
    core.exponential_into(values, out)
    return out


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("features", DIMENSIONS)
@pytest.mark.parametrize("name", KERNELS)
def test_native_tile_equals_its_twin(core, name, features, dtype):
    for pivots in PIVOTS:
        for rows in ROWS:
            X, P, factors = problem(rows, pivots, features, dtype)
            actual = tile(name, X, P, factors)
            assert actual.shape == (rows, pivots)
            assert actual.dtype == dtype
            assert_close(actual, expected_tile(name, X, P, factors), dtype, features)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("outputs", (1, 3, 20))
@pytest.mark.parametrize("name", KERNELS)
def test_native_scores_equal_tile_times_coefficients(core, name, outputs, dtype):
    for pivots in PIVOTS:
        for rows in ROWS:
            X, P, factors = problem(rows, pivots, 3, dtype)
            rng = np.random.default_rng(pivots)
            coef, bias = rng.normal(size=(pivots, outputs)), rng.normal(size=outputs)
            actual = scores(name, X, P, factors, coef, bias)
            assert actual.shape == (rows, outputs)
            assert actual.dtype == dtype
            expected = expected_tile(name, X, P, factors) @ coef + bias
            size = np.abs(coef).sum(axis=0) + np.abs(bias)
            tolerance = (1e-13 if dtype == np.float64 else 3e-7) * size
            assert np.all(np.abs(actual - expected) <= tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_native_column_sums_equal_weights_times_tile(core, name, dtype):
    for pivots in PIVOTS:
        for rows in ROWS:
            X, P, factors = problem(rows, pivots, 3, dtype)
            weights = np.random.default_rng(rows).normal(size=rows)
            actual = column_sums(name, X, P, factors, weights)
            assert actual.shape == (pivots,)
            assert actual.dtype == np.float64
            expected = weights @ expected_tile(name, X, P, factors)
            tolerance = (1e-13 if dtype == np.float64 else 3e-7) * (1 + np.abs(weights).sum())
            assert np.all(np.abs(actual - expected) <= tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("features", (1, 3, 8, 40))
@pytest.mark.parametrize("name", KERNELS)
def test_native_moments_equal_those_of_the_tile_and_of_the_twin(core, name, features, dtype):
    excluded = 0
    for pivots in MOMENT_PIVOTS:
        for rows in MOMENT_ROWS:
            arguments = moment_problem(name, rows, pivots, features, dtype)
            actual = moments(name, *arguments)
            moment, mean, omega, n_excluded, excluded_weight = actual
            assert moment.dtype == mean.dtype == np.float64
            assert type(omega) is type(excluded_weight) is float
            assert type(n_excluded) is int
            assert np.array_equal(moment, moment.T)
            block = tile(name, *arguments[:3]).astype(np.float64)
            assert_same_moments(actual, moments_of(block, *arguments[3:]), 1e-12)
            block = expected_tile(name, *arguments[:3])
            tolerance = 1e-12 if dtype == np.float64 else 1e-5
            assert_same_moments(actual, moments_of(block, *arguments[3:]), tolerance)
            excluded += n_excluded
    assert excluded > 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_moments_are_the_sums_of_their_definition(backend, name, dtype):
    X, P, factors, weights, q, floor = moment_problem(name, 65, 13, 3, dtype)
    moment, mean, omega = np.zeros((13, 13)), np.zeros(13), 0.0
    left_out = []
    for k, weight in zip(tile(name, X, P, factors).astype(np.float64), weights, strict=True):
        if k @ q > floor:
            moment += weight / (k @ q) * np.outer(k, k)
            mean += weight / (k @ q) * k
            omega += weight / (k @ q)
        elif weight > 0:
            left_out.append(weight)
    assert 0 < len(left_out) < 65
    actual = moments(name, X, P, factors, weights, q, floor)
    expected = moment, mean, omega, len(left_out), sum(left_out)
    assert_same_moments(actual, expected, 1e-12 if dtype == np.float64 else 1e-6)


def test_moments_without_rows_are_zero(backend):
    X, P, factors = problem(0, 5, 2, np.float64)
    moment, mean, *totals = moments("rbf", X, P, factors, np.empty(0), np.ones(5), 0.0)
    assert np.array_equal(moment, np.zeros((5, 5)))
    assert np.array_equal(mean, np.zeros(5))
    assert totals == [0.0, 0, 0.0]


def test_moments_leave_out_degrees_that_are_not_positive(backend):
    X, P, factors = problem(70, 5, 2, np.float64)
    for q in (np.zeros(5), -np.ones(5), np.full(5, np.nan)):
        moment, mean, *totals = moments("rbf", X, P, factors, np.ones(70), q, 0.0)
        assert not moment.any()
        assert not mean.any()
        assert totals == [0.0, 70, 70.0]


def test_rows_of_weight_zero_do_not_change_a_bit_of_the_moments(core):
    X, P, factors, weights, q, floor = moment_problem("rbf", 200, 20, 2, np.float64)
    whole = moments("rbf", X, P, factors, weights, q, floor)
    some = weights > 0
    without = moments("rbf", X[some], P, factors, weights[some], q, floor)
    assert np.array_equal(whole[0], without[0])
    assert np.array_equal(whole[1], without[1])
    assert whole[2:] == without[2:]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("features", (1, 2, 3, 8, 33, 300))
@pytest.mark.parametrize("name", KERNELS)
def test_native_results_do_not_depend_on_the_chunks(core, name, features, dtype):
    X, P, factors = problem(101, 37, features, dtype)
    coef, bias = np.random.default_rng(0).normal(size=(37, 2)), np.ones(2)
    whole_tile = tile(name, X, P, factors)
    whole_scores = scores(name, X, P, factors, coef, bias)
    for size in (1, 2, 3, 50, 100):
        starts = range(0, len(X), size)
        chunks = [np.ascontiguousarray(X[start : start + size]) for start in starts]
        tiles = [tile(name, chunk, P, factors) for chunk in chunks]
        parts = [scores(name, chunk, P, factors, coef, bias) for chunk in chunks]
        assert np.array_equal(np.concatenate(tiles), whole_tile)
        assert np.array_equal(np.concatenate(parts), whole_scores)


@pytest.mark.parametrize("name", KERNELS)
def test_native_columns_do_not_depend_on_the_pivots_around_them(core, name):
    X, P, factors = problem(20, 40, 2, np.float64)
    whole = tile(name, X, P, factors)
    alone = [tile(name, X, P[r : r + 1], factors) for r in range(len(P))]
    assert np.array_equal(np.hstack(alone), whole)


def test_threads_get_the_same_tile(core):
    X, P, factors = problem(500, 64, 2, np.float64)
    expected = tile("rbf", X, P, factors)
    results = [None] * 8

    def work(i):
        results[i] = tile("rbf", X, P, factors)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(result, expected) for result in results)


def test_exponential_in_double_precision(core):
    values = np.concatenate([np.linspace(0, 708.3, 300_001), np.geomspace(1e-300, 708.3, 100_001)])
    expected = np.exp(-values.astype(np.longdouble))
    assert np.all(np.abs(exponential(core, values) / expected - 1) < 2e-14)


def test_exponential_in_single_precision(core):
    values = np.linspace(0, 90, 400_001).astype(np.float32)
    expected = np.exp(-values.astype(np.float64))
    actual = exponential(core, values)
    assert np.abs(actual - expected).max() < 2e-7
    normal = expected > 1.2e-38
    assert np.abs(actual / expected - 1)[normal].max() < 5e-7


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponential_of_special_values(core, dtype):
    values = np.array([0.0, 1e-40, 746.0, 1e30, np.inf, np.nan], dtype=dtype)
    expected = np.array([1.0, 1.0, 0.0, 0.0, 0.0, np.nan], dtype=dtype)
    np.testing.assert_array_equal(exponential(core, values), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("features", (1, 2, 5, 8, 40))
def test_extreme_bandwidths_and_data_give_zero_or_one(backend, name, dtype, features):
    info = np.finfo(dtype)
    low = 0.0 if name == "chi2" else -info.max
    values = np.array([low, 0.0, 1.0, 1e30, info.max], dtype=dtype)
    X = np.repeat(values[:, None], features, axis=1)
    for factor in (1e-300, 1.0, 1e300):
        block = tile(name, X, X, np.full(features, factor))
        assert not np.isnan(block).any()
        assert np.all(np.diag(block) == 1.0)
        assert np.all((block >= 0.0) & (block <= 1.0))
    assert tile(name, X[1:2], X[2:3], np.full(features, 1e300)) == 0.0
    assert tile(name, X[1:2], X[2:3], np.full(features, 1e-300)) == 1.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_overflowing_difference_gives_zero(backend, dtype):
    highest = np.finfo(dtype).max
    X, P = np.full((3, 2), highest, dtype), np.full((2, 2), -highest, dtype)
    for name in ("rbf", "laplacian"):
        assert np.all(tile(name, X, P, np.ones(2)) == 0.0)


@pytest.mark.parametrize("features", (1, 3, 4, 8))
def test_chi2_counts_empty_bins_as_equal(backend, features):
    zeros = np.zeros((3, features))
    assert np.all(tile("chi2", zeros, zeros, np.ones(features)) == 1.0)


@pytest.mark.parametrize("magnitude", (1e-200, 1e-61, 1e-59, 1.0, 1e59, 1e61, 1e200))
def test_chi2_is_accurate_for_data_of_any_size(core, magnitude):
    X, P, factors = problem(50, 20, 8, np.float64)
    X, P, factors = X * magnitude, P * magnitude, factors / magnitude
    assert_close(tile("chi2", X, P, factors), expected_tile("chi2", X, P, factors), np.float64, 8)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
@needs_core
def test_native_tile_equals_its_twin_for_any_finite_data(data):
    name = data.draw(st.sampled_from(KERNELS))
    features = data.draw(st.integers(1, 9))
    low = 0.0 if name == "chi2" else -1e4
    element = st.floats(low, 1e4, allow_subnormal=False)
    row = st.lists(element, min_size=features, max_size=features)
    X, P = (np.array(data.draw(st.lists(row, min_size=1, max_size=4))) for _ in range(2))
    factors = np.array(data.draw(
        st.lists(st.floats(1e-6, 1e6), min_size=features, max_size=features)))  # fmt: skip
    actual = np.empty((len(X), len(P)))
    _core.tile_into(name, X, P, factors, actual)
    assert_close(actual, expected_tile(name, X, P, factors), np.float64, features)


def test_out_is_filled_and_returned(backend):
    X, P, factors = problem(9, 5, 2, np.float64)
    out = np.full((9, 5), np.nan)
    assert tile("rbf", X, P, factors, out=out) is out
    assert np.array_equal(out, tile("rbf", X, P, factors))


def test_read_only_inputs_are_accepted(backend):
    X, P, factors = problem(9, 5, 2, np.float64)
    expected = tile("rbf", X, P, factors)
    for array in (X, P, factors):
        array.flags.writeable = False
    assert np.array_equal(tile("rbf", X, P, factors), expected)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"name": "sigmoid"}, ValueError, "kernel must be one of rbf, laplacian, chi2"),
        ({"X": np.ones((4, 2), dtype=int)}, TypeError, "X must be float32 or float64, got int64"),
        ({"P": np.ones((3, 2), np.float32)}, TypeError, "P must be float64, got float32"),
        ({"P": np.ones((3, 5))}, ValueError, r"P must have the shape \(any, 2\), got \(3, 5\)"),
        ({"X": np.ones(2)}, ValueError, r"X must have the shape \(any, any\), got \(2,\)"),
        ({"X": np.ones((2, 4)).T}, ValueError, "X must be C-contiguous"),
        ({"P": np.ones((0, 2))}, ValueError, "at least one row"),
        ({"inverse_bandwidth": np.ones(3)}, ValueError, "inverse_bandwidth must have the shape"),
        ({"inverse_bandwidth": np.array([1.0, 0.0])}, ValueError, "positive and finite"),
        ({"inverse_bandwidth": np.array([1.0, np.inf])}, ValueError, "positive and finite"),
        ({"out": np.empty((4, 4))}, ValueError, r"out must have the shape \(4, 3\)"),
        ({"out": np.empty((4, 3), np.float32)}, TypeError, "out must be float64"),
    ],
)
def test_wrong_arguments_are_named(backend, change, error, message):
    arguments = {"name": "rbf", "X": np.ones((4, 2)), "P": np.ones((3, 2)),
                 "inverse_bandwidth": np.ones(2)}  # fmt: skip
    with pytest.raises(error, match=message):
        tile(**{**arguments, **change})


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"name": "sigmoid"}, ValueError, "kernel must be one of rbf, laplacian, chi2"),
        ({"weights": np.ones(3)}, ValueError, r"weights must have the shape \(4\), got \(3,\)"),
        ({"weights": np.ones(4, np.float32)}, TypeError, "weights must be float64, got float32"),
        ({"weights": np.ones(8)[::2]}, ValueError, "weights must be C-contiguous"),
        ({"weights": -np.ones(4)}, ValueError, "weights must not be negative"),
        ({"weights": np.full(4, np.nan)}, ValueError, "weights must not be negative"),
        ({"q": np.ones(4)}, ValueError, r"q must have the shape \(3\), got \(4,\)"),
        ({"q": np.ones(3, int)}, TypeError, "q must be float64, got int64"),
        ({"floor": -1.0}, ValueError, r"floor must not be negative, got -1\.0"),
        ({"floor": np.nan}, ValueError, "floor must not be negative, got nan"),
    ],
)
def test_wrong_arguments_of_the_moments_are_named(backend, change, error, message):
    arguments = {"name": "rbf", "X": np.ones((4, 2)), "P": np.ones((3, 2)), "floor": 0.0,
                 "inverse_bandwidth": np.ones(2), "weights": np.ones(4),
                 "q": np.ones(3)}  # fmt: skip
    with pytest.raises(error, match=message):
        moments(**{**arguments, **change})


@needs_core
def test_the_extension_guards_its_memory_by_itself():
    X, P, factors, out = np.ones((4, 2)), np.ones((3, 2)), np.ones(2), np.empty((4, 3))
    with pytest.raises(ValueError, match="out has the wrong shape"):
        _core.tile_into("rbf", X, P, factors, np.empty((4, 2)))
    with pytest.raises(TypeError, match="P must have the type float64"):
        _core.tile_into("rbf", X, P.astype(np.float32), factors, out)
    with pytest.raises(TypeError):
        _core.tile_into("rbf", X, P, factors, out.T.copy().T)  # not C-contiguous
    with pytest.raises(ValueError, match="same number of columns"):
        _core.tile_into("rbf", X, np.ones((3, 1)), factors, out)
    with pytest.raises(ValueError, match="inverse_bandwidth must be positive"):
        _core.tile_into("rbf", X, P, -factors, out)
    with pytest.raises(ValueError, match="coef has the wrong shape"):
        _core.scores_into("rbf", X, P, factors, np.ones((2, 1)), np.ones(1), np.empty((4, 1)))
    with pytest.raises(ValueError, match="weights has the wrong shape"):
        _core.column_sums_into("rbf", X, P, factors, np.ones(3), np.empty(3))
    sizes = {"weights": 4, "q": 3, "moment": (3, 3), "mean": 3, "totals": 3}
    for name in sizes:
        arrays = {key: np.ones(np.add(size, key == name)) for key, size in sizes.items()}
        with pytest.raises(ValueError, match=f"{name} has the wrong shape"):
            _core.moments_into("rbf", X, P, factors, floor=0.0, **arrays)
    with pytest.raises(ValueError, match="cannot run the variant"):
        _core.use_variant("abacus")


@pytest.mark.parametrize("name", _native.KERNELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d", "R"), [(1, 1, 1), (9, 2, 9), (600, 2, 40), (1100, 8, 75)])
def test_greedy_is_that_of_the_twin(core, name, dtype, n, d, R):
    rng = np.random.default_rng(5)
    X, weights = rng.uniform(0.0, 2.0, (n, d)).astype(dtype), rng.uniform(0.5, 2.0, n)
    inverse = np.full(d, 5.0)

    def state():
        return np.ones(n), np.zeros((R, n))

    (residual, G), (rest, factor) = state(), state()
    arguments = (0, float(weights.sum()), 1e-3, 1e-8)
    pivots, path = _native.greedy(name, X, inverse, weights, residual, G, *arguments)
    chosen, traces = np.empty(R, np.int64), np.empty(R)
    rank = twin.greedy_into(
        name, X, inverse, weights, arguments[1], *arguments[2:], 0, rest, factor, chosen, traces
    )
    tolerance = 1e-9 if dtype == np.float64 else 1e-3
    assert pivots == chosen[:rank].tolist()
    np.testing.assert_allclose(path, traces[:rank], atol=tolerance)
    np.testing.assert_allclose(G[:rank], factor[:rank], atol=tolerance)
    np.testing.assert_allclose(residual, rest, atol=tolerance)


def test_greedy_goes_on_where_it_was_left(backend):
    X = np.random.default_rng(6).uniform(size=(300, 2))
    inverse, weights = np.full(2, 8.0), np.ones(300)
    whole, G = np.ones(300), np.zeros((30, 300))
    pivots, path = _native.greedy("rbf", X, inverse, weights, whole, G, 0, 300.0, 0.0, 1e-9)
    rest, H = np.ones(300), np.zeros((30, 300))
    first = _native.greedy("rbf", X, inverse, weights, rest, H[:12], 0, 300.0, 0.0, 1e-9)
    second = _native.greedy("rbf", X, inverse, weights, rest, H, 12, 300.0, 0.0, 1e-9)
    assert first[0] + second[0] == pivots
    assert first[1] + second[1] == path
    np.testing.assert_array_equal(G, H)


def test_greedy_takes_the_first_of_equal_points_and_no_copy_of_it(backend):
    X = np.repeat(np.array([[0.0], [5.0], [9.0]]), 4, axis=0)
    residual, G = np.ones(12), np.zeros((12, 12))
    pivots, path = _native.greedy(
        "rbf", X, np.ones(1), np.ones(12), residual, G, 0, 12.0, 0.0, 1e-9
    )
    assert pivots == [0, 4, 8]
    assert path[-1] == pytest.approx(0.0, abs=1e-9)


def test_greedy_refuses_what_does_not_fit(backend):
    X, one = np.ones((3, 2)), np.ones(3)
    with pytest.raises(ValueError, match="rank must be between"):
        _native.greedy("rbf", X, np.ones(2), one, one, np.ones((1, 3)), 2, 3.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="residual must have the shape"):
        _native.greedy("rbf", X, np.ones(2), one, np.ones(4), np.ones((1, 3)), 0, 3.0, 0.0, 0.0)
    with pytest.raises(TypeError, match="weights must be float64"):
        _native.greedy("rbf", X, np.ones(2), one.astype("f4"), one, np.ones((1, 3)), 0, 3.0, 0, 0)
