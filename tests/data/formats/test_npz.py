"""NPZ archives: one table, or vectors of the same length."""

import zipfile

import numpy as np
import pytest

from sparseksc.data.files import open_dataset

pa = pytest.importorskip("pyarrow", reason="reading files needs pyarrow")


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(1000, 3))


@pytest.fixture
def table(X):
    return pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})


def rows_of(source):
    return np.concatenate([block for block, _ in source.blocks()])


def test_an_archive_holds_one_table_or_vectors(X, tmp_path):
    path = tmp_path / "points.npz"
    names = np.array([f"p{number}" for number in range(1000)])
    for table in (X, np.asfortranarray(X)):
        for save in (np.savez, np.savez_compressed):
            save(path, points=table, name=names)
            source = open_dataset(path, ids=["name"], block_rows=300)
            assert source.feature_names is None
            np.testing.assert_array_equal(rows_of(source), X)
            ids = [name for _, (column,) in source.records() for name in column.tolist()]
            assert ids == names.tolist()
    np.savez(path, X=X, other=X[:5])
    assert open_dataset(path).n_rows == 1000
    np.savez(path, one=X, other=X[:5])
    with pytest.raises(ValueError, match=r"several tables \(one, other\)"):
        open_dataset(path)
    assert open_dataset(path, columns=["other"]).n_rows == 5
    np.savez(path, a=X[:, 0], b=X[:5, 0])
    with pytest.raises(ValueError, match=r"'b' of .* has the shape \(5,\)"):
        open_dataset(path)
    np.savez(path, X=np.array([[None, 1]], dtype=object))
    with pytest.raises(ValueError, match="holds objects"):
        open_dataset(path)
    np.savez(path, X=X)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="cannot be read as NPZ"):
        open_dataset(path)
    path.write_bytes(whole[:900] + bytes([whole[900] ^ 1]) + whole[901:])
    with pytest.raises(ValueError, match="cannot be read as NPZ"):
        rows_of(open_dataset(path))


def test_what_is_wrong_with_a_header_is_said_in_a_few_words(tmp_path):
    path = tmp_path / "points.npz"
    header = b"\x93NUMPY\x01\x00" + (9000).to_bytes(2, "little") + b"{" + 8999 * b"x"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", header)
    with pytest.raises(ValueError, match=r"points\.npz cannot be read as NPZ") as raised:
        open_dataset(path)
    assert len(str(raised.value)) < 1000
