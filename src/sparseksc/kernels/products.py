"""Kernels of inner products."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from sparseksc._typing import Array, Bandwidth
from sparseksc.data.sparse import times_columns, times_rows, without_empty_columns
from sparseksc.kernels.base import Kernel
from sparseksc.kernels.kept import kept_with_points


@dataclass(frozen=True)
class Cosine(Kernel):
    r"""Cosine similarity :math:`x \cdot y / (\|x\| \|y\|)`; 0 where a row is all zeros."""

    name: ClassVar[str] = "cosine"
    accepts_sparse: ClassVar[bool] = True

    def tile(self, X: Array, P: Array) -> Array:  # noqa: D102
        return inner_products(unit_rows(X), _unit_points(P))

    def diagonal(self, X: Array) -> Array:  # noqa: D102
        return (largest_entries(X) > 0).astype(np.float64)


def largest_entries(X: Array) -> Array:
    """Largest modulus in each row."""
    if sp.issparse(X):
        return abs(X).max(axis=1).toarray().ravel()
    return np.abs(X).max(axis=1)


def unit_rows(X: Array) -> Array:
    """Rows of length 1; divided by their largest entry first, whose square may not be a number."""
    largest = largest_entries(X)
    factors = 1.0 / np.where(largest > 0, largest, 1.0)
    if sp.issparse(X):
        return normalize(times_rows(X, factors))
    return normalize(np.ascontiguousarray(X) * factors[:, None])


_unit_points = kept_with_points(unit_rows)


def inner_products(X: Array, P: Array) -> Array:
    """Inner products of the rows of both."""
    if sp.issparse(X) and sp.issparse(P):
        X, some = without_empty_columns(X, P)
        return safe_sparse_dot(X, _transposed(some), dense_output=True)
    return safe_sparse_dot(X, P.T, dense_output=True)


@kept_with_points
def _transposed(P: Array) -> Array:
    """Columns of sparse points, row by row."""
    columns: Any = P.T
    return columns.tocsr()


@dataclass(frozen=True)
class Linear(Kernel):
    r"""Inner product :math:`x \cdot y`."""

    name: ClassVar[str] = "linear"
    accepts_sparse: ClassVar[bool] = True

    def tile(self, X: Array, P: Array) -> Array:  # noqa: D102
        return inner_products(X, P)

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
        products = inner_products(self._scaled(X), self._scaled(P))
        products += products.dtype.type(self.coef0)
        return _power(products, int(self.degree))

    def diagonal(self, X: Array) -> Array:  # noqa: D102
        norms = row_norms(self._scaled(X), squared=True).astype(np.float64)
        return (norms + self.coef0) ** int(self.degree)


def _power(values: Array, exponent: int) -> Array:
    """Positive power by multiplications, of which it needs few; overwrites ``values``."""
    result = None
    while exponent > 1:
        if exponent % 2:
            result = values.copy() if result is None else np.multiply(result, values, out=result)
        values *= values
        exponent //= 2
    return values if result is None else np.multiply(result, values, out=result)
