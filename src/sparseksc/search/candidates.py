"""Candidates for the bandwidth, from the data alone.

The bandwidth divides a distance, so the candidates are distances that occur in the data: from
that of a point to its neighbours, where only chains of points hold together, to a multiple of
the spread, where the kernel is nearly linear and outliers lose their weight. They move with the
data: for rows that were multiplied by c, all candidates are multiplied by c^2 (rbf) or c.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms

from sparseksc._typing import Array, Floats
from sparseksc.data.sampling import rows_at, selection_sample
from sparseksc.execution.threads import chunk_rows, chunk_slices
from sparseksc.kernels import RBF, Exponential, Kernel
from sparseksc.search.constants import (
    COMPETING_RANGE,
    MIN_BANDWIDTH_RATIO,
    N_NARROW,
    N_WIDE,
    ROUNDING,
    SAMPLE_CENTRES,
    SAMPLE_SIZE,
    SMALLEST,
)


def automatic_bandwidths(
    kind: type[Kernel],
    X: Array,
    seed: int,
    weights: Floats | None = None,
    rows: NDArray[np.intp] | None = None,
) -> list[float]:
    """Candidates in ascending order.

    Parameters
    ----------
    kind : type of kernel
        For the polynomial kernel there is one candidate, the mean square of the rows; it acts
        as the scale of the features.
    X : array of shape (n, d)
    seed : int
        Of the sample.
    weights : array of shape (n,), optional
        Sample weights: a weight of 2 counts like two copies of the row.
    rows : array of shape (n,), optional
        Row numbers of ``X`` in the data, ascending, where it is a sample of it.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.search.candidates import automatic_bandwidths
    >>> from sparseksc.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> grid = automatic_bandwidths(RBF, X, seed=0)
    >>> len(grid), bool(np.allclose(automatic_bandwidths(RBF, 1000 * X, 0), 1e6 * np.array(grid)))
    (34, True)
    """
    mass = np.ones(X.shape[0]) if weights is None else weights
    if not (isinstance(kind, type) and issubclass(kind, Exponential)):
        with np.errstate(over="ignore", invalid="ignore"):
            scale = float(np.average(row_norms(X, squared=True), weights=mass))
        nothing = scale == 0.0 and abs(X).max() == 0.0
        if not (nothing or np.finfo(np.float64).tiny <= scale < np.inf):
            size = "small" if scale < 1.0 else "large"
            raise ValueError(f"The values of X are too {size}: rescale X.")
        return [scale or 1.0]
    numbers = X.shape[0] if rows is None else rows
    places = selection_sample(numbers, SAMPLE_SIZE, seed, weights)
    sample, mass = rows_at(X, places), mass[places]
    centres = selection_sample(len(places), SAMPLE_CENTRES, seed, mass)
    with np.errstate(over="ignore", invalid="ignore"):
        distances = _distances(kind, sample, centres)
    nearest = np.where(distances > 0.0, distances, np.inf).min(axis=1)
    near = weighted_median(nearest, mass[centres])
    pairs = np.outer(mass[centres], mass).ravel()
    far = weighted_median(distances.ravel(), np.where(distances.ravel() > 0.0, pairs, 0.0))
    if not (SMALLEST <= near <= far < np.finfo(np.float64).max / 2.0**N_WIDE):
        with np.errstate(over="ignore"):
            gap = abs(sample[1:] - sample[:-1]).max() if len(places) > 1 else 0.0
        if gap > 0.0:
            size = "small" if gap < 1.0 else "large"
            raise ValueError(f"The distances between the rows are too {size}: rescale X.")
        return [1.0]
    far = max(far, 4.0 * near)
    count = min(N_NARROW, 1 + int(np.ceil(np.log(far / near) / np.log(MIN_BANDWIDTH_RATIO))))
    narrow = np.geomspace(near, far, count)
    wide = far * 2.0 ** np.arange(1, N_WIDE + 1)
    return [float(h) for h in np.concatenate([narrow, wide])]


def _distances(kind: type[Exponential], X: Array, centres: NDArray[np.intp]) -> Floats:
    """Distances from some rows to all, exactly 0 between equal ones."""
    if kind is not RBF:
        return np.asarray(kind.distances(X[centres], X), dtype=np.float64)
    if isinstance(X, np.ndarray):
        # By blocks of columns: the median copies what it is taken of.
        blocks = chunk_slices(X.shape[1], chunk_rows(X.shape[0]))
        X = X - np.concatenate([np.median(X[:, columns], axis=0) for columns in blocks])
    distances = np.asarray(kind.distances(X[centres], X), dtype=np.float64)
    # They come from inner products: equal rows differ by rounding errors of their squares.
    squares = row_norms(X, squared=True)
    distances[distances <= ROUNDING * (squares[centres, None] + squares)] = 0.0
    return distances


def spaced(bandwidths: list[float], count: int) -> list[float]:
    """Return at most so many of the candidates for a competition with other kernels.

    They are evenly spaced where shapes are seen, and the last is the widest: the narrowest show
    single points, and those around the spread of the data all the same.

    Examples
    --------
    >>> from sparseksc.search.candidates import spaced
    >>> spaced([float(k) for k in range(40)], 5)
    [3.0, 11.0, 20.0, 28.0, 39.0]
    """
    low, high = (share * (len(bandwidths) - 1) for share in COMPETING_RANGE)
    places = np.linspace(low, high, count - 1).round().astype(int)
    return [bandwidths[place] for place in sorted({*places.tolist(), len(bandwidths) - 1})]


def halfway(low: float, high: float) -> float:
    """Return the geometric mean of two candidates, whose product may not be a number."""
    return float(np.sqrt(low) * np.sqrt(high))


def weighted_median(values: Floats, weights: Floats) -> float:
    """Smallest value with at least half of the weight at or below it; infinite without weight."""
    values, weights = values[weights > 0.0], weights[weights > 0.0]
    if len(values) == 0:
        return np.inf
    if weights.min() == weights.max():
        return float(np.partition(values, (len(values) - 1) // 2)[(len(values) - 1) // 2])
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    # Up to rounding errors, which depend on the unit of the weights.
    half = 0.5 * (1.0 - 1e-11) * cumulative[-1]
    return float(values[order][np.searchsorted(cumulative, half)])
