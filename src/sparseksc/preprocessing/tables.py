"""Tables of other libraries as Arrow record batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from sparseksc.data.formats.arrow import Taking, require_pyarrow


def arrow_table(X: Any) -> Any:
    """Return a data frame, an Arrow table or an array as an Arrow table.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparseksc.preprocessing.tables import arrow_table
    >>> arrow_table(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})).column_names
    ['a', 'b']
    """
    pa = require_pyarrow()
    if isinstance(X, pa.Table):
        return X
    if isinstance(X, pa.RecordBatch):
        return pa.Table.from_batches([X])
    origin = type(X).__module__.partition(".")[0]
    if origin == "polars":
        return (X.collect() if hasattr(X, "collect") else X).to_arrow()
    if origin == "pandas" and getattr(X, "ndim", 0) == 2:
        names = [str(name) for name in X.columns]
        return pa.table([_array(column) for _, column in X.items()], names=names)
    if hasattr(X, "__arrow_c_stream__"):
        return pa.table(X)
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            "A table must be a data frame of pandas, polars, pyarrow or Dask, or a 2-D array, got "
            f"{type(X).__name__}."
        )
    names = [f"x{place}" for place in range(array.shape[1])]
    return pa.table([_array(array[:, place]) for place in range(array.shape[1])], names=names)


def _array(column: Any) -> Any:
    pa = require_pyarrow()
    if isinstance(column, np.ndarray):
        column = column.tolist() if column.dtype == object else np.ascontiguousarray(column)
    try:
        # Missing values are NaN in pandas, and None in the lists of others.
        found = pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError):  # values of several types
        missing = (value is None or value != value for value in column)
        found = pa.array(
            [None if no else str(one) for one, no in zip(column, missing, strict=True)]
        )
    return found


def recut(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """Cut record batches of one schema into batches of exactly ``rows`` rows, but for the last."""
    taking = Taking(batches)
    while (batch := taking.take(rows)) is not None:
        yield batch
