"""Call the compiled functions with all kinds of wrong arguments, and some right ones.

    python tests/fuzz_native.py --cases 100000 --seed 0

A case is a right call, to which up to three wrong things are done. It must end in a TypeError or
a ValueError, or be answered; the NumPy twin must refuse what the compiled function refuses. The
answer of a right call must be that of the twin, and no call may write to memory around its outputs
or to its inputs. Cases run in a process of their own, so that a crash is seen; ``--first N
--cases 1`` repeats case N.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparseksc._native import KERNELS, twin
from sparseksc._native.sparse import PointsByFeature

try:
    from sparseksc._native import _core
except ImportError:  # not built; the tests import this file all the same
    _core = None

#: Seconds that a single case may take.
PATIENCE = 60
#: Bytes around an array that nobody may write.
GUARD, FILLING = 64, 0xA5

# --------------------------------------------------------------------------------- right calls


@dataclass
class Call:
    """Arguments by name, the names of those that are written, and how exact they must be."""

    arguments: dict[str, Any]
    outputs: tuple[str, ...]
    tolerance: float = 0.0
    in_place: bool = False


def kernel_arguments(rng):
    name, dtype = KERNELS[rng.integers(3)], (np.float64, np.float32)[rng.integers(2)]
    n, R = int(rng.integers(0, 40)), int(rng.integers(1, 40))
    d = int(rng.choice([1, 2, 3, 4, 5, 8, 9]))
    # Far apart at times, so that rows are grouped by the pivots within their reach.
    spread = 10.0 ** rng.integers(0, 4)
    X, P = (rng.uniform(0.0, spread, (size, d)).astype(dtype) for size in (n, R))
    arguments = {"name": name, "X": X, "P": P, "inverse_bandwidth": rng.uniform(0.5, 5.0, d) / d}
    # The error of an exponent is that of the data, which are as large as `spread`.
    return arguments, (1e-14 if dtype == np.float64 else 1e-6) * 10.0 * spread**2


def tile_into(rng):
    arguments, tolerance = kernel_arguments(rng)
    X, P = arguments["X"], arguments["P"]
    return Call({**arguments, "out": np.empty((len(X), len(P)), X.dtype)}, ("out",), tolerance)


def scores_into(rng):
    arguments, tolerance = kernel_arguments(rng)
    X, P, m = arguments["X"], arguments["P"], int(rng.integers(0, 4))
    arguments |= {"coef": rng.normal(size=(len(P), m)), "bias": rng.normal(size=m)}
    out = np.empty((len(X), m), X.dtype)
    return Call({**arguments, "out": out}, ("out",), 40 * tolerance)


def column_sums_into(rng):
    arguments, tolerance = kernel_arguments(rng)
    arguments["weights"] = rng.uniform(0.0, 2.0, len(arguments["X"]))
    return Call({**arguments, "out": np.empty(len(arguments["P"]))}, ("out",), 80 * tolerance)


def moments_into(rng):
    arguments, tolerance = kernel_arguments(rng)
    n, R = len(arguments["X"]), len(arguments["P"])
    arguments |= {"weights": rng.uniform(0.0, 2.0, n), "q": rng.uniform(0.1, 1.0, R)}
    # Low enough for all rows: whether one is left out must not depend on rounding.
    arguments |= {"X": arguments["P"][rng.integers(R, size=n)].copy(), "floor": 0.01}
    outputs = {"moment": np.empty((R, R)), "mean": np.empty(R), "totals": np.empty(3)}
    return Call({**arguments, **outputs}, tuple(outputs), 8000 * tolerance)


def greedy_into(rng):
    n, d, R = (int(rng.integers(1, size)) for size in (30, 6, 12))
    dtype = (np.float64, np.float32)[rng.integers(2)]
    X = rng.uniform(0.0, 3.0, (n, d)).astype(dtype)
    outputs = {"residual": np.ones(n), "G": np.zeros((R, n)), "pivots": np.empty(R, np.int64)}
    arguments = {"name": KERNELS[rng.integers(3)], "X": X, "inverse_bandwidth": np.full(d, 2.0),
                 "weights": rng.uniform(0.5, 2.0, n), "trace": float(n), "tol": 1e-3,
                 "floor": 0.01, "rank": 0, **outputs, "path": np.empty(R)}  # fmt: skip
    tolerance = 1e-9 if dtype == np.float64 else 1e-2
    return Call(arguments, (*outputs, "path"), tolerance)


def directions(rng, n, m):
    rows = rng.normal(size=(n, m))
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)


def refine_into(rng):
    n, m, K = int(rng.integers(0, 40)), int(rng.integers(0, 5)), int(rng.integers(0, 6))
    arguments = {"rows": directions(rng, n, m), "weights": rng.uniform(0.1, 2.0, n),
                 "rounds": int(rng.integers(0, 20)),
                 "prototypes": directions(rng, K, m)}  # fmt: skip
    return Call(arguments, ("prototypes",), 1e-9)


def spread_into(rng):
    n, m = int(rng.integers(0, 40)), int(rng.integers(0, 6))
    # Once there are no more dimensions, rounding decides what is chosen.
    chosen = np.empty(int(rng.integers(0, m + 1)), np.int64)
    return Call({"rows": rng.normal(size=(n, m)), "chosen": chosen}, ("rows", "chosen"), 1e-9)


def assign_into(rng):
    n, K = int(rng.integers(0, 40)), int(rng.integers(1, 6))
    distances = rng.integers(0, 4, (n, K)) if rng.integers(2) else rng.uniform(0.0, 2.0, (n, K))
    outputs = {"labels": np.empty(n, np.int64), "membership": np.empty(n), "angular": np.empty(n)}
    arguments = {"distances": distances.astype(np.float64), **outputs}
    return Call(arguments, tuple(outputs), 1e-12)


def scatter_into(rng):
    n, m, K = int(rng.integers(0, 40)), int(rng.integers(0, 5)), int(rng.integers(1, 6))
    arguments = {"rows": rng.normal(size=(n, m)), "labels": rng.integers(K, size=n),
                 "weights": rng.uniform(0.0, 2.0, n), "scatter": np.empty((K, m, m))}  # fmt: skip
    return Call(arguments, ("scatter",), 1e-10)


def smallest_into(rng):
    n, R = int(rng.integers(0, 40)), int(rng.integers(1, 60))
    dtype = (np.float64, np.float32)[rng.integers(2)]
    # With ties at times.
    values = rng.integers(0, 9, (n, R)) if rng.integers(2) else rng.normal(size=(n, R))
    numbers = np.empty((n, int(rng.integers(1, R + 1))), np.int64)
    return Call({"values": values.astype(dtype), "numbers": numbers}, ("numbers",))


def nearest_into(rng):
    n, d, R = int(rng.integers(0, 120)), int(rng.integers(1, 20)), int(rng.integers(1, 150))
    dtype = (np.float64, np.float32)[rng.integers(2)]
    # Whole numbers, with ties: their products are exact.
    X, P = (rng.integers(-4, 5, (size, d)).astype(dtype) for size in (n, R))
    numbers = np.empty((n, int(rng.integers(1, R + 1))), np.int64)
    arguments = {"X": X, "P": P, "numbers": numbers, "distances": np.empty(numbers.shape)}
    return Call(arguments, ("numbers", "distances"))


def distances_into(rng):
    n, d, R = int(rng.integers(0, 40)), int(rng.integers(1, 20)), int(rng.integers(1, 30))
    dtype = (np.float64, np.float32)[rng.integers(2)]
    X, P = (rng.integers(0, 5, (size, d)).astype(dtype) for size in (n, R))
    numbers = rng.integers(R, size=(n, int(rng.integers(1, 8))))
    arguments = {"X": X, "P": P, "numbers": numbers, "distances": np.empty(numbers.shape)}
    return Call(arguments, ("numbers", "distances"))


def sparse_products_into(rng):
    n, d, R = int(rng.integers(0, 20)), int(rng.integers(1, 20)), int(rng.integers(1, 40))
    dtype = (np.float64, np.float32)[rng.integers(2)]
    # Whole numbers, whose products are exact.
    X, P = (sp.csr_array(np.maximum(rng.integers(-9, 4, (size, d)), 0)) for size in (n, R))
    points = PointsByFeature.of(P.astype(dtype))
    arguments = {"starts": X.indptr.astype(np.int64), "features": X.indices.astype(np.int64),
                 "values": X.data.astype(dtype), "point_starts": points.starts,
                 "numbers": points.numbers, "point_values": points.values,
                 "places": points.places, "dense": points.dense,
                 "out": np.empty((n, R), dtype)}  # fmt: skip
    return Call(arguments, ("out",))


def conductances_into(rng):
    n, s, R = int(rng.integers(0, 40)), int(rng.integers(1, 5)), int(rng.integers(1, 20))
    K = int(rng.integers(1, 5))
    numbers, shares = rng.integers(R, size=(n, s)), rng.uniform(0.1, 1.0, (n, s))
    shares /= shares.sum(axis=1, keepdims=True)
    arguments = {"numbers": numbers, "shares": shares, "weights": rng.uniform(0.5, 2.0, n),
                 "volumes": rng.uniform(50.0, 60.0, R), "labels": rng.integers(K, size=n),
                 "resolution": float(rng.choice([0.0, 0.3])),
                 "inside": np.empty(K), "outside": np.empty(K), "sizes": np.empty(K)}  # fmt: skip
    # Of modes that are equally slow each finds its own, and numbers are not compared here.
    return Call(arguments, ("inside", "outside", "sizes"), 1e9)


def row_numbers(rng):
    return rng.integers(-(2**63), 2**63 - 1, int(rng.integers(0, 60)))


def uniform_into(rng):
    rows = row_numbers(rng)
    state = int(rng.integers(2**64, dtype=np.uint64))
    return Call({"rows": rows, "state": state, "out": np.empty(len(rows))}, ("out",))


def ahead_into(rng):
    rows, room = row_numbers(rng), int(rng.integers(0, 60))
    count = len(rows)
    if rng.integers(2):
        rows, count = None, int(rng.integers(0, 20_000))
    arguments = {"rows": rows, "count": count, "state": int(rng.integers(2**63)),
                 "bound": float(rng.uniform(-0.2, 1.2)), "places": np.empty(room, np.int64),
                 "hashes": np.empty(room)}  # fmt: skip
    return Call(arguments, ("places", "hashes"))


def exponential_into(rng):
    dtype = (np.float64, np.float32)[rng.integers(2)]
    values = rng.uniform(0.0, 80.0, int(rng.integers(0, 60))).astype(dtype)
    tolerance = 1e-13 if dtype == np.float64 else 1e-6
    return Call({"values": values, "out": np.empty_like(values)}, ("out",), tolerance, True)


def use_variant(rng):
    names = _core.variants()
    return Call({"name": names[rng.integers(len(names))]}, ())


ENTRIES: list[Callable[..., Call]] = [
    tile_into, scores_into, column_sums_into, moments_into, greedy_into, refine_into, spread_into,
    assign_into, scatter_into, smallest_into, nearest_into, distances_into, uniform_into,
    conductances_into, sparse_products_into,
    ahead_into, exponential_into, use_variant,
]  # fmt: skip

# --------------------------------------------------------------------------------- wrong things

DTYPES = ("f4", "f8", "f2", ">f8", "i4", "i8", ">i8", "u8", "?", "c16", "O", "U3", "V8", "M8[s]")
NOT_ARRAYS = (None, 1.5, "x", [1.0, 2.0], b"12345678", object(), np.float64(1.0))
WILD = (np.nan, np.inf, -np.inf, -1.0, 0.0, 1e308, -1e308, 1e-320)
NUMBERS = (-1, 0, 1, 5, 1000, 2**31, 2**63, 2**64 - 1, 2**64, -(2**63), 0.5, "1", None, True,
           *WILD)  # fmt: skip
NAMES = ("", "rbf\0", "RBF", "sigmoid", "avx1024", "\ud800", "x" * 5000, None, 3, b"rbf")


def other_dimensions(array, rng):
    kind = rng.integers(4)
    if kind == 0:
        return np.zeros((), array.dtype)
    if kind == 1:
        return array.reshape(-1).copy()
    return array[None].copy() if kind == 2 else array[..., None].copy()


def other_type(array, rng):
    return np.zeros(array.shape, DTYPES[rng.integers(len(DTYPES))])


def other_size(array, rng):
    shape = list(array.shape)
    for axis in range(len(shape)):
        if rng.integers(2):
            shape[axis] = int(rng.choice([0, 1, max(shape[axis] - 1, 0), shape[axis] + 1, 100]))
    return np.ones(shape, array.dtype)


def endless_sides(array, rng):
    """No value at all, but sides as long as can be."""
    shape = [int(rng.choice([0, 1, 2**31, 2**56])) for _ in array.shape]
    if 0 not in shape and shape:
        shape[int(rng.integers(len(shape)))] = 0
    long = max(shape, default=0)  # one of them only, or NumPy refuses
    shape = [size if size < 2 or place == shape.index(long) else 0
             for place, size in enumerate(shape)]  # fmt: skip
    return np.empty(shape, array.dtype)


def other_order(array, rng):
    kind = rng.integers(4)
    if kind == 0 or array.size == 0 or array.ndim == 0:
        return np.asfortranarray(array)
    if kind == 1:
        return np.repeat(array, 2, axis=-1)[..., ::2]
    return array[::-1].copy()[::-1] if kind == 2 else np.broadcast_to(array[:1], array.shape)


def read_only(array, rng):
    array = array.copy()
    array.setflags(write=False)
    return array


def misaligned(array, rng):
    memory = np.zeros(array.nbytes + 8, np.uint8)
    moved = memory[1 : 1 + array.nbytes].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def wild_values(array, rng):
    array = array.copy()
    if array.size and array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            places = rng.integers(array.size, size=int(rng.integers(1, 4)))
            array.reshape(-1)[places] = WILD[rng.integers(len(WILD))]
    elif array.size and array.dtype.kind == "i":
        values = [-1, 100, np.iinfo(array.dtype).min, np.iinfo(array.dtype).max]
        array.reshape(-1)[rng.integers(array.size)] = array.dtype.type(values[rng.integers(4)])
    return array


def no_array(array, rng):
    return NOT_ARRAYS[rng.integers(len(NOT_ARRAYS))]


SPOILERS = [other_dimensions, other_type, other_size, endless_sides, other_order, read_only,
            misaligned, wild_values, no_array]  # fmt: skip


def overlapping(array, other, rng):
    """Give `array` a place in the memory of `other`, as far as there is room; else both a new one.

    Returns the two of them.
    """
    shift = 8 * int(rng.integers(-4, 5)) if rng.integers(2) else 0
    memory = np.zeros(array.nbytes + other.nbytes + 96, np.uint8)
    start = 32 + max(-shift, 0)
    second = memory[start : start + other.nbytes].view(other.dtype).reshape(other.shape)
    second[...] = other
    start += shift
    first = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    return first, second


def spoil(call, rng):
    """Do one wrong thing to the arguments."""
    arguments = call.arguments
    name = list(arguments)[rng.integers(len(arguments))]
    value = arguments[name]
    arrays = [key for key, array in arguments.items() if plain(array)]
    if not isinstance(value, np.ndarray):
        values = NAMES if name == "name" else NUMBERS
        arguments[name] = values[rng.integers(len(values))]
        # What is asked for is done, however long it takes.
        if name == "rounds" and arguments[name] in (2**31, 2**63, 2**64 - 1):
            arguments[name] = 3000  # wild weights let the prototypes go round in circles
        if name == "count" and arguments[name] == 2**31:
            arguments[name] = 2**63 + 1
    elif rng.integers(4) == 0 and name in arrays and len(arrays) > 1:
        other = arrays[rng.integers(len(arrays))]
        if other != name:
            arguments[name], arguments[other] = overlapping(value, arguments[other], rng)
    elif plain(value):
        arguments[name] = SPOILERS[rng.integers(len(SPOILERS))](value, rng)


def plain(value):
    """Whether the value is an array that can be written anew and laid somewhere else."""
    return (isinstance(value, np.ndarray) and value.flags.carray and not value.dtype.hasobject
            and value.nbytes < 2**20 and max(value.shape, default=0) < 2**20)  # fmt: skip


# ---------------------------------------------------------------------------------- the verdict


def guarded(array):
    """Return a copy with guards around it, and the whole memory."""
    memory = np.full(array.nbytes + 2 * GUARD, FILLING, np.uint8)
    inner = memory[GUARD : GUARD + array.nbytes].view(array.dtype).reshape(array.shape)
    inner[...] = array
    return inner, memory


def attempt(function, arguments):
    """Return whether the arguments are taken, and the answer or the error."""
    try:
        with np.errstate(all="ignore"):
            return True, function(**arguments)
    except (TypeError, ValueError) as error:
        assert str(error), "an error without a sentence"
        return False, error


def compare(name, call, answers, found, expected):
    assert answers[0] == answers[1], f"returned {answers[0]}, the twin {answers[1]}"
    for key in call.outputs:
        if key == "rows":
            continue  # overwritten by anything
        one, two = found[key], expected[key]
        if name in ("ahead_into", "greedy_into", "spread_into") and key != "residual":
            one, two = one[: answers[0]], two[: answers[0]]  # the rest is not an answer
        scale = max(1.0, float(np.abs(two).max(initial=0.0))) if name == "moments_into" else 1.0
        np.testing.assert_allclose(one, two, rtol=0, atol=call.tolerance * scale, err_msg=key)


def check(number, seed):
    """Run a case and return whether it was answered; anything wrong is an AssertionError."""
    rng = np.random.default_rng([seed, number])
    build = ENTRIES[rng.integers(len(ENTRIES))]
    call = build(rng)
    spoilt = int(rng.choice([0, 1, 1, 2, 3]))
    for _ in range(spoilt):
        spoil(call, rng)
    arguments, memories = call.arguments, []
    # Half of the arrays end where their memory does, which a sanitizer sees.
    if rng.integers(2) and not any_overlap(arguments):
        for key, value in arguments.items():
            if plain(value):
                arguments[key], memory = guarded(value)
                memories.append(memory)
    before = {key: value.copy() if plain(value) else value for key, value in arguments.items()}
    taken, answer = attempt(getattr(_core, build.__name__), arguments)
    assert taken or spoilt, f"a right call was refused: {answer}"
    for memory in memories:
        guards = np.concatenate([memory[:GUARD], memory[-GUARD:]])
        assert (guards == FILLING).all(), "memory around an array was written"
    if build is use_variant:
        return taken
    if not taken:
        also, _ = attempt(getattr(twin, build.__name__), arguments)
        assert not also or wide(arguments), f"the twin takes what is refused: {answer}"
        return False
    for key, value in arguments.items():
        if plain(value) and key not in call.outputs and not call.in_place:
            assert value.tobytes() == before[key].tobytes(), f"{key} was written"
    also, expected = attempt(getattr(twin, build.__name__), before)
    assert also, f"the twin refuses what is taken: {expected}"
    if not spoilt:
        compare(build.__name__, call, (answer, expected), arguments, before)
    return True


def wide(arguments):
    """Whether float32 rows have a float64 result, which only the twin can write."""
    types = [getattr(arguments.get(key), "dtype", None) for key in ("X", "out")]
    return types == [np.float32, np.float64]


def any_overlap(arguments):
    arrays = [value for value in arguments.values() if isinstance(value, np.ndarray)]
    return any(np.may_share_memory(one, two) for i, one in enumerate(arrays) for two in arrays[:i])


def work(first, stop, seed, state):
    """Run cases; `state` holds the case at work, and the numbers of those refused and answered."""
    failures = 0
    for number in range(first, stop):
        state[0] = number
        try:
            state[2 if check(number, seed) else 1] += 1
        except Exception as error:
            failures += 1
            sentence = " ".join(str(error).split())[:400]
            print(f"seed {seed} case {number}: {type(error).__name__}: {sentence}", flush=True)
            if failures == 20:
                break
    sys.exit(min(failures, 100))


def fuzz(cases, seed, first=0):
    """Run cases in other processes; return whether all is well, after a line with the counts."""
    context = multiprocessing.get_context("spawn")
    start, stop, well, refused, answered = first, first + cases, True, 0, 0
    while start < stop:
        state = context.Array("q", [start, 0, 0], lock=False)
        process = context.Process(target=work, args=(start, stop, seed, state))
        process.start()
        while process.is_alive():
            at = state[0]
            process.join(PATIENCE)
            if process.is_alive() and state[0] == at:
                process.kill()
                process.join()
        refused, answered = refused + state[1], answered + state[2]
        start = stop if 0 <= process.exitcode <= 100 else state[0] + 1
        well = well and process.exitcode == 0
        if start < stop or not 0 <= process.exitcode <= 100:
            print(f"seed {seed} case {state[0]}: ended by signal or exit code {process.exitcode}")
    print(f"{cases} cases, {refused} refused, {answered} answered ({_core.__file__})")
    return well


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    if _core is None:
        sys.exit("The extension module is not built.")
    sys.exit(0 if fuzz(options.cases, options.seed, options.first) else 1)
