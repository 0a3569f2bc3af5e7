r"""Mergeable sums over the data: all that training needs to know about it.

With :math:`L L^\top = \Omega_{PP}` and :math:`g(x) = L^{-1} k_P(x)`,

.. math::

    s = \sum_i w_i g_i, \quad d_i = g_i \cdot s, \quad
    A = \sum_i \frac{w_i}{d_i} g_i g_i^\top, \quad
    u = \sum_i \frac{w_i}{d_i} g_i, \quad \omega = \sum_i \frac{w_i}{d_i}.

The first pass collects ``s``, the second the rest. Sums of chunks are merged, so arrays,
files, streams and clusters are all served by :meth:`Statistics.of_rows` and
:meth:`Statistics.merge`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import solve_triangular

from sparseksc._native import moments_of
from sparseksc._typing import Array, Floats
from sparseksc.core.reduced_set import ReducedSet
from sparseksc.data.source import Source
from sparseksc.kernels import Kernel

#: A point whose degree is at most this share of the mean degree is left out of the
#: statistics and counted: its weight 1/d would outvote a thousand ordinary points.
OUTLIER_DEGREE = 1e-3
#: The same where small degrees are ordinary: the pivots represent less than half of the
#: kernel matrix, so that points between two pivots have them and hold a shape together, or
#: the diagonal of the kernel varies. What remains are degrees near zero or below.
ROUNDING_DEGREE = 1e-12
#: Summing kernel values and multiplying the sum by L^-1 from both sides loses as many
#: digits as the condition number of the pivots' kernel matrix has; beyond this one,
#: every row is multiplied instead.
WELL_CONDITIONED = 1e4


@dataclass(frozen=True)
class FeatureMap:
    """The features ``f`` of a point, in which the sums of the second pass are taken.

    Either the kernel values ``k_P(x)`` themselves (``in_kernel_space``), where L is so well
    conditioned that it can be applied to the sums afterwards, or ``g(x) = L^-1 k_P(x)``.
    """

    kernel: Kernel
    reduced_set: ReducedSet
    in_kernel_space: bool

    @classmethod
    def choose(cls, kernel: Kernel, reduced_set: ReducedSet) -> FeatureMap:
        """Take the cheaper features where they are accurate enough."""
        return cls(kernel, reduced_set, reduced_set.condition <= WELL_CONDITIONED)

    def __call__(self, X: Array) -> Floats:
        """Features of the rows of X in float64, shape (n, R)."""
        tile = self.kernel.tile(X, self.reduced_set.points).astype(np.float64, copy=False)
        return tile if self.in_kernel_space else self.whiten(tile.T).T

    def whiten(self, columns: Floats) -> Floats:
        """``L^-1 columns``."""
        L = self.reduced_set.factor
        return solve_triangular(L, columns, lower=True, check_finite=False)

    def unwhiten(self, rows: Floats) -> Floats:
        """``L^-T rows``: coefficients of ``g(x)`` turned into coefficients of ``k_P(x)``."""
        L = self.reduced_set.factor
        return solve_triangular(L, rows, lower=True, trans="T", check_finite=False)


@dataclass(frozen=True)
class Degrees:
    """The degree of any point, ``d(x) = f(x) . q``, to be trusted above ``floor``."""

    q: Floats
    floor: float
    total_weight: float

    def shares(self, features: Floats, weights: Floats) -> Floats:
        """``w_i / d_i`` from features, and 0 for the points whose degree is not trusted."""
        return self.shares_of(features @ self.q, weights)

    def shares_of(self, degrees: Floats, weights: Floats) -> Floats:
        """``w_i / d_i`` from degrees, and 0 for those that are not trusted."""
        trusted = degrees > self.floor
        return np.divide(weights, degrees, out=np.zeros_like(degrees), where=trusted)


@dataclass(frozen=True)
class UnitDegrees(Degrees):
    """Degrees that are all 1; points are trusted by something else, above ``floor``."""

    def shares_of(self, degrees: Floats, weights: Floats) -> Floats:  # noqa: D102
        return np.where(degrees > self.floor, weights, 0.0)


@dataclass(frozen=True)
class Statistics:
    """Sums over the points of one or many chunks (features ``f`` as in :class:`FeatureMap`).

    Attributes
    ----------
    moment : array of shape (R, R)
        ``sum w/d f f^T``.
    mean : array of shape (R,)
        ``sum w/d f``.
    omega : float
        ``sum w/d``.
    n_excluded : int
        Points left out because the reduced set does not represent them.
    excluded_weight : float
        Their sample weight.
    """

    moment: Floats
    mean: Floats
    omega: float
    n_excluded: int
    excluded_weight: float

    @classmethod
    def of_rows(
        cls, features: FeatureMap, degrees: Degrees, X: Array, weights: Floats
    ) -> Statistics:
        """Take the sums over one chunk of rows, without its features where they are kernel values.

        The kernel then sums its values as they are computed.
        """
        if not features.in_kernel_space:
            return cls(*moments_of(features(X), weights, degrees.q, degrees.floor))
        points = features.reduced_set.points
        return cls(*features.kernel.moments(X, points, weights, degrees.q, degrees.floor))

    def merge(self, other: Statistics) -> Statistics:
        """Return the sums over the points of both."""
        return Statistics(
            self.moment + other.moment,
            self.mean + other.mean,
            self.omega + other.omega,
            self.n_excluded + other.n_excluded,
            self.excluded_weight + other.excluded_weight,
        )


def collect_degrees(features: FeatureMap, source: Source, n_jobs: int | None = None) -> Degrees:
    """First pass: the sum of the kernel values gives the degree of any point."""
    points, in_memory = features.reduced_set.points, source.in_memory

    def sums(rows: Array, weights: Floats) -> Floats:
        if not in_memory:
            features.kernel.check(rows)
        # The total weight rides along as the last entry.
        return np.append(features.kernel.column_sums(rows, points, weights), weights.sum())

    total = source.sum(sums, np.add, features.kernel.written(points), n_jobs)
    s, mass = features.whiten(total[:-1]), float(total[-1])
    pivots = features.reduced_set
    represented = pivots.residual <= 0.5 and pivots.constant_diagonal
    floor = (OUTLIER_DEGREE if represented else ROUNDING_DEGREE) * float((s / mass) @ s)
    return Degrees(features.unwhiten(s) if features.in_kernel_space else s, floor, mass)


def collect_statistics(
    features: FeatureMap, source: Source, degrees: Degrees, n_jobs: int | None = None
) -> Statistics:
    """Second pass over the data."""
    sums = partial(Statistics.of_rows, features, degrees)
    pivots = features.reduced_set
    width = (
        features.kernel.written(pivots.points) if features.in_kernel_space else len(pivots.indices)
    )
    return source.sum(sums, Statistics.merge, width, n_jobs)
