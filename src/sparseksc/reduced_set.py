r"""Reduced set selection: pivots of an incomplete Cholesky decomposition.

A pivoted incomplete Cholesky decomposition (ICD) writes the kernel matrix of a
sample as :math:`\Omega \approx G G^\top`. Its pivots are the reduced set ``P``,
and the rows of ``G`` that belong to them are ``L``, the Cholesky factor of
:math:`\Omega_{PP}`. The rules differ only in the pivot that they propose next:

========== =====================================================================
greedy     the largest residual diagonal, one at a time (the paper's rule)
block      greedy in a random pool of points with large residuals, many at once
random     drawn with probability proportional to the residual diagonal
uniform    drawn uniformly
renyi      the subset of largest quadratic Rényi entropy
========== =====================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrcon

from sparseksc._native import greedy
from sparseksc.engines.threads import chunk_slices, ordered_map, single_threaded_blas
from sparseksc.kernels import Array, Exponential, Kernel

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

#: "block": a candidate is accepted while its residual is at least this share of the largest.
BLOCK_THRESHOLD = 0.8
#: "block": pivots that are chosen one at a time before the first block.
FIRST_ONE_BY_ONE = 64
#: Columns of G that are updated together, so that they stay in the cache.
COLUMNS_AT_ONCE = 4096
#: "block" and "random": candidates looked at in one round.
POOL_SIZE = 1024


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
    """Draw some of the ascending row numbers, uniformly and without replacement.

    ``rows`` are the numbers, or how many there are.

    Every row runs in an exponential race with its weight as rate, on a clock that
    depends on the seed and the row number alone; the first ``size`` rows win. The
    sample is therefore the same however the rows arrive in chunks, a smaller sample is
    part of a larger one, an integer weight counts like that many copies, and rows of
    weight zero never win.
    """
    rows = np.arange(rows) if isinstance(rows, int) else rows
    if weights is not None and not weights.all():
        rows, weights = rows[weights > 0], weights[weights > 0]
    if size is None or size >= len(rows):
        return rows
    chance = hashed_uniform(seed, rows)
    if weights is None or weights.min() == weights.max():
        finish = np.negative(chance, out=chance)  # in the order of their logarithms
    else:
        finish = -np.log(chance) / weights
    return np.sort(rows[np.argpartition(finish, size)[:size]])


def hashed_uniform(seed: int, rows: Integers) -> Floats:
    """Uniform numbers in (0, 1), one per row number: the SplitMix64 hash of (seed, row)."""
    bits = rows.astype(np.uint64)
    with np.errstate(over="ignore"):
        bits += np.uint64(1)
        bits *= np.uint64(0x9E3779B97F4A7C15)
        bits += np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
        bits ^= bits >> np.uint64(30)
        bits *= np.uint64(0xBF58476D1CE4E5B9)
        bits ^= bits >> np.uint64(27)
        bits *= np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    bits >>= np.uint64(11)
    uniform = bits.astype(np.float64)
    uniform += 0.5
    uniform *= 2.0**-53
    return uniform


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
    pivoting : {"greedy", "block", "random", "uniform", "renyi"}
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
    state.complete(pivoting, seed)
    chosen = np.array(state.pivots, dtype=np.intp)
    return ReducedSet(
        points=kernel.pivots(X, chosen),
        indices=chosen,
        factor=np.tril(state.G[: state.rank, chosen].T),
        path=np.array(state.path),
        constant_diagonal=state.constant_diagonal,
    )


class PartialCholesky:
    """A pivoted Cholesky decomposition under construction.

    Row ``j`` of ``G`` is the j-th column of the paper's G, so that it is contiguous;
    ``residual`` is the diagonal of the residual matrix. ``known`` are rows of G that belong to
    pivots outside of ``X``, which have the number -1.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Array,
        weights: Floats,
        max_rank: int,
        tol: float,
        n_jobs: int | None = None,
        known: Floats | None = None,
    ) -> None:
        self.kernel, self.X, self.weights = kernel, X, weights
        self.columns = kernel.pivots(X, np.arange(X.shape[0]))
        self.residual = kernel.diagonal(X)
        self.constant_diagonal = bool(np.ptp(self.residual) <= 1e-6 * self.residual.max())
        start = 0 if known is None else len(known)
        self.G = np.empty((min(max_rank, start + X.shape[0]), X.shape[0]))
        self.pivots: list[int] = [-1] * start
        self.path: list[float] = []
        self.tol, self.n_jobs = tol, n_jobs
        self.trace = float(weights @ self.residual)
        # Kernel values carry a rounding error of eps, which a pivot of size floor
        # amplifies to eps / sqrt(floor) in G.
        eps = np.finfo(X.dtype if X.dtype == np.float32 else np.float64).eps
        self.floor = float(eps ** (2 / 3) * self.residual.max(initial=0.0))
        if known is not None:
            self.G[:start] = known[: len(self.G)]
            self.residual -= np.einsum("ij,ij->j", known, known)
            np.maximum(self.residual, 0.0, out=self.residual)
        self.reached = known is not None and self.relative_residual <= tol

    def complete(self, pivoting: str, seed: int) -> None:
        """Add pivots until the decomposition is finished."""
        if self.finished:
            return
        if pivoting == "greedy" and isinstance(self.kernel, Exponential):
            if isinstance(self.X, np.ndarray):
                self._extend_greedily(self.kernel, self.X)
                return
        with single_threaded_blas():
            for candidates in RULES[pivoting](self, np.random.default_rng(seed)):
                self.extend(candidates)
                if self.finished:
                    break

    @property
    def relative_residual(self) -> float:
        """Share of the trace that the pivots do not represent."""
        return float(self.weights @ self.residual) / self.trace if self.trace > 0.0 else 0.0

    @cached_property
    def canonical_order(self) -> Integers:
        """Order of the points that does not depend on the rows' order, to draw from."""
        if self.kernel.name == "precomputed":
            return np.arange(len(self.residual))
        direction = np.random.default_rng(0).standard_normal(self.X.shape[1])
        return np.argsort(self.X @ direction, kind="stable")

    @property
    def rank(self) -> int:
        """Number of pivots so far."""
        return len(self.pivots)

    @property
    def finished(self) -> bool:
        """Whether the tolerance, the rank or the numerical rank of the matrix is reached."""
        return self.rank >= len(self.G) or self.reached or not (self.residual > self.floor).any()

    def residual_rows(self, chosen: Integers, among: Integers | slice) -> Floats:
        """Rows ``chosen`` and columns ``among`` of the residual matrix."""
        G = self.G[: self.rank]
        rows = self.kernel.tile(self.X[chosen], self.columns[among])
        return rows.astype(np.float64, copy=False) - G[:, chosen].T @ G[:, among]

    def extend(self, candidates: Integers) -> None:
        """Make the candidates pivots, in order, up to the one that reaches the tolerance.

        Candidates that the pivots before them represent already are passed over.
        """
        candidates = candidates[: len(self.G) - self.rank]
        if len(candidates) == 0:
            return
        if len(candidates) == 1:
            self._append(int(candidates[0]))
            return
        before = self.weights @ self.residual
        matrix = self.residual_rows(candidates, candidates)
        kept, factor = _cholesky_skipping(matrix, self.floor)
        if len(kept) == 0:
            self.residual[candidates] = 0.0
            return
        chosen = candidates[kept]
        start, stop = self.rank, self.rank + len(chosen)

        def update(columns: slice) -> Floats:
            """Fill the new rows of G in some columns; their share of each pivot's trace."""
            rows = self.residual_rows(chosen, columns)
            rows = solve_triangular(factor, rows, lower=True, check_finite=False)
            self.G[start:stop, columns] = rows
            return np.square(rows, out=rows) @ self.weights[columns]

        chunks = chunk_slices(len(self.residual), COLUMNS_AT_ONCE)
        parts = (
            map(update, chunks) if len(chunks) == 1 else ordered_map(update, chunks, self.n_jobs)
        )
        removed = sum(parts)
        traces = before - np.cumsum(removed)
        relative = np.maximum(traces, 0.0) / self.trace
        reached = np.flatnonzero(relative <= self.tol)
        count = reached[0] + 1 if len(reached) else len(chosen)
        new = self.G[start : start + count]
        self.residual -= np.einsum("ij,ij->j", new, new)
        np.maximum(self.residual, 0.0, out=self.residual)
        # Pivots, and those passed over on the way, have nothing left but rounding errors.
        self.residual[candidates[: kept[count - 1] + 1]] = 0.0
        self.pivots.extend(chosen[:count].tolist())
        # The last one from the residuals themselves: exactly 0 once every point is a pivot.
        self.path.extend([*relative[: count - 1].tolist(), self.relative_residual])
        self.reached = len(reached) > 0 or self.path[-1] <= self.tol

    def _extend_greedily(self, kernel: Exponential, X: Array) -> None:
        """Let the native core add greedy pivots until the decomposition is finished."""
        pivots, path = greedy(
            kernel.name,
            np.ascontiguousarray(X),
            kernel.inverse_bandwidth(X.shape[1]),
            self.weights,
            self.residual,
            self.G,
            self.rank,
            self.trace,
            self.tol,
            self.floor,
        )
        self.pivots.extend(pivots)
        self.path.extend(path)
        self.reached = bool(path) and path[-1] <= self.tol

    def _append(self, pivot: int) -> None:
        """Do the same for one candidate, in as few steps as possible."""
        value, done = self.residual[pivot], self.G[: self.rank]
        if value > self.floor:
            tile = self.kernel.tile(self.X[pivot : pivot + 1], self.columns)
            row = tile[0].astype(np.float64, copy=False) - done[:, pivot] @ done
            row /= np.sqrt(value)
            self.G[self.rank] = row
            self.residual -= row * row
            np.maximum(self.residual, 0.0, out=self.residual)
            self.pivots.append(pivot)
        self.residual[pivot] = 0.0
        if value > self.floor:
            self.path.append(self.relative_residual)
            self.reached = self.path[-1] <= self.tol


def _cholesky_skipping(matrix: Floats, floor: float) -> tuple[Integers, Floats]:
    """Cholesky factor of the rows whose pivot exceeds ``floor``, in order; and these rows."""
    factor = np.zeros_like(matrix)
    kept: list[int] = []
    for i in range(len(matrix)):
        column = len(kept)
        pivot = matrix[i, i] - factor[i, :column] @ factor[i, :column]
        if pivot <= floor:
            continue
        factor[:, column] = (matrix[:, i] - factor[:, :column] @ factor[i, :column]) / np.sqrt(
            pivot
        )
        kept.append(i)
    rows = np.array(kept, dtype=np.intp)
    return rows, np.tril(factor[rows, : len(rows)])


Proposals = Iterator[Integers]


def _greedy(state: PartialCholesky, rng: np.random.Generator) -> Proposals:
    while True:
        yield np.array([np.argmax(state.residual)])


def _block(state: PartialCholesky, rng: np.random.Generator) -> Proposals:
    # The first pivots decide most and cost least.
    while state.rank < FIRST_ONE_BY_ONE:
        yield np.array([np.argmax(state.residual)])
    while True:
        best = np.argmax(state.residual)
        least = max(BLOCK_THRESHOLD * state.residual[best], state.floor)
        pool = state.canonical_order[state.residual[state.canonical_order] >= least]
        if len(pool) > POOL_SIZE:
            pool = np.append(rng.choice(pool, POOL_SIZE, replace=False), best)
        # In the order of the rows, so that ties are broken as in the greedy rule; with all
        # large residuals in the pool, the pivots are the greedy ones.
        pool = np.unique(pool)
        yield pool[_greedy_order(state.residual_rows(pool, pool), least)]


def _greedy_order(matrix: Floats, least: float) -> Integers:
    """Greedy pivots of a small matrix while the pivot is at least ``least``."""
    residual = np.diagonal(matrix).copy()
    factor = np.empty_like(matrix)
    order: list[int] = []
    while len(order) < len(matrix):
        best = int(np.argmax(residual))
        if residual[best] < least and order:
            break
        column = len(order)
        done = factor[:column]
        factor[column] = (matrix[best] - done[:, best] @ done) / np.sqrt(residual[best])
        residual -= factor[column] ** 2
        residual[best] = -np.inf
        order.append(best)
    return np.array(order, dtype=np.intp)


def _random(state: PartialCholesky, rng: np.random.Generator) -> Proposals:
    order = state.canonical_order
    while True:
        mass = (state.residual * state.weights)[order]
        pool = order[rng.choice(len(mass), POOL_SIZE, p=mass / mass.sum())]
        yield pool[_accepted(state.residual_rows(pool, pool), rng, state.floor)]


def _accepted(matrix: Floats, rng: np.random.Generator, floor: float) -> Integers:
    """Rejection step of randomly pivoted Cholesky.

    A proposal drawn from the residuals at the start of the round survives with the
    probability that its residual has kept, so that the accepted ones are distributed
    as if each had been drawn from the current residuals.
    """
    before = np.diagonal(matrix).copy()
    residual = before.copy()
    factor = np.empty_like(matrix)
    order: list[int] = []
    for i, luck in enumerate(rng.random(len(matrix))):
        if residual[i] <= floor or luck * before[i] >= residual[i]:
            continue
        done = factor[: len(order)]
        factor[len(order)] = (matrix[i] - done[:, i] @ done) / np.sqrt(residual[i])
        residual -= factor[len(order)] ** 2
        residual[i] = 0.0
        order.append(i)
    return np.array(order, dtype=np.intp)


def _uniform(state: PartialCholesky, rng: np.random.Generator) -> Proposals:
    drawn = state.canonical_order
    arrival = rng.exponential(size=len(drawn)) / state.weights[drawn]
    drawn = drawn[np.argsort(arrival, kind="stable")]
    for start in range(0, len(drawn), POOL_SIZE):
        yield drawn[start : start + POOL_SIZE]


def _renyi(state: PartialCholesky, rng: np.random.Generator) -> Proposals:
    r"""Forward selection of the subset S of largest entropy :math:`-\log \sum_{S,S} k / |S|^2`.

    The next point is the one that adds least to the sum: twice its similarity to S plus
    its own diagonal. Ties, frequent with narrow kernels, go to a random one.
    """
    kernel, X = state.kernel, state.X
    cost = kernel.diagonal(X)
    shuffled = rng.permutation(state.canonical_order)
    while True:
        best = shuffled[np.argmin(cost[shuffled])]
        cost += 2.0 * kernel.tile(X, kernel.pivots(X, np.array([best])))[:, 0]
        cost[best] = np.inf
        yield np.array([best])


RULES: dict[str, Callable[[PartialCholesky, np.random.Generator], Proposals]] = {
    "greedy": _greedy,
    "block": _block,
    "random": _random,
    "uniform": _uniform,
    "renyi": _renyi,
}
