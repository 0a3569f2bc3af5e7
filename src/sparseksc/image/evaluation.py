r"""How well the boundaries of segments follow the edges of the image.

The edge strength e of a pixel is the length of the gradient of the slightly smoothed image in
the colour space CIELAB, where distances are as large as they look. It is turned into the
confidence that there is an edge, which weighs strength against the mean of all squares,

.. math:: c(x) = \frac{e(x)^2}{e(x)^2 + 4 \overline{e^2}}.

Boundaries should lie where there are edges (the precision P, the mean confidence along the boundary
B), and where there are edges there should be boundaries (the recall R, the share of all confidence
in the neighbourhood N(B)). As in the benchmark that compares boundaries with those of people, the
support is a mean of both, here with twice the weight on the precision, because most edges of a
image are texture:

.. math:: F_{0.5} = \frac{1.25\, P R}{0.25\, P + R}, \qquad
    P = \frac{1}{|B|} \sum_{x \in B} c(x), \qquad
    R = \frac{\sum_{x \in N(B)} c(x)}{\sum_x c(x)}.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from sparseksc.image.boundaries import Mask
from sparseksc.image.palette import Bytes

#: Standard deviation of the smoothing, in pixels.
SMOOTHING = 1.0
#: A boundary is near everything that is up to this many pixels away.
REACH = 3
#: Smallest number that is not zero.
TINY = float(np.finfo(np.float64).tiny)
#: Squared strength, in means of the image, at which an edge is as likely as not.
DOUBT = 4.0
#: What recall is worth beside precision.
BETA = 0.5


class Edges:
    """The edges of an image."""

    def __init__(self, rgb: Bytes) -> None:
        from skimage.color import rgb2lab

        squares = np.zeros(rgb.shape[:2])
        for channel in np.moveaxis(rgb2lab(rgb), 2, 0):
            smooth = ndimage.gaussian_filter(channel, SMOOTHING)
            for axis in (0, 1):
                if smooth.shape[axis] > 1:
                    squares += np.gradient(smooth, axis=axis) ** 2
        confidence = squares / np.maximum(squares + DOUBT * squares.mean(), TINY)
        self._confidence = confidence
        self._total = float(confidence.sum())
        # A boundary lies between two pixels, and may be drawn on either.
        self._along = ndimage.maximum_filter(confidence, 3)

    def support(self, drawn: Mask) -> float:
        """Return the support of a boundary map, at most 1; 0 where it or the image is empty."""
        if not drawn.any() or self._total == 0.0:
            return 0.0
        near = ndimage.maximum_filter(drawn, 2 * REACH + 1)
        precision = float(self._along[drawn].mean())
        recall = float(self._confidence[near].sum()) / self._total
        if precision * recall == 0.0:
            return 0.0
        return (1.0 + BETA**2) * precision * recall / (BETA**2 * precision + recall)
