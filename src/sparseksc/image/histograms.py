"""Local colour histograms: which colours surround a pixel, and how often."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sparseksc.config.domains import check_integer
from sparseksc.image.palette import check_levels, minimum_variance_palette, quantise
from sparseksc.image.pixels import as_rgb

Integers = NDArray[np.int32]


def local_histograms(
    image: Any,
    levels: int = 8,
    window: int = 5,
    *,
    dither: bool = False,
    dtype: DTypeLike = np.float64,
) -> NDArray[Any]:
    """Histogram of the quantised colours in a square window around each pixel.

    The image is quantised to ``levels`` colours (:func:`minimum_variance_palette`,
    :func:`quantise`); entry ``[i, j, c]`` is the share of the pixels of colour ``c`` among those
    in the window around pixel ``(i, j)``. At the border the window is cut.

    Parameters
    ----------
    image : array of shape (height, width, 3), or any other image that ``segment`` takes
    levels : int, default=8
        Number of colours.
    window : int, default=5
        Width and height of the window, odd.
    dither : bool, default=False
        Whether the quantisation diffuses its errors.
    dtype : dtype, default=float64
        float32 or float64.

    Returns
    -------
    array of shape (height, width, levels)
        Each histogram sums to 1. Colours that the image does not need are columns of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image import local_histograms
    >>> image = np.array([[0, 0, 0, 255, 255]], dtype=np.uint8)
    >>> local_histograms(image, levels=2, window=3)[0].round(2).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.67, 0.33], [0.33, 0.67], [0.0, 1.0]]
    """
    levels, window = check_levels(levels), check_window(window)
    rgb = as_rgb(image)
    indices = quantise(rgb, minimum_variance_palette(rgb, levels), dither=dither)
    return index_histograms(indices, levels, window, dtype=dtype)


def index_histograms(
    indices: ArrayLike, levels: int, window: int = 5, *, dtype: DTypeLike = np.float64
) -> NDArray[Any]:
    """Histograms as in :func:`local_histograms`, of an image that is quantised already.

    Parameters
    ----------
    indices : array-like of shape (height, width)
        Colour numbers, from 0 to ``levels - 1``.
    levels : int
    window : int, default=5
    dtype : dtype, default=float64

    Returns
    -------
    array of shape (height, width, levels)

    Examples
    --------
    >>> from sparseksc.image import index_histograms
    >>> index_histograms([[0, 1], [1, 1]], levels=2, window=3)[0, 0].tolist()
    [0.25, 0.75]
    """
    levels, window = check_levels(levels), check_window(window)
    numbers = np.asarray(indices)
    if numbers.ndim != 2 or numbers.dtype.kind not in "iu" or numbers.size == 0:
        raise ValueError(
            "indices must be integers of the shape (height, width), got "
            f"{numbers.dtype} of the shape {numbers.shape}."
        )
    if numbers.min() < 0 or numbers.max() >= levels:
        raise ValueError(
            f"indices must lie between 0 and levels - 1 = {levels - 1}, got {numbers.min()} to "
            f"{numbers.max()}."
        )
    height, width = numbers.shape
    result = np.empty((height, width, levels), dtype=dtype)
    if result.dtype.kind != "f":
        raise ValueError(f"dtype must be a floating point type, got {result.dtype}.")
    area = window_areas(height, width, window)
    for level in range(levels):
        result[:, :, level] = window_sums(numbers == level, window) / area
    return result


def check_window(window: Any) -> int:
    """Return the width of a window, or complain."""
    window = check_integer("window", window, 1)
    if window % 2 == 0:
        raise ValueError(f"window must be odd, so that it has a centre, got {window}.")
    return window


def window_sums(values: NDArray[Any], window: int) -> Integers:
    """Sum over the window around each place; windows are cut at the border."""
    sums = values.astype(np.int32)
    for axis in (0, 1):
        sums = _sliding_sums(sums, window, axis)
    return sums


def window_areas(height: int, width: int, window: int) -> Integers:
    """Return the number of pixels in each window."""
    down, across = (
        _sliding_sums(np.ones(length, dtype=np.int32), window, 0) for length in (height, width)
    )
    return np.outer(down, across)


def _sliding_sums(values: Integers, window: int, axis: int) -> Integers:
    """Differences of cumulative sums along one axis."""
    length, half = values.shape[axis], window // 2
    edge = list(values.shape)
    edge[axis] = 1
    total = np.concatenate([np.zeros(edge, np.int32), values.cumsum(axis, dtype=np.int32)], axis)
    places = np.arange(length)
    after = np.minimum(places + half + 1, length)
    before = np.maximum(places - half, 0)
    return total.take(after, axis) - total.take(before, axis)
