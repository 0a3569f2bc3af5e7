"""Points that are far from all others, which a search leaves out."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from sparseksc._typing import Array, Booleans, Floats, Integers
from sparseksc.data.distinct import distinct_rows
from sparseksc.execution.threads import chunk_slices
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

#: Rows whose neighbours are looked for at once, so that they are not all copied.
QUERIES = 2048


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
    first, group = distinct_rows(X)
    if len(first) < ISOLATION_MIN_POINTS:
        return none
    nearest = _nearest_distances(kernel, X, first, seed)
    # Along a line, distances between neighbours differ far more than in a plane.
    times = ISOLATION_RATIO ** max(1.0, 2.0 / X.shape[1])
    far = np.flatnonzero(nearest > times * np.quantile(nearest, ISOLATION_QUANTILE))
    if len(far) == 0:
        return none
    points, metric = measured_points(kernel, X[first[far]])
    apart = pairwise_distances(points, metric=metric)
    reach = GROUP_REACH * np.maximum(nearest[far, None], nearest[far])
    _, cluster = connected_components(sp.csr_array(apart <= reach), directed=False)
    mass = np.bincount(group, weights)[far]
    enough = max(GROUP_MIN_POINTS, MIN_CLUSTER_SHARE * weights.sum())
    isolated = np.zeros(len(first), dtype=bool)
    isolated[far] = np.bincount(cluster, mass)[cluster] < enough
    return isolated[group]


def _nearest_distances(kernel: RBF | Laplacian, X: Array, rows: Integers, seed: int) -> Floats:
    """Distance of each of some rows to the nearest other one, or to the nearest of a sample."""
    n = len(rows)
    others = np.arange(n)
    if X.shape[1] > TREE_MAX_FEATURES and n > REFERENCE_SIZE:
        others = np.sort(np.random.default_rng(seed).permutation(n)[:REFERENCE_SIZE])
    points, metric = measured_points(kernel, X[rows[others]])
    search = NearestNeighbors(n_neighbors=2, metric=metric).fit(points)
    nearest = np.empty(n)
    for part in [slice(n)] if len(others) == n else chunk_slices(n, QUERIES):
        asked = points if len(others) == n else measured_points(kernel, X[rows[part]])[0]
        distances, found = search.kneighbors(asked)
        own = others[found[:, 0]] == np.arange(n)[part]
        nearest[part] = np.where(own, distances[:, 1], distances[:, 0])
    return nearest
