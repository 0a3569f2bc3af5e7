"""Inner products of sparse rows and points: compiled where possible, in SciPy elsewhere.

The functions release the GIL.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import sparseksc._native as native

#: A feature that this share of the points have is stored for all of them: additions to all in their
#: order take less time than to some here and there.
DENSE_SHARE = 0.2


class PointsByFeature(NamedTuple):
    """Sparse points, feature by feature, for :func:`products`.

    Attributes
    ----------
    starts, numbers, values : arrays
        Feature f of the points ``numbers[starts[f]:starts[f + 1]]``.
    places : ndarray of shape (d,)
        Row of ``dense`` that holds the feature of all points, or -1.
    dense : ndarray of shape (n_dense, R)
    """

    starts: NDArray[np.int64]
    numbers: NDArray[np.int64]
    values: NDArray[Any]
    places: NDArray[np.int64]
    dense: NDArray[Any]

    @classmethod
    def of(cls, points: Any) -> PointsByFeature:
        """Take the columns of a CSR matrix of shape (R, d), float32 or float64."""
        columns = points.T.tocsr()
        lengths = np.diff(columns.indptr)
        filled = np.flatnonzero(lengths >= max(DENSE_SHARE * points.shape[0], 1.0))
        places = np.full(columns.shape[0], -1)
        places[filled] = np.arange(len(filled))
        dense = np.ascontiguousarray(columns[filled].toarray())
        kept = np.repeat(places < 0, lengths)
        starts = np.append(0, np.cumsum(np.where(places < 0, lengths, 0)))
        numbers = columns.indices[kept].astype(np.int64)
        return cls(starts.astype(np.int64), numbers, columns.data[kept], places, dense)


def products(rows: Any, points: PointsByFeature) -> NDArray[Any]:
    """Return the inner products of the rows of a CSR matrix and all points, shape (n, R).

    Each is summed in the order of the entries of the row, and depends on nothing else.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> points = PointsByFeature.of(sp.csr_array([[1.0, 0.0], [2.0, 3.0]]))
    >>> products(sp.csr_array([[0.0, 2.0]]), points)
    array([[0., 6.]])
    """
    values = np.ascontiguousarray(rows.data, points.dense.dtype)
    out = np.empty((rows.shape[0], points.dense.shape[1]), values.dtype)
    starts, features = (np.ascontiguousarray(a, np.int64) for a in (rows.indptr, rows.indices))
    native._backend.sparse_products_into(starts, features, values, *points, out)
    return out
