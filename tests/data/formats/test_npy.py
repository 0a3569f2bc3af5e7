"""NPY files: rows through a memory map, in any order of storage and type of number."""

import numpy as np
import pytest

from sparseksc.data.files import open_dataset


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f8", ">f8", "f4", "i2", "u1", "?"])
def test_rows_are_those_of_the_array(order, dtype, tmp_path):
    X = np.asarray(np.random.default_rng(0).integers(0, 2, (500, 3)), dtype=dtype, order=order)
    np.save(tmp_path / "points.npy", X)
    source = open_dataset(tmp_path / "points.npy", block_rows=120)
    blocks = [block for block, _ in source.blocks()]
    assert [len(block) for block in blocks] == [120, 120, 120, 120, 20]
    np.testing.assert_array_equal(np.concatenate(blocks), X)
    assert (source.n_rows, source.n_features, source.feature_names) == (500, 3, None)
    assert source.dtype == (np.float32 if dtype == "f4" else np.float64)


@pytest.mark.parametrize("wanted", [{"columns": ["a"]}, {"ids": ["a"]}])
def test_columns_have_no_names(wanted, tmp_path):
    np.save(tmp_path / "points.npy", np.ones((5, 2)))
    with pytest.raises(ValueError, match=r"points\.npy"):
        open_dataset(tmp_path / "points.npy", **wanted)


def test_objects_are_not_loaded(tmp_path):
    np.save(tmp_path / "points.npy", np.array([[None, 1.0]], dtype=object))
    with pytest.raises(ValueError, match=r"points\.npy"):
        open_dataset(tmp_path / "points.npy")


def test_an_archive_is_not_an_array(tmp_path):
    path = tmp_path / "points.npy"
    with path.open("wb") as file:
        np.savez(file, X=np.ones((5, 2)))
    with pytest.raises(ValueError, match=r"points\.npy cannot be read as NPY"):
        open_dataset(path)
