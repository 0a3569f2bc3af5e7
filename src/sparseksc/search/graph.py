r"""Neighbour graphs and the conductance of a partition in them.

A criterion that is computed from the kernel favours narrow bandwidths, at which all points are
dissimilar. The graph of nearest neighbours has no bandwidth, so that the clusters of all
bandwidths can be compared in it. With :math:`w_{ij}` the weight of an edge, the conductance of the
clusters :math:`A_1 \dots A_K` is the mean share of their edges that leads outside,

.. math::

    \phi = \frac1K \sum_k \frac{\sum_{i \in A_k, j \notin A_k} w_{ij}}
                               {\sum_{i \in A_k, j} w_{ij}}.

Two graphs are kept, because they err on different sides. In the *symmetric* one two points are
connected if one of them is among the nearest neighbours of the other, so that sparse regions stay
connected to dense clusters. In the *mutual* one both must be, which breaks thin bridges, but
leaves points of sparse regions without edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from sklearn import config_context
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from sparseksc._typing import Array, Booleans, Floats, Integers
from sparseksc.data.distinct import distinct_rows
from sparseksc.data.sampling import rows_at
from sparseksc.execution.threads import chunk_slices
from sparseksc.kernels import RBF, Chi2, Exponential, Kernel, Landmarks, Laplacian
from sparseksc.search.constants import (
    DISTANCE_MEGABYTES,
    DISTANCE_ROWS,
    GROUP_MIN_POINTS,
    GROUP_REACH,
    ISOLATION_MIN_POINTS,
    ISOLATION_QUANTILE,
    ISOLATION_RATIO,
    MIN_CLUSTER_SHARE,
    MUTUAL_WEIGHT,
    N_NEIGHBOURS,
    POINTS_PER_NEIGHBOUR,
    REFERENCE_SIZE,
    RESOLUTION,
    TREE_MAX_FEATURES,
)


@dataclass(frozen=True)
class NeighbourGraph:
    """Two graphs over the same distinct points.

    Attributes
    ----------
    rows : array of shape (n,)
        The distinct points, as row numbers of the data that the graph was built from.
    symmetric, mutual : sparse array of shape (n, n)
        Weights of the edges.
    """

    rows: Integers
    symmetric: sp.csr_array
    mutual: sp.csr_array

    @cached_property
    def edges(self) -> Edges:
        """Edges of the symmetric graph."""
        return Edges.of(self.symmetric)

    @cached_property
    def _mutual_edges(self) -> Edges:
        return Edges.of(self.mutual)

    @property
    def resolution(self) -> float:
        """Conductances that differ by less than this are equal."""
        return RESOLUTION / len(self.rows)

    def evaluate(self, labels: Integers) -> tuple[float, float, float]:
        """Return conductance, cut and cohesion of the clusters ``labels`` of ``rows``.

        The *conductance* in the symmetric graph compares numbers of clusters. The *cut*, its
        geometric mean with that in the mutual graph, which weighs more, compares bandwidths.
        The *cohesion* is the least share of its edges that a cluster keeps inside.
        """
        symmetric, mutual = self.edges.inside(labels), self._mutual_edges.inside(labels)
        conductance = float(np.mean(1.0 - symmetric))
        in_mutual = float(np.mean(1.0 - mutual))
        cut = (conductance + self.resolution) ** (1.0 - MUTUAL_WEIGHT)
        cut *= (in_mutual + self.resolution) ** MUTUAL_WEIGHT
        return conductance, cut, float(symmetric.min())


class Edges(NamedTuple):
    """The edges of a symmetric graph, each once, and the sum of the weights at each point."""

    first: Integers
    second: Integers
    weights: Floats
    volumes: Floats

    @classmethod
    def of(cls, graph: sp.csr_array) -> Edges:
        """Edges of a symmetric matrix of weights."""
        upper = sp.triu(graph).tocoo()
        first, second = upper.row, upper.col
        return cls(first, second, upper.data, np.asarray(graph.sum(axis=1), np.float64).ravel())

    def some(self, chosen: NDArray[np.bool_]) -> Edges:
        """Return the graph that has only the chosen edges."""
        first, second, weights = self.first[chosen], self.second[chosen], self.weights[chosen]
        volumes = sum(np.bincount(side, weights, len(self.volumes)) for side in (first, second))
        return Edges(first, second, weights, np.asarray(volumes, np.float64))

    def inside(self, labels: Integers) -> Floats:
        """Share of the edges of each cluster that stays inside."""
        there = np.bincount(labels) > 0
        mine = labels[self.first]
        stays = mine == labels[self.second]
        inside = 2.0 * np.bincount(mine, self.weights * stays, minlength=len(there))[there]
        volume = np.bincount(labels, self.volumes)[there]
        # Points without any edge are not held together by anything.
        return np.divide(inside, volume, out=np.zeros_like(volume), where=volume > 0.0)


def neighbour_graph(
    kernel: Kernel, X: Array, weights: Floats, columns: Integers | None = None
) -> NeighbourGraph:
    """Connect the distinct rows of ``X`` with their nearest neighbours.

    Nearest in the distance that the kernel is a function of; equal rows are one point, with the
    sum of their weights. Every unit of weight has one vote for each of its neighbours, so that
    integer weights and repeated rows give the same graph.

    Parameters
    ----------
    kernel : Kernel
    X : array of shape (n, d)
        Points, or rows of a precomputed kernel matrix.
    weights : array of shape (n,)
    columns : array of shape (n,), optional
        For a precomputed kernel: the columns of ``X`` that belong to its rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.kernels import make_kernel
    >>> from sparseksc.search.graph import neighbour_graph
    >>> X = np.r_[np.arange(50.0), 1000 + np.arange(50.0)][:, None]
    >>> graph = neighbour_graph(make_kernel("rbf"), X, np.ones(100))
    >>> conductance, cut, cohesion = graph.evaluate(np.repeat([0, 1], 50))
    >>> conductance, cohesion
    (0.0, 1.0)
    >>> graph.evaluate(np.arange(100) % 2)[0] > 0.5
    True
    """
    rows, mass = _distinct(X, weights) if columns is None else (np.arange(X.shape[0]), weights)
    n = len(rows)
    count = min(N_NEIGHBOURS, max(2, n // POINTS_PER_NEIGHBOUR), n - 1)
    if count < 1:
        empty = sp.csr_array((n, n))
        return NeighbourGraph(rows, empty, empty)
    nearest = _nearest(kernel, rows_at(X, rows), count, columns)
    links = sp.csr_array(
        (np.repeat(mass, count), nearest.ravel(), np.arange(0, n * count + 1, count)), (n, n)
    )
    both = links.multiply(links.T.astype(bool))
    return NeighbourGraph(rows, (links + links.T).tocsr(), (both + both.T).tocsr())


def _distinct(X: Array, weights: Floats) -> tuple[Integers, Floats]:
    """Return the first of each group of equal rows in order, and the weight of the group."""
    first, group = distinct_rows(X)
    mass: Floats = np.bincount(group, weights).astype(np.float64)
    order = np.argsort(first)
    return first[order], mass[order]


def measured_points(kernel: Exponential, X: Array) -> tuple[Array, str]:
    """Return points in units of their bandwidths, and the metric of the kernel."""
    taxicab = isinstance(kernel, Laplacian)
    if np.ndim(kernel.bandwidth) > 0:
        factors = kernel.inverse_bandwidth(X.shape[1])
        # Not a SciPy matrix, whose product with a vector is a vector.
        rows: Any = sp.csr_array(X) if sp.issparse(X) else X
        X = rows * (factors if taxicab else np.sqrt(factors))
    return X, "manhattan" if taxicab else "euclidean"


def _nearest(kernel: Kernel, X: Array, count: int, columns: Integers | None) -> Integers:
    """Row numbers of the nearest other points, shape (n, count)."""
    if isinstance(kernel, Landmarks):  # of a metric that is that of no other kernel
        around, _ = kernel.nearest(X, X, count + 1)
        others = around != np.arange(len(around))[:, None]
        others[others.all(axis=1), -1] = False  # of more than count equal ones
        return around[others].reshape(-1, count)
    if isinstance(kernel, Exponential) and not isinstance(kernel, Chi2):
        X, metric = measured_points(kernel, X)
        search = NearestNeighbors(n_neighbors=count, metric=metric).fit(X)
        with config_context(working_memory=DISTANCE_MEGABYTES):
            found: Integers = search.kneighbors(return_distance=False)
        return found
    n = X.shape[0]
    nearest = np.empty((n, count), dtype=np.intp)
    for start in range(0, n, DISTANCE_ROWS):
        chosen = np.arange(start, min(start + DISTANCE_ROWS, n))
        # Values that are too large are refused where pivots are chosen.
        with np.errstate(over="ignore", invalid="ignore"):
            distances = _kernel_distances(kernel, X, chosen, columns)
        distances[np.arange(len(chosen)), chosen] = np.inf
        order = np.argpartition(distances, count - 1, axis=1)[:, :count]
        nearest[chosen] = order
    return nearest


def _kernel_distances(
    kernel: Kernel, X: Array, chosen: Integers, columns: Integers | None
) -> Floats:
    """Distances that order the neighbours of some points as the kernel does, shape (m, n)."""
    if isinstance(kernel, Exponential):
        scale = kernel.inverse_bandwidth(X.shape[1]) if np.ndim(kernel.bandwidth) > 0 else 1.0
        return np.asarray(kernel.distances(X[chosen] * scale, X * scale), dtype=np.float64)
    if columns is not None:
        own = X[np.arange(X.shape[0]), columns].astype(np.float64)
        similar = X[chosen][:, columns]
    else:
        own = kernel.diagonal(X)
        similar = kernel.tile(X[chosen], X)
    return own[chosen, None] + own - 2.0 * similar


# ------------------------------------------------------------------------------ isolated points

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
    >>> from sparseksc.search.graph import isolated_points
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
