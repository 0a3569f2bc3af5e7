"""Run blocks on a Dask cluster: the same sums, along the same tree, with the same bits.

Each block is summed where it lives; the sums are merged pairwise on the workers, and one small
result comes back. A worker that dies loses nothing: the cluster computes its blocks again. A
cluster that cannot go on ends in a :class:`ClusterError`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

import cloudpickle
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from sparseksc import _version
from sparseksc._typing import Array
from sparseksc._version import __version__
from sparseksc.execution.threads import tree_sum

T = TypeVar("T")


class ClusterError(RuntimeError):
    """A Dask cluster cannot compute what it was asked for."""


def sum_blocks(
    blocks: Sequence[tuple[int, Any]], work: Callable[[Array, int], T], merge: Callable[[T, T], T]
) -> T:
    """Sum ``work(block, start)`` over delayed blocks and the numbers of their first rows."""
    name = f"sum-{uuid4().hex}"
    # Sent to each worker once, not with each block; as bytes, which any version of ours can read.
    tasks: dict[Any, Any] = {name: cloudpickle.dumps(work)}

    def added(*task: Any) -> Any:
        key = f"{name}-{len(tasks)}"
        tasks[key] = task
        return key

    parts = (added(_run, name, block.key, start, __version__) for start, block in blocks)
    last = tree_sum(parts, partial(added, merge))
    # One layer for all tasks: Dask would take seconds to put hundreds of them together.
    graph = HighLevelGraph.from_collections(name, tasks, [block for _, block in blocks])
    task_of: Any = Delayed  # whose functions have no types
    total: T = compute(task_of(last, graph, layer=name))
    return total


def compute(task: Any) -> Any:
    """Compute a task on the active cluster; one that cannot go on is a :class:`ClusterError`."""
    try:
        return task.compute()
    except (CancelledError, OSError, TimeoutError) as error:
        if _active_client() is None and not isinstance(error, CancelledError):
            raise  # not of a cluster: a file, for example
        raise ClusterError(
            "The Dask cluster stopped before the sums were complete: its scheduler is gone or "
            f"cannot be reached ({type(error).__name__})."
        ) from error
    except Exception as error:
        if type(error).__name__ != "KilledWorker":  # without an import of distributed
            raise
        raise ClusterError(
            "Workers of the Dask cluster died several times on the same block, most likely out of "
            "memory: use smaller blocks (rechunk or repartition), or workers with more memory."
        ) from error


def _run(work: bytes, block: Array, start: int, version: str) -> Any:
    """Sum a block on a worker, if it has the version of the process that asks for it."""
    if _version.__version__ != version:
        raise ClusterError(
            f"A worker of the Dask cluster has sparseksc {_version.__version__}, and this process "
            f"has {version}: install the same version everywhere."
        )
    return cloudpickle.loads(work)(block, start)


def _active_client() -> Any:
    """Return the client of the active cluster, None where there is none."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None
