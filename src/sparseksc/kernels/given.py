"""Kernels that the user brings: a matrix, or a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from sparseksc._typing import Array
from sparseksc.kernels.base import Kernel

MAKE_A_KERNEL = "Of distances D, pass numpy.exp(-D**2 / h); of links A between neighbours, A @ A.T."


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
        if (own == 0).all() and _are_distances(X):
            usual = float(np.median(X[:1024]))
            raise ValueError(
                "A precomputed kernel must hold similarities, but these are distances (zeros on "
                "the diagonal, and nothing below): pass numpy.exp(-X**2 / h), with h around "
                f"{usual**2:.2g}, the square of the median distance, or smaller."
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


def _are_distances(X: Array) -> bool:
    """Whether a matrix with zeros on its diagonal has none below, and few elsewhere."""
    return bool(X.min() >= 0.0 and 2 * np.count_nonzero(X) > X.size)


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """A function ``k(X, Y, **params)`` that returns the matrix of kernel values.

    The rows may be objects, such as texts, of which only the function must know what they are.
    """

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
        kind = np.float64 if P.dtype.hasobject else P.dtype
        values = values.astype(kind)  # a copy: the function may keep what it returned
        if not np.isfinite(values).all():
            raise ValueError("The kernel function returned NaN or infinite values.")
        return values

    def diagonal(self, X: Array) -> Array:  # noqa: D102
        blocks = (X[start : start + 32] for start in range(0, X.shape[0], 32))
        return np.concatenate([np.diagonal(self.tile(block, block)) for block in blocks]).astype(
            np.float64
        )
