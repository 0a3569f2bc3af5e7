"""The native functions in NumPy and SciPy: the same signatures, the same results up to rounding.

Used where the extension module is not built, and in the tests as its measure. All sums are taken
in float64 and rounded once, to the type of ``out``; tiles and scores of float32 rows may also be
written to float64, as they are before they are rounded.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .checks import (
    require,
    require_apart,
    require_floor,
    require_kernel,
    require_labels,
    require_output,
    require_real,
    require_whole,
)
from .least_cut import least_conductance
from .sparse_twin import sparse_products_into as sparse_products_into

Array: TypeAlias = NDArray[Any]

#: Row numbers that are hashed at once, so that the numbers stay in the cache.
HASHED_ROWS = 16_384
#: Distances that are compared at once, so that they stay in the cache.
NEAREST_ENTRIES = 2**18


def _chi2_exponents(X: Array, P: Array, factors: Array) -> Array:
    """½ Σ_f (x_f - p_f)² / (x_f + p_f) · factors_f, without overflow before its time."""
    total = np.zeros((len(X), len(P)))
    quotient = np.empty_like(total)
    with np.errstate(over="ignore"):
        for x, p, factor in zip(X.T, P.T, factors, strict=True):
            difference = x[:, None] - p
            half_sum = 0.5 * x[:, None] + 0.5 * p
            quotient.fill(0.0)
            np.divide(difference, half_sum, out=quotient, where=half_sum != 0)
            total += difference * quotient * (0.25 * factor)
    return total


def _tile(name: str, X: Array, P: Array, inverse_bandwidth: Array) -> Array:
    X, P = X.astype(np.float64, copy=False), P.astype(np.float64, copy=False)
    if name == "chi2":
        exponents = _chi2_exponents(X, P, inverse_bandwidth)
    elif X.shape[0] == 0:
        exponents = np.empty((0, len(P)))  # cdist refuses a matrix without rows
    elif name == "rbf":
        exponents = cdist(X, P, "sqeuclidean", w=inverse_bandwidth)
    else:
        exponents = cdist(X, P, "cityblock", w=inverse_bandwidth)
    return _exponential(exponents, exponents)


def _exponential(values: Array, out: Array) -> Array:
    np.negative(values, out=out)
    with np.errstate(under="ignore"):
        return np.exp(out, out=out)


def _require_block(out: Array, X: Array, shape: tuple[int, int]) -> None:
    wide = isinstance(out, np.ndarray) and out.dtype == np.float64
    require_output("out", out, np.float64 if wide else X.dtype, shape)


def tile_into(name: str, X: Array, P: Array, inverse_bandwidth: Array, out: Array) -> None:
    """Write k(x_i, p_r) to ``out[i, r]``."""
    _require_block(out, X, require_kernel(name, X, P, inverse_bandwidth))
    require_apart({"out": out}, {"X": X, "P": P, "inverse_bandwidth": inverse_bandwidth})
    out[...] = _tile(name, X, P, inverse_bandwidth)


def scores_into(
    name: str, X: Array, P: Array, inverse_bandwidth: Array, coef: Array, bias: Array, out: Array
) -> None:
    """Write Σ_r k(x_i, p_r) coef[r, k] + bias[k] to ``out[i, k]``."""
    rows, pivots = require_kernel(name, X, P, inverse_bandwidth)
    require("coef", coef, np.float64, (pivots, None))
    require("bias", bias, np.float64, (coef.shape[1],))
    _require_block(out, X, (rows, coef.shape[1]))
    inputs = {"X": X, "P": P, "inverse_bandwidth": inverse_bandwidth, "coef": coef, "bias": bias}
    require_apart({"out": out}, inputs)
    out[...] = _tile(name, X, P, inverse_bandwidth) @ coef + bias


def column_sums_into(
    name: str, X: Array, P: Array, inverse_bandwidth: Array, weights: Array, out: Array
) -> None:
    """Write Σ_i weights[i] k(x_i, p_r) to ``out[r]``."""
    rows, pivots = require_kernel(name, X, P, inverse_bandwidth)
    require("weights", weights, np.float64, (rows,))
    require_output("out", out, np.float64, (pivots,))
    inputs = {"X": X, "P": P, "inverse_bandwidth": inverse_bandwidth, "weights": weights}
    require_apart({"out": out}, inputs)
    out[...] = weights @ _tile(name, X, P, inverse_bandwidth)


def moments_of(
    features: NDArray[np.float64],
    weights: NDArray[np.float64],
    q: NDArray[np.float64],
    floor: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, int, float]:
    """Return what :func:`sparseksc._native.moments` does, for any ``features`` in place of k.

    ``features``, of shape (n, R), is overwritten.
    """
    degrees = features @ q
    trusted = degrees > floor
    shares = np.divide(weights, degrees, out=np.zeros_like(degrees), where=trusted)
    mean = shares @ features
    features *= np.sqrt(shares)[:, None]
    left_out = ~trusted & (weights > 0.0)
    return (
        features.T @ features,  # NumPy sees the symmetry and computes half of it
        mean,
        float(shares.sum()),
        int(np.count_nonzero(left_out)),
        float(weights[left_out].sum()),
    )


def moments_into(
    name: str,
    X: Array,
    P: Array,
    inverse_bandwidth: Array,
    weights: Array,
    q: Array,
    floor: float,
    moment: Array,
    mean: Array,
    totals: Array,
) -> None:
    """Write the sums of :func:`moments_of`, the last three of them to ``totals``."""
    rows, pivots = require_kernel(name, X, P, inverse_bandwidth)
    require("weights", weights, np.float64, (rows,))
    require("q", q, np.float64, (pivots,))
    require_floor(floor)
    require_output("moment", moment, np.float64, (pivots, pivots))
    require_output("mean", mean, np.float64, (pivots,))
    require_output("totals", totals, np.float64, (3,))
    require_apart(
        {"moment": moment, "mean": mean, "totals": totals},
        {"X": X, "P": P, "inverse_bandwidth": inverse_bandwidth, "weights": weights, "q": q},
    )
    block = _tile(name, X, P, inverse_bandwidth)
    moment[...], mean[...], *numbers = moments_of(block, weights, q, floor)
    totals[...] = numbers


def exponential_into(values: Array, out: Array) -> None:
    """Write exp(-values) to ``out``, which may be ``values`` itself."""
    single = isinstance(values, np.ndarray) and values.dtype == np.float32
    require("values", values, np.float32 if single else np.float64, (None,))
    require_output("out", out, values.dtype, values.shape)
    _exponential(values, out)


def uniform_into(rows: Array, state: int, out: Array) -> None:
    """Write the SplitMix64 hash of each row number to ``out``, as a number in (0, 1)."""
    require("rows", rows, np.int64, (None,))
    state = require_whole("state", state, 0, 2**64 - 1)
    require_output("out", out, np.float64, rows.shape)
    require_apart({"out": out}, {"rows": rows})
    bits = rows.astype(np.uint64)
    with np.errstate(over="ignore"):
        bits += np.uint64(1)
        bits *= np.uint64(0x9E3779B97F4A7C15)
        bits += np.uint64(state)
        bits ^= bits >> np.uint64(30)
        bits *= np.uint64(0xBF58476D1CE4E5B9)
        bits ^= bits >> np.uint64(27)
        bits *= np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    bits >>= np.uint64(11)
    np.add(bits, 0.5, out=out)
    out *= 2.0**-53


def ahead_into(
    rows: Array | None, count: int, state: int, bound: float, places: Array, hashes: Array
) -> int:
    """Write the places with a hash above ``bound``, as long as there is room; return how many."""
    count = require_whole("count", count, 0, 2**63 - 1)
    require_real("bound", bound)
    if rows is not None:
        require("rows", rows, np.int64, (count,))
    require_output("places", places, np.int64, (None,))
    require_output("hashes", hashes, np.float64, places.shape)
    require_apart({"places": places, "hashes": hashes}, {} if rows is None else {"rows": rows})
    state = require_whole("state", state, 0, 2**64 - 1)
    found, drawn = 0, np.empty(min(count, HASHED_ROWS))
    for start in range(0, count, HASHED_ROWS):
        stop = min(start + HASHED_ROWS, count)
        numbers = np.arange(start, stop) if rows is None else rows[start:stop]
        part = drawn[: stop - start]
        uniform_into(numbers, state, part)
        ahead = np.flatnonzero(part > bound)
        fitting = ahead[: max(len(places) - found, 0)]
        places[found : found + len(fitting)] = start + fitting
        hashes[found : found + len(fitting)] = part[fitting]
        found += len(ahead)
    return found


def greedy_into(
    name: str,
    X: Array,
    inverse_bandwidth: Array,
    weights: Array,
    trace: float,
    tol: float,
    floor: float,
    rank: int,
    residual: Array,
    G: Array,
    pivots: Array,
    path: Array,
) -> int:
    """Add pivots to G from ``rank`` on, and return the rank that is reached."""
    points, _ = require_kernel(name, X, X, inverse_bandwidth)
    require("weights", weights, np.float64, (points,))
    require_output("residual", residual, np.float64, (points,))
    require_output("G", G, np.float64, (None, points))
    require_output("pivots", pivots, np.int64, (len(G),))
    require_output("path", path, np.float64, (len(G),))
    rank = require_whole("rank", rank, 0, len(G))
    require_real("trace", trace)
    require_real("tol", tol)
    require_floor(floor)
    require_apart(
        {"residual": residual, "G": G, "pivots": pivots, "path": path},
        {"X": X, "inverse_bandwidth": inverse_bandwidth, "weights": weights},
    )
    while rank < len(G):
        pivot = int(np.argmax(residual))
        if not residual[pivot] > floor:
            break
        done = G[:rank]
        row = _tile(name, X[pivot : pivot + 1], X, inverse_bandwidth)[0].astype(X.dtype)
        G[rank] = (row - done[:, pivot] @ done) / np.sqrt(residual[pivot])
        residual -= G[rank] ** 2
        np.maximum(residual, 0.0, out=residual)
        residual[pivot] = 0.0
        pivots[rank] = pivot
        path[rank] = weights @ residual / trace if trace > 0.0 else 0.0
        rank += 1
        if path[rank - 1] <= tol:
            break
    return rank


def refine_into(rows: Array, weights: Array, rounds: int, prototypes: Array) -> None:
    """Move the prototypes in place."""
    require("rows", rows, np.float64, (None, None))
    require("weights", weights, np.float64, (len(rows),))
    rounds = require_whole("rounds", rounds, 0, 2**64 - 1)
    require_output("prototypes", prototypes, np.float64, (None, rows.shape[1]))
    require_apart({"prototypes": prototypes}, {"rows": rows, "weights": weights})
    if rows.size == 0 or prototypes.size == 0:
        return
    clusters = np.arange(len(prototypes))
    labels = None
    for _ in range(rounds):
        nearest = np.argmax(rows @ prototypes.T, axis=1)
        if labels is not None and np.array_equal(nearest, labels):
            break
        labels = nearest
        members = (labels[:, None] == clusters) * weights[:, None]
        mass = members.sum(axis=0)
        means = members.T @ rows / np.where(mass > 0.0, mass, 1.0)[:, None]
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        moved = means / np.where(lengths > 0.0, lengths, 1.0)
        prototypes[mass > 0.0] = moved[mass > 0.0]


def spread_into(rows: Array, chosen: Array) -> int:
    """Write the rows that are chosen, and return how many there are; ``rows`` is overwritten."""
    require_output("rows", rows, np.float64, (None, None))
    require_output("chosen", chosen, np.int64, (None,))
    require_apart({"chosen": chosen}, {"rows": rows})
    if rows.size == 0:
        return 0
    most = min(len(chosen), len(rows))
    for place in range(most):
        lengths = np.einsum("ij,ij->i", rows, rows)
        best = int(np.argmax(lengths))
        if not lengths[best] > 0.0:
            return place
        chosen[place] = best
        axis = rows[best] / np.sqrt(lengths[best])
        rows -= np.outer(rows @ axis, axis)
    return most


def assign_into(distances: Array, labels: Array, membership: Array, angular: Array) -> None:
    """Write the nearest cluster, its membership and ``1 - nearest / second``."""
    require("distances", distances, np.float64, (None, None))
    size = (len(distances),)
    require_output("labels", labels, np.int64, size)
    require_output("membership", membership, np.float64, size)
    require_output("angular", angular, np.float64, size)
    if distances.shape[1] == 0:
        raise ValueError("distances must have at least one column.")
    outputs = {"labels": labels, "membership": membership, "angular": angular}
    require_apart(outputs, {"distances": distances})
    if len(distances) == 0:
        return
    labels[...] = np.argmin(distances, axis=1)
    nearest = distances.min(axis=1, keepdims=True)
    closeness = np.where(distances == nearest, 1.0, nearest / np.maximum(distances, 1e-300))
    membership[...] = 1.0 / closeness.sum(axis=1)
    if distances.shape[1] == 1:
        angular[...] = 1.0
        return
    second = np.partition(distances, 1, axis=1)[:, 1]
    ratio = np.divide(nearest[:, 0], second, out=np.ones_like(second), where=second > 0)
    angular[...] = 1.0 - ratio


def scatter_into(rows: Array, labels: Array, weights: Array, scatter: Array) -> None:
    """Write the scatter matrix of each cluster about its mean."""
    require("rows", rows, np.float64, (None, None))
    n, m = rows.shape
    require("labels", labels, np.int64, (n,))
    require("weights", weights, np.float64, (n,))
    require_output("scatter", scatter, np.float64, (None, m, m))
    require_apart({"scatter": scatter}, {"rows": rows, "labels": labels, "weights": weights})
    require_labels(labels, len(scatter))
    if scatter.size == 0:
        return
    for cluster, matrix in enumerate(scatter):
        mine = labels == cluster
        mass = weights[mine]
        total = mass.sum()
        points = rows[mine] - (mass @ rows[mine] / total if total > 0.0 else 0.0)
        matrix[...] = (points.T * mass) @ points


def smallest_into(values: Array, numbers: Array) -> None:
    """Write the columns of the smallest values of each row, ascending; of equal ones the first."""
    _require_floats("values", values)
    require("values", values, values.dtype, (None, None))
    require_output("numbers", numbers, np.int64, (len(values), None))
    _require_columns(numbers, values.shape[1])
    require_apart({"numbers": numbers}, {"values": values})
    numbers[...] = np.argsort(values, axis=1, kind="stable")[:, : numbers.shape[1]]


def nearest_into(X: Array, P: Array, numbers: Array, distances: Array) -> None:
    """Write the nearest points of each row and their squared distances, both ascending."""
    _require_floats("X", X)
    require("X", X, X.dtype, (None, None))
    require("P", P, X.dtype, (None, X.shape[1]))
    require_output("numbers", numbers, np.int64, (len(X), None))
    _require_columns(numbers, len(P))
    negative, half_norms = -P.T, np.einsum("ij,ij->i", P, P) / 2
    step = max(NEAREST_ENTRIES // len(P), 64)
    for start in range(0, len(X), step):
        part = slice(start, start + step)
        smallest_into(X[part] @ negative + half_norms, numbers[part])
    distances_into(X, P, numbers, distances)


def distances_into(X: Array, P: Array, numbers: Array, distances: Array) -> None:
    """Write the squared distances of each row to its points, and sort both by them."""
    _require_floats("X", X)
    require("X", X, X.dtype, (None, None))
    require("P", P, X.dtype, (None, X.shape[1]))
    require_output("numbers", numbers, np.int64, (len(X), None))
    require_output("distances", distances, np.float64, numbers.shape)
    require_apart({"numbers": numbers, "distances": distances}, {"X": X, "P": P})
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < len(P)):
        raise ValueError("a number is out of range.")
    numbers.sort(axis=1)
    for column, mine in enumerate(numbers.T):
        differences = X.astype(np.float64) - P[mine]
        distances[:, column] = np.einsum("ij,ij->i", differences, differences)
    order = np.argsort(distances, axis=1, kind="stable")
    numbers[...] = np.take_along_axis(numbers, order, axis=1)
    distances[...] = np.take_along_axis(distances, order, axis=1)


def conductances_into(
    numbers: Array,
    shares: Array,
    weights: Array,
    volumes: Array,
    labels: Array,
    resolution: float,
    inside: Array,
    outside: Array,
    sizes: Array,
) -> None:
    """Write the conductances of each cluster, inside and outside, and its weight."""
    require("numbers", numbers, np.int64, (None, None))
    require("shares", shares, np.float64, numbers.shape)
    require("weights", weights, np.float64, (len(numbers),))
    require("volumes", volumes, np.float64, (None,))
    require("labels", labels, np.int64, (len(numbers),))
    require_output("inside", inside, np.float64, (None,))
    outputs = {"inside": inside, "outside": outside, "sizes": sizes}
    for name, output in outputs.items():
        require_output(name, output, np.float64, inside.shape)
    inputs = {"numbers": numbers, "shares": shares, "weights": weights}
    require_apart(outputs, inputs | {"volumes": volumes, "labels": labels})
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < len(volumes)):
        raise ValueError("a number is out of range.")
    require_labels(labels, len(inside))
    Z = np.zeros((len(numbers), len(volumes)))
    np.add.at(Z, (np.arange(len(Z))[:, None], numbers), shares)
    for k in range(len(inside)):
        mine = (labels == k) & (weights > 0.0)
        t = weights[mine] @ Z[mine]
        here = t > 0.0
        S = (Z[mine][:, here].T * weights[mine]) @ Z[mine][:, here]
        sizes[k] = weights[mine].sum()
        smaller = min(sizes[k], weights[weights > 0.0].sum() - sizes[k])
        left = max(sizes[k] - float((t[here] ** 2 / volumes[here]).sum()), 0.0) + resolution
        outside[k] = left / smaller if smaller > 0.0 else 0.0
        inside[k] = 1.0
        if len(S) > 1:
            inside[k] = least_conductance(S, t[here], resolution)


def _require_floats(name: str, array: Array) -> None:
    dtype = getattr(array, "dtype", type(array).__name__)
    if dtype not in (np.float64, np.float32):
        raise TypeError(f"{name} must be float32 or float64, got {dtype}.")


def _require_columns(numbers: Array, most: int) -> None:
    if not 1 <= numbers.shape[1] <= most:
        raise ValueError("numbers must have 1 to R columns.")
