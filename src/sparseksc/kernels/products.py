"""Kernels of inner products."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from sparseksc._native import sparse
from sparseksc._typing import Array, Bandwidth
from sparseksc.data.sparse import times_columns, times_rows, without_empty_columns
from sparseksc.kernels.base import Kernel
from sparseksc.kernels.kept import kept_with_points

#: Values beyond this have squared distances that are no numbers.
LARGEST = 1e150

#: Values of a tile that are raised to a power at a time, so that they stay in the cache.
BLOCK_VALUES = 2**14


@dataclass(frozen=True)
class Cosine(Kernel):
    r"""Cosine similarity :math:`x \cdot y / (\|x\| \|y\|)`; 0 where a row is all zeros."""

    name: ClassVar[str] = "cosine"
    accepts_sparse: ClassVar[bool] = True

    def tile(self, X: Array, P: Array) -> Array:  # noqa: D102
        return inner_products(unit_rows(X), _unit_points(P))

    def diagonal(self, X: Array) -> Array:  # noqa: D102
        return (largest_entries(X) > 0).astype(np.float64)


def in_ordinary_unit(X: Any) -> tuple[Any, float]:
    """Rows in a unit in which the squares of their distances are numbers, and that factor.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.kernels.products import in_ordinary_unit
    >>> in_ordinary_unit(np.array([[3.0, 4.0]]))[1]
    1.0
    >>> bool((in_ordinary_unit(np.array([[3e200, 4e200]]))[0] ** 2).max() < 1.0)
    True
    """
    largest = float(abs(X).max())
    unit = 2.0 ** -int(np.frexp(largest)[1]) if largest > LARGEST else 1.0
    return (X if unit == 1.0 else X * unit), unit


def largest_entries(X: Array) -> Array:
    """Largest modulus in each row."""
    if sp.issparse(X):
        return abs(X).max(axis=1).toarray().ravel()
    return np.abs(X).max(axis=1)


def unit_rows(X: Array) -> Array:
    """Rows of length 1; a row of zeros stays as it is."""
    if sp.issparse(X):
        largest = largest_entries(X)
        return normalize(times_rows(X, 1.0 / np.where(largest > 0, largest, 1.0)))
    rows = np.ascontiguousarray(X)
    with np.errstate(over="ignore", under="ignore"):
        squares = row_norms(rows, squared=True)
    limits = np.finfo(squares.dtype)
    extreme = ~((squares > limits.tiny / limits.eps**2) & (squares < np.inf))
    if extreme.any():
        # A power of two changes no digit, and makes the squares ordinary numbers.
        _, exponents = np.frexp(largest_entries(rows[extreme]))
        rows = rows.copy()
        rows[extreme] = np.ldexp(rows[extreme], -exponents[:, None])
        squares[extreme] = row_norms(rows[extreme], squared=True)
    return rows / np.sqrt(np.where(squares > 0, squares, 1))[:, None]


_unit_points = kept_with_points(unit_rows)


def inner_products(X: Array, P: Array) -> Array:
    """Inner products of the rows of both."""
    if sp.issparse(X) and sp.issparse(P):
        X, some = without_empty_columns(X, P)
        return sparse.products(X, _by_feature(some))
    return safe_sparse_dot(X, P.T, dense_output=True)


_by_feature = kept_with_points(sparse.PointsByFeature.of)


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
        coef0, degree = products.dtype.type(self.coef0), int(self.degree)
        step = max(BLOCK_VALUES // max(products.shape[1], 1), 1)
        for start in range(0, len(products), step):
            part = products[start : start + step]
            part += coef0
            _raise_to(degree, part)
        return products

    def diagonal(self, X: Array) -> Array:  # noqa: D102
        norms = row_norms(self._scaled(X), squared=True).astype(np.float64)
        return (norms + self.coef0) ** int(self.degree)


def _raise_to(exponent: int, values: Array) -> None:
    """Replace values by a positive power of them, by multiplications, of which it needs few."""
    base = values.copy() if exponent > 1 else values
    for digit in f"{exponent:b}"[1:]:
        values *= values
        if digit == "1":
            values *= base
