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

from sparseksc._typing import Floats
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

#: From linear red, green and blue to the tristimulus values X, Y, Z, each divided by that of
#: white (D65).
TRISTIMULUS = np.array(
    [
        [0.412453 / 0.95047, 0.357580 / 0.95047, 0.180423 / 0.95047],
        [0.212671, 0.715160, 0.072169],
        [0.019334 / 1.08883, 0.119193 / 1.08883, 0.950227 / 1.08883],
    ]
)


def lightness_and_colour(rgb: Bytes) -> Floats:
    """Return the image in CIELAB: L from 0 to 100, and the opponent colours a and b.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image.evaluation import lightness_and_colour
    >>> lightness_and_colour(np.array([[[255, 255, 255], [255, 0, 0]]], np.uint8)).round() + 0.0
    array([[[100.,   0.,   0.],
            [ 53.,  80.,  67.]]])
    """
    value = np.arange(256) / 255.0
    linear = np.where(value > 0.04045, ((value + 0.055) / 1.055) ** 2.4, value / 12.92)
    stimulus = linear[rgb] @ TRISTIMULUS.T
    edge = 6.0 / 29.0
    response = np.where(
        stimulus > edge**3, np.cbrt(stimulus), stimulus / (3.0 * edge**2) + 4.0 / 29.0
    )
    x, y, z = np.moveaxis(response, 2, 0)
    return np.stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)], axis=2)


class Edges:
    """The edges of an image."""

    def __init__(self, rgb: Bytes) -> None:
        squares = np.zeros(rgb.shape[:2])
        for channel in np.moveaxis(lightness_and_colour(rgb), 2, 0):
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
