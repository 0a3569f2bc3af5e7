"""Data frames of odd types are encoded, or refused in a sentence."""

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sparseksc.preprocessing import TableEncoder

pa = pytest.importorskip("pyarrow", reason="tables need pyarrow")

N = 60
GROUP = np.arange(N) % 3
X = np.random.default_rng(0).normal(size=N) + 8 * GROUP
COLOUR = np.array(["red", "green", "blue"])[GROUP]
NUMBERS = range(N)


def objects(values):
    """A column of Python objects."""
    return pd.Series(list(values), dtype=object)


def hours(n):
    return datetime(2024, 1, 1 + n % 28, tzinfo=timezone(timedelta(hours=n % 2)))


#: Columns of pandas, and what is said of them.
COLUMNS = {
    "intervals": (pd.cut(pd.Series(X), 4), "1 category (c: 4 levels)"),
    "periods": (pd.period_range("2020-01", periods=N, freq="M"), "1 date (c)"),
    "sparse numbers": (pd.arrays.SparseArray((GROUP == 1).astype(float)), "2 numbers (x, c)"),
    "extended precision": (X.astype(np.longdouble), "2 numbers (x, c)"),
    "half precision": (X.astype(np.float16), "2 numbers (x, c)"),
    "whole numbers beyond 64 bits": (
        objects(2**70 + 2**60 * n * n for n in NUMBERS),
        "2 numbers (x, c)",
    ),
    "whole numbers beyond float64": (
        np.arange(2**63, 2**63 + N, dtype=np.uint64),
        "left out: c (constant once rounded, beyond 2^53)",
    ),
    "complex numbers": (X + 1j, "left out: c (all different)"),
    "decimals": (objects(Decimal(f"{one:.2f}") for one in X), "2 numbers (x, c)"),
    "numbers and None": (objects(n % 5 if n % 7 else None for n in NUMBERS), "9 missing values"),
    "numbers and texts": (objects(n % 2 or "a" for n in NUMBERS), "1 category (c: 2 levels)"),
    "dates as objects": (objects(date(2024, 1, 1 + n % 28) for n in NUMBERS), "1 date (c)"),
    "moments of two zones": (objects(map(hours, NUMBERS)), "1 date (c)"),
    "categories of numbers": (pd.Categorical(GROUP), "1 category (c: 3 levels)"),
    "categories of booleans": (pd.Categorical(GROUP == 0), "1 category (c: 2 levels)"),
    "categories that never occur": (
        pd.Categorical(COLOUR, categories=["red", "green", "blue", "grey"]),
        "1 category (c: 3 levels)",
    ),
    "truth values with holes": (
        pd.array([None if one == 0 else one == 1 for one in GROUP], "boolean"),
        "1 truth value (c; 20 missing values filled in)",
    ),
    "empty texts": (np.where(GROUP == 0, "", COLOUR), "1 category (c: 2 levels; 20 missing"),
    "lists": (objects([1, 2] for _ in NUMBERS), "left out: c (holds list<item: int64>)"),
    "dicts": (objects({"a": 1} for _ in NUMBERS), "left out: c (holds struct<a: int64>)"),
    "bytes": (objects(b"a" for _ in NUMBERS), "left out: c (holds binary)"),
}

#: Columns of polars and pyarrow.
OTHERS = {
    "categories of polars": (pl.Series(COLOUR, dtype=pl.Categorical), "(c: 3 levels)"),
    "an enumeration of polars": (
        pl.Series(COLOUR, dtype=pl.Enum(["red", "green", "blue"])),
        "(c: 3 levels)",
    ),
    "decimals of polars": (pl.Series(X).cast(pl.Decimal(10, 2)), "2 numbers (x, c)"),
    "times of polars": (pl.Series([time(n % 24) for n in NUMBERS]), "1 duration (c)"),
    "nothing": (pl.Series([None] * N), "left out: c (empty)"),
    "dictionaries of numbers": (pa.array(GROUP).dictionary_encode(), "(c: 3 levels)"),
    "a dictionary with a missing level": (
        pa.DictionaryArray.from_arrays(pa.array(GROUP), pa.array(["a", None, "b"])),
        "(c: 2 levels; 20 missing values)",
    ),
    "bytes of one length": (pa.array([b"ab"] * N, pa.binary(2)), "(holds fixed_size_binary[2])"),
}
# Not all versions have these.
if hasattr(pl, "Int128"):
    OTHERS["whole numbers of 128 bits"] = (
        pl.Series(range(N), dtype=pl.Int128) ** 2,
        "2 numbers (x, c)",
    )
if hasattr(pa, "string_view"):
    OTHERS["views of texts"] = (pa.array(COLOUR, pa.string_view()), "(c: 3 levels)")


def encoded(table):
    encoder = TableEncoder().fit(table)
    features = encoder.transform(table)
    assert features.shape == (N, len(encoder.get_feature_names_out()))
    assert np.isfinite(features).all()
    return encoder


@pytest.mark.parametrize("case", COLUMNS)
def test_a_column_of_pandas(case):
    column, said = COLUMNS[case]
    assert said in encoded(pd.DataFrame({"x": X, "c": column})).summary()


@pytest.mark.parametrize("case", OTHERS)
def test_a_column_of_polars_or_pyarrow(case):
    column, said = OTHERS[case]
    make = pl.DataFrame if isinstance(column, pl.Series) else pa.table
    assert said in encoded(make({"x": X, "c": column})).summary()


# Dask makes texts of Python objects before the encoder sees them.
AS_IN_PANDAS = [
    name
    for name, (column, _) in COLUMNS.items()
    if name != "extended precision" and str(getattr(column, "dtype", None)) != "object"
]


@pytest.mark.parametrize("case", AS_IN_PANDAS)
def test_a_column_of_dask_is_as_one_of_pandas(case):
    dd = pytest.importorskip("dask.dataframe", reason="needs dask")
    frame = pd.DataFrame({"x": X, "c": COLUMNS[case][0]})
    # The second of four partitions has no rows.
    cut = dd.concat([dd.from_pandas(frame[a:b]) for a, b in ((0, 30), (30, 30), (30, 60))])
    whole, parts = TableEncoder().fit(frame), TableEncoder().fit(cut)
    assert parts.summary() == whole.summary()
    np.testing.assert_allclose(parts.transform(cut).compute(), whole.transform(frame), atol=1e-12)


def test_lists_of_numbers_and_texts_keep_the_numbers():
    table = [[1.5, "a"], [2.5, "b"], [4.0, "a"]]
    assert TableEncoder().fit(table).summary().startswith("1 number (x0), 1 category (x1: 1 level")


@pytest.mark.parametrize(
    "table, sentence",
    [
        (pd.Series(X), "must be a data frame .* got Series"),
        (pl.Series(X), "must be a data frame .* got Series"),
        (X, "must be a data frame .* or a 2-D array, got ndarray"),
        (pd.DataFrame(index=range(5)), "has no columns"),
        (pd.DataFrame({"x": []}), "has no rows"),
        (pd.DataFrame({"x": [1.0]}), "has one row: clusters need at least two"),
        (pd.DataFrame(np.ones((2, 2)), columns=[1, "1"]), "more than one column '1'"),
        (pd.DataFrame({"x": [1.0, np.inf]}), "Row 2 has the value inf in column 'x'"),
        (pa.table({"x": X}).to_reader(), "can be read only once"),
    ],
)
def test_what_is_no_table_is_refused(table, sentence):
    with pytest.raises(ValueError, match=sentence):
        TableEncoder().fit(table)
