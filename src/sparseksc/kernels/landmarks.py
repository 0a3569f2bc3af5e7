r"""The landmarks kernel: points are similar if they have landmarks in common.

A point is a mixture of its ``s`` nearest landmarks. With the squared distances
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
from scipy.spatial import cKDTree
from sklearn.utils.extmath import row_norms

from sparseksc._native import neighbours
from sparseksc._typing import Array, Floats, Integers
from sparseksc.kernels.base import Kernel
from sparseksc.kernels.exponential import RBF
from sparseksc.kernels.kept import kept_with_points
from sparseksc.kernels.products import Cosine, inner_products, largest_entries, unit_rows

#: Neighbours of "auto", and the share of the weights that is spread evenly over them: without it, a
#: point much nearer to one landmark than to others that are equally far (ordinary in many
#: dimensions) would be similar to nothing else. Chosen among 3 to 12 neighbours, and shares of 0,
#: 0.1, 0.2 and 0.3, on digits, PenDigits, Letters, MNIST, g2mg_8_60 and h2mg_128_30, so that the
#: figures of benchmarks/real_data.py for these are not held out.
AUTO_NEIGHBORS, EVEN_SHARE = 6, 0.2
#: Where the number of clusters is known, "auto" takes one neighbour for so many landmarks of a
#: cluster, if that is more, up to a number that keeps a pass fast: averages over more landmarks are
#: less noisy. Chosen on pairs of generated Gaussians, and of heavier tails, in 2 to 128 dimensions,
#: among 4 to 48 neighbours (benchmarks/gaussians.py); such that clusters of 200 landmarks, as ten
#: of 2,000 have, keep AUTO_NEIGHBORS.
LANDMARKS_PER_NEIGHBOR, MOST_NEIGHBORS = 32, 16
#: More landmarks than this are searched by a tree, in up to so many dimensions.
TREE_POINTS, TREE_FEATURES = 2000, 8
#: Distances of sparse rows that are written at a time, so that they stay in the cache; of dense
#: rows, twice as many coordinates are centred at a time.
BLOCK_ENTRIES = 2**18


@dataclass(frozen=True)
class Landmarks(Kernel):
    """Mixtures of the ``n_neighbors`` nearest landmarks; of unit rows for the metric "cosine".

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
        return Cosine() if self.metric == "cosine" else RBF()

    def written(self, P: Array) -> int:  # noqa: D102
        return 1

    def scores(self, X: Array, P: Array, coef: Array, bias: Array) -> Array:  # noqa: D102
        scores: Array = self.features(X, P) @ coef + bias
        return scores

    def degrees(self, X: Array, P: Array, q: Array) -> Array:
        """Minus the distance to the nearest landmark, shape (n,)."""
        return -self.nearest(X, P, 1)[1][:, 0]

    def check(self, X: Array) -> None:  # noqa: D102
        if self.metric == "cosine" and X.shape[0] > 0:
            none = largest_entries(X) == 0.0
            if none.any():
                raise ValueError(
                    f"Row {int(np.argmax(none))} is all zeros, and has no direction that the "
                    "metric 'cosine' could compare: remove such rows, or use 'euclidean'."
                )

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
        """``s`` for R landmarks; with more than half, the farthest would tell points apart."""
        return min(self.n_neighbors, max(R // 2, 1))

    def prepared(self, X: Array) -> Array:
        """Rows in the metric: of length 1 for "cosine"."""
        return unit_rows(X) if self.metric == "cosine" else X

    def nearest(self, X: Array, P: Array, count: int) -> tuple[Integers, Floats]:
        """Return the ``count`` nearest landmarks of each row, and their distances.

        ``P`` are landmarks in the metric, as :meth:`prepared` rows are.
        """
        rows: Any = self.prepared(X)
        if sp.issparse(rows) or sp.issparse(P):
            return _nearest_sparse(rows, P, count)
        finder = _finder_of(P)
        numbers = np.empty((len(rows), count), np.int64)
        distances = np.empty(numbers.shape)
        for start in range(0, len(rows), finder.block):
            part = slice(start, start + finder.block)
            numbers[part], distances[part] = finder.nearest(rows[part], count)
        return numbers, distances


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


class _Finder:
    """Landmarks, centred and of ordinary size, so that nothing cancels, overflows or vanishes."""

    def __init__(self, P: Array) -> None:
        self.center = P.mean(axis=0, dtype=np.float64).astype(P.dtype)
        points = P - self.center
        # A power of two changes no digit.
        largest = float(np.abs(points).max(initial=0.0))
        self.unit = P.dtype.type(2.0 ** -int(np.frexp(largest)[1]))
        self.points = np.ascontiguousarray(points * self.unit)
        by_tree = P.shape[0] > TREE_POINTS and P.shape[1] <= TREE_FEATURES
        self.tree = cKDTree(self.points) if by_tree else None
        self.block = max(2 * BLOCK_ENTRIES // P.shape[1], 256)

    def nearest(self, X: Array, count: int) -> tuple[Integers, Floats]:
        """Return the nearest landmarks of a block of rows, and their distances."""
        kind = self.points.dtype
        rows = np.require((X - self.center) * self.unit, kind, ["C", "ALIGNED"])
        if self.tree is not None:
            _, found = self.tree.query(rows, k=np.arange(1, count + 1))
            numbers = np.ascontiguousarray(found, dtype=np.int64)
            distances = neighbours.distances_to(rows, self.points, numbers)
        else:
            numbers, distances = neighbours.nearest(rows, self.points, count)
        return numbers, np.sqrt(distances) / float(self.unit)


#: A model is asked for a few rows at a time, and a tree takes longer to build than they do.
_finder_of = kept_with_points(_Finder)


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
    # The ratio first: squares of the distances may not be numbers.
    last = distances[:, -1:]
    ratios = np.divide(distances[:, :s], last, out=np.ones((n, s)), where=last > 0.0)
    weights = 1.0 - ratios**2
    total = weights.sum(axis=1, keepdims=True)
    even = np.full((n, s), 1.0 / s)
    weights = np.divide(weights, total, out=even.copy(), where=total > 0.0)
    weights = (1.0 - EVEN_SHARE) * weights + EVEN_SHARE * even
    starts = np.arange(0, n * s + 1, s, dtype=np.int32)
    columns = numbers[:, :s].astype(np.int32).ravel()
    return sp.csr_array((weights.ravel(), columns, starts), shape=(n, R))


def _nearest_sparse(X: Any, P: Any, count: int) -> tuple[Integers, Floats]:
    """Find the nearest landmarks by sparse products."""
    norms, of_points = row_norms(X, squared=True), row_norms(P, squared=True)
    numbers = np.empty((X.shape[0], count), np.int64)
    distances = np.empty(numbers.shape)
    step = max(BLOCK_ENTRIES // P.shape[0], 64)
    for start in range(0, X.shape[0], step):
        rows = slice(start, start + step)
        values = inner_products(X[rows], P)
        values = norms[rows, None] + of_points - 2.0 * values
        numbers[rows] = neighbours.smallest(np.ascontiguousarray(values), count)
        distances[rows] = np.take_along_axis(values, numbers[rows], axis=1)
    return numbers, np.sqrt(np.maximum(distances, 0.0))
