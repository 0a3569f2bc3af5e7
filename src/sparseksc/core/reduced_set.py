r"""Reduced set selection: pivots of an incomplete Cholesky decomposition.

A pivoted incomplete Cholesky decomposition (ICD) writes the kernel matrix of a
sample as :math:`\Omega \approx G G^\top`. Its pivots are the reduced set ``P``,
and the rows of ``G`` that belong to them are ``L``, the Cholesky factor of
:math:`\Omega_{PP}`. The rules that propose pivots are in :mod:`sparseksc.core.pivoting`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dtrcon

from sparseksc._typing import Array, Floats, Integers
from sparseksc.core.cholesky import PartialCholesky
from sparseksc.core.pivoting import complete
from sparseksc.kernels import Kernel


@dataclass(frozen=True)
class ReducedSet:
    """The pivots and what is needed to use them.

    Attributes
    ----------
    points : array of shape (R, d)
        The pivots themselves (column numbers for a precomputed kernel), or the landmarks.
    indices : array of shape (R,)
        Their row numbers, in the order of selection; none for landmarks, which are means of rows.
    factor : array of shape (R, R)
        ``L``, the lower Cholesky factor of the kernel matrix of the pivots; empty for landmarks.
    path : array of shape (R,)
        Relative trace residual of the sample after each pivot.
    constant_diagonal : bool
        Whether all points of the sample are equally similar to themselves.
    reach : float
        Distance to the nearest landmark beyond which a point is an outlier.
    """

    points: Array
    indices: Integers
    factor: Floats
    path: Floats
    constant_diagonal: bool
    reach: float = 0.0

    @property
    def rank(self) -> int:
        """Number of pivots, R."""
        return int(self.points.shape[0])

    @property
    def residual(self) -> float:
        r"""Relative trace residual :math:`tr(\Omega - G G^\top) / tr(\Omega)` of the sample."""
        return float(self.path[-1])

    @property
    def condition(self) -> float:
        r"""Estimate of the condition number of :math:`\Omega_{PP} = L L^\top` (1-norm of L)."""
        reciprocal, _ = dtrcon(self.factor, norm=b"1", uplo=b"L")
        return float(reciprocal**-2) if reciprocal > 0.0 else np.inf


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
    >>> from sparseksc.core.reduced_set import select_reduced_set
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
        factor=np.tril(state.G[: len(chosen), chosen].T),
        path=np.array(state.path),
        constant_diagonal=state.constant_diagonal,
    )
