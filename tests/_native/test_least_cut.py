"""The least cut through a graph, in NumPy."""

import numpy as np
import pytest

from sparseksc._native.least_cut import least_conductance
from tests.reference.quality import least_conductance as slow


@pytest.mark.parametrize("resolution", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_least_of_all_cuts_along_the_second_eigenvector(seed, resolution):
    rng = np.random.default_rng(seed)
    S = rng.uniform(size=(12, 12))
    S += S.T
    S[:6, 6:] *= 0.1
    S[6:, :6] *= 0.1
    found = least_conductance(S, S.sum(axis=1), resolution)
    assert found == pytest.approx(slow(S, resolution))


def test_parts_fall_apart_for_nothing_but_the_resolution():
    S = np.zeros((6, 6))
    S[:4, :4] = S[4:, 4:] = 1.0
    assert least_conductance(S, S.sum(axis=1), 0.0) == 0.0
    assert least_conductance(S, S.sum(axis=1), 0.2) == pytest.approx(0.2 / 4.0)
