r"""Reduced set selection: pivots of an incomplete Cholesky decomposition.

A pivoted incomplete Cholesky decomposition (ICD) writes the kernel matrix of a
sample as :math:`\Omega \approx G G^\top`. Its pivots are the reduced set ``P``,
and the rows of ``G`` that belong to them are ``L``, the Cholesky factor of
:math:`\Omega_{PP}`. The rules that propose pivots are in :mod:`sparseksc.pivoting`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrcon

from sparseksc._native.hashing import ahead, uniform
from sparseksc.kernels import Array, Kernel
from sparseksc.partial_cholesky import PartialCholesky
from sparseksc.pivoting import complete

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]


@dataclass(frozen=True)
class ReducedSet:
    """The pivots and what is needed to use them.

    Attributes
    ----------
    points : array of shape (R, d)
        The pivots themselves (column numbers for a precomputed kernel).
    indices : array of shape (R,)
        Their row numbers, in the order of selection.
    factor : array of shape (R, R)
        ``L``, the lower Cholesky factor of the kernel matrix of the pivots.
    path : array of shape (R,)
        Relative trace residual of the sample after each pivot.
    constant_diagonal : bool
        Whether all points of the sample are equally similar to themselves.
    """

    points: Array
    indices: Integers
    factor: Floats
    path: Floats
    constant_diagonal: bool

    @property
    def rank(self) -> int:
        """Number of pivots, R."""
        return len(self.indices)

    @property
    def residual(self) -> float:
        r"""Relative trace residual :math:`tr(\Omega - G G^\top) / tr(\Omega)` of the sample."""
        return float(self.path[-1])

    @property
    def condition(self) -> float:
        r"""Estimate of the condition number of :math:`\Omega_{PP} = L L^\top` (1-norm of L)."""
        reciprocal, _ = dtrcon(self.factor, norm=b"1", uplo=b"L")
        return float(reciprocal**-2) if reciprocal > 0.0 else np.inf


def selection_sample(
    rows: Integers | int, size: int | None, seed: int, weights: Array | None = None
) -> Integers:
    """Draw some rows, uniformly and without replacement, and return their places, ascending.

    ``rows`` are the ascending numbers of the rows, or how many there are: then the places are the
    numbers.

    Every row runs in an exponential race with its weight as rate, on a clock that
    depends on the seed and the row number alone; the first ``size`` rows win. The
    sample is therefore the same however the rows arrive in chunks, a smaller sample is
    part of a larger one, an integer weight counts like that many copies, and rows of
    weight zero never win.
    """
    if weights is not None and not weights.all():
        present = np.flatnonzero(weights > 0)
        numbers = present if isinstance(rows, int) else rows[present]
        return present[selection_sample(numbers, size, seed, weights[present])]
    count = rows if isinstance(rows, int) else len(rows)
    if size is None or size >= count:
        return np.arange(count)
    if weights is None or weights.min() == weights.max():
        places, finish = _leaders(rows, count, size, seed)
        return places[first_to_finish(finish, size)]
    numbers = np.arange(count) if isinstance(rows, int) else rows
    return first_to_finish(-np.log(hashed_uniform(seed, numbers)) / weights, size)


def first_to_finish(finish: Floats, size: int) -> Integers:
    """Places of the ``size`` smallest, ascending; of equal ones the first."""
    winners = np.flatnonzero(finish <= np.partition(finish, size - 1)[size - 1])
    return winners if len(winners) == size else np.sort(np.argsort(finish, kind="stable")[:size])


def _leaders(rows: Integers | int, count: int, size: int, seed: int) -> tuple[Integers, Floats]:
    """Places of rows of equal weight that may be among the first ``size``, and their finish.

    They are chosen by a bound that a few more than ``size`` are expected to pass; should fewer
    pass, all are taken.
    """
    state = _hash_state(seed)
    rows = rows if isinstance(rows, int) else np.asarray(rows, np.int64)
    places, chances = ahead(rows, state, 1.0 - (size + 6.0 * np.sqrt(size) + 6.0) / count)
    if len(places) < size:
        places, chances = ahead(rows, state, 0.0)
    return places, -chances  # in the order of the logarithms


def represented_weights(rows: Integers, seed: int, weights: Floats) -> Floats:
    """Weights with which the rows of a :func:`selection_sample` stand for all.

    A race that ends at the time t is won by a row of weight w with the probability
    1 - exp(-w t), whose inverse scales w: heavy rows are drawn more often already.
    """
    finish = (-np.log(hashed_uniform(seed, rows)) / weights).max()
    time = np.maximum(weights * finish, np.finfo(np.float64).tiny)
    scaled: Floats = weights / -np.expm1(-time)
    return scaled


def hashed_uniform(seed: int, rows: Integers) -> Floats:
    """Uniform numbers in (0, 1), one per row number: the SplitMix64 hash of (seed, row)."""
    return uniform(np.asarray(rows, np.int64), _hash_state(seed))


@cache
def _hash_state(seed: int) -> int:
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


def select_reduced_set(
    kernel: Kernel,
    X: Array,
    *,
    pivoting: str = "greedy",
    max_rank: int,
    tol: float,
    seed: int = 0,
    weights: Array | None = None,
    n_jobs: int | None = None,
) -> ReducedSet:
    r"""Choose pivots among the rows of ``X``.

    Stops at the first pivot that brings :math:`tr(\Omega - G G^\top) / tr(\Omega)` to
    ``tol``, at ``max_rank`` pivots, or when no point is left that the pivots do not
    already represent to rounding error, so that ``L`` is well conditioned.

    Parameters
    ----------
    kernel : Kernel
    X : array of shape (n, d)
        The selection sample.
    pivoting : {"greedy", "weighted", "block", "random", "uniform", "renyi"}
    max_rank : int
    tol : float
    seed : int
        For the rules that draw.
    weights : array of shape (n,), optional
        Sample weights: the traces are weighted sums, and draws follow the weights.
    n_jobs : int or None
        Threads for large samples; the pivots do not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.kernels import make_kernel
    >>> from sparseksc.reduced_set import select_reduced_set
    >>> X = np.array([[0.0], [0.1], [5.0]])
    >>> chosen = select_reduced_set(make_kernel("rbf", 1.0), X, max_rank=3, tol=0.01)
    >>> chosen.indices
    array([0, 2])
    """
    mass = np.ones(X.shape[0]) if weights is None else np.asarray(weights, np.float64)
    state = PartialCholesky(kernel, X, mass, max_rank, tol, n_jobs)
    complete(state, pivoting, seed)
    chosen = np.array(state.pivots, dtype=np.intp)
    return ReducedSet(
        points=kernel.pivots(X, chosen),
        indices=chosen,
        factor=np.tril(state.G[: state.rank, chosen].T),
        path=np.array(state.path),
        constant_diagonal=state.constant_diagonal,
    )
