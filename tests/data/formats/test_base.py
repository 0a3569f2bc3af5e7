"""What all kinds of files share: names of columns, and places of faults."""

import gzip

import numpy as np
import pytest

from sparseksc.data.files import open_dataset

pa = pytest.importorskip("pyarrow", reason="reading files needs pyarrow")

csv = pytest.importorskip("pyarrow.csv")

feather = pytest.importorskip("pyarrow.feather")

pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(1000, 3))


@pytest.fixture
def table(X):
    return pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})


def rows_of(source):
    return np.concatenate([block for block, _ in source.blocks()])


def write(kind, table, X, folder):
    path = folder / f"points{kind}"
    if kind == ".npy":
        np.save(path, X)
    elif kind == ".npz":
        np.savez(path, **{name: np.array(table[name].to_pylist()) for name in table.column_names})
    elif kind == ".parquet":
        pq.write_table(table, path, row_group_size=170)
    elif kind == ".arrow":
        feather.write_feather(table, path, compression="uncompressed", chunksize=130)
    elif kind == ".feather":
        feather.write_feather(table, path, compression="lz4")
    elif kind == ".csv":
        csv.write_csv(table, path)
    else:
        with gzip.open(path, "wb") as file:
            csv.write_csv(table, file)
    return path


def test_faults_in_other_files_have_a_place_too(table, X, tmp_path):
    holes = X.copy()
    holes[700, 1] = np.nan
    np.save(tmp_path / "holes.npy", holes)
    with pytest.raises(ValueError, match=r"holes\.npy has the value nan in row 701, column 2"):
        rows_of(open_dataset(tmp_path / "holes.npy", block_rows=300))
    pq.write_table(table.set_column(1, "b", pa.array([None, *X[1:, 1]])), tmp_path / "holes.pq")
    with pytest.raises(ValueError, match="nan in row 1, column 'b'"):
        rows_of(open_dataset(tmp_path / "holes.pq"))


def test_names_are_checked(table, X, tmp_path):
    path = write(".parquet", table, X, tmp_path)
    with pytest.raises(ValueError, match="has no columns 'x', 'y' and 'z'; it has a, b and c"):
        open_dataset(path, columns=["x", "y", "a", "z"])
    ((rows, (ids,)),) = open_dataset(path, columns=["a"], ids=["a"]).records()
    assert rows[:, 0].tolist() == ids.to_pylist()
    with pytest.raises(ValueError, match="names 'a' more than once"):
        open_dataset(path, columns=["a", "a"])
    with pytest.raises(ValueError, match="at least one column"):
        open_dataset(path, columns=[])
    with pytest.raises(ValueError, match="must be a list of names, got 'a'"):
        open_dataset(path, ids="a")
    with pytest.raises(ValueError, match="has no columns beside the ids"):
        open_dataset(path, ids=["a", "b", "c"])
