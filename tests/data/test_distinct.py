"""Equal rows are found as NumPy finds them."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparseksc.data import distinct
from sparseksc.data.distinct import distinct_rows


@given(
    X=arrays(
        np.float64,
        st.tuples(st.integers(1, 30), st.integers(1, 6)),
        elements=st.sampled_from([-1.0, 0.0, -0.0, 0.5, 2.0]),
    )
)
def test_groups_of_an_array_are_those_of_numpy(X):
    _, first, group = np.unique(X, axis=0, return_index=True, return_inverse=True)
    found_first, found_group = distinct_rows(X)
    np.testing.assert_array_equal(found_group, group.ravel())
    np.testing.assert_array_equal(X[found_first], X[first])


@pytest.mark.parametrize("entries", [1, 7, 1000])
def test_the_number_of_entries_compared_at_once_does_not_matter(entries, monkeypatch):
    X = np.random.default_rng(0).integers(0, 2, size=(60, 9)).astype(float)
    expected = distinct_rows(X)
    monkeypatch.setattr(distinct, "ENTRIES_AT_ONCE", entries)
    for found, wanted in zip(distinct_rows(X), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_groups_of_a_sparse_matrix_are_those_of_its_rows():
    X = np.random.default_rng(0).integers(0, 2, size=(40, 4)).astype(float)
    first, group = distinct_rows(sp.csr_array(X))
    np.testing.assert_array_equal(X[first][group], X)
    assert len(first) == len(np.unique(X, axis=0))


def test_equal_objects_are_one_group():
    X = np.empty((4, 1), object)
    X[:, 0] = [{"a": 1}, "text", {"a": 1}, np.ones(2)]
    first, group = distinct_rows(X)
    assert first.tolist() == [0, 1, 3]
    assert group.tolist() == [0, 1, 0, 2]
