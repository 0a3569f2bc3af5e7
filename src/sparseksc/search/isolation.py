"""Points that are far from all others, which a search leaves out."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from sparseksc._typing import Array, Booleans, Floats
from sparseksc.kernels import RBF, Kernel, Laplacian
from sparseksc.search.constants import (
    GROUP_MIN_POINTS,
    GROUP_REACH,
    ISOLATION_MIN_POINTS,
    ISOLATION_QUANTILE,
    ISOLATION_RATIO,
    MIN_CLUSTER_SHARE,
    REFERENCE_SIZE,
    TREE_MAX_FEATURES,
)
from sparseksc.search.graph import measured_points


def isolated_points(kernel: Kernel, X: Array, weights: Floats, seed: int) -> Booleans:
    """Whether a point is much farther from all others than nearly all of them are.

    Each such point would be a cluster of its own wherever the others are more than one. Points with
    many copies, or with neighbours at a similar distance, are a cluster, and not isolated. Where
    there are many features, the nearest of a sample is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.kernels import make_kernel
    >>> from sparseksc.search.isolation import isolated_points
    >>> X = np.r_[np.arange(50.0), 150.0, 150.0][:, None]
    >>> np.flatnonzero(isolated_points(make_kernel("rbf"), X, np.ones(52), 0))
    array([50, 51])
    """
    none = np.zeros(X.shape[0], dtype=bool)
    if not (isinstance(kernel, RBF | Laplacian) and isinstance(X, np.ndarray)):
        return none
    points, inverse = np.unique(X, axis=0, return_inverse=True)
    if len(points) < ISOLATION_MIN_POINTS:
        return none
    points, metric = measured_points(kernel, points)
    nearest = _nearest_distances(points, metric, seed)
    # Along a line, distances between neighbours differ far more than in a plane.
    times = ISOLATION_RATIO ** max(1.0, 2.0 / X.shape[1])
    far = np.flatnonzero(nearest > times * np.quantile(nearest, ISOLATION_QUANTILE))
    if len(far) == 0:
        return none
    apart = pairwise_distances(points[far], metric=metric)
    reach = GROUP_REACH * np.maximum(nearest[far, None], nearest[far])
    _, group = connected_components(sp.csr_array(apart <= reach), directed=False)
    mass = np.bincount(inverse.ravel(), weights)[far]
    cluster = max(GROUP_MIN_POINTS, MIN_CLUSTER_SHARE * weights.sum())
    isolated = np.zeros(len(points), dtype=bool)
    isolated[far] = np.bincount(group, mass)[group] < cluster
    return isolated[inverse.ravel()]


def _nearest_distances(points: Array, metric: str, seed: int) -> Floats:
    """Distance of each point to the nearest other one, or to the nearest of a sample."""
    n = len(points)
    others = np.arange(n)
    if points.shape[1] > TREE_MAX_FEATURES and n > REFERENCE_SIZE:
        others = np.sort(np.random.default_rng(seed).permutation(n)[:REFERENCE_SIZE])
    search = NearestNeighbors(n_neighbors=2, metric=metric).fit(points[others])
    distances, found = search.kneighbors(points)
    own = others[found[:, 0]] == np.arange(n)
    return np.where(own, distances[:, 1], distances[:, 0])
