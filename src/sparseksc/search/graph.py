"""The graph of mutual neighbours: each among the nearest of the other.

A criterion that is computed from a kernel favours narrow bandwidths, at which all points are
dissimilar. This graph has no bandwidth, so that the clusters of all of them can be compared in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.neighbors import NearestNeighbors

from sparseksc._typing import Array, Floats, Integers
from sparseksc.data.distinct import distinct_rows
from sparseksc.data.sampling import rows_at
from sparseksc.kernels import Chi2, Exponential, Kernel, Landmarks, Laplacian
from sparseksc.kernels.products import in_ordinary_unit
from sparseksc.search.constants import (
    DISTANCE_MEGABYTES,
    N_NEIGHBOURS,
    POINTS_PER_NEIGHBOUR,
)


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


class NeighbourGraph(NamedTuple):
    """Distinct points, as row numbers of the data, and the edges between them."""

    rows: Integers
    edges: Edges


def neighbour_graph(
    kernel: Kernel, X: Array, weights: Floats, columns: Integers | None = None
) -> NeighbourGraph:
    """Connect the distinct rows of ``X`` that are among the nearest neighbours of each other.

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
    >>> apart = np.repeat([0, 1], 50)[graph.rows]
    >>> bool((apart[graph.edges.first] == apart[graph.edges.second]).all())
    True
    """
    rows, mass = _distinct(X, weights) if columns is None else (np.arange(X.shape[0]), weights)
    n = len(rows)
    count = min(N_NEIGHBOURS, max(2, n // POINTS_PER_NEIGHBOUR), n - 1)
    if count < 1:
        return NeighbourGraph(rows, Edges.of(sp.csr_array((n, n))))
    nearest = _nearest(kernel, rows_at(X, rows), count, columns)
    links = sp.csr_array(
        (np.repeat(mass, count), nearest.ravel(), np.arange(0, n * count + 1, count)), (n, n)
    )
    both = links.multiply(links.T.astype(bool))
    return NeighbourGraph(rows, Edges.of((both + both.T).tocsr()))


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
    return in_ordinary_unit(X)[0], "manhattan" if taxicab else "euclidean"


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
    step = max(1, DISTANCE_MEGABYTES * 2**20 // (2 * n * 8))  # a copy is ordered
    for start in range(0, n, step):
        chosen = np.arange(start, min(start + step, n))
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
