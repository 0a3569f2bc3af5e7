"""Fingerprints tell rows and parameters from others."""

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc.data.fingerprint import RowHash, fingerprint_of


def hashed(*blocks):
    found = RowHash()
    for X in blocks:
        found.update((X, np.ones(X.shape[0])))
    return found.value


def test_one_changed_entry_in_the_middle_changes_the_hash():
    X = np.random.default_rng(0).normal(size=(5000, 3))
    other = X.copy()
    other[2500, 1] = np.nextafter(other[2500, 1], 9.0)
    assert hashed(X) == hashed(X.copy()) != hashed(other)
    assert hashed(sp.csr_array(X)) != hashed(sp.csr_array(other))


def test_the_layout_of_the_blocks_counts_and_that_of_the_memory_does_not():
    X = np.random.default_rng(0).normal(size=(100, 3))
    assert hashed(X) == hashed(np.asfortranarray(X))
    assert hashed(X) != hashed(X[:50], X[50:])
    assert hashed(X) != hashed(X.astype(np.float32))


def scaled_by(factor):
    return lambda x, y: factor * (x @ y.T)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (scaled_by(1.0), scaled_by(2.0)),
        (1, 1.0),
        ([1, 2], (1, 2)),
        ({"a": 1}, {"a": 2}),
        (np.zeros(2), np.zeros(3)),
    ],
)
def test_values_that_differ_have_different_fingerprints(one, two):
    assert fingerprint_of(one) == fingerprint_of(one)
    assert fingerprint_of(one) != fingerprint_of(two)


def test_closures_over_equal_values_are_equal_and_certain():
    assert fingerprint_of(scaled_by(2.0)) == fingerprint_of(scaled_by(2.0))
    assert fingerprint_of(scaled_by(2.0)).certain
