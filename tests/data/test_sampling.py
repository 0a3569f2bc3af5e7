"""Samples: rows drawn by hashed numbers, the same wherever the rows come from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from sparseksc.data import sampling
from sparseksc.data.sampling import Sample, hashed_uniform, selection_sample
from sparseksc.data.source import ArraySource


def with_hashes(monkeypatch, numbers):
    """Let row r be drawn by ``numbers[r]``."""

    def ahead(rows, _, bound):
        drawn = numbers[np.arange(rows) if isinstance(rows, int) else rows]
        places = np.flatnonzero(drawn > bound)
        return places, drawn[places]

    monkeypatch.setattr(sampling, "uniform", lambda rows, _: numbers[rows])
    monkeypatch.setattr(sampling, "ahead", ahead)


def test_a_selection_sample_is_sorted_without_repetition_and_of_the_size_asked_for():
    rows = selection_sample(10_000, 700, seed=3)
    assert len(rows) == 700
    assert (np.diff(rows) > 0).all()
    assert rows[0] >= 0 and rows[-1] < 10_000


@pytest.mark.parametrize("size", [None, 50, 51])
def test_a_sample_as_large_as_the_data_is_all_of_it(size):
    np.testing.assert_array_equal(selection_sample(50, size, seed=0), np.arange(50))


def test_every_row_is_equally_likely_to_be_in_the_sample():
    counts = np.zeros(60)
    for seed in range(600):
        counts[selection_sample(60, 12, seed)] += 1
    assert chisquare(counts).pvalue > 1e-4


def test_a_weight_counts_like_copies_in_the_sample_and_weight_zero_never_wins():
    weights = np.array([0.0, 1.0, 2.0, 5.0] * 10)
    firsts = np.concatenate([selection_sample(40, 1, seed, weights) for seed in range(2000)])
    counts = np.bincount(firsts % 4, minlength=4)
    assert counts[0] == 0
    assert chisquare(counts[1:], 2000 * np.array([1, 2, 5]) / 8).pvalue > 1e-4


def test_hashed_numbers_are_uniform_and_belong_to_the_row():
    rows = np.arange(20_000)
    numbers = hashed_uniform(9, rows)
    assert 0.0 < numbers.min() and numbers.max() < 1.0
    assert chisquare(np.histogram(numbers, 20, (0, 1))[0]).pvalue > 1e-4
    np.testing.assert_array_equal(hashed_uniform(9, rows[500:600]), numbers[500:600])
    assert not np.array_equal(hashed_uniform(10, rows), numbers)


@given(st.integers(1, 60_000), st.floats(0.0, 1.0), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_the_sample_has_the_rows_with_the_largest_hashed_numbers(n, share, seed):
    size = max(1, int(share * n))
    numbers = hashed_uniform(seed, np.arange(n))
    expected = np.sort(np.argsort(-numbers)[:size])
    np.testing.assert_array_equal(selection_sample(n, size, seed), expected)
    np.testing.assert_array_equal(selection_sample(3 * np.arange(n), n, seed), np.arange(n))


def test_rows_are_drawn_by_their_numbers_and_returned_by_their_places():
    rows = np.sort(np.random.default_rng(0).choice(90_000, 40_000, replace=False))
    numbers = hashed_uniform(5, rows)
    expected = np.sort(np.argsort(-numbers)[:300])
    np.testing.assert_array_equal(selection_sample(rows, 300, 5), expected)
    np.testing.assert_array_equal(selection_sample(rows.astype(np.int32), 300, 5), expected)
    weights = np.where(rows % 2 == 0, 0.0, 2.0)
    odd = np.flatnonzero(weights)
    expected = odd[np.sort(np.argsort(-numbers[odd])[:300])]
    np.testing.assert_array_equal(selection_sample(rows, 300, 5, weights), expected)


def test_of_rows_that_finish_together_the_first_are_in_the_sample(monkeypatch):
    with_hashes(monkeypatch, np.full(20, 0.5))
    rows = np.arange(10, 20)
    np.testing.assert_array_equal(selection_sample(rows, 4, 0), np.arange(4))
    np.testing.assert_array_equal(selection_sample(rows, 4, 0, 1.0 + rows), np.arange(6, 10))


def test_a_sample_is_complete_where_too_few_rows_pass_the_bound(monkeypatch):
    numbers = hashed_uniform(0, np.arange(5000))
    with_hashes(monkeypatch, 0.5 * numbers)
    expected = np.sort(np.argsort(-numbers)[:100])
    np.testing.assert_array_equal(selection_sample(5000, 100, 0), expected)


def test_a_smaller_sample_is_part_of_a_larger_one():
    X = np.random.default_rng(0).normal(size=(500, 3))
    large = ArraySource(X).sample(200, 4)
    small = large.first(50, 4)
    np.testing.assert_array_equal(small.rows, selection_sample(500, 50, 4))
    np.testing.assert_array_equal(small.X, X[small.rows])


def test_joining_samples_gives_the_sample_of_all_rows():
    X = np.random.default_rng(1).normal(size=(300, 2))
    parts = [Sample(np.arange(a, b), X[a:b], np.ones(b - a)) for a, b in ((0, 120), (120, 300))]
    joined = parts[0].first(40, 3).join(parts[1].first(40, 3), 40, 3)
    np.testing.assert_array_equal(joined.rows, selection_sample(300, 40, 3))
