"""Pairs of rows that are linked, or kept apart, as the user passes them."""

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering
from sparseksc.config.pairs import read_pairs


@pytest.mark.parametrize("nothing", [None, [], np.empty((0, 2), int)])
def test_no_pairs_are_no_pairs(nothing):
    assert read_pairs("must_link", nothing).shape == (0, 2)


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        ([0, 1], "of shape"),
        ([(0, 1, 2)], "of shape"),
        ([(0.0, 1.0)], "integers"),
        ([("a", "b")], "integers"),
        ([(3, 3)], "row 3 twice"),
    ],
)
def test_what_is_no_pair_gets_a_sentence(pairs, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_pairs("cannot_link", pairs)


def test_rows_that_are_not_there_are_refused():
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(ValueError, match="50"):
        KernelSpectralClustering(2, bandwidth=1.0, random_state=0).fit(X, must_link=[(0, 50)])
