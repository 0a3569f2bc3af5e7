"""A pivoted Cholesky decomposition under construction, and how pivots enter it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular

from sparseksc._native import greedy
from sparseksc._typing import Array, Floats, Integers
from sparseksc.execution.threads import chunk_slices, sum_over
from sparseksc.kernels import Exponential, Kernel

#: Columns of G that are updated together, so that they stay in the cache.
COLUMNS_AT_ONCE = 4096


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

    @property
    def relative_residual(self) -> float:
        """Share of the trace that the pivots do not represent."""
        return float(self.weights @ self.residual) / self.trace if self.trace > 0.0 else 0.0

    @cached_property
    def columns(self) -> Array:
        """All points, as pivots."""
        return self.kernel.pivots(self.X, np.arange(self.X.shape[0]))

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
        return (
            len(self.pivots) >= len(self.G)
            or self.reached
            or not (self.residual > self.floor).any()
        )

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
        removed = sum_over(update, chunks, np.add, self.n_jobs)
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

    def extend_greedily(self, kernel: Exponential, X: Array) -> None:
        """Let the native core add greedy pivots until the decomposition is finished."""
        pivots, path = greedy(
            kernel.name,
            np.require(X, requirements=["C", "ALIGNED"]),
            kernel.inverse_bandwidth(X.shape[1]),
            self.weights,
            self.residual,
            self.G,
            len(self.pivots),
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
