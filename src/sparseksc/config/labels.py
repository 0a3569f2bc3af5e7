"""From what the user passes as ``y`` to rows whose class is known."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from sparseksc._text import escaped
from sparseksc._typing import Integers
from sparseksc.core.clusters.classes import LabelledRows
from sparseksc.core.training import Labelled
from sparseksc.data.adapters import is_dask
from sparseksc.data.files import FileStream
from sparseksc.data.sampling import selection_sample
from sparseksc.data.source import Source
from sparseksc.execution.notices import warn

#: Label of a row whose class is not known.
UNKNOWN = -1
#: Cells of a column of labels that say that there is none.
EMPTY = ("", "nan", "NaN", "NA", "null", "None", "-1")
#: With fewer labels, a class may be worse than a cluster that was found without any.
FEW_LABELS = 3
#: More labelled rows than this are sampled: they would no longer change the classes.
MOST_LABELLED = 50_000


class FewLabelsWarning(UserWarning):
    """A class has so few labelled rows that it may not be found."""


class KnownClasses(NamedTuple):
    """Names of the classes, sorted, and the number of that of each row, -1 where it is unknown."""

    names: Any
    codes: Integers


def read_classes(y: Any) -> KnownClasses | None:
    """Read labels of rows, of which some are unknown: -1, NaN or None.

    Where all are, there is nothing to learn from, and where none is, nothing to find out: ``y`` is
    the target of a later step of a pipeline then. Both give None.

    Examples
    --------
    >>> from sparseksc.config.labels import read_classes
    >>> read_classes([3, -1, 7])
    KnownClasses(names=array([3, 7]), codes=array([ 0, -1,  1]))
    >>> read_classes(["cat", None, "dog"]).names
    array(['cat', 'dog'], dtype='<U3')
    """
    if is_dask(y):
        y = y.compute()
    values = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"y must have one label for each row, got the shape {values.shape}.")
    if values.dtype.kind not in "biufOUT":
        return None
    if values.dtype.kind in "OUT":
        known = np.array([not _is_unknown(one) for one in values.tolist()], dtype=bool)
        if known.all() or not known.any():
            return None
        kinds = {isinstance(one, str) for one in values[known].tolist()}
        if len(kinds) == 2:
            raise ValueError("y must hold integers or text, got both.")
        given = values[known]
        chosen = given.astype(np.str_) if True in kinds else _whole(given.astype(np.float64))
    else:
        known = ~np.isnan(values) & (values != UNKNOWN)
        if known.all() or not known.any():
            return None
        chosen = _whole(values[known])
    names, numbers = np.unique(chosen, return_inverse=True)
    codes = np.full(len(known), UNKNOWN, dtype=np.intp)
    codes[known] = numbers.ravel()
    return KnownClasses(names, codes)


def given_classes(X: Any, y: Any) -> KnownClasses | None:
    """Classes of some rows, from ``y`` or from the column of files that has them."""
    column = getattr(X, "label_column", None)
    if y is None and column is not None:
        return read_classes(_cells(X, column))
    return None if y is None else read_classes(y)


def _cells(source: FileStream, column: str) -> list[Any]:
    """Read the classes of some rows from a column; None where it is empty."""
    place = list(source.ids).index(column)
    cells = [cell for _, ids in source.records() for cell in ids[place].tolist()]
    classes = [None if cell is None or str(cell).strip() in EMPTY else cell for cell in cells]
    known = [name for name in classes if name is not None]
    if len(known) in (0, len(classes)):
        found = "No row" if not known else "Every row"
        raise ValueError(
            f"{found} has a label in the column {escaped(column)!r}: it is to hold labels of some "
            "rows."
        )
    if all(re.fullmatch(r"[+-]?\d+(\.0*)?", str(name)) for name in known):
        return [None if name is None else int(float(name)) for name in classes]
    return [None if name is None else str(name) for name in classes]


def _is_unknown(value: Any) -> bool:
    """Whether a label is None, NaN, a missing value of a data frame, or -1."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return not isinstance(value, str) and (value == UNKNOWN or bool(value != value))


def _whole(values: Any) -> Any:
    """Return classes as integers; numbers between them are measurements."""
    whole = values.astype(np.int64)
    wrong = np.flatnonzero(whole != values)
    if len(wrong) > 0:
        raise ValueError(
            f"y must hold classes, integers or text, got {float(values[wrong[0]]):g}: leave y out."
        )
    return whole


def labelled_rows(
    classes: KnownClasses, source: Source, n_clusters: int | None, seed: int
) -> Labelled:
    """Rows of a source whose class is known.

    Parameters
    ----------
    classes : KnownClasses
    source : Source
        As many rows as there are labels.
    n_clusters : int or None
        Clusters that are asked for; None where that is open.
    seed : int
        Of a sample, where very many rows are labelled.
    """
    names, codes = classes
    n_rows = source.counted_rows()
    if len(codes) != n_rows:
        raise ValueError(f"y has {len(codes):,} labels, but X has {n_rows:,} rows.")
    if n_clusters is not None and n_clusters < len(names):
        raise ValueError(
            f"{n_clusters} clusters asked for, but y has {len(names)} classes: ask for as many, or "
            "for more if there are clusters without labels."
        )
    counts = np.bincount(codes[codes >= 0], minlength=len(names))
    few = np.flatnonzero(counts < FEW_LABELS)
    if len(few) > 0:
        number, named = len(few), escaped(repr(names[few[0]].item()))
        warn(
            f"{number} of the {len(names)} classes in y {'has' if number == 1 else 'have'} fewer "
            f"than {FEW_LABELS} labels, such as {named}: these may be worse than none.",
            FewLabelsWarning,
        )
    known = np.flatnonzero(codes >= 0)
    known = known[selection_sample(len(known), MOST_LABELLED, seed, np.ones(len(known)))]
    known = np.sort(known)
    rows = LabelledRows(source.take(known), codes[known], len(names))
    return Labelled(rows, None if n_clusters is None else n_clusters - len(names))
