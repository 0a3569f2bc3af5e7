"""Wrong arguments never reach the memory of others: random ones, and the edges by name."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseksc import KernelSpectralClustering, _native
from sparseksc._native import checks, clusters, hashing, twin
from sparseksc.datasets import make_gaussians
from tests.fuzz_native import ENTRIES, fuzz

_core = pytest.importorskip("sparseksc._native._core")

#: Cases in an ordinary run of the tests; `python tests/fuzz_native.py --cases 100000` for more.
N_CASES = 1500

REFUSED = (TypeError, ValueError)
BACKENDS = pytest.mark.parametrize("backend", [_core, twin], ids=["native", "twin"])


@pytest.fixture(params=[_core, twin], ids=["native", "twin"])
def wrapped(request, monkeypatch):
    monkeypatch.setattr(_native, "_backend", request.param)


def test_random_calls_are_refused_or_answered(capfd):
    assert fuzz(N_CASES, seed=1), capfd.readouterr().out
    assert f"{N_CASES} cases" in capfd.readouterr().out


def test_every_function_of_the_extension_is_called():
    names = {name for name in dir(_core) if not name.startswith("_")}
    assert names - {"variants", "active_variant"} == {build.__name__ for build in ENTRIES}


# ------------------------------------------------------------------------------------- memory


@BACKENDS
@given(shift=st.integers(-20, 20), n=st.integers(0, 6), R=st.integers(1, 6), d=st.integers(1, 3))
@settings(max_examples=80)
def test_a_tile_is_refused_where_it_shares_memory_and_nowhere_else(backend, shift, n, R, d):
    memory = np.zeros(100)
    start = 30
    X = memory[start : start + n * d].reshape(n, d)
    out = memory[start + shift : start + shift + n * R].reshape(n, R)
    shares = n > 0 and shift < n * d and shift + n * R > 0
    arguments = ("rbf", X, np.ones((R, d)), np.ones(d), out)
    if shares:
        with pytest.raises(ValueError, match="out must not share memory with X"):
            backend.tile_into(*arguments)
        assert not memory.any()
    else:
        backend.tile_into(*arguments)
        assert np.count_nonzero(memory) == out.size


@BACKENDS
def test_outputs_are_refused_where_they_share_memory(backend):
    n = 4
    numbers, memory = np.arange(n), np.zeros(n)
    with pytest.raises(ValueError, match="places must not share memory with hashes"):
        backend.ahead_into(None, n, 0, 0.5, memory.view(np.int64), memory)
    with pytest.raises(ValueError, match="out must not share memory with rows"):
        backend.uniform_into(numbers, 0, numbers.view(np.float64))
    with pytest.raises(ValueError, match="membership must not share memory with angular"):
        backend.assign_into(np.ones((n, 2)), numbers, memory, memory)
    # The sums would have become labels after these were checked.
    with pytest.raises(ValueError, match="scatter must not share memory with labels"):
        backend.scatter_into(
            np.ones((n, 1)), memory.view(np.int64), np.ones(n), memory.reshape(n, 1, 1)
        )


@BACKENDS
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_exponential_may_be_taken_in_place(backend, dtype):
    values = np.linspace(0.0, 5.0, 50).astype(dtype)
    expected = np.exp(-values)
    backend.exponential_into(values, values)
    np.testing.assert_allclose(values, expected, rtol=1e-6)


def misaligned(array):
    moved = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    assert not moved.flags.aligned
    return moved


@BACKENDS
def test_misaligned_arrays_are_refused(backend):
    values = misaligned(np.zeros(5))
    for arguments in ((values, np.empty(5)), (np.ones(5), values)):
        with pytest.raises(ValueError, match="must be aligned"):
            backend.exponential_into(*arguments)


def test_users_may_pass_misaligned_arrays(wrapped):
    X, y = make_gaussians(90, n_clusters=3, overlap=0.2, random_state=0)
    weights = 1.0 + y
    model = KernelSpectralClustering(n_clusters=3, bandwidth=1.0, random_state=0)
    expected = model.fit(X, sample_weight=weights).transform(X)
    X, weights = misaligned(X), misaligned(weights)
    np.testing.assert_array_equal(model.fit(X, sample_weight=weights).transform(X), expected)
    np.testing.assert_array_equal(clusters.spread(X, 2), clusters.spread(X.copy(), 2))
    numbers = np.arange(5)
    np.testing.assert_array_equal(
        hashing.uniform(misaligned(numbers), 3), hashing.uniform(numbers, 3)
    )


def test_wrappers_refuse_what_cannot_be_written(wrapped):
    X, out = np.ones((3, 2)), np.empty((3, 3))
    with pytest.raises(ValueError, match="out must not share memory with X"):
        _native.tile("rbf", X, X[:2], np.ones(2), out=X)
    out.setflags(write=False)
    with pytest.raises(ValueError, match="out must be writable"):
        _native.tile("rbf", X, X, np.ones(2), out=out)
    state = {"weights": np.ones(3), "residual": np.ones(3), "G": np.ones((2, 3))}
    rest = (0, 3.0, 0.0, 0.0)
    for change, sentence in [
        ({"residual": state["G"][0]}, "residual must not share memory with G"),
        ({"residual": state["weights"]}, "residual must not share memory with weights"),
        ({"G": out[:2]}, "G must be writable"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            _native.greedy("rbf", X, np.ones(2), *{**state, **change}.values(), *rest)


# -------------------------------------------------------------------------------------- sizes


@BACKENDS
def test_places_without_a_dimension_are_refused(backend):
    with pytest.raises(ValueError, match="places"):
        backend.ahead_into(None, 3, 0, 0.5, np.array(0), np.array(0.0))


@BACKENDS
def test_numbers_larger_than_the_arrays_are_refused(backend):
    for count in (2**63, 2**64, -1):
        with pytest.raises(REFUSED):
            backend.ahead_into(None, count, 0, 0.5, np.empty(1, np.int64), np.empty(1))
    X, ones = np.ones((3, 2)), np.ones(3)
    for rank, floor in ((2, 0.0), (-1, 0.0), (0, -1.0), (0, np.nan)):
        with pytest.raises(REFUSED, match=r"rank|floor|arguments"):
            backend.greedy_into(
                "rbf", X, np.ones(2), ones, 3.0, 0.0, floor, rank, ones.copy(), np.ones((1, 3)),
                np.empty(1, np.int64), np.empty(1)
            )  # fmt: skip


@BACKENDS
def test_arrays_without_values_end_at_once(backend):
    """Their sides may be longer than any loop or memory."""
    long, chosen = 2**56, np.empty(3, np.int64)
    assert backend.spread_into(np.empty((long, 0)), chosen) == 0
    assert backend.spread_into(np.empty((0, long)), chosen) == 0
    backend.refine_into(np.empty((2, 0)), np.ones(2), 5, np.empty((long, 0)))
    backend.refine_into(np.empty((0, long)), np.empty(0), 5, np.empty((0, long)))
    backend.scatter_into(
        np.empty((2, 0)), np.zeros(2, np.int64), np.ones(2), np.empty((long, 0, 0))
    )


@given(n=st.integers(0, 5), m=st.integers(0, 3), K=st.integers(0, 12), seed=st.integers(0, 99))
def test_no_more_rows_are_chosen_than_there_are(n, m, K, seed):
    rows = np.random.default_rng(seed).normal(size=(n, m))
    for backend in (_core, twin):
        chosen = np.full(K, -1)
        found = backend.spread_into(rows.copy(), chosen)
        assert found <= min(n, K)
        assert ((chosen[:found] >= 0) & (chosen[:found] < n)).all()


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(checks, "MOST_ROWS", 3)
    with pytest.raises(ValueError, match=r"fewer than 2\*\*32 rows"):
        _native.tile("rbf", np.ones((4, 1)), np.ones((2, 1)), np.ones(1))


def test_the_extension_numbers_rows_in_32_bits(tmp_path):
    path = tmp_path / "rows"
    try:
        X = np.memmap(path, np.float32, "w+", shape=(2**32, 1))  # a hole, if the system can
    except (OSError, ValueError, OverflowError):
        pytest.skip("no sparse files of 16 GB here")
    with pytest.raises(ValueError, match=r"fewer than 2\*\*32 rows"):
        _core.column_sums_into(
            "rbf", np.ones((1, 1), np.float32), X, np.ones(1), np.ones(1), np.empty(1)
        )


def _interrupt(*_):
    raise InterruptedError


# With a negative weight, the first prototype goes to and fro between two directions.
CYCLE = (
    np.array([[-2.0, 2.0], [-2.0, -1.0], [-1.0, 0.0], [-1.0, -2.0]]),
    np.array([-1.0, 2.0, -1.0, 1.0]),
    2**64 - 1,
    np.array([[2.0, 0.0], [1.0, 1.0]]),
)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("ahead_into", (None, 2**62, 0, 0.5, np.empty(1, np.int64), np.empty(1))),
        ("refine_into", CYCLE),
    ],
)
def test_a_call_without_an_end_can_be_interrupted(name, arguments):
    before = signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(InterruptedError):
            getattr(_core, name)(*arguments)
    finally:
        signal.signal(signal.SIGALRM, before)


# ----------------------------------------------------------------------------------- wrappers


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: clusters.refine([1.0], [1.0], [[1.0]], 5), ValueError, "rows must have the shape"),
        (lambda: clusters.refine([[1.0]], [1.0], [[1.0, 2.0]], 5), ValueError, "prototypes must"),
        (lambda: clusters.refine([[1.0]], [1.0], [[1.0]], -1), ValueError, "rounds must be"),
        (lambda: clusters.refine([[1.0]], [1.0], [[1.0]], 2.5), TypeError, "rounds must be"),
        (lambda: clusters.spread(np.float64(1.0), 2), ValueError, "rows must have the shape"),
        (lambda: clusters.spread([[1.0]], -1), ValueError, "count must be between"),
        (lambda: clusters.assign([1.0, 2.0]), ValueError, "distances must have the shape"),
        (lambda: clusters.assign(np.ones((2, 0))), ValueError, "at least one column"),
        (lambda: clusters.scatter([1.0], [0], [1.0], 1), ValueError, "rows must have the shape"),
        (lambda: clusters.scatter([[1.0]], [0.5], [1.0], 1), TypeError, "labels must be integers"),
        (lambda: clusters.scatter([[1.0]], [1], [1.0], 1), ValueError, "label is out of range"),
        (lambda: clusters.scatter([[1.0]], [-1], [1.0], 1), ValueError, "label is out of range"),
        (lambda: clusters.scatter([[1.0]], [0], [1.0], -1), ValueError, "n_clusters must be"),
        (lambda: hashing.uniform(np.array(5), 0), ValueError, "rows must have the shape"),
        (lambda: hashing.uniform(np.arange(5), -1), ValueError, "state must be between"),
        (lambda: hashing.uniform(np.arange(5), 2**64), ValueError, "state must be between"),
        (lambda: hashing.ahead(-1, 0, 0.5), ValueError, "rows must be between"),
        (lambda: hashing.ahead(2**63, 0, 0.5), ValueError, "rows must be between"),
        (lambda: hashing.ahead(5, 0, np.nan), ValueError, "bound must not be nan"),
        (lambda: hashing.ahead(5, 0, "high"), TypeError, "bound must be a number"),
    ],
)
def test_wrong_arguments_are_named(wrapped, call, error, message):
    with pytest.raises(error, match=message):
        call()


@given(n=st.integers(0, 300), bound=st.floats(allow_nan=False), state=st.integers(0, 2**64 - 1))
def test_any_bound_splits_the_rows(n, bound, state):
    numbers = hashing.uniform(np.arange(n), state)
    places, hashes = hashing.ahead(n, state, bound)
    np.testing.assert_array_equal(places, np.flatnonzero(numbers > bound))
    np.testing.assert_array_equal(hashes, numbers[places])


@given(
    labels=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-1, 4), max_size=8),
    K=st.integers(0, 4),
)
def test_labels_are_taken_if_and_only_if_they_are_in_range(labels, K):
    n = len(labels)
    arguments = np.ones((n, 1)), np.array(labels, np.int64), np.ones(n)
    within = all(0 <= label < K for label in labels)
    for backend in (_core, twin):
        out = np.empty((K, 1, 1))
        if within:
            backend.scatter_into(*arguments, out)
            assert np.array_equal(out, np.zeros((K, 1, 1)))
        else:
            with pytest.raises(ValueError, match="out of range"):
                backend.scatter_into(*arguments, out)
