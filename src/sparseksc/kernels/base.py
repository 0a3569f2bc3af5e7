"""What every kernel can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sparseksc import _native
from sparseksc._typing import Array, Bandwidth

Moments = tuple[Array, Array, float, int, float]


@dataclass(frozen=True)
class Kernel(ABC):
    """What every kernel can do; the points are the rows of a 2-D array."""

    name: ClassVar[str]
    accepts_sparse: ClassVar[bool] = False
    has_bandwidth: ClassVar[bool] = False
    #: Whether the degree of a point is a column of its scores.
    has_linear_degrees: ClassVar[bool] = True

    @abstractmethod
    def tile(self, X: Array, P: Array) -> Array:
        """Block of kernel values, shape (n, R): ``tile[i, r] = k(x_i, p_r)``."""

    @abstractmethod
    def diagonal(self, X: Array) -> Array:
        """Values ``k(x_i, x_i)``, shape (n,), float64."""

    def written(self, P: Array) -> int:
        """Columns of the tile that sums over rows write to memory; 1 where they write none."""
        return int(P.shape[0])

    def scores(self, X: Array, P: Array, coef: Array, bias: Array) -> Array:
        """``tile @ coef + bias`` in float64, shape (n, m)."""
        scores: Array = self.tile(X, P) @ coef + bias
        return scores

    def degrees(self, X: Array, P: Array, q: Array) -> Array:
        """``tile @ q``, shape (n,): what tells the points that P represents from others."""
        return self.scores(X, P, q[:, None], np.zeros(1))[:, 0]

    def column_sums(self, X: Array, P: Array, weights: Array) -> Array:
        """``weights @ tile`` in float64, shape (R,)."""
        sums: Array = weights @ self.tile(X, P)
        return sums

    def moments(self, X: Array, P: Array, weights: Array, q: Array, floor: float) -> Moments:
        """Sum over the rows ``k`` of the tile, with ``share = weight / (k @ q)``, in float64.

        Return ``sum share k k^T``, ``sum share k`` and ``sum share`` over the rows where
        ``k @ q`` is above ``floor``, and how many others of positive weight there are, and
        their weight.
        """
        tile = self.tile(X, P).astype(np.float64, copy=False)
        return _native.moments_of(tile, weights, q, floor)

    @property
    def of_neighbours(self) -> Kernel:
        """Kernel whose distances tell which points are neighbours: itself, as a rule."""
        return self

    def with_bandwidth(self, bandwidth: Bandwidth) -> Kernel:
        """Return the same kernel with another bandwidth; itself where it has none."""
        return self

    def among(self, X: Array, numbers: Array) -> Array:
        """Restrict the points ``X``, rows ``numbers`` of the data, to one another."""
        return X

    def pivots(self, X: Array, indices: Array, numbers: Array | None = None) -> Array:
        """Return what has to be kept of the points ``X[indices]`` to evaluate tiles against them.

        ``numbers`` are the row numbers of ``X`` in the data, where it is a part of it.
        """
        rows = X[indices]
        return rows if sp.issparse(rows) else np.ascontiguousarray(rows)

    def check(self, X: Array) -> None:  # noqa: B027 - most kernels are defined everywhere
        """Raise a ValueError where the kernel is not defined on ``X``."""
