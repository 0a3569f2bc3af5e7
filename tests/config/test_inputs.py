"""Bad data is refused with a sentence before any work."""

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc import KernelSpectralClustering


def data_problems():
    X = np.random.default_rng(0).standard_normal((30, 2))
    nan, inf = X.copy(), X.copy()
    nan[3, 1], inf[3, 1] = np.nan, -np.inf
    return [
        ("NaN", nan, {}, "contains NaN"),
        ("infinity", inf, {}, "contains infinity"),
        ("words", np.array([["a", "b"]] * 5), {}, "could not convert string to float"),
        ("complex", X + 1j, {}, "Complex data not supported"),
        ("one dimension", X[:, 0], {}, "Expected 2D array, got 1D array"),
        ("three dimensions", X[None], {}, "dim 3"),
        ("no rows", X[:0], {}, r"0 sample\(s\)"),
        ("no features", X[:, :0], {}, r"0 feature\(s\)"),
        ("one row", X[:1], {}, r"1 sample\(s\) .*minimum of 2"),
        ("equal rows", np.ones((9, 2)), {}, "3 clusters asked for, .* 1 distinct row.$"),
        ("two kinds of rows", X[[0, 1] * 9], {}, "3 clusters asked for, .* 2 distinct rows"),
        ("negative", X, {"kernel": "chi2"}, "Negative values in data .* the least is -"),
        ("not square", X, {"kernel": "precomputed"}, "square matrix .* got 30 x 2"),
        ("asymmetric", X @ X[::-1].T, {"kernel": "precomputed"}, "must be symmetric"),
        ("distances", -np.ones((9, 9)), {"kernel": "precomputed"}, "semi-definite"),
        ("identity", np.eye(9), {"kernel": "precomputed"}, "No two different points are similar"),
        ("ones", np.ones((9, 9)), {"kernel": "precomputed"}, "1 distinct row"),
    ]


@pytest.mark.parametrize(
    ("X", "settings", "sentence"),
    [pytest.param(*problem[1:], id=problem[0]) for problem in data_problems()],
)
def test_bad_data_is_an_error(X, settings, sentence):
    ksc = KernelSpectralClustering(3, bandwidth=2.0).set_params(**settings)
    with pytest.raises(ValueError, match=sentence):
        ksc.fit(X)
    assert not hasattr(ksc, "labels_")


@pytest.mark.parametrize("kernel", ["laplacian", "chi2", "precomputed"])
def test_sparse_rows_are_refused_where_the_kernel_needs_dense_ones(kernel):
    X = sp.random_array((20, 20), density=0.5, rng=np.random.default_rng(0)).tocsr()
    with pytest.raises(TypeError, match="dense data is required"):
        KernelSpectralClustering(2, kernel=kernel, bandwidth=1.0).fit(X)
