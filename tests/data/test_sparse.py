"""Operations on sparse rows agree with those on dense ones, and cost no memory for each column."""

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc.data.sparse import (
    checked_csr,
    row_keys,
    times_columns,
    times_rows,
    without_empty_columns,
)


@pytest.fixture
def X():
    return sp.random(20, 12, 0.3, "csr", random_state=0)


def test_factors_of_rows_and_columns(X):
    rows, columns = np.arange(1.0, 21.0), np.arange(1.0, 13.0)
    np.testing.assert_allclose(times_rows(X, rows).toarray(), X.toarray() * rows[:, None])
    np.testing.assert_allclose(times_columns(X, columns).toarray(), X.toarray() * columns)
    np.testing.assert_allclose(times_columns(X, np.array(2.0)).toarray(), X.toarray() * 2.0)


def test_products_are_the_same_without_empty_columns(X):
    wide = sp.csr_array((X.data, X.indices.astype(np.int64) * 10**6, X.indptr), (20, 12 * 10**6))
    left, right = without_empty_columns(wide, wide[:5])
    assert left.shape[1] == right.shape[1] <= 12
    np.testing.assert_allclose((left @ right.T).toarray(), (X @ X[:5].T).toarray())


def test_equal_rows_have_equal_keys():
    X = sp.csr_array(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0]]))
    keys = list(row_keys(X))
    assert keys[0] == keys[2] != keys[1]


def test_entries_are_sorted_and_summed_without_a_change_of_the_argument():
    X = sp.csr_array(([1.0, 2.0, 3.0], [1, 0, 1], [0, 3]), shape=(1, 2))
    np.testing.assert_array_equal(checked_csr(X).toarray(), [[2.0, 4.0]])
    np.testing.assert_array_equal(X.indices, [1, 0, 1])
