"""Tables of other libraries."""

import numpy as np
import pandas as pd
import pytest

from sparseksc.preprocessing.tables import arrow_table, recut

pa = pytest.importorskip("pyarrow", reason="tables need pyarrow")


def test_tables_of_all_libraries_are_the_same():
    polars = pytest.importorskip("polars")
    columns = {"a": [1.5, None], "b": ["x", None]}
    expected = {"a": [1.5, None], "b": ["x", None]}
    for table in (pd.DataFrame(columns), polars.DataFrame(columns), pa.table(columns)):
        assert arrow_table(table).to_pydict() == expected
    assert arrow_table(polars.LazyFrame(columns)).to_pydict() == expected
    array = np.array([[1.5, "x"], [None, None]], dtype=object)
    assert arrow_table(array).to_pydict() == {"x0": [1.5, None], "x1": ["x", None]}


def test_columns_of_several_types_become_text():
    found = arrow_table(pd.DataFrame({"a": [1, "x", None, 2.5]}))
    assert found["a"].to_pylist() == ["1", "x", None, "2.5"]


def test_what_is_no_table_is_refused():
    with pytest.raises(ValueError, match="A table must be a data frame"):
        arrow_table([1, 2, 3])


def test_batches_are_cut_anew():
    table = pa.table({"a": list(range(10)), "b": pa.array(list("abcdefghij")).dictionary_encode()})
    cut = list(recut(table.to_batches(max_chunksize=4), 3))
    assert [batch.num_rows for batch in cut] == [3, 3, 3, 1]
    assert [value for batch in cut for value in batch.column("b").to_pylist()] == list("abcdefghij")
