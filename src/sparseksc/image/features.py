"""Features of the pixels: histograms of one or more window sizes side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseksc._typing import Floats, Integers
from sparseksc.image.histograms import index_histograms
from sparseksc.image.palette import Bytes


@dataclass(frozen=True)
class PixelFeatures:
    """A quantised image, from which the features of any band of rows are computed.

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
            # Windows reach beyond the band, up to the border of the image.
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
    words = _words(np.ascontiguousarray(features))
    first, inverse, counts = _equal_numbers(_hashes(words))
    if any((column[first][inverse] != column).any() for column in words.T):
        # Two different rows have the same hash.
        keys = words.view(f"V{words.shape[1] * words.itemsize}").ravel()
        _, first, inverse, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
    return DistinctRows(features[first], inverse, counts.astype(np.float64))


def _words(rows: NDArray[Any]) -> NDArray[np.unsignedinteger[Any]]:
    """Return the bytes of the rows as whole numbers, as long as possible."""
    size = 8 if rows.shape[1] * rows.itemsize % 8 == 0 else rows.itemsize
    return rows.view(f"u{size}")


def _hashes(words: NDArray[np.unsignedinteger[Any]]) -> NDArray[np.uint64]:
    """One number for each row: a sum of its words times odd numbers, modulo 2^64."""
    odd = np.random.default_rng(0).integers(2**63, size=(words.shape[1],), dtype=np.uint64) * 2 + 1
    hashes = np.zeros(len(words), dtype=np.uint64)
    for number, factor in enumerate(odd):
        column = words[:, number]
        # Round numbers have their bits at the upper end, where a product would lose them.
        hashes += (column ^ (column >> column.dtype.type(4 * column.itemsize))) * factor
    return hashes


def _equal_numbers(numbers: NDArray[np.uint64]) -> tuple[Integers, Integers, Integers]:
    """Return where each number is for the first time, which one every place has, and their counts.

    The last bits of the numbers are not compared: they make room for the place, so that the
    numbers themselves are sorted, which takes a quarter of the time that their order would.
    """
    places = np.arange(len(numbers), dtype=np.uint64)
    room = np.uint64(2 ** max(len(numbers) - 1, 1).bit_length() - 1)
    keys = np.sort((numbers & ~room) | places)
    order = (keys & room).astype(np.intp)
    keys &= ~room
    is_new = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=is_new[1:])
    starts = np.flatnonzero(is_new)
    inverse = np.empty(len(keys), dtype=np.intp)
    inverse[order] = np.cumsum(is_new) - 1
    return order[starts], inverse, np.diff(starts, append=len(keys))
