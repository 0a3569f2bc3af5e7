r"""The landmarks kernel: points are similar if they have landmarks in common.

A point is a mixture of its ``s`` nearest landmarks. With the squared distances, in one of the
metrics of :mod:`sparseksc.kernels.metrics`,
:math:`D_1 \le \dots \le D_{s+1}` to the nearest of them, the weights are

.. math::

    z_j(x) = (1 - \varepsilon) \frac{D_{s+1} - D_j}{\sum_{l \le s} (D_{s+1} - D_l)}
        + \frac{\varepsilon}{s}, \qquad j \le s,

and with :math:`\lambda = \sum_i w_i z(x_i)` the kernel is
:math:`k(x, y) = z(x)^\top \mathrm{diag}(\lambda)^{-1} z(y)`. It has no bandwidth: where points are
dense, landmarks are, too. It is positive semi-definite, and every degree is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from sparseksc._typing import Array, Floats, Integers
from sparseksc.kernels.base import Kernel
from sparseksc.kernels.metrics import METRICS

#: Neighbours of "auto", and the share of the weights that is spread evenly over them: without it, a
#: point much nearer to one landmark than to others that are equally far (ordinary in many
#: dimensions) would be similar to nothing else. Chosen among 3 to 12 neighbours, and shares of 0,
#: 0.1, 0.2 and 0.3, on digits, PenDigits, Letters, MNIST, g2mg_8_60 and h2mg_128_30, so that the
#: figures of benchmarks/real_data.py for these are not held out.
AUTO_NEIGHBORS, EVEN_SHARE = 6, 0.2
#: Where the number of clusters is known, "auto" takes one neighbour for so many landmarks of a
#: cluster, if that is more, up to a number that keeps a pass fast: averages over more landmarks are
#: less noisy. Chosen on pairs of generated Gaussians, and of heavier tails, in 2 to 128 dimensions,
#: among 4 to 48 neighbours; such that clusters of 200 landmarks, as ten of 2,000 have, keep
#: AUTO_NEIGHBORS. On other draws (benchmarks/gaussians.py) 12 of 13 pairs are found better than
#: with AUTO_NEIGHBORS. The other one, the widest tails, is lost to every number from 12 on,
#: regularised or not, and to k-means.
LANDMARKS_PER_NEIGHBOR, MOST_NEIGHBORS = 32, 16


@dataclass(frozen=True)
class Landmarks(Kernel):
    """Mixtures of the ``n_neighbors`` nearest landmarks in one of the :data:`METRICS`.

    The *tile* of this kernel holds the weights ``z``, in which the scores are linear.
    """

    n_neighbors: int = AUTO_NEIGHBORS
    metric: str = "euclidean"

    name: ClassVar[str] = "landmarks"
    accepts_sparse: ClassVar[bool] = True
    has_linear_degrees: ClassVar[bool] = False

    def tile(self, X: Array, P: Array) -> Array:  # noqa: D102
        return self.features(X, P).toarray()

    def diagonal(self, X: Array) -> Array:
        """Refuse: the similarity of a point to itself depends on all the others."""
        raise NotImplementedError("The landmarks kernel has no diagonal without its data.")

    @property
    def of_neighbours(self) -> Kernel:  # noqa: D102
        return METRICS[self.metric].of_neighbours or self

    def written(self, P: Array) -> int:  # noqa: D102
        return 1

    def scores(self, X: Array, P: Array, coef: Array, bias: Array) -> Array:  # noqa: D102
        scores: Array = self.features(X, P) @ coef + bias
        return scores

    def degrees(self, X: Array, P: Array, q: Array) -> Array:
        """Minus the distance to the nearest landmark, shape (n,)."""
        return -self.nearest(X, P, 1)[1][:, 0]

    def check(self, X: Array) -> None:  # noqa: D102
        if X.shape[0] > 0:
            METRICS[self.metric].check(X)

    def features(self, X: Array, P: Array) -> Any:
        """Weights ``z`` of the landmarks, shape (n, R), sparse."""
        return self.features_and_degrees(X, P)[0]

    def features_and_degrees(self, X: Array, P: Array) -> tuple[Any, Floats]:
        """Both, from one search for the nearest landmarks."""
        R = P.shape[0]
        s = self.neighbors_among(R)
        numbers, distances = self.nearest(X, P, min(s + 1, R))
        return mixture(numbers, distances, s, R), -distances[:, 0]

    def neighbors_among(self, R: int) -> int:
        """``s`` for R landmarks."""
        return min(self.n_neighbors, most_neighbors(R))

    def nearest(self, X: Array, P: Array, count: int) -> tuple[Integers, Floats]:
        """Return the ``count`` nearest landmarks of each row, and their distances.

        ``P`` are landmarks as a model keeps them: rows, but of length about 1 for "cosine".
        """
        metric = METRICS[self.metric]
        return metric.nearest(metric.embedded(X), metric.landmarks(P), count)


def most_neighbors(R: int) -> int:
    """Half of the landmarks: with more neighbours, the farthest would tell points apart.

    Examples
    --------
    >>> from sparseksc.kernels.landmarks import most_neighbors
    >>> most_neighbors(20), most_neighbors(1)
    (10, 1)
    """
    return max(R // 2, 1)


def suited_neighbors(R: int, n_clusters: int) -> int:
    """Neighbours of "auto" among R landmarks of a known number of clusters.

    Examples
    --------
    >>> from sparseksc.kernels.landmarks import suited_neighbors
    >>> suited_neighbors(2000, 10), suited_neighbors(1024, 2)
    (6, 16)
    """
    of_cluster = R // (LANDMARKS_PER_NEIGHBOR * n_clusters)
    return min(max(AUTO_NEIGHBORS, of_cluster), MOST_NEIGHBORS)


def mixture(numbers: Integers, distances: Floats, s: int, R: int) -> Any:
    """Weights of the first ``s`` of the nearest landmarks as a sparse matrix, rows sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.kernels.landmarks import mixture
    >>> mixture(np.array([[2, 0, 1]]), np.sqrt([[1.0, 3.0, 4.0]]), 2, 3).toarray().round(3)
    array([[0.3, 0. , 0.7]])
    """
    n = len(numbers)
    # The ratio first: squares of the distances may not be numbers, nor the distances of rows that
    # are far beyond all data.
    last = distances[:, -1:]
    known = np.isfinite(distances[:, :s]) & (last > 0.0)
    ratios = np.divide(distances[:, :s], last, out=np.ones((n, s)), where=known)
    weights = 1.0 - ratios**2
    total = weights.sum(axis=1, keepdims=True)
    even = np.full((n, s), 1.0 / s)
    weights = np.divide(weights, total, out=even.copy(), where=total > 0.0)
    weights = (1.0 - EVEN_SHARE) * weights + EVEN_SHARE * even
    starts = np.arange(0, n * s + 1, s, dtype=np.int32)
    columns = numbers[:, :s].astype(np.int32).ravel()
    return sp.csr_array((weights.ravel(), columns, starts), shape=(n, R))
