"""Hashed numbers against their NumPy twin."""

import numpy as np
import pytest

from sparseksc._native import hashing, twin


def test_hashed_numbers_are_those_of_the_twin(core):
    rows = np.concatenate([np.arange(1000), 2**62 + np.arange(5), [2**63 - 1]])
    expected = np.empty(len(rows))
    for state in (0, 12345, 2**64 - 1):
        twin.uniform_into(rows, state, expected)
        np.testing.assert_array_equal(hashing.uniform(rows, state), expected)
    with pytest.raises(TypeError, match="rows must be int64"):
        hashing.uniform(np.arange(3.0), 0)


@pytest.mark.parametrize("bound", [-0.5, 0.0, 0.3, 0.999, 1.0])
@pytest.mark.parametrize("n", [0, 1, 2000, 40_000])
def test_rows_ahead_of_a_bound_are_those_with_larger_hashes(backend, n, bound):
    for rows in (n, 7 * np.arange(n), np.arange(2 * n)[::2]):
        numbers = hashing.uniform(np.arange(n) if isinstance(rows, int) else rows, 5)
        places, hashes = hashing.ahead(rows, 5, bound)
        np.testing.assert_array_equal(places, np.flatnonzero(numbers > bound))
        np.testing.assert_array_equal(hashes, numbers[numbers > bound])


def test_more_rows_than_expected_are_all_ahead(backend):
    rows = np.full(500, int(np.argmax(hashing.uniform(np.arange(1000), 5))))
    np.testing.assert_array_equal(hashing.ahead(rows, 5, 0.99)[0], np.arange(500))
