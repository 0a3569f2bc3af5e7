"""Tables of labels in files of all kinds."""

import numpy as np
import pytest

from sparseksc.data.writers import column_writer


def read(path):
    if path.suffix == ".npy":
        return np.load(path)
    if path.suffix == ".npz":
        with np.load(path) as archive:
            return np.column_stack([archive[name] for name in archive])
    if path.name.endswith((".csv", ".csv.gz")):
        return np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    if path.suffix == ".parquet":
        return pytest.importorskip("pyarrow.parquet").read_table(path).to_pandas().to_numpy()
    return pytest.importorskip("pyarrow.feather").read_table(path).to_pandas().to_numpy()


@pytest.mark.parametrize("kind", [".npy", ".npz", ".csv", ".csv.gz", ".parquet", ".arrow"])
def test_labels_and_memberships_are_written_in_order(kind, tmp_path):
    labels = np.arange(1000) % 3
    strengths = np.random.default_rng(0).random((1000, 2))
    path = tmp_path / f"labels{kind}"
    with column_writer(path, ["label", "m0", "m1"]) as writer:
        for part in (slice(0, 400), slice(400, 401), slice(401, 1000)):
            writer.write([labels[part], *strengths[part].T])
    np.testing.assert_array_equal(read(path), np.column_stack([labels, strengths]))


def test_labels_alone_are_a_vector_of_integers_in_npy(tmp_path):
    path = tmp_path / "labels.npy"
    with column_writer(path, ["label"]) as writer:
        for start in range(0, 100_000, 30_000):
            writer.write([np.arange(start, min(start + 30_000, 100_000))])
    labels = np.load(path)
    assert labels.dtype == np.int64
    np.testing.assert_array_equal(labels, np.arange(100_000))


def test_an_unknown_ending_is_refused(tmp_path):
    with (
        pytest.raises(ValueError, match="must end in one of"),
        column_writer(tmp_path / "x.xls", []),
    ):
        raise AssertionError("never reached")


@pytest.mark.parametrize("kind", [".npz", ".csv", ".csv.gz", ".parquet", ".arrow"])
def test_ids_of_any_type_are_written_beside_the_labels(kind, tmp_path):
    pa = pytest.importorskip("pyarrow")
    names = ["a,b", 'say "x"', "007", "", "long " * 10]
    path = tmp_path / f"labels{kind}"
    with column_writer(path, ["name", "day", "label"]) as writer:
        for part in (slice(0, 2), slice(2, 5)):
            days = np.array([19_000] * 5, dtype="datetime64[D]")[part]
            writer.write([pa.array(names[part]), pa.array(days), np.arange(5)[part]])
    if kind == ".npz":
        with np.load(path) as archive:
            assert archive["name"].tolist() == names
            assert archive["label"].tolist() == [0, 1, 2, 3, 4]
    elif kind.startswith(".csv"):
        table = pytest.importorskip("pandas").read_csv(path, dtype=str, keep_default_na=False)
        assert table["name"].tolist() == names
        assert table["day"].tolist() == ["2022-01-08"] * 5
    else:
        reader = "pyarrow.parquet" if kind == ".parquet" else "pyarrow.feather"
        table = pytest.importorskip(reader).read_table(path)
        assert table["name"].to_pylist() == names
        assert pa.types.is_date(table["day"].type)


def test_compressed_labels_are_the_same_bytes_each_time(tmp_path):
    contents = []
    for name in ("one.csv.gz", "two.csv.gz"):
        with column_writer(tmp_path / name, ["label"]) as writer:
            writer.write([np.arange(100)])
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]
