"""Streams deliver the rows, samples and sums of an array."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sparseksc.data.source import ArraySource
from sparseksc.data.stream import ChangedSource, IterableSource, recut


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
