"""TableEncoder: tables of numbers, categories, dates and blanks as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sparseksc._text import escaped
from sparseksc._typing import Array
from sparseksc.data.adapters import is_dask
from sparseksc.data.formats.arrow import LARGEST_EXACT, is_whole, warn_of_rounding
from sparseksc.preprocessing.columns import EncodedColumn, kind_of
from sparseksc.preprocessing.plan import plan_columns, weigh
from sparseksc.preprocessing.statistics import TableStatistics, gather
from sparseksc.preprocessing.tables import arrow_table, recut
from sparseksc.scaling import Scaling

MISSING = ("impute", "drop", "error")
#: Rows that are looked at together; the sums do not depend on how the rows arrive.
BATCH = 65_536


class TableEncoder(TransformerMixin, BaseEstimator):
    r"""Encode a table of any types of columns as numbers, for kernels and distances.

    Numbers, dates (days) and durations (seconds) get mean 0 and variance 1, missing ones the
    median. Texts and categories are one-hot encoded, with one feature for all rare levels, and
    weighted such that two different levels are at half of the squared distance of two median
    rows in a column of numbers: under an rbf kernel, this is the product of an rbf kernel on the
    numbers and an overlap kernel on the categories. A feature says which values are missing, where
    that is not rare. Columns that cannot help are left out: constant and empty ones, texts that are
    all different, and numbers that count the rows. :meth:`summary` says what was done.

    It does what scikit-learn's ``ColumnTransformer`` of ``SimpleImputer``, ``OneHotEncoder`` and
    ``StandardScaler`` does, from statistics of one pass over any number of rows.

    Parameters
    ----------
    columns : list of str, default=None
        Columns to use, all by default.
    drop_columns : list of str, default=()
        Columns to leave out.
    categorical : list of str, default=()
        Columns of numbers that are codes.
    missing : {"impute", "drop", "error"}, default="impute"
        What to do with missing values: fill them, leave their rows out, or refuse them.
    numeric_only : bool, default=False
        Whether to leave out all columns but those of numbers and truth values.
    max_categories : int, default=20
        Most features of a column of levels.
    min_frequency : float, default=0.01
        Share of the rows (and at least two rows) from which a level has a feature of its own.
    scale : bool, default=True
        Whether to scale as said above; otherwise numbers keep their units and levels are 0 or 1.

    Attributes
    ----------
    columns_ : list of EncodedColumn
        What became of each column.
    scaling_ : Scaling
        Shift and scale of every feature.
    n_features_in_ : int
    feature_names_in_ : array of str
        Names of all columns of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparseksc.preprocessing import TableEncoder
    >>> table = pd.DataFrame({
    ...     "mass": [3.7, 3.8, None, 5.1, 5.0, 4.9],
    ...     "island": ["Dream", "Dream", "Dream", "Biscoe", "Biscoe", "Biscoe"],
    ...     "tag": ["N1", "N2", "N3", "N4", "N5", "N6"],
    ... })
    >>> encoder = TableEncoder(scale=False).fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['mass', 'island_Biscoe', 'island_Dream']
    >>> encoder.transform(table)[2]
    array([4.9, 0. , 1. ])
    >>> print(encoder.summary())
    1 number (mass; 1 missing value filled in), 1 category (island: 2 levels); left out: tag (...)
    """

    def __init__(
        self,
        *,
        columns: Sequence[str] | None = None,
        drop_columns: Sequence[str] = (),
        categorical: Sequence[str] = (),
        missing: str = "impute",
        numeric_only: bool = False,
        max_categories: int = 20,
        min_frequency: float = 0.01,
        scale: bool = True,
    ) -> None:
        self.columns = columns
        self.drop_columns = drop_columns
        self.categorical = categorical
        self.missing = missing
        self.numeric_only = numeric_only
        self.max_categories = max_categories
        self.min_frequency = min_frequency
        self.scale = scale

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Find out what becomes of each column, in one pass.

        Parameters
        ----------
        X : data frame of pandas, polars or Dask, pyarrow table, or 2-D array
        y : ignored

        Returns
        -------
        self
        """
        if is_dask(X):
            return self._fit_dask(X)
        table = arrow_table(X)
        kinds, left_out = self.kinds(table.schema)
        return self._fit_statistics(table.schema, gather(_batches(table), kinds), left_out)

    def fit_batches(self, batches: Iterable[Any], schema: Any) -> TableEncoder:
        """Fit to Arrow record batches of a schema, which are read once.

        Returns
        -------
        self
        """
        kinds, left_out = self.kinds(schema)
        statistics = gather(recut(batches, BATCH), kinds)
        return self._fit_statistics(schema, statistics, left_out)

    def _fit_dask(self, frame: Any) -> TableEncoder:
        dask = import_module("dask")
        meta = arrow_table(frame._meta)
        kinds, left_out = self.kinds(meta.schema)
        parts = frame.to_delayed()
        lengths = dask.compute(*[dask.delayed(len)(part) for part in parts])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        found = [
            dask.delayed(_statistics_of)(part, kinds, int(start))
            for part, start in zip(parts, starts, strict=False)
        ]
        statistics = reduce(TableStatistics.merge, dask.compute(*found))
        return self._fit_statistics(meta.schema, statistics, left_out)

    def kinds(self, schema: Any) -> tuple[dict[str, str], dict[str, str]]:
        """Kinds of the columns of an Arrow schema that are used, and why others are not."""
        self._check(schema.names)
        kinds, left_out = {}, {}
        for field in schema:
            name, kind = field.name, kind_of(field.type)
            if name in self.drop_columns or (self.columns is not None and name not in self.columns):
                continue
            if name in self.categorical and kind != "left out":
                kinds[name] = "category"
            elif kind == "left out":
                left_out[name] = f"holds {field.type}"
            elif self.numeric_only and kind not in ("number", "boolean"):
                left_out[name] = "no numbers"
            else:
                kinds[name] = kind
        return kinds, left_out

    def _check(self, names: list[str]) -> None:
        if self.missing not in MISSING:
            raise ValueError(f"missing must be one of {', '.join(MISSING)}, got {self.missing!r}.")
        if not isinstance(self.max_categories, int) or self.max_categories < 2:
            raise ValueError(f"max_categories must be at least 2, got {self.max_categories!r}.")
        if not 0.0 <= self.min_frequency <= 1.0:
            raise ValueError(f"min_frequency must be from 0 to 1, got {self.min_frequency!r}.")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"The table has more than one column {twice!r}: rename one of them.")
        for what in ("columns", "drop_columns", "categorical"):
            given = getattr(self, what) or ()
            if isinstance(given, str):
                raise ValueError(f"{what} must be a list of names, got {given!r}.")
            absent = [name for name in given if name not in names]
            if absent:
                raise ValueError(
                    f"{what} names {absent[0]!r}, but the table has {', '.join(names[:12])}"
                    f"{', ...' if len(names) > 12 else ''}."
                )

    def _fit_statistics(
        self, schema: Any, statistics: TableStatistics, left_out: dict[str, str]
    ) -> TableEncoder:
        names = schema.names
        if not names:
            raise ValueError("The table has no columns.")
        if statistics.n_rows == 0:
            raise ValueError("The table has no rows.")
        if statistics.n_rows == 1:
            raise ValueError("The table has one row: clusters need at least two.")
        used = [name for name in names if name in statistics.kinds or name in left_out]
        self.columns_ = plan_columns(statistics, left_out, used, self)
        self.n_missing_ = {name: statistics.missing(name) for name in statistics.kinds}
        self.n_rows_ = statistics.n_rows
        self.scaling_ = weigh(self.columns_, statistics)
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)
        lacking = [name for name in self.columns_in_use if self.n_missing_[name]]
        if self.missing == "error" and lacking:
            count = _count(self.n_missing_[lacking[0]], "missing value")
            raise ValueError(
                f"Column {lacking[0]!r} has {count}: "
                "fill them in, or choose missing='impute' or 'drop' (--missing)."
            )
        if not len(self.get_feature_names_out()):
            reasons = self.summary().partition("left out: ")[2]
            raise ValueError(
                f"No column of the table can be used, {reasons}: add a column of numbers, or of "
                "levels that occur more than once."
            )
        for name in self.columns_in_use:
            if name in statistics.numeric and is_whole(schema.field(name)):
                _, _, low, high = statistics.spread(name)
                if max(-low, high) >= LARGEST_EXACT:
                    warn_of_rounding(repr(name))
        return self

    @property
    def columns_in_use(self) -> list[str]:
        """Names of the columns that features come from."""
        return [column.name for column in self.columns_ if column.kind != "left out"]

    def transform(self, X: Any) -> Any:
        """Encode the rows of a table, whose columns are found by their names.

        Levels that were not there in ``fit`` count as rare ones. With ``missing="drop"``, rows
        with missing values are left out.

        Parameters
        ----------
        X : data frame of pandas, polars or Dask, pyarrow table, or 2-D array

        Returns
        -------
        array of shape (n_samples, n_features_out)
            A Dask array for Dask data frames.
        """
        check_is_fitted(self)
        if is_dask(X):
            dask, da = import_module("dask"), import_module("dask.array")
            width, encode = len(self.get_feature_names_out()), dask.delayed(self.transform)
            parts, empty = X.to_delayed(), np.empty((0, width))
            return da.concatenate(
                [da.from_delayed(encode(part), (np.nan, width), meta=empty) for part in parts]
            )
        table = arrow_table(X)
        absent = [name for name in self.columns_in_use if name not in table.column_names]
        if absent:
            raise ValueError(
                f"The table has no column {absent[0]!r}, with which the encoder was fitted."
            )
        blocks = []
        for batch in _batches(table.select(self.columns_in_use)):
            block, complete = self.encode(batch)
            blocks.append(block if complete.all() else block[complete])
        width = len(self.get_feature_names_out())
        found = np.concatenate([np.empty((0, width)), *blocks])
        return self.scaling_.apply(found) if self.scale else found

    def encode(self, batch: Any, start: int = 0) -> tuple[Array, NDArray[np.bool_]]:
        """Encode a record batch, in the units of the table.

        Returns
        -------
        block : array of shape (n_rows, n_features_out)
        complete : array of bool of shape (n_rows,)
            Which rows are to be kept: all, but for ``missing="drop"``.
        """
        block = np.empty((batch.num_rows, len(self.scaling_.mean)))
        complete = np.ones(batch.num_rows, dtype=bool)
        at = 0
        for column in self.columns_:
            width = len(column.feature_names)
            if not width:
                continue
            missing = column.encode(batch.column(column.name), block[:, at : at + width])
            at += width
            if self.missing == "error" and missing.any():
                raise ValueError(
                    f"Row {start + int(np.argmax(missing)) + 1:,} has no value in column "
                    f"{column.name!r}: fill it in, or remove the row."
                )
            if self.missing == "drop":
                complete &= ~missing
        if np.isinf(block).any():
            row, place = np.argwhere(np.isinf(block))[0]
            raise ValueError(
                f"Row {start + int(row) + 1:,} has the value {block[row, place]} in column "
                f"{self.get_feature_names_out()[place]!r}: replace it, or remove the row."
            )
        return block, complete

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the features: of the column, or of the column and the level.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        names = [name for column in self.columns_ for name in column.feature_names]
        return np.array(names, dtype=object)

    def summary(self) -> str:
        """Say in one line what became of which column."""
        from sparseksc.preprocessing.words import summarise

        return escaped(summarise(self.columns_, self.n_missing_, self.missing))

    def plain(self) -> dict[str, Any]:
        """Return the fitted encoder as values that JSON has."""
        return {
            "columns": [column.plain() for column in self.columns_],
            "names": [str(name) for name in self.feature_names_in_],
            "missing": self.missing,
            "n_missing": self.n_missing_,
            "n_rows": self.n_rows_,
            "mean": self.scaling_.mean.tolist(),
            "scale": self.scaling_.scale.tolist(),
        }

    @classmethod
    def meant(cls, entry: Mapping[str, Any]) -> TableEncoder:
        """Return the encoder that :meth:`plain` has described; it does not scale."""
        encoder = cls(missing=entry["missing"], scale=False)
        encoder.columns_ = [EncodedColumn.meant(column) for column in entry["columns"]]
        encoder.n_missing_, encoder.n_rows_ = dict(entry["n_missing"]), entry["n_rows"]
        encoder.scaling_ = Scaling(np.array(entry["mean"]), np.array(entry["scale"]))
        encoder.feature_names_in_ = np.array(entry["names"], dtype=object)
        encoder.n_features_in_ = len(entry["names"])
        return encoder

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags


def _batches(table: Any) -> Iterable[Any]:
    return recut(table.to_batches(), BATCH)


def _statistics_of(part: Any, kinds: Mapping[str, str], start: int) -> TableStatistics:
    return gather(_batches(arrow_table(part)), kinds, start)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
