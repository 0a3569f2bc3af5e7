"""Images of segments: their mean colours, their boundaries drawn on the image."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from sparseksc.image.boundaries import boundaries
from sparseksc.image.palette import Bytes


def mean_colours(rgb: Bytes, labels: NDArray[Any]) -> Bytes:
    """Replace every pixel by the mean colour of its segment."""
    return segment_colours(rgb, labels)[labels]


def segment_colours(rgb: Bytes, labels: NDArray[Any]) -> Bytes:
    """Mean colour of each segment, shape (n_segments, 3); black where one is empty."""
    flat = labels.ravel()
    sizes = np.maximum(np.bincount(flat), 1)
    channels = [np.bincount(flat, rgb[:, :, channel].ravel()) / sizes for channel in range(3)]
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
