r"""How many clusters are separated: harder to divide than to cut off from the rest.

Long shapes can be cut cheaply anywhere, compact ones nowhere, so that the number of edges between
two clusters says little by itself. It does when compared with the edges that a cut through the
clusters themselves would take: their external against their internal conductance. The latter is
estimated by a breadth-first walk through a cluster, from one of its ends to the other, which
passes :math:`c_1, c_2, \dots` edges of the neighbour graph from the points that it has seen to
those that it has not; with the least and the median of them over the middle of the walk,

.. math:: s_k = \min\Bigl(1, \, \max\Bigl(0, \,
    \log\frac{\sqrt{c_{\min} \, c_{\mathrm{med}}} + e}{l_k + e}\Bigr)\Bigr)

compares it with the edges :math:`l_k` that leave the cluster; :math:`e` is the mean weight of an
edge. A part of a cluster has :math:`s_k = 0`, since its border is as wide as it is itself, and so
have two clusters taken as one, since the walk passes the gap between them. The sum of all
:math:`s_k` is the number of separated clusters.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from sparseksc._typing import Floats, Integers
from sparseksc.search.constants import WALK_MIDDLE
from sparseksc.search.graph import Edges, NeighbourGraph


def count_separated(graph: NeighbourGraph, labels: Integers) -> float:
    """Return how many clusters are separated, between 0 and their number.

    Parameters
    ----------
    graph : NeighbourGraph
    labels : array of shape (n,)
        Cluster of each point of the graph.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.search.separation import count_separated
    >>> from sparseksc.kernels import make_kernel
    >>> from sparseksc.search.graph import neighbour_graph
    >>> X = np.random.default_rng(0).uniform(size=(300, 2))
    >>> X[200:] += 2.0
    >>> graph = neighbour_graph(make_kernel("rbf"), X, np.ones(300))
    >>> count_separated(graph, np.repeat([0, 1], [200, 100]))
    2.0
    >>> count_separated(graph, np.digitize(X[:, 0], [0.5, 1.5]))  # the first in two halves
    1.0
    >>> count_separated(graph, np.digitize(X[:, 0], [0.5]))  # a half, and all the rest
    0.0
    """
    clusters, labels = np.unique(labels, return_inverse=True)
    edges = graph.edges
    if len(edges.first) == 0:
        return 0.0
    sizes = np.bincount(labels)
    within = labels[edges.first] == labels[edges.second]
    inner = edges.some(within)
    leaving = np.bincount(labels, edges.volumes) - np.bincount(labels, inner.volumes)
    links = _links(inner, len(labels))
    parts = _part_sizes(links)
    largest = np.zeros(len(clusters))
    np.maximum.at(largest, labels, parts)
    passed = _passed_edges(inner, links, labels, sizes, parts)
    # One edge more or less decides nothing.
    unit = float(edges.weights.mean())
    total = 0.0
    for k in range(len(clusters)):
        low, high = (int(share * sizes[k]) for share in WALK_MIDDLE)
        middle = passed[k][low:high]
        # A cluster in pieces is crossed without passing an edge.
        if len(middle) > 0 and largest[k] >= WALK_MIDDLE[1] * sizes[k]:
            crossing = np.sqrt(middle.min() * np.median(middle))
            total += float(np.clip(np.log((crossing + unit) / (leaving[k] + unit)), 0.0, 1.0))
    return total


def _links(edges: Edges, n: int) -> sp.csr_array:
    """Return the edges between n points as a matrix, both ways."""
    ends = np.concatenate([edges.first, edges.second]), np.concatenate([edges.second, edges.first])
    return sp.csr_array((np.ones(2 * len(edges.first)), ends), shape=(n, n))


def _part_sizes(links: sp.csr_array) -> Integers:
    """Count the points that each point is connected with, itself included."""
    _, part = connected_components(links, directed=False)
    sizes: Integers = np.bincount(part)[part]
    return sizes


def _passed_edges(
    inner: Edges, links: sp.csr_array, labels: Integers, sizes: Integers, parts: Integers
) -> list[Floats]:
    """Weight of the edges between the first 1, 2, ... points of each cluster and the rest."""
    n, ends = len(labels), np.cumsum(sizes)
    # From the best connected point of the largest part to the farthest one, and from there
    # through the cluster; other parts come last.
    start = np.lexsort((inner.volumes, parts, labels))[ends - 1]
    step = _walk(links, start)
    start = np.lexsort((np.where(step < n, step, -1), labels))[ends - 1]
    order = np.lexsort((_walk(links, start), labels))
    place = np.empty(n, dtype=np.intp)
    place[order] = np.arange(n)
    pair = np.sort([place[inner.first], place[inner.second]], axis=0)
    opened, closed = (np.bincount(side, inner.weights, minlength=n) for side in pair)
    return np.split(np.maximum(np.cumsum(opened - closed), 0.0), ends[:-1])


def _walk(links: sp.csr_array, start: Integers) -> Integers:
    """When each point is reached breadth first from the starting points, n for never."""
    n = links.shape[0]
    # A root that is tied to all starting points makes it one walk.
    indices = np.concatenate([links.indices, np.sort(start)])
    ends = np.append(links.indptr, len(indices))
    tied = sp.csr_array((np.ones(len(indices)), indices, ends), shape=(n + 1, n + 1))
    reached = breadth_first_order(tied, n, return_predecessors=False)[1:]
    step = np.full(n, n)
    step[reached] = np.arange(len(reached))
    return step
