"""Kernels: small immutable objects that evaluate blocks of a kernel matrix.

A kernel never sees the whole data set. It is asked for a *tile*, the block
``k(x_i, p_r)`` between some rows ``X`` and the reduced set ``P``, and for the
diagonal ``k(x_i, x_i)``. Adding a kernel means adding one class here and one
line in :data:`KERNELS`.

The bandwidth ``h`` divides: ``exp(-dist(x, y) / h)``. One value per feature
divides each feature's share of the distance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics.pairwise import (
    additive_chi2_kernel,
    euclidean_distances,
    manhattan_distances,
)
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from sparseksc import _native
from sparseksc._typing import Array, Bandwidth
from sparseksc.data.sparse import times_columns, times_rows, without_empty_columns

Moments = tuple[Array, Array, float, int, float]

#: Moments of more pivots than this are left to BLAS, which writes the tile: where most pivots
#: matter to most rows, that is faster then.
FUSED_RANK = 2048
#: Most features for which the inverses of bandwidths are kept.
KEPT_FEATURES = 1000
MAKE_A_KERNEL = "Of distances D, pass numpy.exp(-D**2 / h); of links A between neighbours, A @ A.T."


@dataclass(frozen=True)
class Kernel(ABC):
    """What every kernel can do; the points are the rows of a 2-D array."""

    name: ClassVar[str]
    accepts_sparse: ClassVar[bool] = False
    has_bandwidth: ClassVar[bool] = False

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
        scale = np.sqrt(inverse / largest)
        rows, pivots = times_columns(X, scale), times_columns(P, scale)
        if sp.issparse(rows):
            rows, pivots = without_empty_columns(rows, pivots)
        with np.errstate(over="ignore"):  # infinitely far is similar by 0
            exponents = self.distances(rows, pivots) * largest
        return np.exp(-exponents).astype(P.dtype, copy=False)

    @staticmethod
    def distances(X: Array, P: Array) -> Array:  # noqa: D102
        return euclidean_distances(X, P, squared=True)


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
        return -0.5 * additive_chi2_kernel(X, P)

    def check(self, X: Array) -> None:  # noqa: D102
        lowest = X.min(initial=0.0)
        if lowest < 0:
            raise ValueError(
                f"Negative values in data passed to the chi2 kernel: the least is {lowest:g}. "
                "Shift or rescale X, or use kernel='rbf'."
            )


@dataclass(frozen=True)
class Cosine(Kernel):
    r"""Cosine similarity :math:`x \cdot y / (\|x\| \|y\|)`; 0 where a row is all zeros."""

    name: ClassVar[str] = "cosine"
    accepts_sparse: ClassVar[bool] = True

    def tile(self, X: Array, P: Array) -> Array:  # noqa: D102
        return _products(_unit_rows(X), _unit_rows(P))

    def diagonal(self, X: Array) -> Array:  # noqa: D102
        return (_largest_entries(X) > 0).astype(np.float64)


def _largest_entries(X: Array) -> Array:
    """Largest modulus in each row."""
    if sp.issparse(X):
        return abs(X).max(axis=1).toarray().ravel()
    return np.abs(X).max(axis=1)


def _unit_rows(X: Array) -> Array:
    """Rows of length 1; divided by their largest entry first, whose square may not be a number."""
    largest = _largest_entries(X)
    factors = 1.0 / np.where(largest > 0, largest, 1.0)
    if sp.issparse(X):
        return normalize(times_rows(X, factors))
    return normalize(np.ascontiguousarray(X) * factors[:, None])


def _products(X: Array, P: Array) -> Array:
    """Inner products of the rows of both."""
    if sp.issparse(X) and sp.issparse(P):
        X, P = without_empty_columns(X, P)
    return safe_sparse_dot(X, P.T, dense_output=True)


@dataclass(frozen=True)
class Linear(Kernel):
    r"""Inner product :math:`x \cdot y`."""

    name: ClassVar[str] = "linear"
    accepts_sparse: ClassVar[bool] = True

    def tile(self, X: Array, P: Array) -> Array:  # noqa: D102
        return _products(X, P)

    def diagonal(self, X: Array) -> Array:  # noqa: D102
        return row_norms(X, squared=True).astype(np.float64)


@dataclass(frozen=True)
class Polynomial(Kernel):
    r"""Polynomial kernel :math:`(x \cdot y / h + c)^p` with ``degree`` p and ``coef0`` c."""

    bandwidth: Bandwidth = 1.0
    degree: int = 3
    coef0: float = 1.0

    name: ClassVar[str] = "polynomial"
    accepts_sparse: ClassVar[bool] = True
    has_bandwidth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not (isinstance(self.degree, Real) and self.degree >= 1 and self.degree % 1 == 0):
            raise ValueError(
                f"kernel_params['degree'] must be a positive integer, got {self.degree!r}."
            )
        if not (isinstance(self.coef0, Real) and 0 <= self.coef0 < np.inf):
            raise ValueError(
                "kernel_params['coef0'] must be finite and not negative (or the kernel is not "
                f"positive definite), got {self.coef0!r}."
            )

    def with_bandwidth(self, bandwidth: Bandwidth) -> Polynomial:  # noqa: D102
        return replace(self, bandwidth=bandwidth)

    def _scaled(self, X: Array) -> Array:
        scale = 1.0 / np.sqrt(np.asarray(self.bandwidth, dtype=np.float64))
        return times_columns(X, scale).astype(X.dtype, copy=False)

    def tile(self, X: Array, P: Array) -> Array:  # noqa: D102
        products = _products(self._scaled(X), self._scaled(P))
        products += products.dtype.type(self.coef0)
        return products ** int(self.degree)

    def diagonal(self, X: Array) -> Array:  # noqa: D102
        norms = row_norms(self._scaled(X), squared=True).astype(np.float64)
        return (norms + self.coef0) ** int(self.degree)


@dataclass(frozen=True)
class Precomputed(Kernel):
    """A kernel matrix given by the user; a pivot is the number of a column."""

    name: ClassVar[str] = "precomputed"

    def tile(self, X: Array, P: Array) -> Array:  # noqa: D102
        return X[:, P]

    def diagonal(self, X: Array) -> Array:  # noqa: D102
        return np.diagonal(X).astype(np.float64)

    def among(self, X: Array, numbers: Array) -> Array:  # noqa: D102
        return X if len(numbers) == X.shape[1] else X[:, numbers]  # they are ascending

    def pivots(  # noqa: D102
        self, X: Array, indices: Array, numbers: Array | None = None
    ) -> Array:
        return np.array(indices) if numbers is None else numbers[indices]

    def check(self, X: Array) -> None:  # noqa: D102
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                "A precomputed kernel must be a square matrix of shape (n_samples, n_samples), "
                f"got {X.shape[0]} x {X.shape[1]}."
            )
        scale = max(X.max(), -X.min())
        for start in range(0, X.shape[0], 1024):
            rows = slice(start, start + 1024)
            gap = np.abs(X[rows] - X[:, rows].T).max()
            if gap > 1e-6 * scale:
                raise ValueError(
                    "A precomputed kernel must be symmetric; two mirrored entries differ by "
                    f"{gap:g}."
                )
        own = self.diagonal(X)
        if own.min() < 0:
            raise ValueError(
                "A precomputed kernel must be positive semi-definite, but its diagonal has the "
                f"value {own.min():g}. {MAKE_A_KERNEL}"
            )
        alone = np.flatnonzero(own == 0)
        if len(alone) > 0 and np.abs(X[alone]).max() > 0:
            raise ValueError(
                "A precomputed kernel must be positive semi-definite, but a point has the "
                "similarity 0 to itself, and not to others: these are distances or links. "
                f"{MAKE_A_KERNEL}"
            )
        # Points that are as similar to each other as to themselves must be equal in all other rows.
        blocks = [X[start : start + 1024] for start in range(0, X.shape[0], 1024)]
        binary = all(((rows == 0) | (rows == 1)).all() for rows in blocks)
        if binary and any((rows != X[np.argmax(rows, axis=1)]).any() for rows in blocks):
            raise ValueError(
                "A precomputed kernel must be positive semi-definite; a matrix of zeros and ones "
                f"that says which points are neighbours is not. {MAKE_A_KERNEL}"
            )


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """A function ``k(X, Y, **params)`` that returns the matrix of kernel values."""

    function: Callable[..., Any]
    params: Mapping[str, Any] = field(default_factory=dict)

    name: ClassVar[str] = "callable"

    def tile(self, X: Array, P: Array) -> Array:  # noqa: D102
        values = np.asarray(self.function(X, P, **self.params))
        if values.dtype.kind not in "fiub":
            raise ValueError(f"The kernel function must return numbers, got {values.dtype}.")
        if values.shape != (X.shape[0], P.shape[0]):
            raise ValueError(
                f"The kernel function must return a matrix of shape {(X.shape[0], P.shape[0])}, "
                f"got {values.shape}."
            )
        values = values.astype(P.dtype)  # a copy: the function may keep what it returned
        if not np.isfinite(values).all():
            raise ValueError("The kernel function returned NaN or infinite values.")
        return values

    def diagonal(self, X: Array) -> Array:  # noqa: D102
        blocks = (X[start : start + 32] for start in range(0, X.shape[0], 32))
        return np.concatenate([np.diagonal(self.tile(block, block)) for block in blocks]).astype(
            np.float64
        )


KERNELS: dict[str, type[Kernel]] = {
    kernel.name: kernel
    for kernel in (RBF, Laplacian, Chi2, Cosine, Linear, Polynomial, Precomputed)
}


def make_kernel(
    kernel: str | Callable[..., Any],
    bandwidth: Bandwidth | None = None,
    params: Mapping[str, Any] | None = None,
) -> Kernel:
    """Build a kernel from what the user wrote.

    Parameters
    ----------
    kernel : str or callable
        A name of :data:`KERNELS`, or a function ``k(X, Y, **params) -> matrix``.
    bandwidth : float or tuple of float, optional
        For the kernels that have one.
    params : mapping, optional
        ``degree`` and ``coef0`` of the polynomial kernel, or the arguments of a function.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.kernels import make_kernel
    >>> rbf = make_kernel("rbf", 2.0)
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> rbf.tile(X, X).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """
    params = dict(params or {})
    if not isinstance(kernel, str):
        return CallableKernel(kernel, params)
    kind = KERNELS[kernel]
    if kind.has_bandwidth and bandwidth is not None:
        params["bandwidth"] = bandwidth
    return kind(**params)
