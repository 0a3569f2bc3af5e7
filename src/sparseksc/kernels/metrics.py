r"""Metrics of the landmarks kernel: which landmarks are near a row, and what a mean of rows is.

================  ================================================  =============================
metric            squared distance :math:`D(x, y)`                  landmarks
================  ================================================  =============================
``"euclidean"``   :math:`\|x - y\|^2`                               means
``"cosine"``      :math:`\|x/\|x\| - y/\|y\|\|^2`                   means of rows of length 1
``"haversine"``   :math:`4 \sin^2(\theta/2)`, with the central      places: directions of means
                  angle :math:`\theta` of two places                of unit vectors
``"jaccard"``     :math:`1 - \sum \min(x, y) / \sum \max(x, y)`     shares of the sets that have
                                                                    an item
================  ================================================  =============================

The squared chord :math:`4 \sin^2(\theta/2)` is a squared Euclidean distance in space, and grows
with the great circle distance. For sets, rows of 0 and 1, the last line is 1 less the Jaccard
index; as an inner product of some features (the index is positive semi-definite), it is half a
squared Euclidean distance. Means of sets are no sets, but shares :math:`p` from 0 to 1, for which

.. math:: \sum_i \min(x_i, p_i) = x \cdot p, \qquad
    \sum_i \max(x_i, p_i) = |x| + |p| - x \cdot p,

so that products of rows and landmarks are all that is needed.
"""

from __future__ import annotations

from typing import Any

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

Nearest = tuple[Integers, Floats]

#: More landmarks than this are searched by a tree, in up to so many dimensions.
TREE_POINTS, TREE_FEATURES = 2000, 8
#: Distances by products that are written at a time, so that they stay in the cache; of dense
#: rows, twice as many coordinates are centred at a time.
BLOCK_ENTRIES = 2**18
#: Largest latitude and longitude in degrees; some count longitudes from 0 to 360.
LATITUDES, LONGITUDES = 90.0, 360.0


class Metric:
    """Euclidean distances of an embedding of the rows; here of the rows themselves."""

    #: Kernel whose distances tell which rows are neighbours; None for that of landmarks.
    of_neighbours: Kernel | None = RBF()

    def check(self, X: Array) -> None:
        """Raise a ValueError where the metric is not defined on ``X``."""
        if sp.issparse(X):  # dense rows are measured in a unit of their own
            with np.errstate(over="ignore"):
                if not np.isfinite(4.0 * _squared_norms(X)).all():
                    raise ValueError("The values of X are too large: rescale X.")

    def doubt(self, X: Array, names: list[str] | None) -> str:
        """Say what makes it doubtful that these rows, and names of columns, are what is meant."""
        return ""

    def embedded(self, X: Array) -> Array:
        """Rows whose means are landmarks."""
        return X

    def kept(self, means: Array) -> Array:
        """Landmarks as a model keeps them."""
        return means

    def landmarks(self, P: Array) -> Array:
        """Return landmarks that were kept as embedded ones."""
        return P

    def nearest(self, rows: Any, points: Any, count: int) -> Nearest:
        """Return the ``count`` nearest of the embedded points of each row, and their distances."""
        if sp.issparse(rows) or sp.issparse(points):
            return _by_products(rows, points, count, _squared_norms, _euclidean)
        finder = _finder_of(points)
        numbers = np.empty((len(rows), count), np.int64)
        distances = np.empty(numbers.shape)
        for start in range(0, len(rows), finder.block):
            part = slice(start, start + finder.block)
            numbers[part], distances[part] = finder.nearest(rows[part], count)
        return numbers, distances


class CosineMetric(Metric):
    """Directions of rows."""

    of_neighbours = Cosine()

    def check(self, X: Array) -> None:  # noqa: D102
        none = largest_entries(X) == 0.0
        if none.any():
            raise ValueError(
                f"Row {int(np.argmax(none))} is all zeros, and has no direction that the "
                "metric 'cosine' could compare: remove such rows, or use 'euclidean'."
            )

    def embedded(self, X: Array) -> Array:  # noqa: D102
        return unit_rows(X)


class HaversineMetric(Metric):
    """Places on a sphere: rows of latitude and longitude, in degrees."""

    of_neighbours = None

    def check(self, X: Any) -> None:  # noqa: D102
        wanted = "the metric 'haversine' compares places: latitude and longitude in degrees"
        if X.shape[1] != 2 or sp.issparse(X):
            what = "a sparse matrix" if sp.issparse(X) else f"{X.shape[1]:,} columns"
            raise ValueError(f"X must have two columns, got {what}: {wanted}.")
        for place, (name, limit) in enumerate((("latitude", LATITUDES), ("longitude", LONGITUDES))):
            outside = np.abs(X[:, place]) > limit
            if outside.any():
                row = int(np.argmax(outside))
                raise ValueError(
                    f"Row {row} has the {name} {X[row, place]:g}, beyond {limit:g}: {wanted}, in "
                    "this order."
                )

    def doubt(self, X: Array, names: list[str] | None) -> str:  # noqa: D102
        first, second = (name.lower() for name in names or ("", ""))
        if first.startswith(("lon", "lng")) and second.startswith("lat"):
            return (
                f"The columns are {first!r} and {second!r}, but the metric 'haversine' takes the "
                "latitude first: exchange them."
            )
        if (np.abs(X) <= [np.pi / 2.0, np.pi]).all():
            return (
                "All coordinates are as small as radians, but the metric 'haversine' takes degrees:"
                " pass numpy.degrees(X) if they are radians."
            )
        return ""

    def embedded(self, X: Array) -> Array:
        """Return unit vectors in space, in float64.

        Examples
        --------
        >>> import numpy as np
        >>> from sparseksc.kernels.metrics import METRICS
        >>> METRICS["haversine"].embedded(np.array([[0.0, 90.0], [90.0, 0.0]])).round(12) + 0.0
        array([[0., 1., 0.],
               [0., 0., 1.]])
        """
        latitude, longitude = np.radians(X.astype(np.float64)).T
        across = np.cos(latitude)
        return np.column_stack(
            [across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)]
        )

    def kept(self, means: Array) -> Array:
        """Latitude and longitude, in degrees, of directions."""
        x, y, z = means.T
        return np.degrees(np.column_stack([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)]))

    def landmarks(self, P: Array) -> Array:  # noqa: D102
        return _places(P)


class JaccardMetric(Metric):
    """Sets: rows of 0 and 1."""

    of_neighbours = None

    def check(self, X: Any) -> None:  # noqa: D102
        stored: Any = X
        values: Array = stored.data if sp.issparse(X) else stored
        others = values[(values != 0.0) & (values != 1.0)]
        if others.size:
            raise ValueError(
                "The metric 'jaccard' compares sets, as rows of 0 and 1, but X has the value "
                f"{others.flat[0]:g}: pass X > 0, or use another metric."
            )

    def nearest(self, rows: Any, points: Any, count: int) -> Nearest:  # noqa: D102
        # The entries of a sparse row are added in their order, whatever other rows there are.
        return _by_products(sp.csr_array(rows), points, count, _row_sums, _jaccard)


#: The metrics by their names.
METRICS: dict[str, Metric] = {
    "euclidean": Metric(),
    "cosine": CosineMetric(),
    "haversine": HaversineMetric(),
    "jaccard": JaccardMetric(),
}
_places = kept_with_points(METRICS["haversine"].embedded)


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

    def nearest(self, X: Array, count: int) -> Nearest:
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


def _by_products(X: Any, P: Any, count: int, sizes: Any, squares: Any) -> Nearest:
    """Find the nearest points by products of the rows, and what is their ``size`` each."""
    of_rows, of_points = sizes(X), sizes(P)
    numbers = np.empty((X.shape[0], count), np.int64)
    distances = np.empty(numbers.shape)
    step = max(BLOCK_ENTRIES // P.shape[0], 64)
    for start in range(0, X.shape[0], step):
        rows = slice(start, start + step)
        values = squares(inner_products(X[rows], P), of_rows[rows, None], of_points)
        numbers[rows] = neighbours.smallest(np.ascontiguousarray(values), count)
        distances[rows] = np.take_along_axis(values, numbers[rows], axis=1)
    return numbers, np.sqrt(np.maximum(distances, 0.0))


def _squared_norms(X: Any) -> Array:
    return row_norms(X, squared=True)


def _row_sums(X: Any) -> Array:
    return np.asarray(X.sum(axis=1)).ravel()


def _euclidean(products: Array, of_rows: Array, of_points: Array) -> Array:
    products *= -2.0  # in place: new memory takes as long as the sums
    products += of_rows
    products += of_points
    return products


def _jaccard(products: Array, of_rows: Array, of_points: Array) -> Array:
    union = of_rows + of_points - products
    both_empty = np.ones_like(products)
    return 1.0 - np.divide(products, union, out=both_empty, where=union > 0.0)
