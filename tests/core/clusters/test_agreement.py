"""Agreement of clusterings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from sparseksc.core.clusters.agreement import agreements, rand_index


@given(st.integers(0, 10_000), st.integers(2, 6), st.floats(0.0, 1.0))
def test_the_index_is_that_of_scikit_learn_up_to_pairs_of_a_row_with_itself(seed, K, share):
    rng = np.random.default_rng(seed)
    one = rng.integers(K, size=2000)
    other = np.where(rng.uniform(size=2000) < share, one, rng.integers(K, size=2000))
    found = rand_index(one, other, K, np.ones(2000))
    assert found == pytest.approx(adjusted_rand_score(one, other), abs=0.02)
    assert rand_index(other, one, K, np.full(2000, 1e-300)) == pytest.approx(found)


def test_weights_count_like_copies():
    rng = np.random.default_rng(0)
    one, other, weights = rng.integers(3, size=(3, 500))
    copies = np.repeat(np.arange(500), weights)
    weighted = rand_index(one, other, 3, weights.astype(float))
    assert weighted == pytest.approx(
        rand_index(one[copies], other[copies], 3, np.ones(len(copies)))
    )


def test_the_most_alike_count():
    rng = np.random.default_rng(1)
    halves = np.repeat([0, 1], 500)
    others = [rng.integers(2, size=1000) for _ in range(4)]
    found = agreements([halves, halves, 1 - halves, halves, *others], 2, np.ones(1000), 3)
    np.testing.assert_allclose(found[:4], 1.0)
    assert (found[4:] < 0.05).all()


def test_one_alone_agrees_with_nothing():
    assert agreements([np.zeros(5, int)], 2, np.ones(5), 3).tolist() == [0.0]
