"""Features of the pixels: histograms of one or more window sizes side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparseksc.image.histograms import index_histograms
from sparseksc.image.palette import Bytes

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]


@dataclass(frozen=True)
class PixelFeatures:
    """A quantised picture, from which the features of any band of rows are computed.

    Attributes
    ----------
    indices : array of shape (height, width), uint8
        Colour numbers.
    levels : int
    windows : tuple of int
    """

    indices: Bytes
    levels: int
    windows: tuple[int, ...]

    def band(self, first: int, last: int) -> Floats:
        """Return the features of the pixels in the rows from ``first`` to before ``last``.

        Shape (n_pixels, n_windows * levels); the histograms of each window sum to
        ``1 / n_windows``.
        """
        parts = []
        for window in self.windows:
            # Windows reach beyond the band, up to the border of the picture.
            top, bottom = max(first - window // 2, 0), last + window // 2
            histograms = index_histograms(self.indices[top:bottom], self.levels, window)
            parts.append(histograms[first - top : last - top])
        features = np.concatenate(parts, axis=2).reshape(-1, len(parts) * self.levels)
        features /= len(parts)
        return features


@dataclass(frozen=True)
class DistinctRows:
    """Different rows, and which of them each pixel has.

    Attributes
    ----------
    rows : array of shape (n, d)
        No two of them are equal.
    inverse : array of shape (n_pixels,)
        Row of each pixel.
    weights : array of shape (n,)
        Number of pixels of each row.
    """

    rows: Floats
    inverse: Integers
    weights: Floats


def distinct_rows(features: Floats) -> DistinctRows:
    """Find equal rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image.features import distinct_rows
    >>> found = distinct_rows(np.array([[0.5, 0.5], [0.0, 1.0], [0.5, 0.5]]))
    >>> found.rows.tolist(), found.weights.tolist(), found.inverse.tolist()
    ([[0.0, 1.0], [0.5, 0.5]], [1.0, 2.0], [1, 0, 1])
    """
    # Compared byte by byte: shares are quotients of whole numbers, so that equal ones have the
    # same bits, and there is no negative zero.
    keys = np.ascontiguousarray(features).view(f"V{features.shape[1] * features.itemsize}")
    _, first, inverse, counts = np.unique(
        keys.ravel(), return_index=True, return_inverse=True, return_counts=True
    )
    return DistinctRows(features[first], inverse.ravel(), counts.astype(np.float64))
