r"""Small regions of an image: clusters of its pixels, with boundaries along its edges.

Every pixel is described by its smoothed colour in CIELAB, the local contrast (the standard
deviation of the lightness around it) and its position, and the pixels are clustered with the
landmarks kernel into more clusters than are wanted. A single edge has contrast around it too, a
ridge as wide as the window; a grey opening takes it away, so that contrast means texture. Smoothing
moves boundaries, so that a watershed of the gradient lays them along the edges again. Which regions
belong together is decided in :mod:`sparseksc.image.hierarchy`, by the evidence along their common
boundaries.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial import KDTree

from sparseksc._typing import Array
from sparseksc.estimator import KernelSpectralClustering
from sparseksc.execution.threads import ordered_map
from sparseksc.image.boundaries import Mask
from sparseksc.image.cleanup import remove_specks
from sparseksc.image.features import distinct_rows
from sparseksc.image.pixels import Channels

# Lengths are in pixels of an image of about 481 x 321. All of this was chosen on half of the images
# of benchmarks/segmentation.py, where each may be changed by a half with little effect.
#: Standard deviation of the smoothing of colours.
SMOOTHING = 2.0
#: Standard deviation of the window of the local contrast, and width of the ridges that it makes of
#: edges: two standard deviations on both sides.
CONTRAST_WINDOW, RIDGE = 3.0, 13
#: Difference in lightness that is worth as much as the longest side of the image.
POSITION_WEIGHT = 35.0
#: Clusters and landmarks.
CLUSTERS, LANDMARKS = 30, 600
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
    """Regions of an image, and the model whose clusters they come from.

    Attributes
    ----------
    labels : array of the shape of the image
        Region of each pixel from 0, -1 outside the mask.
    model : KernelSpectralClustering
    gradients : list of three arrays of the shape of the image
        Of the lightness, the colour and the local contrast.
    scores : array of shape (n_pixels, n_scores)
        Diffused scores of the pixels of the mask.
    votes : array of shape (n_landmarks, n_regions)
        Pixels of each region that are nearest to each landmark.
    """

    labels: Array
    model: KernelSpectralClustering
    gradients: list[FloatMap]
    scores: NDArray[Any]
    votes: NDArray[np.float64]


def find_regions(
    channels: Channels,
    mask: Mask,
    *,
    n_clusters: int,
    least: int,
    connected: bool,
    random_state: Any,
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
        Whether regions are the connected pieces of the clusters; otherwise position is no feature
        and regions are the clusters.
    random_state, n_jobs
        Of the model.
    """
    features = local_features(channels, POSITION_WEIGHT if connected else 0.0, n_jobs)
    rows = features[mask]
    model = KernelSpectralClustering(
        max(1, min(n_clusters, len(rows) // LEAST_PIXELS)),
        kernel="landmarks",
        max_rank=LANDMARKS,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    model = _fitted(model, rows)
    labels: Array = np.full(mask.shape, -1, dtype=np.int32)
    labels[mask] = model.labels_[: len(rows)]
    # Without connected pieces, a cluster of small ones is a region; specks go after the merges.
    labels = _pieces(labels, least if connected else 0, connected)
    edges = gradient(channels.values, 1.0, n_jobs)
    labels = snapped(labels, edges, mask)
    light = gradient(channels.lightness, FINE, n_jobs)
    maps = [
        light,
        gradient(channels.colour, FINE, n_jobs) if channels.has_colour else light,
        gradient(features[..., [channels.n_channels]], COARSE),
    ]
    nearest = KDTree(model.reduced_set_).query(rows, workers=-1 if n_jobs is None else n_jobs)[1]
    count = int(labels.max()) + 1
    cells = nearest * count + labels[mask]
    votes = np.bincount(cells, minlength=len(model.reduced_set_) * count)
    scores = diffused_scores(model, rows)
    return Regions(labels, model, maps, scores, votes.reshape(-1, count).astype(np.float64))


def _fitted(model: KernelSpectralClustering, rows: Array) -> KernelSpectralClustering:
    # The estimator refuses a single row, and more clusters than it can tell apart.
    twice = [0, 0] if len(rows) == 1 else slice(None)
    asked = model.get_params()["n_clusters"]
    model.set_params(n_clusters=min(asked, len(distinct_rows(rows).rows)))
    with warnings.catch_warnings():
        # Clusters are many on purpose: what it says of them is not for the user.
        warnings.simplefilter("ignore", UserWarning)
        return model.fit(rows[twice])


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


def diffused_scores(model: KernelSpectralClustering, rows: FloatMap) -> NDArray[Any]:
    """Scores of unit variance times the eigenvalues to the number of steps."""
    if model.n_clusters_ == 1:
        return np.zeros((len(rows), 1))
    scores = model.transform(rows)
    spread = np.maximum(scores.std(axis=0), np.finfo(np.float64).tiny)
    scores *= model.eigenvalues_**DIFFUSION_STEPS / spread
    return scores


def filled(values: NDArray[Any], mask: Mask) -> NDArray[Any]:
    """Give pixels outside the mask the values of the nearest one inside."""
    nearest = ndimage.distance_transform_edt(~mask, return_distances=False, return_indices=True)
    return values[tuple(nearest)]


def _pieces(labels: Array, least: int, connected: bool) -> Array:
    """Remove specks, and number the connected pieces of clusters, or the clusters, from 0."""
    from skimage import measure

    if least > 0:
        labels = remove_specks(labels, least, min(SPECK_WIDTH, *labels.shape) | 1)
    if connected:
        return np.asarray(measure.label(labels, background=-1, connectivity=1), dtype=np.int32) - 1
    numbers, inverse = np.unique(labels, return_inverse=True)
    return (inverse.reshape(labels.shape) - int(numbers[0] < 0)).astype(np.int32)


def snapped(labels: Array, edges: FloatMap, mask: Mask) -> Array:
    """Lay boundaries along the edges within reach: a watershed from the cores of the regions."""
    from skimage import segmentation

    width = 2 * REACH + 1
    core = ndimage.maximum_filter(labels, width) == ndimage.minimum_filter(labels, width)
    kept = np.zeros(int(labels.max()) + 2, dtype=bool)
    kept[labels[core & mask] + 1] = True
    # Regions too thin to have a core stay as they are.
    markers = np.where((core | ~kept[labels + 1]) & mask, labels + 1, 0)
    return np.asarray(segmentation.watershed(edges, markers, mask=mask), dtype=np.int32) - 1
