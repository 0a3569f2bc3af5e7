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


def named_rows(index):
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(50, 2))
    return X, pd.DataFrame(X, columns=["a", "b"], index=index)


@pytest.mark.parametrize("ending", ["parquet", "feather"])
@pytest.mark.parametrize("name", [None, "customer"])
def test_the_index_of_a_pandas_frame_is_not_a_feature_but_can_be_an_id(ending, name, tmp_path):
    pd = pytest.importorskip("pandas")
    index = pd.Index(np.arange(50)[::-1] * 1000, name=name)
    X, frame = named_rows(index)
    path, stored = tmp_path / f"points.{ending}", name or "__index_level_0__"
    if ending == "parquet":
        frame.to_parquet(path)
    else:
        table = pa.Table.from_pandas(frame)
        pytest.importorskip("pyarrow.feather").write_feather(table, path)
    assert stored in (pq.read_schema(path) if ending == "parquet" else table.schema).names
    source = open_dataset(path)
    assert source.feature_names == ["a", "b"]
    np.testing.assert_array_equal(rows_of(source), X)
    ((rows, (ids,)),) = open_dataset(path, ids=[stored]).records()
    np.testing.assert_array_equal(rows, X)
    assert ids.to_pylist() == index.tolist()
    # Who asks for it gets it.
    assert open_dataset(path, columns=[stored]).n_features == 1


def test_a_frame_of_an_index_alone_has_no_columns(tmp_path):
    _, frame = named_rows(np.arange(50) * 2)
    frame[[]].to_parquet(tmp_path / "points.parquet")
    with pytest.raises(ValueError, match="has no columns beside the index"):
        open_dataset(tmp_path / "points.parquet")


def test_notes_of_others_under_the_name_of_pandas_are_no_index(tmp_path):
    for note in (b"{", b"[]", b'{"index_columns": 3}', b'{"index_columns": [{"kind": "range"}]}'):
        table = pa.table({"a": [1.0, 2.0]}).replace_schema_metadata({b"pandas": note})
        pq.write_table(table, tmp_path / "points.parquet")
        assert open_dataset(tmp_path / "points.parquet").feature_names == ["a"]


def test_whole_numbers_that_are_rounded_are_warned_about(tmp_path):
    large = 2**53 + 1
    pq.write_table(pa.table({"a": [large, 1], "b": [1.0, 2.0]}), tmp_path / "points.parquet")
    (tmp_path / "points.csv").write_text(f"a,b\n{large},1\n1,2\n")
    (tmp_path / "points.jsonl").write_text(f'{{"a": {large}, "b": 1}}\n{{"a": 1, "b": 2}}\n')
    for ending in ("parquet", "csv", "jsonl"):
        with pytest.warns(UserWarning, match=r"Column 'a' .* holds whole numbers beyond 2\^53"):
            rows_of(open_dataset(tmp_path / f"points.{ending}"))
    rows_of(open_dataset(tmp_path / "points.parquet", columns=["b"], ids=["a"]))
    (tmp_path / "fractions.csv").write_text("a\n1e300\n1.5\n")
    rows_of(open_dataset(tmp_path / "fractions.csv"))
