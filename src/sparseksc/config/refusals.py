"""The sentence for an ``X`` that cannot be clustered: what it is, and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

NUMBERS = "X must hold numbers only"
CHANGE = "turn it into numbers or leave it out"


def sentence_for(X: Any, reason: str) -> str:
    """Say why ``X`` is refused; ``reason`` is what scikit-learn says, which is often enough.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.config.refusals import sentence_for
    >>> sentence_for([[1.0], [np.nan]], "Input X contains NaN.")
    'X contains NaN, first in row 1, column 0: remove or fill such rows first.'
    """
    if X is None or isinstance(X, str | bytes | dict | set) or hasattr(X, "__next__"):
        return _no_table(X, reason)
    if np.ma.is_masked(X):
        return "X has masked values: remove such rows, or fill them with X.filled()."
    if isinstance(X, np.matrix):
        return "X must be an array, a data frame or a CSR matrix, got np.matrix: use np.asarray(X)."
    if getattr(X, "dtype", None) is not None and X.dtype.kind in "cmMV":
        if X.dtype.kind == "c":
            return (
                "Complex data not supported: pass real and imaginary parts as columns, such as "
                "numpy.column_stack([X.real, X.imag])."
            )
        return f"{NUMBERS}, got {X.dtype}: turn it into numbers first."
    for start in ("Input X contains NaN", "Input X contains infinity"):
        if reason.startswith(start):
            return _not_finite(X, start.split()[-1])
    if "inhomogeneous" in reason or "setting an array element" in reason:
        return "X must be a table of numbers, but its rows have different lengths."
    if reason.startswith(("Expected 2D array", "Found array with dim")):
        return (
            f"X must have two dimensions, got shape {np.shape(X)}: Reshape your data, such as by "
            "X.reshape(-1, 1) if it has one feature, or X.reshape(1, -1) if it is one row."
        )
    if "too large to convert" in reason:
        return "X holds an integer that is too large for float64: rescale X."
    if any(words in reason for words in ("could not convert", "promoted", "Cannot cast")):
        return _no_number(X)
    return " ".join(reason.split())


def _no_table(X: Any, reason: str) -> str:
    allowed = "X must be an array, a data frame, a sparse matrix or a source of rows"
    if isinstance(X, str | bytes):
        return f"{allowed}, got the text {X!r}: open files by sparseksc.open_dataset."
    given = "None" if X is None else type(X).__name__
    what = f" ({reason})" if "argument must be" in reason else ""
    return f"{allowed}, got {given}{what}."


def _not_finite(X: Any, what: str) -> str:
    advice = "remove or fill such rows first."
    if sp.issparse(X):
        return f"X contains {what}: {advice}"
    try:
        # Data frames have other values than NaN that stand for missing ones.
        known = _knows_missing(X, what)
        values = np.where(X.isna(), np.nan, 0.0) if known else np.asarray(X, np.float64)
    except (TypeError, ValueError):
        return f"X contains {what}: {advice}"
    places = np.argwhere(np.isnan(values) if what == "NaN" else np.isinf(values))
    if len(places) == 0:
        return f"X contains {what}: {advice}"
    row, column = places[0]
    return f"X contains {what}, first in row {row}, column {_name(X, column)}: {advice}"


def _knows_missing(X: Any, what: str) -> bool:
    """Whether it is a data frame that knows where its values are missing."""
    return what == "NaN" and hasattr(X, "columns") and hasattr(X, "isna")


def _no_number(X: Any) -> str:
    """Name the first column that is not of numbers, and a value in it."""
    table: Any = X if hasattr(X, "columns") else np.asarray(X, dtype=object)
    for place in range(table.shape[1] if np.ndim(table) == 2 else 0):
        column = table.iloc[:, place] if hasattr(X, "columns") else table[:, place]
        try:
            np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            return f"{NUMBERS}, got {_text_in(column)!r} in column {_name(X, place)}: {CHANGE}."
        if getattr(column, "dtype", np.dtype(object)).kind in "mM":
            return f"{NUMBERS}, got {column.dtype} in column {_name(X, place)}: {CHANGE}."
    return f"{NUMBERS}, got {type(X).__name__}."


def _text_in(column: Any) -> Any:
    """Return the first value of a column that is not a number."""
    for value in column:
        try:
            float(value)
        except (TypeError, ValueError):
            return value
    return None


def _name(X: Any, place: int) -> str:
    return repr(str(X.columns[place])) if hasattr(X, "columns") else str(place)
