"""The levels of a page: the clusters of a model, and coarser ones from its tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparseksc._text import escaped
from sparseksc._typing import Floats, Integers

#: Coarser levels that a page offers have at most this many clusters.
MOST_GROUPS = 8


@dataclass(frozen=True)
class Level:
    """Clusters of a model, merged into groups as :meth:`KernelSpectralClustering.cut` does.

    Attributes
    ----------
    groups : array of shape (K,)
        Group of each cluster.
    leaders : array of shape (n_groups,)
        Largest cluster of each group, whose colour and shape the group has.
    names : list of str
        What the groups are called.
    finest : bool
        Whether every cluster is a group of its own.
    """

    groups: Integers
    leaders: Integers
    names: list[str]
    finest: bool

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.names)

    @property
    def indicator(self) -> Floats:
        """Ones where a cluster belongs to a group, shape (K, n_groups)."""
        return np.eye(self.n_groups)[self.groups]

    def members(self, group: int) -> list[int]:
        """Clusters of a group."""
        return [int(cluster) for cluster in np.flatnonzero(self.groups == group)]

    def summed(self, values: Any) -> Any:
        """Add what is known of each cluster, shape (K, ...), within the groups."""
        total = np.zeros((self.n_groups, *values.shape[1:]), values.dtype)
        np.add.at(total, self.groups, values)
        return total


def names_of_clusters(estimator: Any) -> list[str]:
    """Return what the clusters are called: their classes, or numbers."""
    called = getattr(estimator, "classes_", None)
    K = int(estimator.n_clusters_)
    return [escaped(str(name)) for name in (range(K) if called is None else called)]


def levels_of(estimator: Any) -> list[Level]:
    """Return the levels that a page offers, the clusters of the model first, then 2, 3, ... groups.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sparseksc import KernelSpectralClustering
    >>> from sparseksc.report.levels import levels_of
    >>> X, _ = make_blobs(300, centers=[[0, 0], [0, 4], [30, 0], [30, 4]], random_state=0)
    >>> ksc = KernelSpectralClustering(4, bandwidth=4.0, random_state=0).fit(X)
    >>> [level.n_groups for level in levels_of(ksc)]
    [4, 2, 3]
    """
    K = int(estimator.n_clusters_)
    each = np.arange(K)
    found = [Level(each, each, names_of_clusters(estimator), finest=True)]
    if K > 2 and hasattr(estimator, "tree_"):
        found += [_cut(estimator, m) for m in range(2, min(K - 1, MOST_GROUPS) + 1)]
    return found


def _cut(estimator: Any, n_groups: int) -> Level:
    groups, sizes = estimator.cut(n_groups), estimator.cluster_sizes_
    by_size = np.argsort(-sizes, kind="stable")
    leaders = np.array([by_size[groups[by_size] == group][0] for group in range(n_groups)])
    return Level(groups, leaders, [str(group) for group in range(n_groups)], finest=False)
