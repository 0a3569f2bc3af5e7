"""Outputs are complete or not there."""

import os

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering, open_dataset
from sparseksc.data.atomic import atomic_write
from sparseksc.data.writers import column_writer
from sparseksc.report import write_report


def test_a_file_appears_only_when_it_is_complete(tmp_path):
    target = tmp_path / "result.bin"
    with atomic_write(target) as file:
        file.write(b"half")
        assert not target.exists()
        file.write(b"whole")
    assert target.read_bytes() == b"halfwhole"
    assert os.listdir(tmp_path) == ["result.bin"]


def test_a_failure_leaves_what_was_there_and_nothing_else(tmp_path):
    target = tmp_path / "result.bin"
    target.write_bytes(b"before")
    with pytest.raises(KeyboardInterrupt), atomic_write(target) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert target.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["result.bin"]


def test_a_missing_folder_is_named_before_any_work(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match="There is no folder"),
        atomic_write(tmp_path / "nowhere" / "result.bin"),
    ):
        raise AssertionError("never reached")


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


def test_a_link_stays_a_link_and_a_folder_a_folder(tmp_path):
    (tmp_path / "real").write_bytes(b"before")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic_write(tmp_path / "link") as file:
        file.write(b"after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"after"
    with pytest.raises(IsADirectoryError, match="is a folder"), atomic_write(tmp_path):
        raise AssertionError("never reached")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_device_is_written_to_and_not_replaced():
    with pytest.raises(OSError, match="No space left"), atomic_write("/dev/full") as file:
        file.write(b"lost")
    assert not os.path.isfile("/dev/full")


@pytest.mark.skipif(os.name != "posix", reason="needs rights of files")
def test_a_file_keeps_the_rights_of_the_one_that_it_replaces(tmp_path):
    target = tmp_path / "model"
    for mode in (0o600, 0o664):
        target.write_bytes(b"old")
        target.chmod(mode)
        with atomic_write(target) as file:
            file.write(b"new")
        assert (target.read_bytes(), target.stat().st_mode & 0o777) == (b"new", mode)


OPENED = {
    "source": open_dataset,
    "memmap": lambda path: np.load(path, mmap_mode="r"),
    "view": lambda path: np.asarray(np.load(path, mmap_mode="r")),
    "blocks": lambda path: open_dataset([np.load(path, mmap_mode="r")]),
}


@pytest.mark.parametrize("opened", OPENED)
def test_data_is_not_written_over(opened, tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, np.random.default_rng(0).normal(size=(50, 2)))
    before = path.read_bytes()
    data = OPENED[opened](path)
    model = KernelSpectralClustering(2, bandwidth=1.0, scale=True, random_state=0).fit(data)
    (tmp_path / "link.npy").symlink_to(path)
    for name in (path, tmp_path / "link.npy"):
        with pytest.raises(ValueError, match="holds the data: write to another file"):
            model.predict(data, out=name)
        with pytest.raises(ValueError, match="holds the data: write to another file"):
            write_report(model, data, name)
    assert path.read_bytes() == before
    model.predict(data, out=tmp_path / "labels.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), model.predict(data))


def test_columns_may_have_any_name(tmp_path):
    pd = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(50, 2))
    frame = pd.DataFrame(X, columns=["paths", "filename"])
    model = KernelSpectralClustering(2, bandwidth=1.0, random_state=0).fit(frame)
    model.predict(frame, out=tmp_path / "labels.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), model.labels_)


def test_memberships_beside_labels_need_a_file():
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = KernelSpectralClustering(2, bandwidth=1.0, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"give out, or call membership"):
        model.predict(X, with_membership=True)
