"""Segments of an image with one call."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseksc.config.checks import check_bandwidth
from sparseksc.config.domains import Seed, check_integer, check_value
from sparseksc.estimator import KernelSpectralClustering
from sparseksc.execution.progress import progress_bar
from sparseksc.execution.threads import ordered_map
from sparseksc.image.cleanup import remove_specks
from sparseksc.image.features import PixelFeatures, distinct_rows
from sparseksc.image.histograms import check_window
from sparseksc.image.overlay import draw_boundaries, mean_colours
from sparseksc.image.palette import Bytes, check_levels, minimum_variance_palette, quantise
from sparseksc.image.pixels import as_rgb, reduced
from sparseksc.image.selection import choose

#: Images of up to this many pixels are used as they are; larger ones are trained on a reduced
#: copy of about this size, and windows grow with the image.
TRAINING_PIXELS = 400_000
#: Specks below this share of the pixels are removed.
SPECK_SHARE = 0.0005
#: Pixels that are labelled together.
BAND_PIXELS = 100_000


@dataclass(frozen=True)
class Segmentation:
    """Segments of an image.

    Attributes
    ----------
    labels : array of shape (height, width), uint8
        Segment of each pixel, numbered from 0, the largest, without gaps.
    model : KernelSpectralClustering
        Fitted on the histograms of the pixels, those of all windows side by side.
    clusters : array of shape (n_segments,)
        The cluster of the model that each segment comes from: the removal of specks can change
        which is the largest, and leave nothing of a cluster.
    image : array of shape (height, width, 3), uint8
        The image as it was seen.
    palette : array of shape (n_colours, 3), uint8
        The colours that the histograms count.
    """

    labels: NDArray[np.uint8]
    model: KernelSpectralClustering
    clusters: NDArray[np.intp]
    image: Bytes
    palette: Bytes

    @property
    def n_segments(self) -> int:
        """Number of segments."""
        return len(self.clusters)

    def overlay(
        self,
        *,
        fill: float = 0.5,
        boundaries: bool = True,
        colour: tuple[int, int, int] = (255, 0, 0),
        thickness: int | None = None,
    ) -> Bytes:
        """Draw the segments on the image.

        Parameters
        ----------
        fill : float, default=0.5
            From 0, the image, to 1, the mean colour of each segment.
        boundaries : bool, default=True
            Whether to draw the boundaries.
        colour : tuple of three int, default=(255, 0, 0)
            Of the boundaries.
        thickness : int, optional
            Of the boundaries in pixels; grows with the image by default.

        Returns
        -------
        array of shape (height, width, 3), uint8
        """
        if not 0.0 <= fill <= 1.0:
            raise ValueError(f"fill must be a number between 0 and 1, got {fill!r}.")
        result = self.image
        if fill > 0.0:
            flat = mean_colours(self.image, self.labels)
            share = np.float32(fill)
            result = np.empty_like(flat)
            for row in range(len(flat)):
                result[row] = np.rint((1 - share) * self.image[row] + share * flat[row])
        if not boundaries:
            return result.copy()
        if thickness is None:
            thickness = 1 + int(np.hypot(*self.labels.shape) / 1000)
        return draw_boundaries(
            result, self.labels, colour, check_integer("thickness", thickness, 1)
        )


def segment(
    image: Any,
    n_segments: int | Iterable[int] | str = "auto",
    *,
    bandwidth: float | Sequence[float] | str = "auto",
    levels: int = 8,
    windows: int | Sequence[int] = (3, 5),
    dither: bool = False,
    clean_up: int | str = "auto",
    max_rank: int = 100,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Segmentation:
    r"""Segment an image by the colours around each pixel.

    The image is quantised to a few colours; every pixel is described by the histogram of the
    colours in windows around it; the histograms are clustered with the kernel
    :math:`\exp(-\chi^2(x, y) / h)`, :math:`\chi^2(x, y) = \frac12 \sum_c (x_c - y_c)^2 / (x_c +
    y_c)`. All pixels take part in the training: equal histograms are one point with the number of
    its pixels as weight. Images of more than 400,000 pixels are trained on a reduced copy, and
    labelled in bands with windows that grow with the image.

    Parameters
    ----------
    image : path, PIL image or array
        Arrays have the shape (height, width) or (height, width, channels): grey, RGB or RGBA, of
        bytes, 16-bit integers, or floats between 0 and 1. Opacity is laid over white.
    n_segments : int, list of int or "auto", default="auto"
        Number of segments, or candidates. "auto" are 2 to 5, and 1 for an image of one colour.
        Fewer may be left after ``clean_up``, with a warning.
    bandwidth : float, list of float or "auto", default="auto"
        Bandwidth h of the kernel, or candidates. The distance is at most 1.
    levels : int, default=8
        Number of colours.
    windows : int or tuple of int, default=(3, 5)
        Widths of the windows, odd; their histograms have the same weight.
    dither : bool, default=False
        Whether the quantisation diffuses its errors, as in the paper.
    clean_up : int or "auto", default="auto"
        Pieces of fewer pixels go to the nearest other piece, and so do those that are nowhere as
        wide as the widest window; 0 keeps all. "auto" is 0.05 % of the pixels.
    max_rank : int, default=100
        Largest number of pivots.
    random_state : int, RandomState instance or None, default=None
        Seed of the sample that pivots are looked for in.
    n_jobs : int or None, default=None
        Number of threads, all cores for None. The result does not depend on it.
    verbose : int, default=0
        Show progress bars where it is positive, on a terminal and for what takes more than two
        seconds.

    Returns
    -------
    Segmentation
        With ``labels``, the fitted ``model`` and ``overlay()``.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image import segment
    >>> image = np.zeros((40, 60, 3), dtype=np.uint8)
    >>> image[:, :20], image[:20, 20:] = (200, 40, 40), (40, 60, 220)
    >>> result = segment(image, random_state=0)
    >>> result.n_segments, result.labels.shape, result.overlay().shape
    (3, (40, 60), (40, 60, 3))
    """
    candidates = _candidates(n_segments)
    bandwidths = _bandwidths(bandwidth)
    sizes = _windows(windows)
    levels, max_rank = check_levels(levels), check_integer("max_rank", max_rank, 1)
    check_value("random_state", random_state, Seed())
    _least_piece(clean_up, 0)
    rgb = as_rgb(image)
    least = _least_piece(clean_up, rgb.shape[0] * rgb.shape[1])
    scale = max(1, int(np.sqrt(rgb.shape[0] * rgb.shape[1] / TRAINING_PIXELS)))
    small = reduced(rgb, scale)
    palette = minimum_variance_palette(small, levels)
    features = PixelFeatures(quantise(small, palette, dither=dither), levels, sizes)
    pixels = distinct_rows(features.band(0, len(small)))
    model = choose(
        small,
        pixels,
        candidates,
        bandwidths,
        speck_width=max(sizes),
        max_rank=max_rank,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=verbose > 0,
    )
    if scale == 1:
        wide = sizes
        labels = model.labels_.astype(np.uint8)[pixels.inverse].reshape(rgb.shape[:2])
    else:
        wide = tuple(scale * size // 2 * 2 + 1 for size in sizes)
        features = PixelFeatures(quantise(rgb, palette, dither=dither), levels, wide)
        labels = _labels_in_bands(model, features, n_jobs, verbose > 0)
    if least > 0:
        labels = remove_specks(labels, least, max(wide))
    labels, clusters = _numbered_by_size(labels)
    if candidates is not None and len(clusters) < candidates[0]:
        left = " that are more than specks (see clean_up)" if least > 0 else ""
        warnings.warn(
            f"{candidates[0]} segments asked for, but the image has {len(clusters)}{left}.",
            stacklevel=2,
        )
    return Segmentation(labels, model, clusters, rgb, palette)


def _numbered_by_size(labels: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """Renumber the segments, the largest first, and return their old numbers too."""
    sizes = np.bincount(labels.ravel())
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    numbers = np.zeros(len(sizes), np.uint8)
    numbers[order] = np.arange(len(order))
    return numbers[labels], order


def _labels_in_bands(
    model: KernelSpectralClustering, features: PixelFeatures, n_jobs: int | None, progress: bool
) -> NDArray[np.uint8]:
    height, width = features.indices.shape
    labels = np.empty((height, width), dtype=np.uint8)
    step = max(1, BAND_PIXELS // width)
    starts = range(0, height, step)
    fitted = model.model_

    def work(first: int) -> NDArray[np.uint8]:
        band = features.band(first, min(first + step, height))
        return fitted.labels(band, 1).astype(np.uint8).reshape(-1, width)

    bar = progress_bar(len(starts), "labels", "band", shown=progress)
    for first, band in zip(starts, ordered_map(work, starts, n_jobs), strict=True):
        labels[first : first + len(band)] = band
        bar.update()
    bar.close()
    return labels


def _candidates(value: Any) -> list[int] | None:
    """Numbers of segments to look at; None for "auto"."""
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(
                f"n_segments must be an integer, a list of them or 'auto', got {value!r}."
            )
        return None
    if isinstance(value, Iterable):
        found = sorted({check_integer("n_segments", one, 1) for one in value})
        if not found:
            raise ValueError("n_segments must not be an empty list of candidates.")
    else:
        found = [check_integer("n_segments", value, 1, ", a list of them or 'auto'")]
    if found[-1] > 255:
        raise ValueError(f"n_segments must be at most 255, got {found[-1]}.")
    return found


def _bandwidths(value: Any) -> list[float] | None:
    """Bandwidths to look at; None for "auto"."""
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(
                f"bandwidth must be a number, a list of them or 'auto', got {value!r}."
            )
        return None
    several = isinstance(value, Iterable)
    found = [check_bandwidth("bandwidth", one, 1) for one in (value if several else [value])]
    if not found:
        raise ValueError("bandwidth must not be an empty list of candidates.")
    return [float(one) for one in found if isinstance(one, float)]


def _windows(value: Any) -> tuple[int, ...]:
    sizes = tuple(value) if isinstance(value, Iterable) else (value,)
    if not sizes:
        raise ValueError("windows must name at least one window.")
    return tuple(check_window(size) for size in sizes)


def _least_piece(value: Any, n_pixels: int) -> int:
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"clean_up must be an integer or 'auto', got {value!r}.")
        return max(1, int(SPECK_SHARE * n_pixels))
    return check_integer("clean_up", value, 0, " or 'auto'")
