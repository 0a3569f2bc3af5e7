r"""A palette of few colours with little variance around them (Wu, 1991), and its use.

The colours of the image are counted in a cube of 32 x 32 x 32 cells. A box of cells with the
colours :math:`c_i` has the squared error
:math:`\sum_i \|c_i\|^2 - \|\sum_i c_i\|^2 / n`; the box of the largest error is cut by the plane,
across any of the three axes, that leaves the least error in its two parts, until there are as
many boxes as colours asked for. The palette holds the mean colour of each box.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparseksc._typing import Floats
from sparseksc.config.domains import check_integer
from sparseksc.image.pixels import as_rgb

Bytes = NDArray[np.uint8]
Box = tuple[slice, slice, slice]

#: Cells along each axis of the colour cube.
CELLS = 32
#: Most colours of a palette; an index is one byte.
MOST_LEVELS = 256
#: Pixels whose nearest colours are looked for together.
BAND_PIXELS = 1 << 18
#: Where Floyd and Steinberg send the error of a pixel: rows down, columns to the right, share.
#: In this order the sums have the same bits as in a loop over the pixels, row by row.
DIFFUSION = ((1, 1, 1 / 16), (1, 0, 5 / 16), (1, -1, 3 / 16), (0, 1, 7 / 16))


def minimum_variance_palette(image: Any, levels: int = 8) -> Bytes:
    """Return the palette of an image, by minimum variance quantisation.

    Parameters
    ----------
    image : array of shape (height, width, 3), or any other image that ``segment`` takes
    levels : int, default=8
        Number of colours, at most 256.

    Returns
    -------
    array of shape (n_colours, 3), uint8
        ``levels`` colours, or fewer where the image does not have as many.

    References
    ----------
    .. [1] X. Wu, "Efficient statistical computations for optimal color quantization",
       Graphics Gems II, 126-133, 1991.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image import minimum_variance_palette
    >>> image = np.zeros((4, 6, 3), dtype=np.uint8)
    >>> image[:, 2:, 0] = 200
    >>> minimum_variance_palette(image).tolist()
    [[0, 0, 0], [200, 0, 0]]
    """
    levels = check_levels(levels)
    moments = colour_moments(as_rgb(image))
    boxes: list[Box] = [(slice(0, CELLS), slice(0, CELLS), slice(0, CELLS))]
    errors = [_squared_error(moments, boxes[0])]
    while len(boxes) < levels:
        worst = int(np.argmax(errors))
        parts = _cut(moments, boxes[worst]) if errors[worst] > 0.0 else None
        if parts is None:
            # All its colours are in one cell; look for the next worst.
            errors[worst] = 0.0
            if max(errors) <= 0.0:
                break
            continue
        boxes[worst : worst + 1] = parts
        errors[worst : worst + 1] = [_squared_error(moments, part) for part in parts]
    sums = np.array([moments[box].sum(axis=(0, 1, 2)) for box in boxes])
    return np.rint(sums[:, 1:4] / sums[:, :1]).astype(np.uint8)


def check_levels(levels: Any) -> int:
    """Return the number of colours, or complain."""
    levels = check_integer("levels", levels, 1)
    if levels > MOST_LEVELS:
        raise ValueError(f"levels must be at most {MOST_LEVELS}, got {levels}.")
    return levels


def colour_moments(rgb: Bytes) -> Floats:
    """Count, sums of red, green and blue, and sum of squares in each cell, shape (32, 32, 32, 5).

    All are whole numbers below 2^53 for any image, so they are exact.
    """
    total = np.zeros((CELLS**3, 5))
    pixels = rgb.reshape(-1, 3)
    for start in range(0, len(pixels), BAND_PIXELS):
        colours = pixels[start : start + BAND_PIXELS].astype(np.float64)
        cell = (pixels[start : start + BAND_PIXELS].astype(np.intp) >> 3) @ (CELLS**2, CELLS, 1)
        weights = [None, *colours.T, (colours**2).sum(axis=1)]
        for column, weight in enumerate(weights):
            total[:, column] += np.bincount(cell, weight, minlength=CELLS**3)
    return total.reshape(CELLS, CELLS, CELLS, 5)


def _squared_error(moments: Floats, box: Box) -> float:
    count, *colour, squares = moments[box].sum(axis=(0, 1, 2))
    return float(squares - np.dot(colour, colour) / count)


def _cut(moments: Floats, box: Box) -> tuple[Box, Box] | None:
    """Cut a box where the two parts have the least error; None where all is in one cell."""
    best = None
    for axis in range(3):
        others = tuple(other for other in range(3) if other != axis)
        below = np.cumsum(moments[box].sum(axis=others)[:, :4], axis=0)
        above = below[-1] - below
        inside = np.flatnonzero((below[:, 0] > 0) & (above[:, 0] > 0))
        if len(inside) == 0:
            continue
        explained = sum(
            (part[inside, 1:] ** 2).sum(axis=1) / part[inside, 0] for part in (below, above)
        )
        place = int(np.argmax(explained))
        if best is None or explained[place] > best[0]:
            best = explained[place], axis, int(inside[place])
    if best is None:
        return None
    _, axis, last = best
    start, stop = box[axis].start, box[axis].stop
    middle = start + last + 1
    low, high = list(box), list(box)
    low[axis], high[axis] = slice(start, middle), slice(middle, stop)
    return (low[0], low[1], low[2]), (high[0], high[1], high[2])


def quantise(image: Any, palette: ArrayLike, *, dither: bool = False) -> Bytes:
    """Replace every pixel by the number of a palette's colour.

    Parameters
    ----------
    image : array of shape (height, width, 3), or any other image that ``segment`` takes
    palette : array-like of shape (n_colours, 3)
        Colours between 0 and 255, at most 256 of them.
    dither : bool, default=False
        Whether to diffuse the error of each pixel to the next ones (Floyd and Steinberg), so
        that the mean colour of a region stays. Pixels with the error of others added are clipped
        to [0, 255]. Without, every pixel gets the nearest colour.

    Returns
    -------
    array of shape (height, width), uint8

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image import quantise
    >>> grey = np.full((2, 6, 3), 64, dtype=np.uint8)
    >>> black_and_white = [[0, 0, 0], [255, 255, 255]]
    >>> quantise(grey, black_and_white).any()
    np.False_
    >>> quantise(grey, black_and_white, dither=True)
    array([[0, 0, 0, 0, 0, 0],
           [0, 1, 0, 1, 0, 1]], dtype=uint8)
    """
    rgb = as_rgb(image)
    colours = np.asarray(palette, dtype=np.float64)
    if colours.ndim != 2 or colours.shape[1] != 3 or not 1 <= len(colours) <= MOST_LEVELS:
        raise ValueError(
            f"palette must have the shape (n, 3) with n from 1 to {MOST_LEVELS}, got "
            f"{colours.shape}."
        )
    if not (np.isfinite(colours).all() and colours.min() >= 0 and colours.max() <= 255):
        raise ValueError("The colours of a palette must lie between 0 and 255.")
    if dither:
        return _dithered(rgb, colours)
    indices = np.empty(rgb.shape[0] * rgb.shape[1], dtype=np.uint8)
    pixels = rgb.reshape(-1, 3)
    for start in range(0, len(pixels), BAND_PIXELS):
        stop = start + BAND_PIXELS
        indices[start:stop] = _nearest(pixels[start:stop].astype(np.float64), colours)
    return indices.reshape(rgb.shape[:2])


def _nearest(pixels: Floats, colours: Floats) -> NDArray[np.intp]:
    """Nearest colour of each pixel, ties to the first."""
    distances = np.zeros((len(colours), len(pixels)))
    for channel in range(3):
        distances += (pixels[:, channel] - colours[:, channel, None]) ** 2
    return np.argmin(distances, axis=0)


def _dithered(rgb: Bytes, colours: Floats) -> Bytes:
    """Floyd-Steinberg error diffusion, many pixels at a time.

    A pixel waits for its left neighbour and for the three above it. So all pixels with the same
    ``t = column + 2 row`` can be done together; in memory they are a constant step apart.
    """
    height, width = rgb.shape[:2]
    # A row below and a column on either side take the errors that leave the image.
    pitch = width + 2
    work = np.zeros((height + 1, pitch, 3), dtype=np.float32)
    work[:height, 1:-1] = rgb
    flat = work.reshape(-1, 3)
    indices = np.zeros(len(flat), dtype=np.uint8)
    colours = colours.astype(np.float32)
    for t in range(width + 2 * (height - 1)):
        first, last = max(0, (t - width + 2) // 2), min(height - 1, t // 2)
        if first > last:
            continue
        start = first * width + t + 1
        stop = last * width + t + 2
        pixels = np.clip(flat[start:stop:width], 0.0, 255.0)
        nearest = _nearest(pixels, colours)
        indices[start:stop:width] = nearest
        error = pixels - colours[nearest]
        for down, right, share in DIFFUSION:
            shift = down * pitch + right
            flat[start + shift : stop + shift : width] += error * np.float32(share)
    return np.ascontiguousarray(indices.reshape(height + 1, pitch)[:height, 1:-1])
