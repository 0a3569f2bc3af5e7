"""What is derived from points lives as long as they do."""

import gc
from weakref import ref

import numpy as np
import pytest
import scipy.sparse as sp

from sparseksc.kernels.kept import kept_with_points


class Derived:
    """Something that can be watched."""


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_it_is_derived_once_for_each_array_and_forgotten_with_it(storage):
    calls = []

    @kept_with_points
    def derive(P):
        calls.append(P.shape)
        return Derived()

    first, second = storage(np.eye(2)), storage(np.eye(2))
    assert derive(first) is derive(first)
    assert derive(second) is not derive(first)
    assert len(calls) == 2
    watched = ref(derive(first))
    del first
    gc.collect()
    assert watched() is None


def test_an_array_in_the_place_of_another_is_not_taken_for_it():
    derive = kept_with_points(lambda P: float(P[0]))
    assert [derive(np.array([float(i)])) for i in range(20)] == list(range(20))
