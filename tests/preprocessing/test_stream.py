"""Files of any types of columns as numbers, block by block."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from sparseksc import KernelSpectralClustering
from sparseksc.data.files import locate
from sparseksc.data.formats.base import MissingColumns, Request
from sparseksc.preprocessing import TableEncoder
from sparseksc.preprocessing.stream import EncodedStream, TableFiles, fit_to_files

pa = pytest.importorskip("pyarrow", reason="tables need pyarrow")


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=1000), "c": rng.choice(["a", "b"], 1000)})
    frame["k"] = rng.integers(0, 9, 1000)
    frame.loc[::7, "x"] = np.nan
    return frame


def open_table(path, rows=65_536, **parameters):
    files = TableFiles(*locate([str(path)], Request(block_rows=rows)))
    return files, fit_to_files(TableEncoder(scale=False, **parameters), files)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "xlsx"])
def test_all_kinds_of_files_give_the_numbers_of_the_frame(ending, table, tmp_path):
    path = tmp_path / f"table.{ending}"
    if ending == "jsonl":
        table.to_json(path, orient="records", lines=True, double_precision=15)
    elif ending == "xlsx":
        table.to_excel(path, index=False)
    else:
        getattr(table, f"to_{ending}")(path, index=False)
    expected = TableEncoder(scale=False).fit_transform(table)
    for rows in (65_536, 130):
        stream = EncodedStream(*open_table(path, rows))
        blocks = [block for block, _ in stream.blocks()]
        assert max(map(len, blocks)) <= rows
        np.testing.assert_allclose(np.concatenate(blocks), expected, rtol=1e-12)


def test_columns_are_carried_beside_the_rows_that_are_kept(table, tmp_path):
    table["k"] = table["k"].map("{:03d}".format)
    table.to_csv(tmp_path / "table.csv", index=False)
    files, encoder = open_table(tmp_path / "table.csv", 130, missing="drop")
    stream = EncodedStream(files, encoder, ["k", "x", "c"])
    kept = table.dropna()
    found = [(len(block), ids) for block, ids in stream.records()]
    assert sum(rows for rows, _ in found) == len(kept)
    assert stream.n_dropped == len(table) - len(kept)
    assert [one for _, ids in found for one in ids[0].to_pylist()] == kept["k"].tolist()


def test_files_of_different_types_are_joined_or_refused(table, tmp_path):
    table[["x", "c"]].to_parquet(tmp_path / "a.parquet", index=False)
    table[["c"]].assign(x=range(1000)).to_parquet(tmp_path / "b.parquet", index=False)
    stream = EncodedStream(*open_table(tmp_path))
    assert sum(len(block) for block, _ in stream.blocks()) == 2000
    table[["c"]].assign(x=table["c"]).to_parquet(tmp_path / "b.parquet", index=False)
    with pytest.raises(ValueError, match=r"Column 'x' holds double in .*a.parquet, but"):
        open_table(tmp_path)


def test_columns_of_the_encoder_must_be_there(table, tmp_path):
    table.to_csv(tmp_path / "table.csv", index=False)
    _, encoder = open_table(tmp_path / "table.csv")
    table[["x"]].to_csv(tmp_path / "less.csv", index=False)
    files = TableFiles(*locate([str(tmp_path / "less.csv")], Request()))
    with pytest.raises(MissingColumns, match="has no columns 'c' and 'k'; it has x"):
        EncodedStream(files, encoder)


def test_workers_of_a_cluster_read_the_rows_of_the_stream(table, tmp_path):
    pytest.importorskip("dask.array", reason="needs dask")
    for name, part in (("a", table[:700]), ("b", table[700:])):
        part.to_parquet(tmp_path / f"{name}.parquet", index=False, row_group_size=90)
    stream = EncodedStream(*open_table(tmp_path, 130))
    blocks = [block for block, _ in stream.blocks()]
    lazy = stream.to_dask()
    assert [len(block) for block in blocks] == list(lazy.array.chunks[0])
    np.testing.assert_array_equal(lazy.array.compute(), np.concatenate(blocks))


def test_a_model_of_a_cluster_keeps_the_encoder(table, tmp_path):
    pytest.importorskip("dask.array", reason="needs dask")
    table.to_parquet(tmp_path / "table.parquet", index=False)
    stream = EncodedStream(*open_table(tmp_path / "table.parquet", 130))
    make = partial(KernelSpectralClustering, 2, kernel="landmarks", scale=True, random_state=0)
    here, there = make().fit(stream), make().fit(stream.to_dask())
    assert there.coef_.tobytes() == here.coef_.tobytes()
    assert there.table_encoder_ is stream.encoder
    np.testing.assert_array_equal(there.predict(table), np.asarray(there.labels_))


@pytest.mark.parametrize(
    ("ending", "missing", "sentence"),
    [
        ("csv", "impute", "save the table as Parquet"),
        ("parquet", "drop", "choose missing='impute'"),
    ],
)
def test_what_a_cluster_cannot_cut_gets_one_sentence(ending, missing, sentence, table, tmp_path):
    getattr(table, f"to_{ending}")(tmp_path / f"table.{ending}", index=False)
    stream = EncodedStream(*open_table(tmp_path / f"table.{ending}", missing=missing))
    with pytest.raises(ValueError, match=sentence):
        stream.to_dask()
