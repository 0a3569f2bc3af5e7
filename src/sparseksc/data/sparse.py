"""Sparse matrices: a check of their format, and operations that cost what their entries cost.

Nothing here takes time or memory for each column, of which a sparse matrix may have millions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from sparseksc._typing import Array, Floats, Integers


def checked_csr(X: Any) -> Any:
    """Return a sparse matrix in CSR format, each entry once and in order; ``X`` is left as it is.

    SciPy trusts the index arrays, which anybody may have set: an index that is out of range would
    read or write memory that belongs to something else.

    Raises
    ------
    ValueError
        Where the arrays do not describe a matrix; the message says what is wrong with them.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sparseksc.data.sparse import checked_csr
    >>> checked_csr(sp.csr_array(([1.0, 2.0, 3.0], [1, 0, 1], [0, 3]), shape=(1, 2))).toarray()
    array([[2., 4.]])
    """
    if len(X.shape) != 2:
        return X  # to be refused as any array of another dimension
    fault = _fault(X)
    if fault is None and X.format != "csr":
        X = X.tocsr()
        fault = _fault(X)
    if fault is not None:
        raise ValueError(f"The sparse matrix X is damaged: {fault}; build it again.")
    # A matrix of its own: SciPy remembers whether one is sorted, and X may have changed since.
    matrix = type(X)((X.data, X.indices, X.indptr), shape=X.shape)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _fault(X: Any) -> str | None:
    """Say what is wrong with the arrays of a sparse matrix, or None."""
    if X.format in ("csr", "csc"):
        major, minor = X.shape if X.format == "csr" else X.shape[::-1]
        line, entry = ("row", "column") if X.format == "csr" else ("column", "row")
        return _compressed_fault(X, major, minor, line, entry)
    if X.format == "coo":
        for indices, size, line in zip(X.coords, X.shape, ("row", "column"), strict=True):
            if len(indices) != len(X.data):
                return f"it has {len(X.data)} values for {len(indices)} {line} numbers"
            outside = _outside(indices, size)
            if outside is not None:
                return f"it has an entry in {line} {indices[outside]} of {size}"
    if X.format == "bsr":
        try:
            X.copy().check_format(full_check=True)
        except (ValueError, IndexError) as error:
            return str(error)
    return None


def _compressed_fault(X: Any, major: int, minor: int, line: str, entry: str) -> str | None:
    data, indices, indptr = X.data, X.indices, X.indptr
    for name, array in (("data", data), ("indices", indices), ("indptr", indptr)):
        if np.ndim(array) != 1:
            return f"its {name} has {np.ndim(array)} dimensions instead of one"
        if name != "data" and array.dtype.kind not in "iu":
            return f"its {name} holds {array.dtype} instead of integers"
    if len(indptr) != major + 1:
        return f"its indptr has {len(indptr)} values, and {major} {line}s need {major + 1}"
    if indptr[0] != 0:
        return f"its indptr begins with {indptr[0]} instead of 0"
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if len(falls) > 0:
        return f"its indptr decreases, from {indptr[falls[0]]} to {indptr[falls[0] + 1]}"
    if len(indices) != len(data):
        return f"it has {len(data)} values and {len(indices)} indices"
    if indptr[-1] > len(data):
        return f"its indptr ends with {indptr[-1]}, and it has {len(data)} values"
    outside = _outside(indices[: indptr[-1]], minor)
    if outside is not None:
        at = int(np.searchsorted(indptr, outside, side="right")) - 1
        return f"{line} {at} has an entry in {entry} {indices[outside]} of {minor}"
    return None


def _outside(indices: Integers, size: int) -> int | None:
    """Place of the first index that is not between 0 and ``size - 1``."""
    if len(indices) == 0 or (indices.min() >= 0 and indices.max() < size):
        return None
    return int(np.flatnonzero((indices < 0) | (indices >= size))[0])


def times_columns(X: Any, factors: Floats) -> Any:
    """Multiply each column by its factor, or all by one, in the type of the product."""
    if isinstance(X, np.ndarray):
        return X * factors
    return _with_data(X, X.data * np.broadcast_to(factors, (X.shape[1],))[X.indices])


def times_rows(X: Any, factors: Floats) -> Any:
    """Multiply each row by its factor, in the type of the product."""
    return _with_data(X, X.data * np.repeat(factors, np.diff(X.indptr)))


def _with_data(X: Any, data: Array) -> Any:
    """Return a matrix of the same pattern, the entries of each row from the last to the first.

    That is their order in SciPy's product with a diagonal matrix, and the rounding of sums over a
    row depends on the order.
    """
    lengths = np.diff(X.indptr)
    order = np.repeat(X.indptr[:-1] + X.indptr[1:] - 1, lengths) - np.arange(lengths.sum())
    return type(X)((data[order], X.indices[order], X.indptr), shape=X.shape)


def without_empty_columns(*matrices: Any) -> tuple[Any, ...]:
    """Leave out the columns in which no matrix has an entry, where most are such.

    Products of rows stay what they are, to the last bit, and need no array as long as a row.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sparseksc.data.sparse import without_empty_columns
    >>> wide = sp.csr_array(([1.0, 2.0], [7, 900_000], [0, 1, 2]), shape=(2, 1_000_000))
    >>> without_empty_columns(wide, wide[:1])[1].toarray()
    array([[1., 0.]])
    """
    width = matrices[0].shape[1]
    if 4 * sum(matrix.nnz for matrix in matrices) >= width:
        return matrices
    filled = np.unique(np.concatenate([matrix.indices for matrix in matrices]))
    shape = max(len(filled), 1)
    return tuple(
        type(matrix)(
            (matrix.data, np.searchsorted(filled, matrix.indices), matrix.indptr),
            shape=(matrix.shape[0], shape),
        )
        for matrix in matrices
    )


def row_keys(X: Any) -> list[tuple[bytes, bytes]]:
    """Return something for each row that is the same for equal rows."""
    matrix = X.copy()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    ends = matrix.indptr[1:-1]
    rows = zip(np.split(matrix.indices, ends), np.split(matrix.data, ends), strict=True)
    return [(indices.tobytes(), data.tobytes()) for indices, data in rows]


def stacked(upper: Any, lower: Any) -> Any:
    """Rows of two matrices, dense or sparse, one below the other.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.data.sparse import stacked
    >>> stacked(np.zeros((1, 2)), np.ones((1, 2)))
    array([[0., 0.],
           [1., 1.]])
    """
    if not isinstance(upper, np.ndarray):
        return sp.vstack([upper, lower]).tocsr()
    return np.concatenate([upper, lower])
