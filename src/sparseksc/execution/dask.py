"""Run blocks on a Dask cluster: the same sums, along the same tree, with the same bits.

Each block is summed where it lives; the sums are merged pairwise on the workers, and one small
result comes back. A worker that dies loses nothing: the cluster computes its blocks again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from dask.delayed import delayed

from sparseksc._typing import Array
from sparseksc.execution.threads import tree_sum

T = TypeVar("T")


def sum_blocks(
    blocks: Sequence[tuple[int, Any]], work: Callable[[Array, int], T], merge: Callable[[T, T], T]
) -> T:
    """Sum ``work(block, start)`` over delayed blocks and the numbers of their first rows."""
    shared = delayed(work, traverse=False)  # sent to each worker once, not with each block
    run, merged = delayed(_run), delayed(merge)
    total: T = tree_sum((run(shared, block, start) for start, block in blocks), merged).compute()
    return total


def _run(work: Callable[[Array, int], T], block: Array, start: int) -> T:
    return work(block, start)
