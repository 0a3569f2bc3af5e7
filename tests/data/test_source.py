"""Sources: sums, samples and places of bad values."""

import numpy as np
import pytest

from sparseksc.data.source import ArraySource
from sparseksc.data.stream import IterableSource, require_finite


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
