"""Sources: sums, samples and places of bad values."""

import numpy as np
import pytest

from sparseksc import open_dataset
from sparseksc.data.checkpoint import CheckpointedSource
from sparseksc.data.source import ArraySource
from sparseksc.data.stream import IterableSource, require_finite
from sparseksc.scaling import measure_scaling


def blocks_of(X, rows):
    return [X[start : start + rows] for start in range(0, len(X), rows)]


def test_rows_of_weight_zero_are_never_drawn():
    weights = np.tile([0.0, 2.0], 50)
    sample = ArraySource(np.ones((100, 1)), weights).sample(40, 0)
    assert len(sample.rows) == 40
    assert (sample.rows % 2 == 1).all()


@pytest.mark.parametrize("n_rows", [5000, 1024, 1025, 3333, 8000])
@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_sums_have_the_same_bits_for_an_array_and_for_the_same_blocks(n_jobs, n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 3))

    def work(rows, weights):
        return weights @ np.exp(rows)

    expected = IterableSource(blocks_of(X, 1024)).sum(work, np.add, 10_000, 1)
    streamed = IterableSource(blocks_of(X, 1024)).sum(work, np.add, 10_000, n_jobs)
    for array in (X, np.asfortranarray(X)):
        assert ArraySource(array).sum(work, np.add, 10_000, n_jobs).tobytes() == expected.tobytes()
    assert expected.tobytes() == streamed.tobytes()
    np.testing.assert_allclose(expected, np.exp(X).sum(axis=0), rtol=1e-12)


def test_the_place_of_a_bad_value_is_named_by_row_and_column():
    with pytest.raises(ValueError, match="Row 1,001 has the value inf in column 'b'"):
        require_finite(np.array([[0.0, 0.0], [0.0, np.inf]]), 1000, ["a", "b"])


def test_a_source_says_what_it_is(tmp_path):
    X = np.zeros((1200, 2), np.float32)
    assert repr(ArraySource(X)) == "<ArraySource: in memory, 1,200 rows, 2 columns, float32>"
    for number in range(8):
        np.save(tmp_path / f"{number}.npy", X)
    files = open_dataset(tmp_path)
    assert repr(files) == (
        "<FileStream: 8 files (0.npy, 1.npy, 2.npy, 3.npy, …, 7.npy), 9,600 rows, 2 columns, "
        "float32>"
    )
    stream = open_dataset([X[:1]])
    assert repr(stream) == "<IterableSource: 1 array, rows not counted yet, 2 columns, float32>"
    list(stream.blocks())
    assert repr(stream) == "<IterableSource: 1 array, 1 row, 2 columns, float32>"
    made = open_dataset(lambda: iter([X]))
    assert "arrays of a function, rows not counted yet" in repr(made)
    scaling = measure_scaling(files, None)
    assert "scaled rows of 8 files (0.npy" in repr(files.scaled(scaling))
    saved = CheckpointedSource(files, tmp_path / "run.ckpt", "")
    assert repr(saved).startswith("<CheckpointedSource: 8 files (0.npy")


def test_names_in_a_description_are_escaped(tmp_path):
    pytest.importorskip("pyarrow", reason="reading CSV files needs pyarrow")
    (tmp_path / "x.csv").write_text("a\x07,b\n1,2\n3,4\n")
    shown = repr(open_dataset(tmp_path / "x.csv"))
    assert shown.startswith("<FileStream: 1 file (x.csv), ")
    assert shown.endswith(r", 2 columns (a\x07, b), float64>")
