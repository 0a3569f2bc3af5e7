r"""Small regions of an image: clusters of its pixels, with boundaries along its edges.

Every pixel is described by its smoothed colour in CIELAB, the local contrast (the standard
deviation of the lightness around it) and its position, and the pixels are clustered with the
landmarks kernel into more clusters than are wanted. A single edge has contrast around it too, a
ridge as wide as the window; a grey opening takes it away, so that contrast means texture. Smoothing
moves boundaries, so that a watershed of the gradient lays them along the edges again.

Landmarks come from a sample, and another sample gives other clusters. So the pixels are clustered
several times, with other landmarks each, and regions are what all of them leave together: a
boundary that one clustering misses is found by another, and the false ones are merged away in
:mod:`sparseksc.image.hierarchy`, by the evidence along common boundaries. The samples are the same
for every call: an image has one segmentation.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial import KDTree

from sparseksc._typing import Array, Floats, Integers
from sparseksc.core.clusters.availability import TooManyClustersError
from sparseksc.estimator import KernelSpectralClustering
from sparseksc.execution.threads import ordered_map
from sparseksc.image.boundaries import Mask
from sparseksc.image.cleanup import find_specks
from sparseksc.image.features import distinct_rows
from sparseksc.image.pixels import Channels, enlarged, filled

# Lengths are in pixels of an image of about 481 x 321. All of this was chosen on half of the images
# of benchmarks/segmentation.py, where each may be changed by a half with little effect.
#: Standard deviation of the smoothing of colours.
SMOOTHING = 2.0
#: Standard deviation of the window of the local contrast, and width of the ridges that it makes of
#: edges: two standard deviations on both sides.
CONTRAST_WINDOW, RIDGE = 3.0, 13
#: Difference in lightness that is worth as much as the longest side of the image.
POSITION_WEIGHT = 35.0
#: Clusters and landmarks of each clustering.
CLUSTERS, LANDMARKS = 30, 600
#: Seeds of the samples of the clusterings.
SEEDS = (0, 1, 2, 3)
#: Clusterings take every second pixel of each axis, as colours are smooth, if so many are left for
#: each landmark.
PIXELS_PER_LANDMARK = 10
#: Pixels that a cluster has on average, at least.
LEAST_PIXELS = 25
#: A boundary may move by this many pixels to an edge.
REACH = 3
#: Pieces that hold no square of this width are mixtures along a boundary.
SPECK_WIDTH = 7
#: Scales of the gradients of colours and of the local contrast.
FINE, COARSE = 2.0, 4.0
#: Steps of the diffusion that weigh the scores.
DIFFUSION_STEPS = 4

FloatMap = NDArray[np.float32]


@dataclass(frozen=True)
class Regions:
    """Regions of an image, and the model of the first clustering they come from.

    Attributes
    ----------
    labels : array of the shape of the image
        Region of each pixel from 0, -1 outside the mask.
    model : KernelSpectralClustering
    gradients : list of three arrays of the shape of the image
        Of the lightness, the colour and the local contrast.
    colours : array of shape (n_regions, n_channels)
        Median of the channels of each region, not smoothed: what lies along its boundary, mixed
        with the other side, does not count.
    scores : array of shape (n_regions, n_scores)
        Sums of the diffused scores of the pixels of each region, of all clusterings side by side.
    votes : array of shape (n_landmarks, n_regions)
        Pixels of each region that are nearest to each landmark of the model.
    """

    labels: Array
    model: KernelSpectralClustering
    gradients: list[FloatMap]
    colours: Floats
    scores: Floats
    votes: Floats


def find_regions(
    channels: Channels,
    mask: Mask,
    *,
    n_clusters: int,
    least: int,
    connected: bool,
    n_jobs: int | None,
) -> Regions:
    """Cluster the pixels of the mask.

    Parameters
    ----------
    channels : Channels
    mask : array of the shape of the image, bool
    n_clusters : int
        Clusters, or fewer in a small image.
    least : int
        Pieces of fewer pixels are specks, if they are to be connected; 0 keeps all, thin ones too.
    connected : bool
        Whether regions are connected pieces; otherwise position is no feature, and regions are the
        clusters of one clustering.
    n_jobs : int or None
        Number of threads.
    """
    features = local_features(channels, POSITION_WEIGHT if connected else 0.0, n_jobs)
    rows, row_of_pixel = _thinned(features, mask)
    edges = gradient(channels.values, 1.0, n_jobs)
    n_clusters = max(1, min(n_clusters, int(mask.sum()) // LEAST_PIXELS))
    seeds = SEEDS if connected else SEEDS[:1]
    models = [_fitted(rows, n_clusters, seed, n_jobs) for seed in seeds]
    labels: Array = np.full(mask.shape, -1, dtype=np.int32)
    for model in models:
        found = np.where(mask, model.labels_[row_of_pixel], -1).astype(np.int32)
        if connected:
            found = _pieces(found, least, edges, mask)
        labels = _common_parts(labels, found, mask)
    if connected:
        labels = _without_slivers(_pieces(labels, least, edges, mask), least, edges, mask)
    else:
        # A cluster of small pieces is a region; specks go after the merges.
        labels = snapped(labels, edges, mask)
    light = gradient(channels.lightness, FINE, n_jobs)
    maps = [
        light,
        gradient(channels.colour, FINE, n_jobs) if channels.has_colour else light,
        gradient(features[..., [channels.n_channels]], COARSE),
    ]
    pixels = _table(labels[mask], row_of_pixel[mask], (int(labels.max()) + 1, len(rows)))
    scores = np.concatenate([diffused_scores(model, rows) for model in models], axis=1)
    points = models[0].reduced_set_
    nearest = KDTree(points).query(rows, workers=-1 if n_jobs is None else n_jobs)[1]
    votes = pixels @ _table(np.arange(len(rows)), nearest, (len(rows), len(points)))
    scores = pixels @ scores / np.sqrt(len(models))
    colours = [
        quantiles(one, labels[mask], pixels.shape[0], 0.5) for one in channels.values[mask].T
    ]
    return Regions(labels, models[0], maps, np.stack(colours, axis=1), scores, votes.toarray().T)


def quantiles(values: NDArray[Any], labels: Integers, n_labels: int, share: float) -> Floats:
    """Quantile of the values of each label, 0 for labels that none has.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image.regions import quantiles
    >>> quantiles(np.array([5.0, 1.0, 2.0, 9.0]), np.array([0, 2, 2, 2]), 4, 0.5).tolist()
    [5.0, 0.0, 2.0, 0.0]
    """
    order = np.lexsort((values, labels))
    sizes = np.bincount(labels, minlength=n_labels)
    places = np.cumsum(sizes) - sizes + (share * np.maximum(sizes - 1, 0)).astype(np.intp)
    found = np.zeros(n_labels)
    found[sizes > 0] = values[order][places[sizes > 0]]
    return found


def _table(first: Array, second: Any, shape: tuple[int, int]) -> Any:
    """How often each pair of numbers occurs, a sparse matrix."""
    return sp.csr_array((np.ones(len(first)), (first, second)), shape=shape)


def _thinned(features: FloatMap, mask: Mask) -> tuple[Array, Integers]:
    """Pixels that are clustered, and the row of the one that stands for each pixel of the mask."""
    halved = mask[(slice(None, None, 2),) * mask.ndim]
    step = 2 if np.count_nonzero(halved) >= PIXELS_PER_LANDMARK * LANDMARKS else 1
    every = (slice(None, None, step),) * mask.ndim
    thinned = mask[every]
    numbers = np.full(thinned.shape, -1)
    numbers[thinned] = np.arange(np.count_nonzero(thinned))
    row_of_pixel: Integers = enlarged(numbers, step, mask.shape)
    if (row_of_pixel[mask] < 0).any():
        row_of_pixel = filled(row_of_pixel, row_of_pixel >= 0)
    return features[every][thinned], row_of_pixel


def _common_parts(labels: Array, others: Array, mask: Mask) -> Array:
    """Regions of pixels that share both labels, from 0; -1 outside the mask."""
    return _renumbered((labels.astype(np.int64) + 1) * (int(others.max()) + 1) + others, mask)


def _fitted(
    rows: Array, n_clusters: int, seed: int, n_jobs: int | None
) -> KernelSpectralClustering:
    model = KernelSpectralClustering(
        # The estimator refuses more clusters than there are rows, and a single row.
        min(n_clusters, len(distinct_rows(rows).rows)),
        kernel="landmarks",
        max_rank=LANDMARKS,
        random_state=seed,
        n_jobs=n_jobs,
    )
    with warnings.catch_warnings():
        # Clusters are many on purpose: what it says of them is not for the user.
        warnings.simplefilter("ignore", UserWarning)
        try:
            return model.fit(rows[[0, 0]] if len(rows) == 1 else rows)
        except TooManyClustersError as error:  # of a few flat colours, without positions
            return model.set_params(n_clusters=error.available).fit(rows)


def local_features(channels: Channels, position_weight: float, n_jobs: int | None) -> FloatMap:
    """Return smoothed channels, local contrast without edges and position of each pixel.

    Shape (..., n_channels + 1 + n_dimensions); the last ones are left out for a weight of 0.
    """
    smooth = _each(lambda one: ndimage.gaussian_filter(one, SMOOTHING), channels.values, n_jobs)
    light = channels.lightness.mean(axis=-1)
    mean = ndimage.gaussian_filter(light, CONTRAST_WINDOW)
    square = ndimage.gaussian_filter(light * light, CONTRAST_WINDOW)
    contrast = np.sqrt(np.maximum(square - mean * mean, 0.0))
    width = tuple(min(RIDGE, size) for size in contrast.shape)
    parts = [*smooth, ndimage.grey_opening(contrast, width)]
    if position_weight > 0.0:
        scale = position_weight / max(light.shape)
        parts += list(np.indices(light.shape, dtype=np.float32) * np.float32(scale))
    return np.stack(parts, axis=-1).astype(np.float32)


def gradient(values: FloatMap, scale: float, n_jobs: int | None = 1) -> FloatMap:
    """Length of the gradient of all channels together, at a scale in pixels, times that scale."""

    def squared(one: FloatMap) -> FloatMap:
        found = ndimage.gaussian_gradient_magnitude(one, scale, truncate=3.0)
        return np.asarray(found * found, dtype=np.float32)

    total = sum(_each(squared, values, n_jobs))
    return np.sqrt(total).astype(np.float32) * np.float32(scale)


def _each(work: Any, values: FloatMap, n_jobs: int | None) -> list[FloatMap]:
    channels = [np.ascontiguousarray(one) for one in np.moveaxis(values, -1, 0)]
    return list(ordered_map(work, channels, n_jobs))


def diffused_scores(model: KernelSpectralClustering, rows: Array) -> NDArray[Any]:
    """Scores of unit variance times the eigenvalues to the number of steps."""
    if model.n_clusters_ == 1:
        return np.zeros((len(rows), 1))
    scores = model.transform(rows)
    spread = np.maximum(scores.std(axis=0), np.finfo(np.float64).tiny)
    scores *= model.eigenvalues_**DIFFUSION_STEPS / spread
    return scores


def _pieces(labels: Array, least: int, edges: FloatMap, mask: Mask) -> Array:
    """Take connected pieces with boundaries along edges, from 0; specks become parts of others.

    What lies between the forms that two clusterings give to a boundary is a speck, too: the edges
    decide where it goes.
    """
    pieces, specks = pieces_and_specks(labels, least)
    result = snapped(np.where(specks, 0, pieces) - 1, edges, mask)
    if (result[mask] < 0).any():  # a part of the mask that is all specks
        result = np.where(mask, filled(result, result >= 0), -1)
    return _renumbered(result, mask)


def pieces_and_specks(labels: Array, least: int) -> tuple[Array, Mask]:
    """Pieces, numbered from 1, and whether a pixel is of one that is too small or too thin.

    Where all are too thin, none is for that; where all are too small, the largest one is not.
    """
    inside = labels >= 0
    width = min(SPECK_WIDTH, *labels.shape) | 1 if least > 0 else 1
    pieces, specks = find_specks(labels, least, width)
    if (specks | ~inside).all():
        pieces, specks = find_specks(labels, least, 1)
    if (specks | ~inside).all():
        specks &= pieces != np.bincount(pieces[inside]).argmax()
    return pieces, specks


def without_specks(labels: Array, least: int) -> Array:
    """Give the pixels of specks the label of the nearest piece that is none."""
    specks = pieces_and_specks(labels, least)[1]
    outside = labels < 0
    return np.where(outside, labels, filled(labels, ~(specks | outside)))


def _renumbered(labels: Array, mask: Mask) -> Array:
    """Numbers from 0 without gaps; -1 outside the mask."""
    result: Array = np.full(mask.shape, -1, dtype=np.int32)
    result[mask] = np.unique(labels[mask], return_inverse=True)[1]
    return result


def _without_slivers(labels: Array, least: int, edges: FloatMap, mask: Mask) -> Array:
    """Give what the watershed left of some regions to the neighbours on their side of the edges."""
    from skimage import segmentation

    slivers = pieces_and_specks(labels, least)[1]
    markers = np.where(slivers, 0, labels + 1)
    flooded = segmentation.watershed(edges, markers, mask=mask) - 1
    return _renumbered(np.where(flooded >= 0, flooded, labels), mask)


def core(labels: Array) -> Mask:
    """Pixels within whose reach there is one region only."""
    width = 2 * REACH + 1
    highest, lowest = ndimage.maximum_filter(labels, width), ndimage.minimum_filter(labels, width)
    return np.asarray(highest == lowest)


def snapped(labels: Array, edges: FloatMap, mask: Mask) -> Array:
    """Lay boundaries along the edges within reach: a watershed from the cores of the regions."""
    from skimage import segmentation

    inner = core(labels) & mask
    kept = np.zeros(int(labels.max()) + 2, dtype=bool)
    kept[labels[inner] + 1] = True
    # Regions too thin to have a core stay as they are.
    markers = np.where((inner | ~kept[labels + 1]) & mask, labels + 1, 0)
    return np.asarray(segmentation.watershed(edges, markers, mask=mask), dtype=np.int32) - 1
