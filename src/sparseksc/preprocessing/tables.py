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
    if isinstance(X, pa.RecordBatchReader):
        raise ValueError(
            "A record batch reader can be read only once: give the table that read_all() returns."
        )
    origin, dimensions = type(X).__module__.partition(".")[0], getattr(X, "ndim", 2)
    if origin == "polars" and not hasattr(X, "to_frame"):
        return _polars(X.collect() if hasattr(X, "collect") else X)
    if origin == "pandas" and dimensions == 2:
        names = [str(name) for name in X.columns]
        return pa.table([_array(_plain(column)) for _, column in X.items()], names=names)
    if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "to_frame"):
        return pa.table(X)
    array = np.asarray(X)
    if array.dtype.kind in "SU" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)  # lists of numbers and texts, which NumPy makes texts
    if array.ndim != 2:
        raise ValueError(
            "A table must be a data frame of pandas, polars, pyarrow or Dask, or a 2-D array, got "
            f"{type(X).__name__}."
        )
    names = [f"x{place}" for place in range(array.shape[1])]
    return pa.table([_array(array[:, place]) for place in range(array.shape[1])], names=names)


def _polars(frame: Any) -> Any:
    """Return a data frame of polars as an Arrow table, which has no whole numbers of 128 bits."""
    wide = [name for name, of in frame.schema.items() if str(of) in ("Int128", "UInt128")]
    return (frame.cast(dict.fromkeys(wide, float)) if wide else frame).to_arrow()


def _plain(column: Any) -> Any:
    """Return a column of pandas as Arrow knows it: periods as dates, and all of a sparse one."""
    kind = str(column.dtype)
    if kind.startswith("period["):
        return column.dt.to_timestamp()
    return column.sparse.to_dense() if kind.startswith("Sparse[") else column


def _array(column: Any) -> Any:
    pa = require_pyarrow()
    if getattr(column, "dtype", None) == np.longdouble:
        column = column.astype(np.float64)
    if isinstance(column, np.ndarray):
        column = column.tolist() if column.dtype == object else np.ascontiguousarray(column)
    try:
        # Missing values are NaN in pandas, and None in the lists of others.
        found = pa.array(column, from_pandas=True)
    except OverflowError:  # whole numbers beyond 64 bits
        found = pa.array([None if value is None else float(value) for value in column])
    except (pa.ArrowException, TypeError):  # values of several types
        missing = (value is None or value != value for value in column)
        texts = [None if no else str(one) for one, no in zip(column, missing, strict=True)]
        found = pa.array(texts, pa.string())
    return found


def recut(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """Cut record batches of one schema into batches of exactly ``rows`` rows, but for the last."""
    taking = Taking(batches)
    while (batch := taking.take(rows)) is not None:
        yield batch
