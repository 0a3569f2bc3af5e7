"""Equal rows, found without a copy of all rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparseksc._typing import Array, Floats, Integers
from sparseksc.data.fingerprint import fingerprint_of
from sparseksc.data.sampling import Sample, rows_at
from sparseksc.data.sparse import row_keys

#: Entries that are compared at once.
ENTRIES_AT_ONCE = 1 << 18


def distinct_rows(X: Array) -> tuple[Integers, Integers]:
    """Return the first row of each group of equal rows, and the group of each row.

    The groups of an array are in lexicographic order, as those of ``numpy.unique(X, axis=0)``,
    which sorts a copy of all rows and takes its time where they are long; those of a sparse matrix,
    and of objects, are in the order of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.data.distinct import distinct_rows
    >>> first, group = distinct_rows(np.array([[2.0, 1.0], [0.0, 5.0], [2.0, 1.0], [2.0, 0.0]]))
    >>> first, group
    (array([1, 3, 0]), array([2, 0, 2, 1]))
    """
    keys: Iterable[Any] | None = None
    if sp.issparse(X):
        keys = row_keys(X)
    elif X.dtype.hasobject:
        keys = (fingerprint_of(row).value for row in X)
    if keys is not None:
        places: dict[Any, int] = {}
        group = np.array([places.setdefault(key, len(places)) for key in keys], np.intp)
    else:
        group = _rows_before(X)
    _, first, group = np.unique(group, return_index=True, return_inverse=True)
    return first, group


def distinct_sample(sample: Sample) -> Sample:
    """Return distinct rows in an order of their own, with the weights of all that are equal.

    What is computed from them then depends neither on the order of the rows nor on whether a row
    comes twice or has twice the weight.
    """
    present = np.flatnonzero(sample.weights > 0.0)
    X: Any = rows_at(sample.X, present)
    first, group = distinct_rows(X)
    mass: Floats = np.bincount(group, sample.weights[present]).astype(np.float64)
    rows = X[first]
    if sp.issparse(X):  # whose groups are in the order of the rows
        keys = list(row_keys(rows))
        order = np.array(sorted(range(len(keys)), key=keys.__getitem__), np.intp)
        rows, mass = rows[order], mass[order]
    return Sample(np.arange(len(first)), rows, mass)


def _rows_before(X: Array) -> Integers:
    """Count for each row the rows that come before it in lexicographic order."""
    before = np.zeros(X.shape[0], np.intp)
    tied, column = np.arange(X.shape[0]), 0  # rows that are equal to others so far, by groups
    while len(tied) > 1 and column < X.shape[1]:
        columns = slice(column, column + max(1, ENTRIES_AT_ONCE // len(tied)))
        group = _first_of_run(before[tied])
        differ = (X[tied, columns] != X[tied[group], columns]).any(axis=0)
        if not differ.any():
            column = columns.stop
            continue
        column += int(np.argmax(differ))
        tied = tied[np.lexsort((X[tied, column], before[tied]))]
        # A row comes after the part of its group that is smaller in this column.
        group = _first_of_run(before[tied])
        part = _first_of_run(group, X[tied, column])
        before[tied] += part - group
        alone = np.bincount(part, minlength=len(tied))[part] == 1
        tied, column = tied[~alone], column + 1
    return before


def _first_of_run(*keys: Array) -> Integers:
    """For each place, the first one of its run of equal keys."""
    starts = np.zeros(len(keys[0]), bool)
    starts[0] = True
    for key in keys:
        starts[1:] |= key[1:] != key[:-1]
    return np.maximum.accumulate(np.where(starts, np.arange(len(starts)), 0))
