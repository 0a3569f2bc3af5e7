"""Kernels of a distance: ``exp(-dist(x, y) / h)``.

The bandwidth ``h`` divides. One value per feature divides each feature's share of the distance.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics.pairwise import (
    additive_chi2_kernel,
    euclidean_distances,
    manhattan_distances,
)
from sklearn.utils.extmath import row_norms

from sparseksc import _native
from sparseksc._native import sparse
from sparseksc._typing import Array, Bandwidth
from sparseksc.data.sparse import times_columns, without_empty_columns
from sparseksc.kernels.base import Kernel, Moments
from sparseksc.kernels.kept import kept_with_points

#: Moments of more pivots than this are left to BLAS, which writes the tile: where most pivots
#: matter to most rows, that is faster then.
FUSED_RANK = 2048
#: Most features for which the inverses of bandwidths are kept.
KEPT_FEATURES = 1000


def _inverse(bandwidth: Bandwidth, n_features: int) -> NDArray[np.float64]:
    values = 1.0 / np.asarray(bandwidth, dtype=np.float64)
    return np.ascontiguousarray(np.broadcast_to(values, (n_features,)))


_kept_inverse = lru_cache(maxsize=256)(_inverse)


@dataclass(frozen=True)
class Exponential(Kernel):
    r"""Base of ``exp(-dist(x, y) / h)``, whose tiles the native core evaluates."""

    bandwidth: Bandwidth = 1.0
    has_bandwidth: ClassVar[bool] = True

    @staticmethod
    @abstractmethod
    def distances(X: Array, P: Array) -> Array:
        """Return the distances that the bandwidth divides, shape (n, R)."""

    def inverse_bandwidth(self, n_features: int) -> NDArray[np.float64]:
        """One factor per feature, shape (d,)."""
        kept = n_features <= KEPT_FEATURES
        return (_kept_inverse if kept else _inverse)(self.bandwidth, n_features)

    def tile(self, X: Array, P: Array) -> Array:  # noqa: D102
        if sp.issparse(P):
            return self._sparse_tile(X, P)
        return _native.tile(self.name, *self._operands(X, P))

    def _sparse_tile(self, X: Array, P: Array) -> Array:
        raise NotImplementedError(f"The {self.name} kernel does not take sparse rows.")

    def written(self, P: Array) -> int:  # noqa: D102
        fused = _native.IS_NATIVE and not sp.issparse(P) and P.shape[0] <= FUSED_RANK
        return 1 if fused else super().written(P)

    def scores(self, X: Array, P: Array, coef: Array, bias: Array) -> Array:  # noqa: D102
        if sp.issparse(P):
            return super().scores(X, P, coef, bias)
        scores = _native.scores(self.name, *self._operands(X, P), coef, bias)
        return scores.astype(np.float64, copy=False)

    def column_sums(self, X: Array, P: Array, weights: Array) -> Array:  # noqa: D102
        if sp.issparse(P):
            return super().column_sums(X, P, weights)
        return _native.column_sums(self.name, *self._operands(X, P), weights)

    def moments(  # noqa: D102
        self, X: Array, P: Array, weights: Array, q: Array, floor: float
    ) -> Moments:
        if sp.issparse(P) or P.shape[0] > FUSED_RANK:
            return super().moments(X, P, weights, q, floor)
        return _native.moments(self.name, *self._operands(X, P), weights, q, floor)

    def _operands(self, X: Array, P: Array) -> tuple[Array, Array, Array]:
        rows: Any = X
        if not isinstance(rows, np.ndarray):  # sparse, for a model of dense ones
            rows = rows.toarray()
        rows = np.require(rows, P.dtype, ["C", "ALIGNED"])
        return rows, P, self.inverse_bandwidth(P.shape[1])

    def with_bandwidth(self, bandwidth: Bandwidth) -> Exponential:  # noqa: D102
        return replace(self, bandwidth=bandwidth)

    def diagonal(self, X: Array) -> Array:  # noqa: D102
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class RBF(Exponential):
    r"""Gaussian kernel :math:`\exp(-\sum_f (x_f - y_f)^2 / h_f)`."""

    name: ClassVar[str] = "rbf"
    accepts_sparse: ClassVar[bool] = True

    def _sparse_tile(self, X: Array, P: Array) -> Array:
        inverse = 1.0 / np.asarray(self.bandwidth, dtype=np.float64)
        largest = inverse.max()
        rows, pivots = X, P
        if inverse.ndim > 0:
            scale = np.sqrt(inverse / largest)
            rows, pivots = times_columns(X, scale), times_columns(P, scale)
        if sp.issparse(rows):
            rows, pivots = without_empty_columns(rows, pivots)
        with np.errstate(over="ignore"):  # infinitely far is similar by 0
            exponents = self.distances(rows, pivots) * largest
        return np.exp(-exponents).astype(P.dtype, copy=False)

    @staticmethod
    def distances(X: Array, P: Array) -> Array:  # noqa: D102
        if not (sp.issparse(X) and sp.issparse(P)):
            return euclidean_distances(X, P, squared=True)
        rows, (columns, lengths) = X.astype(np.float64, copy=False), _by_feature(P)
        distances = sparse.products(rows, columns)
        distances *= -2.0
        distances += row_norms(rows, squared=True)[:, None]
        distances += lengths
        return np.maximum(distances, 0.0, out=distances)


@kept_with_points
def _by_feature(P: Array) -> tuple[sparse.PointsByFeature, Array]:
    """Sparse points in float64, and their squared lengths."""
    points = P.astype(np.float64)
    return sparse.PointsByFeature.of(points), row_norms(points, squared=True)


@dataclass(frozen=True)
class Laplacian(Exponential):
    r"""Laplacian kernel :math:`\exp(-\sum_f |x_f - y_f| / h_f)`."""

    name: ClassVar[str] = "laplacian"

    @staticmethod
    def distances(X: Array, P: Array) -> Array:  # noqa: D102
        return manhattan_distances(X, P)


@dataclass(frozen=True)
class Chi2(Exponential):
    r"""Chi-squared kernel :math:`\exp(-\tfrac12 \sum_f (x_f - y_f)^2 / ((x_f + y_f) h_f))`.

    For histograms and other non-negative features; 0/0 counts as 0.
    """

    name: ClassVar[str] = "chi2"

    @staticmethod
    def distances(X: Array, P: Array) -> Array:  # noqa: D102
        X, P = (np.require(rows, requirements="W") for rows in (X, P))  # it refuses read-only ones
        return -0.5 * additive_chi2_kernel(X, P)

    def check(self, X: Array) -> None:  # noqa: D102
        lowest = X.min(initial=0.0)
        if lowest < 0:
            raise ValueError(
                f"Negative values in data passed to the chi2 kernel: the least is {lowest:g}. "
                "Shift or rescale X, or use kernel='rbf'."
            )
