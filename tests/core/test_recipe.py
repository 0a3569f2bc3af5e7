"""Recipes: what decides a training, and nothing else."""

import pytest

from sparseksc.core.recipe import ENCODING_SIZE, Recipe
from sparseksc.kernels import make_kernel


def recipe(kernel="rbf", **changes):
    made = make_kernel(kernel, 2.0 if kernel == "rbf" else None)
    usual = {"max_rank": 50, "tol": 1e-3, "pivoting": "greedy", "selection_size": 1000}
    usual |= {"kernel": made, "icd_kernel": made, "encoding": "qr", "seed": 0, "n_jobs": 2}
    return Recipe(**{**usual, **changes})


@pytest.mark.parametrize(
    ("selection_size", "sample_size"),
    [(None, None), (1000, ENCODING_SIZE), (3 * ENCODING_SIZE, 3 * ENCODING_SIZE)],
)
def test_the_sample_serves_the_pivots_and_the_prototypes(selection_size, sample_size):
    assert recipe(selection_size=selection_size).sample_size == sample_size


def test_threads_do_not_tell_one_recipe_from_another():
    assert recipe(n_jobs=1) != recipe(n_jobs=4)
    assert recipe(n_jobs=1).without_threads() == recipe(n_jobs=4).without_threads()
    assert recipe(seed=1).without_threads() != recipe(seed=2).without_threads()


def test_another_bandwidth_is_that_of_both_kernels():
    changed = recipe().with_bandwidth(5.0)
    assert changed.kernel.bandwidth == changed.icd_kernel.bandwidth == 5.0
    assert changed.max_rank == recipe().max_rank


def test_a_second_bandwidth_keeps_the_kernel_that_selects():
    two = recipe(icd_kernel=make_kernel("rbf", 7.0), two_bandwidths=True).with_bandwidth(5.0)
    assert (two.kernel.bandwidth, two.icd_kernel.bandwidth) == (5.0, 7.0)


def test_kernels_without_a_bandwidth_stay_as_they_are():
    linear = recipe("linear")
    assert linear.with_bandwidth(None) is linear
