"""Conductance of clusters in the graph of landmarks: compiled where possible, in NumPy elsewhere.

All arrays are C-contiguous; the function releases the GIL.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import sparseksc._native as native
from sparseksc._native.checks import require, require_labels, require_whole
from sparseksc._typing import Floats

Numbers = NDArray[np.int64]


class Conductances(NamedTuple):
    """Of each cluster.

    Attributes
    ----------
    inside : array of shape (n_clusters,)
        Least conductance of a cut through the cluster, of those along its slowest mode.
    outside : array of shape (n_clusters,)
        Conductance of the cut between the cluster and the rest.
    sizes : array of shape (n_clusters,)
        Sum of the weights of its rows.
    """

    inside: Floats
    outside: Floats
    sizes: Floats


def conductances(
    numbers: Numbers,
    shares: Floats,
    weights: Floats,
    volumes: Floats,
    labels: Numbers,
    n_clusters: int,
    resolution: float = 0.0,
) -> Conductances:
    r"""Measure how hard each cluster is to divide, and to cut off from the rest.

    With the shares :math:`z_i` of the landmarks in row i, and the volumes :math:`\lambda = \sum_i
    w_i z_i`, the similarity of two rows is :math:`z_i^\top \Lambda^{-1} z_j` and the volume of a
    row its weight. What stays inside a cluster is :math:`t^\top \Lambda^{-1} t` with :math:`t` the
    sum of :math:`w_i z_i` over its rows. A cut through it parts its landmarks, which are connected
    by :math:`\sum_i w_i z_i z_i^\top`.

    Parameters
    ----------
    numbers : array of shape (n, s)
        Landmarks of each row.
    shares : array of shape (n, s)
        Their shares, which sum to one.
    weights : array of shape (n,)
    volumes : array of shape (R,)
        Of the landmarks, over all rows; positive.
    labels : array of shape (n,)
        Cluster of each row.
    n_clusters : int
    resolution : float
        Added to every cut, inside and outside, in units of the weights: cuts that differ by less
        are equal, and few rows are neither hard to divide nor easy to cut off.

    Examples
    --------
    >>> import numpy as np
    >>> numbers = np.array([[0, 1], [1, 2], [3, 4], [4, 5]])
    >>> shares, weights = np.full((4, 2), 0.5), np.ones(4)
    >>> volumes = np.bincount(numbers.ravel(), shares.ravel())
    >>> conductances(numbers, shares, weights, volumes, np.array([0, 0, 1, 1]), 2)
    Conductances(inside=array([0.5, 0.5]), outside=array([0., 0.]), sizes=array([2., 2.]))
    """
    n, s = numbers.shape
    n_clusters = require_whole("n_clusters", n_clusters, 0, 2**63 - 1)
    for name, array, shape in (
        ("shares", shares, (n, s)),
        ("weights", weights, (n,)),
        ("volumes", volumes, (None,)),
    ):
        require(name, array, np.float64, shape)
    require("numbers", numbers, np.int64, (n, s))
    require("labels", labels, np.int64, (n,))
    require_labels(labels, n_clusters)
    found = Conductances(*(np.empty(n_clusters) for _ in range(3)))
    native._backend.conductances_into(
        numbers, shares, weights, volumes, labels, float(resolution), *found
    )
    return found
