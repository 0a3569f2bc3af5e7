"""Segments of an image with one call."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from sparseksc._typing import Integers
from sparseksc.config.domains import Flag, Integer, Seed, check_integer, check_value
from sparseksc.estimator import KernelSpectralClustering
from sparseksc.image.cleanup import numbered_by_size, remove_specks
from sparseksc.image.hierarchy import Levels, merge_regions, region_graph
from sparseksc.image.overlay import drawn_over
from sparseksc.image.palette import Bytes, check_levels
from sparseksc.image.pixels import as_rgb, enlarged, read_image
from sparseksc.image.regions import (
    CLUSTERS,
    POSITION_WEIGHT,
    find_regions,
    gradient,
    local_features,
    snapped,
    without_specks,
)
from sparseksc.image.selection import check_bandwidths, check_windows, histogram_segments

#: Specks below this share of the pixels are removed.
SPECK_SHARE = 0.0005

Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Segmentation:
    """Segments of an image.

    Attributes
    ----------
    labels : array of the shape of the image, int32
        Segment of each pixel, numbered from 0, the largest, without gaps; -1 outside the mask.
    model : KernelSpectralClustering
        Fitted on the features of the pixels; for local features the first of several, on every
        second pixel of each axis where the image is large enough.
    image : array of shape (height, width, 3), uint8
        The image as it is shown; a volume has (depth, height, width, 3).
    levels : Levels or None
        All levels; None for histograms, which have one.
    level : int
        Of ``levels``: the number of segments before the removal of specks.
    clusters : array of shape (n_segments,), or None
        For histograms, the cluster of the model that each segment comes from: the removal of specks
        can change which is the largest, and leave nothing of a cluster.
    palette : array of shape (n_colours, 3), uint8, or None
        The colours that histograms count.
    """

    labels: Labels
    model: KernelSpectralClustering
    image: Bytes
    levels: Levels | None = None
    level: int = 1
    clusters: NDArray[np.intp] | None = None
    palette: Bytes | None = None

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.labels.shape))
        return f"<Segmentation: {self.n_segments} segments, {size} pixels>"

    @property
    def n_segments(self) -> int:
        """Number of segments."""
        return int(self.labels.max()) + 1

    def at(self, n_segments: int) -> Segmentation:
        """Return the level of another number of segments, without fitting again.

        Levels are nested: each has two of the segments of the next finer one merged. With
        ``connected=False``, fewer may be found, with a warning, as specks are removed afterwards.

        Parameters
        ----------
        n_segments : int

        Returns
        -------
        Segmentation
        """
        levels = self._require_levels("at")
        found = levels.hierarchy.numbers
        n_segments = check_integer("n_segments", n_segments, 1)
        if n_segments not in found:
            raise ValueError(
                f"{n_segments} segments asked for, but the image has from {found[0]} to "
                f"{found[-1]}; segment(image, {n_segments}) looks for more."
            )
        level = levels.level_of(n_segments)
        result = replace(self, labels=numbered_by_size(levels.labels(level))[0], level=level)
        if result.n_segments < n_segments:
            _warn_of_fewer(n_segments, result, levels.least)
        return result

    def transform(self, image: Any) -> Labels:
        """Label a second image with these segments: the next frame of a video, another slice.

        Every pixel gets the segment that most pixels of the first image have whose features are
        nearest to the same landmark of the model. Position is one of the features.

        Parameters
        ----------
        image : path, PIL image or array
            Of the kind of the first.

        Returns
        -------
        array of the shape of the image, int32
        """
        levels = self._require_levels("transform")
        read = read_image(image, levels.channel_axis, scaling=levels.scaling)
        channels = read.channels
        if read.mask.ndim != levels.mask.ndim:
            raise ValueError(
                f"The image has {read.mask.ndim} dimensions beside the channels, and the first "
                f"has {levels.mask.ndim}."
            )
        features = local_features(channels, levels.position_weight, None)
        landmarks = self.model.reduced_set_
        nearest = KDTree(landmarks).query(features, workers=-1)[1]
        segments = self._segment_of_each_landmark(levels)[nearest].astype(np.int32)
        if levels.least > 0:
            segments = without_specks(segments, levels.least)
        segments = snapped(segments, gradient(channels.values, 1.0), read.inside)
        return enlarged(segments, read.scale, read.mask.shape)

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
        return drawn_over(
            self.image, self.labels, fill=fill, lines=boundaries, colour=colour, thickness=thickness
        )

    def _require_levels(self, name: str) -> Levels:
        if self.levels is None:
            raise ValueError(f"{name} needs features='local': histograms have one level.")
        return self.levels

    def _segment_of_each_landmark(self, levels: Levels) -> Integers:
        """Segment of most pixels near each landmark, in the numbers of ``labels``."""
        cut = levels.hierarchy.cut(self.level)
        votes = levels.regions.votes @ np.eye(self.level)[cut]
        order = numbered_by_size(levels.labels(self.level))[1]
        return votes[:, order].argmax(axis=1)


def segment(
    image: Any,
    n_segments: int | Iterable[int] | str = "auto",
    *,
    features: str = "local",
    connected: bool = True,
    mask: Any = None,
    channel_axis: int | str | None = "auto",
    clean_up: int | str = "auto",
    bandwidth: float | Sequence[float] | str | None = None,
    levels: int | None = None,
    windows: int | Sequence[int] | None = None,
    dither: bool | None = None,
    max_rank: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Segmentation:
    r"""Segment an image.

    With the features "local", the pixels are clustered by their smoothed colour in CIELAB, the
    contrast around them and their position, with the landmarks kernel, several times, and small
    regions are what all clusterings leave together (:mod:`sparseksc.image.regions`). Regions are
    then merged, those first whose common boundary has the least evidence, and the level is taken
    whose boundaries explain the evidence best (:mod:`sparseksc.image.hierarchy`).

    With "histogram", as in the paper, the image is quantised to a few colours and every pixel is
    described by the histogram of the colours in windows around it, with the kernel
    :math:`\exp(-\chi^2(x, y) / h)`, :math:`\chi^2(x, y) = \frac12 \sum_c (x_c - y_c)^2 / (x_c +
    y_c)`. All pixels take part in the training.

    Large images are analysed in a reduced copy.

    Parameters
    ----------
    image : path, PIL image or array
        Arrays have the shape (height, width) or (height, width, channels): grey, RGB or RGBA, of
        bytes, 16-bit integers, or floats between 0 and 1. Opacity is laid over white. For others,
        see ``channel_axis``.
    n_segments : int, list of int or "auto", default="auto"
        Number of segments, or candidates. "auto" is any number; for histograms, 2 to 5.
        Fewer may be found, with a warning.
    features : {"local", "histogram"}, default="local"
        What describes a pixel.
    connected : bool, default=True
        Whether every segment is in one piece. Otherwise position is no feature, and pieces of the
        same cluster are one segment.
    mask : array of the shape of the image, bool, default=None
        Pixels to segment; the others have the label -1 and no effect, and may be NaN in arrays of
        channels.
    channel_axis : int, None or "auto", default="auto"
        For arrays of any numbers: the axis of the channels, such as the bands of a hyperspectral
        image, or None for a single channel. An image has two axes beside it, a volume three. "auto"
        takes an array for a grey or colour image.
    clean_up : int or "auto", default="auto"
        Pieces of fewer pixels are no regions of their own, nor are those that are nowhere as wide
        as 7 pixels, or as the widest window; 0 keeps all. "auto" is 0.05 % of the pixels.
    bandwidth : float, list of float or "auto", default=None
        Of histograms: bandwidth h of the kernel, or candidates. The distance is at most 1. None is
        "auto".
    levels : int, default=None
        Of histograms: number of colours, 8 for None.
    windows : int or tuple of int, default=None
        Of histograms: widths of the windows, odd, with the same weight; (3, 5) for None.
    dither : bool, default=None
        Of histograms: whether the quantisation diffuses its errors, as in the paper.
    max_rank : int, default=None
        Of histograms: largest number of pivots, 100 for None.
    random_state : int, RandomState instance or None, default=None
        Of histograms: seed of the samples. Local features take the same samples each time: an image
        has one segmentation.
    n_jobs : int or None, default=None
        Number of threads, all cores for None. The result does not depend on it.
    verbose : int, default=0
        Show progress bars where it is positive, on a terminal and for what takes more than two
        seconds.

    Returns
    -------
    Segmentation
        With ``labels``, the fitted ``model``, ``overlay()``, and ``at(n_segments)``, another level.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image import segment
    >>> image = np.zeros((40, 60, 3), dtype=np.uint8)
    >>> image[:, :20], image[:20, 20:] = (200, 40, 40), (40, 60, 220)
    >>> result = segment(image)
    >>> result.n_segments, result.labels.shape, result.overlay().shape
    (3, (40, 60), (40, 60, 3))
    >>> result.at(2).n_segments
    2
    """
    candidates = _candidates(n_segments)
    check_value("connected", connected, Flag())
    check_value("random_state", random_state, Seed())
    check_value("n_jobs", n_jobs, Integer(1, (None, -1), " (or -1 or None for all cores)"))
    _least_piece(clean_up, 0)
    options = {
        "bandwidth": bandwidth,
        "levels": levels,
        "windows": windows,
        "dither": dither,
        "max_rank": max_rank,
    }
    common = {"random_state": random_state, "n_jobs": n_jobs}
    if features == "histogram":
        if mask is not None or channel_axis != "auto" or connected is not True:
            raise ValueError("mask, channel_axis and connected need features='local'.")
        found = _by_histograms(image, candidates, clean_up, options, verbose > 0, common)
    elif features == "local":
        for name, value in options.items():
            if value is not None:
                raise ValueError(f"{name} needs features='histogram', got features='local'.")
        found = _by_regions(image, candidates, clean_up, connected, mask, channel_axis, n_jobs)
    else:
        raise ValueError(f"features must be 'local' or 'histogram', got {features!r}.")
    if candidates is not None and found.n_segments < candidates[0]:
        _warn_of_fewer(candidates[0], found, clean_up)
    if candidates is not None and found.n_segments > candidates[-1]:
        warnings.warn(
            f"{candidates[-1]} segment{'s' * (candidates[-1] != 1)} asked for, but the mask is in "
            f"{found.n_segments} pieces (see connected).",
            stacklevel=2,
        )
    return found


def _warn_of_fewer(asked: int, found: Segmentation, clean_up: int | str) -> None:
    left = " that are more than specks (see clean_up)" if clean_up != 0 else ""
    warnings.warn(
        f"{asked} segments asked for, but the image has {found.n_segments}{left}.", stacklevel=3
    )


def _by_regions(
    image: Any,
    candidates: list[int] | None,
    clean_up: int | str,
    connected: bool,
    mask: Any,
    channel_axis: int | str | None,
    n_jobs: int | None,
) -> Segmentation:
    read = read_image(image, channel_axis, mask)
    channels, small, scale = read.channels, read.inside, read.scale
    if candidates is not None and candidates[0] > 1 and not np.ptp(channels.values[small], 0).any():
        raise ValueError(f"{candidates[0]} segments asked for, but the image has 1 colour.")
    least = _least_piece(clean_up, read.mask.size) // scale**read.mask.ndim
    regions = find_regions(
        channels,
        small,
        n_clusters=max(CLUSTERS, *(candidates or [1])),
        least=least,
        connected=connected,
        n_jobs=n_jobs,
    )
    evidence = regions.labels, regions.gradients, regions.colours, regions.scores
    graph = region_graph(*evidence, connected=connected)
    hierarchy = merge_regions(graph, connected=connected)
    weight = POSITION_WEIGHT if connected else 0.0
    found = Levels(
        regions, hierarchy, scale, read.mask, least, weight, channel_axis, channels.scaling
    )
    level, available = hierarchy.unattended, hierarchy.numbers
    if candidates is not None:
        # The nearest there is, where none of those asked for is.
        numbers = {min(max(n, available[0]), available[-1]) for n in candidates}
        level = hierarchy.best([found.level_of(n) for n in numbers])
    labels = numbered_by_size(found.labels(level))[0]
    return Segmentation(labels, regions.model, read.shown, found, level)


def _by_histograms(
    image: Any,
    candidates: list[int] | None,
    clean_up: int | str,
    options: dict[str, Any],
    progress: bool,
    common: dict[str, Any],
) -> Segmentation:
    given = {name: value for name, value in options.items() if value is not None}
    bandwidths = check_bandwidths(given.get("bandwidth", "auto"))
    windows = check_windows(given.get("windows", (3, 5)))
    levels = check_levels(given.get("levels", 8))
    max_rank = check_integer("max_rank", given.get("max_rank", 100), 1)
    rgb = as_rgb(image)
    found = histogram_segments(
        rgb,
        candidates,
        bandwidths,
        levels=levels,
        windows=windows,
        dither=bool(given.get("dither", False)),
        max_rank=max_rank,
        progress=progress,
        **common,
    )
    labels, least = (
        found.labels.astype(np.int32),
        _least_piece(clean_up, rgb.shape[0] * rgb.shape[1]),
    )
    if least > 0:
        labels = remove_specks(labels, least, max(found.windows))
    labels, clusters = numbered_by_size(labels)
    return Segmentation(labels, found.model, rgb, clusters=clusters, palette=found.palette)


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


def _least_piece(value: Any, n_pixels: int) -> int:
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"clean_up must be an integer or 'auto', got {value!r}.")
        return max(1, int(SPECK_SHARE * n_pixels))
    return check_integer("clean_up", value, 0, " or 'auto'")
