"""Parquet and Arrow files: columns of any type of number."""

import numpy as np
import pytest

from sparseksc.data.files import open_dataset

pa = pytest.importorskip("pyarrow", reason="reading files needs pyarrow")

pq = pytest.importorskip("pyarrow.parquet")


def rows_of(source):
    return np.concatenate([block for block, _ in source.blocks()])


def test_whole_numbers_decimals_and_booleans_are_numbers(tmp_path):
    from decimal import Decimal

    columns = {
        "whole": pa.array([1, 2], pa.uint8()),
        "price": pa.array([Decimal("1.25"), Decimal("2.50")]),
        "flag": pa.array([True, False]),
        "half": pa.array(np.array([0.5, 1.5], dtype=np.float16)),
    }
    pq.write_table(pa.table(columns), tmp_path / "mixed.parquet")
    rows = rows_of(open_dataset(tmp_path / "mixed.parquet"))
    assert rows.tolist() == [[1.0, 1.25, 1.0, 0.5], [2.0, 2.5, 0.0, 1.5]]
