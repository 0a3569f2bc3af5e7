"""Sums over the blocks of a Dask collection have the tree of a local sum."""

import pytest

from sparseksc.execution.threads import tree_sum

pytest.importorskip("dask", reason="needs dask")

from dask.delayed import delayed

from sparseksc.execution.dask import sum_blocks


def bracketed(left, right):
    return f"({left}{right})"


@pytest.mark.parametrize("n_blocks", [1, 2, 5, 8, 13])
def test_the_tree_is_that_of_a_local_sum(n_blocks):
    blocks = [(10 * number, delayed(str)(number)) for number in range(n_blocks)]
    found = sum_blocks(blocks, lambda block, start: f"{block}@{start} ", bracketed)
    assert found == tree_sum([f"{number}@{10 * number} " for number in range(n_blocks)], bracketed)


def test_the_error_of_a_block_reaches_the_caller():
    def work(block, start):
        raise RuntimeError(f"block at {start}")

    with pytest.raises(RuntimeError, match="block at 7"):
        sum_blocks([(7, delayed(str)(0))], work, bracketed)
