"""Wrong parameters of the reference routes are refused with a sentence."""

from functools import partial

import pytest
from sklearn.metrics.pairwise import rbf_kernel

from sparseksc.datasets import make_gaussians
from sparseksc.reference import (
    dense_ksc,
    incomplete_cholesky,
    nystrom_spectral_clustering,
    paper_ksc,
)


def rbf(bandwidth):
    return partial(rbf_kernel, gamma=1 / bandwidth)


@pytest.fixture(scope="module")
def blobs():
    return make_gaussians(150, n_clusters=3, n_features=3, overlap=0.35, random_state=0)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda X: dense_ksc(X, 1, rbf(1.0)), "n_clusters must lie between 2 and the rank"),
        (lambda X: dense_ksc(X, 2, "precomputed"), "The kernel matrix must be square, got"),
        (lambda X: paper_ksc(X, 6, rbf(1.0), max_rank=5), "n_clusters must lie between 2 and"),
        (lambda X: paper_ksc(X[0], 2, rbf(1.0)), "A matrix with rows is needed, got an array"),
        (lambda X: incomplete_cholesky(X, rbf(1.0), tol=-1.0), "tol must be zero or positive,"),
        (lambda X: incomplete_cholesky(X, rbf(1.0), max_rank=0), "max_rank must be a positive"),
        (
            lambda X: nystrom_spectral_clustering(X, 3, rbf(1.0), n_samples=2),
            "n_samples must lie between n_clusters = 3 and the number of points, 150, got 2.",
        ),
    ],
)
def test_wrong_parameters_are_refused_with_a_sentence(blobs, call, sentence):
    with pytest.raises(ValueError) as error:
        call(blobs[0])
    assert str(error.value).startswith(sentence)
