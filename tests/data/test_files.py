"""Files of all kinds give the same rows, and bad files a sentence."""

import gzip

import numpy as np
import pytest

from sparseksc.data.files import open_dataset
from sparseksc.data.stream import ChangedSource

pa = pytest.importorskip("pyarrow", reason="reading files needs pyarrow")

csv = pytest.importorskip("pyarrow.csv")

feather = pytest.importorskip("pyarrow.feather")

pq = pytest.importorskip("pyarrow.parquet")

KINDS = [".npy", ".npz", ".parquet", ".arrow", ".feather", ".csv", ".csv.gz"]

NAMED = [kind for kind in KINDS if kind != ".npy"]


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


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_gives_its_rows_in_blocks_of_the_size_asked_for(
    kind, table, X, tmp_path
):
    source = open_dataset(write(kind, table, X, tmp_path), block_rows=300)
    assert [len(block) for block, _ in source.blocks()] == [300, 300, 300, 100]
    np.testing.assert_array_equal(rows_of(source), X)
    assert source.n_rows == 1000


@pytest.mark.parametrize("kind", NAMED)
def test_columns_are_chosen_by_name_and_in_the_order_asked_for(kind, table, X, tmp_path):
    source = open_dataset(write(kind, table, X, tmp_path), columns=["c", "a"])
    np.testing.assert_array_equal(rows_of(source), X[:, [2, 0]])
    assert source.feature_names == ["c", "a"]


@pytest.mark.parametrize("kind", [".npy", ".parquet", ".arrow"])
def test_the_number_of_rows_is_known_up_front_where_the_format_tells(kind, table, X, tmp_path):
    assert open_dataset(write(kind, table, X, tmp_path)).n_rows == 1000


def test_patterns_lists_and_directories_read_files_in_the_order_of_their_names(X, tmp_path):
    for number in (2, 0, 1):
        np.save(tmp_path / f"part{number}.npy", X[300 * number : 300 * (number + 1)])
    for path in (
        str(tmp_path / "part*.npy"),
        tmp_path,
        [tmp_path / f"part{number}.npy" for number in range(3)],
    ):
        np.testing.assert_array_equal(rows_of(open_dataset(path)), X[:900])


def test_single_precision_is_kept_and_mixed_columns_become_double(X, tmp_path):
    single = X.astype(np.float32)
    np.save(tmp_path / "single.npy", single)
    assert open_dataset(tmp_path / "single.npy").dtype == np.float32
    mixed = pa.table({"a": single[:, 0], "b": np.arange(1000)})
    pq.write_table(mixed, tmp_path / "mixed.parquet")
    assert open_dataset(tmp_path / "mixed.parquet").dtype == np.float64


def test_a_file_that_changes_between_passes_is_noticed(X, tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, X)
    source = open_dataset(path)
    rows_of(source)
    np.save(path, X[:500])
    with pytest.raises(ChangedSource):
        rows_of(source)


def test_bad_files_are_refused_with_a_sentence(table, X, tmp_path):
    pq.write_table(table, tmp_path / "good.parquet")
    whole = (tmp_path / "good.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.npy").write_bytes(b"")
    np.save(tmp_path / "cut.npy", X)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "cut.npy").read_bytes()[:5000])
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n3\n")
    (tmp_path / "text.csv").write_text("a,b\n1,blue\n2,green\n")
    (tmp_path / "holes.csv").write_text("a,b\n1,2\n3,\n")
    (tmp_path / "points.dat").write_text("1 2\n")
    (tmp_path / "plain.csv.gz").write_text("a,b\n1,2\n")
    (tmp_path / "damaged.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n")[:10] + b"\xff" * 99)
    np.save(tmp_path / "flat.npy", np.ones(4))
    np.save(tmp_path / "words.npy", np.array([["a"]]))
    (tmp_path / "nothing").mkdir()
    for name, sentence in {
        "missing.csv": "There is no file",
        "cut.parquet": "cannot be read as Parquet",
        "empty.npy": "is empty",
        "cut.npy": "cannot be read as NPY",
        "ragged.csv": r"has 1 field in row 2 \(line 3\) where 2 are expected",
        "text.csv": r"has 'blue' in row 1 \(line 2\), column 'b', which is not a number",
        "holes.csv": r"has no value in row 2 \(line 3\), column 'b': fill it in",
        "points.dat": "ending that is not known",
        "plain.csv.gz": "is not compressed, or not by gzip",
        "damaged.csv.gz": "cannot be read as CSV",
        "flat.npy": "2-D array",
        "words.npy": "must hold numbers",
        "nothing": "has no files that can be read",
    }.items():
        with pytest.raises((ValueError, OSError), match=sentence):
            rows_of(open_dataset(tmp_path / name))
    with pytest.raises(ValueError, match="has no column 'z'; it has a, b and c"):
        open_dataset(tmp_path / "good.parquet", columns=["z"])
    with pytest.raises(ValueError, match="block_rows must be an integer"):
        open_dataset(tmp_path / "good.parquet", block_rows=0)
    with pytest.raises(ValueError, match="different kinds"):
        open_dataset([tmp_path / "good.parquet", tmp_path / "text.csv"])
    for data in (X, table, None):
        with pytest.raises(ValueError, match=r"pass an array or a data frame to fit as it is\."):
            open_dataset(data)


def test_files_with_other_columns_are_not_read_as_one(table, X, tmp_path):
    pq.write_table(table, tmp_path / "one.parquet")
    pq.write_table(table.rename_columns(["a", "b", "d"]), tmp_path / "two.parquet")
    with pytest.raises(ValueError, match="choose common ones"):
        open_dataset(tmp_path)
    assert open_dataset(tmp_path, columns=["a", "b"]).n_rows == 2000


@pytest.mark.parametrize("kind", NAMED)
def test_ids_are_kept_beside_the_rows_and_never_clustered(kind, table, X, tmp_path):
    names = [f"{number:04d}" for number in range(1000)]
    path = write(kind, table.append_column("name", pa.array(names)), X, tmp_path)
    source = open_dataset(path, ids=["name"], block_rows=300)
    assert source.feature_names == ["a", "b", "c"]
    np.testing.assert_array_equal(rows_of(source), X)
    blocks, ids = zip(*source.records(), strict=True)
    np.testing.assert_array_equal(np.concatenate(blocks), X)
    assert [name for (column,) in ids for name in column.tolist()] == names
    assert max(len(block) for block in blocks) <= 300


def test_notes_of_programs_in_a_directory_are_not_data(table, X, tmp_path):
    write(".parquet", table, X, tmp_path)
    (tmp_path / "_metadata.parquet").write_bytes(b"x")
    (tmp_path / "._points.parquet").write_bytes(b"x")
    assert open_dataset(tmp_path).n_rows == 1000
