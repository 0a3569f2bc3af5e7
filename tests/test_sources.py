"""Sources deliver the same rows, samples and sums wherever the rows come from."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sparseksc.data.sampling import Sample, selection_sample
from sparseksc.data.source import ArraySource
from sparseksc.data.stream import ChangedSource, IterableSource, recut, require_finite


def blocks_of(X, rows):
    return [X[start : start + rows] for start in range(0, len(X), rows)]


@given(
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=8),
    rows=st.integers(1, 7),
)
def test_recut_pieces_hold_the_same_rows_in_order_and_are_of_the_size_asked_for(lengths, rows):
    X = np.arange(float(2 * sum(lengths))).reshape(-1, 2)
    cuts = np.cumsum([0, *lengths])
    blocks = [X[a:b] for a, b in pairwise(cuts)]
    pieces = list(recut(blocks, rows))
    assert all(len(piece) == rows for piece in pieces[:-1])
    if len(X):
        np.testing.assert_array_equal(np.concatenate(pieces), X)
        assert 1 <= len(pieces[-1]) <= rows
    else:
        assert pieces == []


@given(
    X=hnp.arrays(np.float64, st.tuples(st.integers(1, 60), st.just(2)), elements=st.floats(-9, 9)),
    rows=st.integers(1, 20),
    size=st.integers(1, 30),
    seed=st.integers(0, 5),
)
def test_a_stream_draws_the_sample_that_an_array_draws(X, rows, size, seed):
    from_array = ArraySource(X).sample(size, seed)
    from_stream = IterableSource(blocks_of(X, rows)).sample(size, seed)
    np.testing.assert_array_equal(from_stream.rows, from_array.rows)
    np.testing.assert_array_equal(from_stream.X, from_array.X)


def test_a_smaller_sample_is_part_of_a_larger_one():
    X = np.random.default_rng(0).normal(size=(500, 3))
    large = ArraySource(X).sample(200, 4)
    small = large.first(50, 4)
    np.testing.assert_array_equal(small.rows, selection_sample(500, 50, 4))
    np.testing.assert_array_equal(small.X, X[small.rows])


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


def test_an_iterator_that_can_be_read_once_is_refused():
    with pytest.raises(ValueError, match="read only once"):
        IterableSource(iter([np.ones((3, 2))]))


def test_a_function_that_returns_new_iterators_is_read_again_and_again():
    source = IterableSource(lambda: (np.full((4, 2), float(i)) for i in range(3)))
    for _ in range(2):
        assert sum(len(block) for block, _ in source.blocks()) == 12
    assert source.n_rows == 12


def test_a_source_that_changes_between_passes_is_noticed():
    blocks = [np.ones((5, 2)), np.ones((5, 2))]
    source = IterableSource(blocks)
    list(source.blocks())
    blocks.append(np.ones((1, 2)))
    with pytest.raises(ChangedSource, match="10 rows before and has 11 now"):
        list(source.blocks())


@pytest.mark.parametrize(
    ("blocks", "sentence"),
    [
        ([np.ones((2, 2)), np.ones((2, 3))], "shape \\(2, 3\\) where 2 columns"),
        ([np.ones((2, 2)), [[1.0, np.nan]]], "Row 2 has the value nan in column 1"),
        ([np.ones(3)], "2-D arrays"),
        ([], "2-D arrays"),
        ([np.ones((0, 2))], "no rows"),
    ],
)
def test_bad_blocks_are_named(blocks, sentence):
    with pytest.raises(ValueError, match=sentence):
        list(IterableSource(blocks).blocks())


def test_the_place_of_a_bad_value_is_named_by_row_and_column():
    with pytest.raises(ValueError, match="Row 1,001 has the value inf in column 'b'"):
        require_finite(np.array([[0.0, 0.0], [0.0, np.inf]]), 1000, ["a", "b"])


def test_joining_samples_gives_the_sample_of_all_rows():
    X = np.random.default_rng(1).normal(size=(300, 2))
    parts = [Sample(np.arange(a, b), X[a:b], np.ones(b - a)) for a, b in ((0, 120), (120, 300))]
    joined = parts[0].first(40, 3).join(parts[1].first(40, 3), 40, 3)
    np.testing.assert_array_equal(joined.rows, selection_sample(300, 40, 3))
