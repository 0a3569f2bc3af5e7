"""The same numbers again: clusters of a new model are matched to those of an old one.

Rows that are labelled by both models are counted in a table, and the Hungarian method finds the
pairs of old and new clusters that share most of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from sparseksc._typing import Floats, Integers
from sparseksc.core.model import NOISE, SparseModel, more_names, named

if TYPE_CHECKING:
    from sparseksc.core.training import Training


class Alignment(NamedTuple):
    """Order and names of new clusters: ``order[k]`` comes k-th, and is called ``names[k]``."""

    order: Integers
    names: Any

    def applied(self, model: SparseModel) -> SparseModel:
        """Return the same model with its clusters in this order, under these names."""
        plain = np.array_equal(self.names, np.arange(len(self.names)))
        return replace(
            model,
            encoding=model.encoding.reordered(self.order),
            classes=None if plain else self.names,
        )


def shared_weight(old: Integers, new: Integers, weights: Floats, n_old: int, n_new: int) -> Floats:
    """Weight of the rows of each pair of clusters, shape (n_old, n_new); noise counts nowhere.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.core.clusters.alignment import shared_weight
    >>> shared_weight(np.array([0, 0, 1, -1]), np.array([1, 1, 0, 0]), np.ones(4), 2, 2)
    array([[0., 2.],
           [1., 0.]])
    """
    both = (old >= 0) & (new >= 0)
    pairs = old[both] * n_new + new[both]
    shared = np.bincount(pairs, weights[both], minlength=n_old * n_new)
    return shared.astype(np.float64).reshape(n_old, n_new)


def align(table: Floats, names: Any, *, close_gaps: bool = False, taken: int = 0) -> Alignment:
    """Give new clusters the names of the old ones that they share most rows with.

    Parameters
    ----------
    table : array of shape (n_old, n_new)
        Weight that each old cluster shares with each new one; these are ordered by their sizes.
    names : array of shape (n_old,)
        Names of the old clusters.
    close_gaps : bool
        Whether the clusters are numbered anew, in their order, so that those that have vanished
        leave no gap.
    taken : int
        Numbers below this are not given to new clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.core.clusters.alignment import align
    >>> align(np.array([[0.0, 5.0, 0.0], [0.0, 0.0, 0.0], [4.0, 0.0, 0.0]]), np.arange(3))
    Alignment(order=array([1, 0, 2]), names=array([0, 2, 3]))
    """
    old, new = linear_sum_assignment(table, maximize=True)
    pairs = table[old, new] > 0.0
    old, new = old[pairs], new[pairs]
    added = np.setdiff1d(np.arange(table.shape[1]), new)
    # A name that has vanished is not given to another cluster.
    known = names if taken == 0 else np.append(names, taken - 1)
    given = more_names(known, len(added))[len(known) :]
    order = np.concatenate([new, added]).astype(np.intp)
    if close_gaps:
        return Alignment(order, np.arange(len(order)))
    return Alignment(order, np.append(names[old], given))


def realigned(training: Training, alignment: Alignment) -> Training:
    """Return a training with its clusters in another order, under other names."""
    order, names = alignment
    places = np.argsort(order)
    tree = training.tree
    if tree is not None:
        tree, K = tree.copy(), len(order)
        leaves = tree[:, :2] < K
        tree[:, :2][leaves] = places[tree[:, :2][leaves].astype(np.intp)]
        tree[:, :2].sort(axis=1)
    labels = training.labels
    if isinstance(labels, np.ndarray):
        labels = named(np.append(places, NOISE)[labels], names)
    return replace(
        training,
        model=alignment.applied(training.model),
        cluster_sizes=training.cluster_sizes[order],
        labels=labels,
        tree=tree,
    )


def keep_numbers(training: Training, table: Floats) -> Training:
    """Give clusters the numbers of an earlier model with as many, by the weight that they share."""
    _, order = linear_sum_assignment(table, maximize=True)
    return realigned(training, Alignment(order.astype(np.intp), np.arange(len(table))))
