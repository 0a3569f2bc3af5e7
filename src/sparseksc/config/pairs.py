"""From what the user passes as ``must_link`` and ``cannot_link`` to pairs of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sparseksc._typing import Integers
from sparseksc.core.clusters.constraints import PairedRows
from sparseksc.data.source import Source


def read_pairs(name: str, pairs: Any) -> Integers:
    """Read pairs of row numbers, shape (n_pairs, 2).

    Examples
    --------
    >>> from sparseksc.config.pairs import read_pairs
    >>> read_pairs("must_link", [(0, 3), (7, 5)])
    array([[0, 3],
           [7, 5]])
    """
    if pairs is None:
        return np.empty((0, 2), np.intp)
    values = np.asarray(pairs)
    if values.size == 0:
        return np.empty((0, 2), np.intp)
    if values.ndim != 2 or values.shape[1] != 2:
        raise ValueError(
            f"{name} must be pairs of row numbers, of shape (n_pairs, 2), got {values.shape}."
        )
    if values.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold row numbers, integers, got {values.dtype}.")
    same = np.flatnonzero(values[:, 0] == values[:, 1])
    if len(same) > 0:
        raise ValueError(f"{name} must be pairs of two rows, got row {values[same[0], 0]} twice.")
    return values.astype(np.intp)


def paired_rows(must: Integers, cannot: Integers, source: Source) -> PairedRows:
    """Rows of a source that are in pairs.

    Rows that must be linked to the same row must be linked to each other, so that no pair of them
    can be one that cannot be.
    """
    n = source.counted_rows()
    for name, pairs in (("must_link", must), ("cannot_link", cannot)):
        wrong = pairs[(pairs < 0) | (pairs >= n)]
        if len(wrong) > 0:
            raise ValueError(
                f"{name} must hold row numbers from 0 to {n - 1:,}, of the rows of X, got "
                f"{wrong[0]}."
            )
    rows, places = np.unique(np.concatenate([must, cannot]), return_inverse=True)
    places = places.reshape(-1, 2)
    linked, apart = places[: len(must)], places[len(must) :]
    edges = coo_array((np.ones(len(linked)), linked.T), shape=(len(rows), len(rows)))
    _, group = connected_components(edges, directed=False)
    wrong = np.flatnonzero(group[apart[:, 0]] == group[apart[:, 1]])
    if len(wrong) > 0:
        one, other = cannot[wrong[0]]
        raise ValueError(
            f"The rows {one} and {other} are a pair of cannot_link, but must_link links them, "
            "directly or through other rows."
        )
    return PairedRows(source.take(rows), linked, apart)
