r"""How much models agree on a number of clusters.

What is in the data is seen by several models, at different scales and with different kernels; an
arbitrary division is another one for each of them. The agreement of a clustering is its mean
adjusted Rand index with those that are most like it among the clusterings into as many clusters by
other models.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparseksc._typing import Floats, Integers


def agreements(
    clusterings: Sequence[Integers], n_clusters: int, weights: Floats, count: int
) -> Floats:
    """Return the agreement of each of some clusterings with ``count`` others, 0 where it is alone.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.core.clusters.agreement import agreements
    >>> halves, other = np.repeat([0, 1], 50), np.tile([0, 1], 50)
    >>> agreements([halves, 1 - halves, other], 2, np.ones(100), 1).round(2).tolist()[:2]
    [1.0, 1.0]
    """
    n = len(clusterings)
    alike = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            index = rand_index(clusterings[i], clusterings[j], n_clusters, weights)
            alike[i, j] = alike[j, i] = index
    np.fill_diagonal(alike, -np.inf)
    best = -np.sort(-alike, axis=1)[:, : min(count, n - 1)]
    return best.mean(axis=1) if n > 1 else np.zeros(n)


def rand_index(first: Integers, second: Integers, n_clusters: int, weights: Floats) -> float:
    r"""Return the adjusted Rand index of two clusterings of weighted rows.

    With the shares :math:`p_{kl}` of the weight that has the labels k and l, the probability that
    two rows are together in both is :math:`\sum p_{kl}^2`; pairs of a row with itself count, too,
    so that the unit of the weights does not matter.
    """
    pairs = np.asarray(first, np.int64) * n_clusters + second
    table = np.bincount(pairs, weights / weights.sum(), n_clusters**2)
    table = table.reshape(n_clusters, n_clusters)
    both = float((table**2).sum())
    one, other = (float((table.sum(axis=axis) ** 2).sum()) for axis in (0, 1))
    expected, most = one * other, (one + other) / 2.0
    return (both - expected) / (most - expected) if most > expected else 1.0
