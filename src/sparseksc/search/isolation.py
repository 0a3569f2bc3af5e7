"""Isolated rows: one or two that are much farther from all others than these are from each other.

A narrow kernel shows each of them as a cluster of its own, so that a search does without them, and
none of them is a pivot. Landmarks need no such rule.
"""

from __future__ import annotations

import numpy as np
from sklearn import config_context
from sklearn.neighbors import NearestNeighbors

from sparseksc._typing import Booleans
from sparseksc.data.distinct import distinct_rows
from sparseksc.data.sampling import Sample, selection_sample
from sparseksc.kernels import RBF, Kernel, Laplacian
from sparseksc.search.constants import DISTANCE_MEGABYTES, ISOLATION, LEAST_ROWS, SAMPLE_SIZE
from sparseksc.search.graph import measured_points


def isolated_rows(kernel: Kernel, sample: Sample, seed: int) -> Booleans:
    """Whether rows are isolated: ``ISOLATION`` times as far from others as these are, as a rule.

    The distance is that to the neighbour of number ``LEAST_ROWS``, compared with the median of the
    same of these neighbours; where there are many rows, neighbours in a sample. Rows with as many
    copies are a cluster, and not isolated.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.data.sampling import Sample
    >>> from sparseksc.kernels import make_kernel
    >>> from sparseksc.search.isolation import isolated_rows
    >>> X = np.r_[np.arange(50.0), 150.0, 150.0][:, None]
    >>> found = isolated_rows(make_kernel("rbf"), Sample(np.arange(52), X, np.ones(52)), 0)
    >>> np.flatnonzero(found)
    array([50, 51])
    """
    X, weights = sample.X, sample.weights
    none = np.zeros(X.shape[0], dtype=bool)
    if not (isinstance(kernel, RBF | Laplacian) and isinstance(X, np.ndarray)):
        return none
    first, group = distinct_rows(X)
    if len(first) < LEAST_ROWS + 2:
        return none
    mass = np.bincount(group, weights)
    order = np.argsort(first)
    others = first[order[selection_sample(sample.rows[first[order]], SAMPLE_SIZE, seed)]]
    points, metric = measured_points(kernel, X)
    search = NearestNeighbors(n_neighbors=LEAST_ROWS + 1, metric=metric).fit(points[others])
    with config_context(working_memory=DISTANCE_MEGABYTES):
        distances, near = search.kneighbors(points[first])
    # A row of the sample is its own nearest neighbour.
    own = others[near[:, 0]] == first
    reach = np.where(own, distances[:, -1], distances[:, -2])
    near = np.where(own[:, None], near[:, 1:], near[:, :-1])
    places = np.empty(X.shape[0], dtype=np.intp)
    places[first] = np.arange(len(first))
    usual = np.median(reach[places[others]][near], axis=1)
    found: Booleans = (reach > ISOLATION * usual) & (mass < LEAST_ROWS)
    return found[group]
