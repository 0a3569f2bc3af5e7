"""Images of segments: their mean colours, their boundaries drawn on the image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from sparseksc.config.domains import check_integer
from sparseksc.image.boundaries import boundaries
from sparseksc.image.palette import Bytes


def drawn_over(
    rgb: Bytes,
    labels: NDArray[Any],
    *,
    fill: float,
    lines: bool,
    colour: tuple[int, int, int],
    thickness: int | None,
) -> Bytes:
    """Blend the image with the mean colours of its segments, and draw their boundaries."""
    if not 0.0 <= fill <= 1.0:
        raise ValueError(f"fill must be a number between 0 and 1, got {fill!r}.")
    if len(colour) != 3 or any(not 0 <= one <= 255 for one in colour):
        raise ValueError(f"colour must be three integers from 0 to 255, got {colour!r}.")
    if labels.ndim != 2:
        raise ValueError("Segments of a volume cannot be drawn as one image: draw its slices.")
    result = rgb
    if fill > 0.0:
        flat = mean_colours(rgb, labels)
        share = np.float32(fill)
        result = np.empty_like(flat)
        for row in range(len(flat)):
            result[row] = np.rint((1 - share) * rgb[row] + share * flat[row])
    if not lines:
        return result.copy()
    if thickness is None:
        thickness = 1 + int(np.hypot(*labels.shape) / 1000)
    return draw_boundaries(result, labels, colour, check_integer("thickness", thickness, 1))


def mean_colours(rgb: Bytes, labels: NDArray[Any]) -> Bytes:
    """Replace every pixel by the mean colour of its segment; below 0 it stays what it is."""
    flat = segment_colours(rgb, labels)[np.maximum(labels, 0)]
    return np.where(labels[:, :, None] < 0, rgb, flat) if labels.min() < 0 else flat


def segment_colours(rgb: Bytes, labels: NDArray[Any]) -> Bytes:
    """Mean colour of each segment, shape (n_segments, 3); black where one is empty."""
    flat, pixels = labels.ravel(), rgb.reshape(-1, 3)
    if flat.min() < 0:
        flat, pixels = flat[flat >= 0], pixels[flat >= 0]
    sizes = np.maximum(np.bincount(flat), 1)
    channels = [np.bincount(flat, pixels[:, channel]) / sizes for channel in range(3)]
    return np.rint(np.column_stack(channels)).astype(np.uint8)


def draw_boundaries(
    rgb: Bytes, labels: NDArray[Any], colour: tuple[int, int, int], thickness: int
) -> Bytes:
    """Draw the boundaries of the segments on a copy of the image."""
    lines = boundaries(labels)
    if thickness > 1 and lines.any():
        lines = ndimage.maximum_filter(lines, thickness)
    result = rgb.copy()
    result[lines] = colour
    return result
