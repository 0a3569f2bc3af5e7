"""A sparse matrix whose arrays do not describe one is refused by every public function."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc import KernelSpectralClustering, tune

RNG = np.random.default_rng(0)
DENSE = np.where(RNG.random((60, 8)) < 0.4, RNG.normal(size=(60, 8)), 0.0)
DENSE[30:, :4] += 4.0


def good():
    return sp.csr_array(DENSE)


def changed(**arrays):
    """Return a matrix whose arrays were set after it was made, which SciPy does not check."""
    X = good()
    for name, change in arrays.items():
        setattr(X, name, change(getattr(X, name).copy()))
    return X


def with_value(place, value):
    def change(array):
        array[place] = value
        return array

    return change


FAULTS = {
    "an index beyond the last column": (
        changed(indices=with_value(0, 10**6)),
        "row 0 has an entry in column 1000000 of 8",
    ),
    "a negative index": (changed(indices=with_value(0, -1)), "an entry in column -1 of 8"),
    "an indptr that decreases": (changed(indptr=with_value(5, 10**6)), "its indptr decreases"),
    "a negative indptr": (changed(indptr=with_value(5, -7)), "its indptr decreases"),
    "an indptr that does not begin with 0": (
        changed(indptr=with_value(0, 1)),
        "its indptr begins with 1 instead of 0",
    ),
    "an indptr beyond the values": (
        changed(indptr=with_value(-1, 10**6)),
        "its indptr ends with 1000000",
    ),
    "an indptr that is too short": (
        changed(indptr=lambda indptr: indptr[:-1]),
        "its indptr has 60 values, and 60 rows need 61",
    ),
    "an indptr that is too long": (
        changed(indptr=lambda indptr: np.append(indptr, indptr[-1])),
        "its indptr has 62 values",
    ),
    "too few indices": (changed(indices=lambda indices: indices[:-1]), "values and"),
    "too few values": (changed(data=lambda data: data[:-1]), "values and"),
    "indices that are no integers": (
        changed(indices=lambda indices: indices + 0.5),
        "its indices holds float64 instead of integers",
    ),
    "a table of values": (changed(data=lambda data: data[:, None]), "2 dimensions"),
}


@pytest.fixture(scope="module")
def fitted():
    return KernelSpectralClustering(2, bandwidth=8.0, random_state=0).fit(good())


@pytest.mark.parametrize("method", ["predict", "transform", "membership", "outliers", "score"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fitted_model_refuses_it(fitted, method, fault):
    X, sentence = FAULTS[fault]
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        getattr(fitted, method)(X)
    assert str(caught.value).startswith("The sparse matrix X is damaged: ")


@pytest.mark.parametrize("fault", FAULTS)
def test_training_refuses_it(fault):
    X, sentence = FAULTS[fault]
    for train in (
        lambda: KernelSpectralClustering(2, bandwidth=8.0).fit(X),
        lambda: KernelSpectralClustering(2, bandwidth=8.0).partial_fit(X),
        lambda: KernelSpectralClustering(2, bandwidth=8.0).partial_fit(good()).partial_fit(X),
        lambda: tune(X, [2, 3], progress=False),
    ):
        with pytest.raises(ValueError, match=re.escape(sentence)):
            train()


@pytest.mark.parametrize("form", ["csc", "coo"])
def test_other_formats_are_checked_before_they_are_converted(fitted, form):
    X = good().asformat(form)
    if form == "csc":
        X.indices[2] = 10**6
    else:
        X.coords[0][2] = 10**6
    with pytest.raises(ValueError, match="an entry in row 1000000 of 60"):
        fitted.predict(X)


def test_a_damaged_block_matrix_is_refused(fitted):
    X = sp.bsr_array(DENSE, blocksize=(2, 2))
    X.indices[0] = 10**6
    with pytest.raises(ValueError, match="The sparse matrix X is damaged: "):
        fitted.predict(X)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(fitted, value):
    X = changed(data=with_value(0, value))
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fitted.predict(X)


def in_pieces(X):
    """Return the same matrix with every value as two of a half, and its rows out of order."""
    indptr = 2 * X.indptr
    indices, data = np.empty(2 * X.nnz, X.indices.dtype), np.empty(2 * X.nnz)
    for start, stop in zip(X.indptr, X.indptr[1:], strict=False):
        place = slice(2 * start, 2 * stop)
        indices[place] = np.tile(X.indices[start:stop][::-1], 2)
        data[place] = np.tile(X.data[start:stop][::-1] / 2, 2)
    return sp.csr_array((data, indices, indptr), shape=X.shape)


@pytest.mark.parametrize("kernel", ["rbf", "cosine", "linear", "polynomial"])
def test_entries_that_are_there_twice_are_summed(kernel):
    ksc = KernelSpectralClustering(2, kernel=kernel, bandwidth=8.0, random_state=0)
    expected, twice = ksc.fit(good()).transform(good()), in_pieces(good())
    before = twice.data.copy(), twice.indices.copy(), twice.indptr.copy()
    np.testing.assert_array_equal(ksc.transform(twice), expected)
    np.testing.assert_array_equal(ksc.fit(twice).transform(good()), expected)
    for array, copy in zip((twice.data, twice.indices, twice.indptr), before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("indices", [np.int32, np.int64])
@pytest.mark.parametrize("indptr", [np.int32, np.int64])
def test_index_arrays_may_be_of_different_types(fitted, indices, indptr):
    X = good()
    X.indices, X.indptr = X.indices.astype(indices), X.indptr.astype(indptr)
    np.testing.assert_array_equal(fitted.transform(X), fitted.transform(good()))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_every_format_of_the_same_matrix_gives_the_same_scores(fitted, form, kind):
    expected = fitted.transform(good())
    np.testing.assert_array_equal(fitted.transform(kind(DENSE).asformat(form)), expected)


def test_points_to_evaluate_on_that_are_sparse_are_refused_in_words():
    with pytest.raises(ValueError, match=r"pass validation\.toarray"):
        tune(good(), [2, 3], validation=good(), progress=False)


def test_a_matrix_and_an_array_are_searched_alike_with_a_bandwidth_for_each_feature():
    wide = good()
    wide.resize(60, 200_000)  # too wide to be made dense
    bandwidth = np.linspace(5.0, 9.0, 200_000)
    search = KernelSpectralClustering([2, 3], bandwidth=bandwidth, random_state=0)
    found = [search.fit(kind(wide)).labels_ for kind in (sp.csr_array, sp.csr_matrix)]
    np.testing.assert_array_equal(*found)
