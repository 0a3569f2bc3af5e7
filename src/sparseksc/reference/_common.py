"""Small helpers of the reference routes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Kernel: TypeAlias = Callable[[FloatArray, FloatArray], Any]

# Below this a degree counts as zero: sums of inverse degrees have to stay finite.
SMALLEST_DEGREE = 1e-300


def matrix(X: ArrayLike) -> FloatArray:
    """Return X as float64, with a sentence for what is not a matrix."""
    array = np.asarray(X, dtype=np.float64)
    if array.ndim != 2 or not len(array):
        raise ValueError(f"A matrix with rows is needed, got an array of shape {array.shape}.")
    return array


def block(kernel: Kernel, X: FloatArray, Y: FloatArray) -> FloatArray:
    """Return the kernel matrix of the rows of X with those of Y."""
    return np.asarray(kernel(X, Y), dtype=np.float64)


def diagonal(X: FloatArray, kernel: Kernel) -> FloatArray:
    """Return k(x_i, x_i) from small square blocks, as a plain callable offers nothing better."""
    blocks = (X[start : start + 64] for start in range(0, len(X), 64))
    return np.concatenate([np.diagonal(block(kernel, rows, rows)) for rows in blocks])


def inverse_degrees(degrees: FloatArray) -> FloatArray:
    """Return 1 / d, and 0 where d is not positive."""
    positive = degrees > SMALLEST_DEGREE
    if not positive.any():
        raise ValueError("No point has a positive degree; a larger bandwidth may help.")
    return np.where(positive, 1.0 / np.where(positive, degrees, 1.0), 0.0)


def fixed_signs(vectors: FloatArray) -> FloatArray:
    """Flip columns so that the entry of largest absolute value is positive."""
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return np.asarray(vectors * np.where(largest < 0, -1.0, 1.0))


def count_vectors(n_clusters: int, available: int) -> int:
    """Return K − 1, the number of eigenvectors that K clusters need."""
    if not 2 <= n_clusters <= available:
        raise ValueError(
            f"n_clusters must lie between 2 and the rank of the kernel matrix, {available}, "
            f"got {n_clusters!r}."
        )
    return n_clusters - 1
