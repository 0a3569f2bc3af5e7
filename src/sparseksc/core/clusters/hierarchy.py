r"""Coarser clusters from one fit: the normalised cuts between clusters, and the tree they give.

With :math:`s_a = \sum_{i \in a} w_i g_i`, the similarity between two clusters is
:math:`\mathrm{cut}(a, b) = s_a^\top s_b`, and that between all points and one of them its volume
:math:`\mathrm{vol}(a) = \sum_b \mathrm{cut}(a, b)`. Merging two clusters adds their rows and
columns. The two with the largest normalised cut

.. math::

    \rho(a, b) = \frac{\mathrm{cut}(a, b)\, V}{\mathrm{vol}(a)\, \mathrm{vol}(b)}, \qquad
    V = \sum_a \mathrm{vol}(a),

are merged first, at the height :math:`\log(1 + 1 / \rho)`: what is as similar as points are on
average merges at :math:`\log 2`. Of a merged cluster, :math:`\rho` is the mean of both, weighted by
their volumes, so that heights never decrease.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparseksc._typing import Array, Floats, Integers
from sparseksc.core.landmarks import LandmarkSums
from sparseksc.core.model import NOISE, SparseModel
from sparseksc.core.reduced_set import ReducedSet
from sparseksc.core.statistics import FeatureMap
from sparseksc.kernels import Kernel

#: Clusters that are less similar than this are not similar at all (rounding errors, also below 0).
LEAST_SIMILARITY = 1e-12


def cuts_of_rows(
    kernel: Kernel, pivots: ReducedSet, X: Array, weights: Floats, labels: Integers, K: int
) -> Floats:
    """Similarity between the clusters of some rows, shape (K, K)."""
    features = FeatureMap(kernel, pivots, in_kernel_space=True)
    sums = np.zeros((K, len(pivots.factor)))
    for number in range(K):
        rows = np.flatnonzero((labels == number) & (weights > 0.0))
        if len(rows) > 0:
            sums[number] = kernel.column_sums(X[rows], pivots.points, weights[rows])
    s = features.whiten(sums.T)
    return s.T @ s


def labels_of_landmarks(model: SparseModel) -> Integers:
    """Cluster of each landmark, whose scores are its coefficients."""
    return model.encoding.labels(model.projection.coef + model.projection.bias)


def cuts_of_landmarks(sums: LandmarkSums, model: SparseModel) -> Floats:
    """Similarity between clusters, shape (K, K): a point belongs to them as its landmarks do."""
    S, K = sums.matrix, model.encoding.n_clusters
    lam = np.asarray(S.sum(axis=1)).ravel()
    s = S @ np.eye(K)[labels_of_landmarks(model)]
    return s.T @ np.divide(s, lam[:, None], out=np.zeros_like(s), where=lam[:, None] > 0.0)


def merge_tree(cuts: Floats) -> Floats:
    """Merge the most similar clusters, two at a time.

    Parameters
    ----------
    cuts : array of shape (K, K)
        Similarity between clusters, and within them on the diagonal.

    Returns
    -------
    array of shape (K - 1, 4)
        As :func:`scipy.cluster.hierarchy.linkage` returns it: the two clusters that are merged
        (K + i is the result of row i), the height, and the number of clusters in it.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.core.clusters.hierarchy import merge_tree
    >>> merge_tree(np.array([[8.0, 1.0, 0.0], [1.0, 8.0, 1e-3], [0.0, 1e-3, 9.0]])).round(2)
    array([[0.  , 1.  , 1.39, 2.  ],
           [2.  , 3.  , 8.7 , 3.  ]])
    """
    K = len(cuts)
    similarity = cuts / (np.abs(cuts).max(initial=0.0) or 1.0)
    # Kernels with negative values can have clusters without volume.
    volumes = np.maximum(similarity.sum(axis=1), LEAST_SIMILARITY)
    total = float(volumes.sum())
    names, sizes = np.arange(K), np.ones(K)
    tree = np.empty((max(K - 1, 0), 4))
    ratio = similarity * (total / volumes)[:, None] / volumes
    ratio[np.tril_indices(K)] = -np.inf
    for step in range(K - 1):
        left, right = np.unravel_index(np.argmax(ratio), ratio.shape)
        rho = max(float(ratio[left, right]), LEAST_SIMILARITY)
        pair = sorted((names[left], names[right]))
        sizes[left] += sizes[right]
        tree[step] = *pair, np.log1p(1.0 / rho), sizes[left]
        similarity[left] += similarity[right]
        similarity[:, left] += similarity[:, right]
        volumes[left] += volumes[right]
        names[left] = K + step
        merged = similarity[left] * (total / volumes[left]) / volumes
        here = np.arange(K)
        alive = np.isfinite(ratio[left]) | np.isfinite(ratio[:, left])
        alive[right] = False
        after, before = alive & (here > left), alive & (here < left)
        ratio[left, after], ratio[before, left] = merged[after], merged[before]
        ratio[right] = ratio[:, right] = -np.inf
    # Rounding must not make a later merge lower.
    tree[:, 2] = np.maximum.accumulate(tree[:, 2])
    return tree


def groups_of(tree: Floats, n_groups: int, sizes: Floats) -> Integers:
    """Group of each of the K clusters where ``n_groups`` are left, 0 the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.core.clusters.hierarchy import groups_of
    >>> tree = np.array([[1.0, 2.0, 0.4, 2.0], [0.0, 3.0, 8.7, 3.0]])
    >>> groups_of(tree, 2, np.array([5.0, 4.0, 3.0]))
    array([1, 0, 0])
    """
    K = len(tree) + 1
    members = {k: [k] for k in range(K)}
    for step in range(K - n_groups):
        left, right = (int(number) for number in tree[step, :2])
        members[K + step] = members.pop(left) + members.pop(right)
    groups = sorted(members.values(), key=lambda group: (-sizes[group].sum(), min(group)))
    found = np.empty(K, np.intp)
    for number, group in enumerate(groups):
        found[group] = number
    return found


@dataclass(frozen=True)
class Level:
    """A model whose clusters are merged into groups.

    Attributes
    ----------
    model : SparseModel
    groups : array of shape (K,)
        Group of each cluster.
    """

    model: SparseModel
    groups: Integers

    def named_labels(self, X: Array, n_jobs: int | None = None) -> Integers:
        """Group of each row, shape (n,); -1 for noise."""
        return np.append(self.groups, NOISE)[self.model.labels(X, n_jobs)]

    def membership(self, X: Array, n_jobs: int | None = None) -> Floats:
        """Sum of the memberships in the clusters of each group, shape (n, n_groups)."""
        return self.model.membership(X, n_jobs) @ np.eye(self.groups.max() + 1)[self.groups]

    def named_labels_and_membership(
        self, X: Array, n_jobs: int | None = None
    ) -> tuple[Integers, Floats]:
        """Both."""
        return self.named_labels(X, n_jobs), self.membership(X, n_jobs)


def groups_below(tree: Floats, height: float) -> int:
    """Return how many groups are left where all merges up to a height are made."""
    return len(tree) + 1 - int(np.count_nonzero(tree[:, 2] <= height))
