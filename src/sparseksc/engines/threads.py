"""Run chunks of rows on a pool of threads, with results that do not depend on their number.

The chunks are fixed by the shape of the data alone, results are delivered in the
order of the chunks, and BLAS is held at one thread inside, so the same bits come out
for any ``n_jobs``.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import copy_context
from functools import cached_property
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

C = TypeVar("C")
T = TypeVar("T")

#: Bytes of a tile (chunk rows x pivots) that stay in a core's share of the cache.
TILE_BYTES = 2 * 2**20
LEAST_ROWS, MOST_ROWS = 256, 16_384
#: Chunks that wait for each thread, so that it has work while the next ones are being read.
CHUNKS_AHEAD = 3


def chunk_rows(width: int) -> int:
    """Rows per chunk for tiles with ``width`` columns; a power of two."""
    rows = TILE_BYTES // (8 * max(width, 1))
    return 1 << (min(max(rows, LEAST_ROWS), MOST_ROWS).bit_length() - 1)


def chunk_slices(n_rows: int, rows: int) -> list[slice]:
    """Cut ``n_rows`` into consecutive chunks of ``rows`` rows; the last may be shorter."""
    return [slice(start, min(start + rows, n_rows)) for start in range(0, n_rows, rows)]


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads: all cores for None, and -1 counts back from all.

    Examples
    --------
    >>> from sparseksc.engines.threads import thread_count
    >>> thread_count(3)
    3
    """
    if n_jobs is None:
        return available_cores()
    return n_jobs if n_jobs > 0 else max(1, available_cores() + 1 + n_jobs)


class _SingleThreadedBlas:
    """Holds BLAS at one thread while anybody asks for it, and restores what was before.

    The number of BLAS threads belongs to the whole process: only the first holder may
    remember it, and only the last one may restore it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders = 0
        self._limit: Any = None

    @cached_property
    def _controller(self) -> ThreadpoolController:
        return ThreadpoolController()

    def __enter__(self) -> None:
        with self._lock:
            if self._holders == 0:
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._holders += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._limit.restore_original_limits()


_single_threaded_blas = _SingleThreadedBlas()


def single_threaded_blas() -> AbstractContextManager[None]:
    """Hold BLAS at one thread: our own threads share the cores, and bits stay the same."""
    return _single_threaded_blas


class _Pool(ThreadPoolExecutor):
    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.threads = threads


class _Pools:
    """Lends pools of threads, and keeps the last one that came back.

    Starting threads takes as long as a few chunks do. A pool has one borrower at a time, so
    work that maps chunks of its own does not wait for a thread that waits for it.
    """

    def __init__(self) -> None:
        self._forget()
        if hasattr(os, "register_at_fork"):
            # A forked process has the pool, but none of its threads.
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock = Lock()
        self._kept: _Pool | None = None

    @contextmanager
    def lend(self, threads: int) -> Iterator[_Pool]:
        """Lend a pool of so many threads."""
        pool = self._keep(None)
        if pool is None or pool.threads != threads:
            _dismiss(pool)
            pool = _Pool(threads)
        try:
            yield pool
        finally:
            _dismiss(self._keep(pool))

    def _keep(self, pool: _Pool | None) -> _Pool | None:
        """Keep a pool, and return the one that was kept before."""
        with self._lock:
            self._kept, before = pool, self._kept
        return before


def _dismiss(pool: _Pool | None) -> None:
    if pool is not None:
        pool.shutdown(wait=False)


_pools = _Pools()


def ordered_map(work: Callable[[C], T], chunks: Iterable[C], n_jobs: int | None) -> Iterator[T]:
    """Yield ``work(chunk)`` for every chunk, in order, computing a few ahead on threads."""
    threads = thread_count(n_jobs)
    with single_threaded_blas():
        if threads == 1:
            yield from map(work, chunks)
            return
        with _pools.lend(threads) as pool:
            ahead: deque[Future[T]] = deque()
            try:
                for chunk in chunks:
                    # In the context of the caller, which also decides how NumPy takes errors.
                    ahead.append(pool.submit(copy_context().run, work, chunk))
                    if len(ahead) > CHUNKS_AHEAD * threads:
                        result = ahead[0].result()  # still ours to wait for if this is interrupted
                        ahead.popleft()
                        yield result
                while ahead:
                    result = ahead[0].result()
                    ahead.popleft()
                    yield result
            finally:
                for future in ahead:
                    future.cancel()
                wait(ahead)


class TreeSum(Generic[T]):
    """A sum along a fixed binary tree over the positions of its parts.

    Equal neighbours are merged as soon as both are there, so only a logarithmic number of
    parts is held (``waiting``, with the heights of their trees), and rounding errors grow
    with the logarithm too.
    """

    def __init__(self, merge: Callable[[T, T], T], parts: Iterable[T] = ()) -> None:
        self.merge = merge
        self.waiting: list[tuple[int, T]] = []
        for part in parts:
            self.add(part)

    def add(self, part: T) -> None:
        """Add the next part."""
        height = 0
        while self.waiting and self.waiting[-1][0] == height:
            part = self.merge(self.waiting.pop()[1], part)
            height += 1
        self.waiting.append((height, part))

    def total(self) -> T:
        """Return the sum of all parts."""
        parts = [part for _, part in self.waiting]
        total = parts.pop()
        while parts:
            total = self.merge(parts.pop(), total)
        return total


def tree_sum(parts: Iterable[T], merge: Callable[[T, T], T]) -> T:
    """Sum a sequence along a fixed binary tree.

    Examples
    --------
    >>> from sparseksc.engines.threads import tree_sum
    >>> tree_sum("abcde", lambda left, right: f"({left}{right})")
    '(((ab)(cd))e)'
    """
    return TreeSum(merge, parts).total()


def contiguous(rows: Any) -> Any:
    """Rows in C order, so that the bits do not depend on the layout; sparse ones as they are."""
    return np.ascontiguousarray(rows) if isinstance(rows, np.ndarray) else rows


def map_rows(
    work: Callable[[Any], NDArray[Any]], X: Any, width: int, n_jobs: int | None
) -> NDArray[Any]:
    """Stack ``work(rows)`` over the rows of ``X``, in chunks for tiles of ``width`` columns."""
    chunks = chunk_slices(X.shape[0], chunk_rows(width))
    if len(chunks) == 1:
        with single_threaded_blas():
            return work(contiguous(X))
    one = work(contiguous(X[:1]))  # its shape and type are those of all
    stacked = np.empty((X.shape[0], *one.shape[1:]), one.dtype)

    def place(chunk: slice) -> None:
        stacked[chunk] = work(contiguous(X[chunk]))

    for _ in ordered_map(place, chunks, n_jobs):
        pass
    return stacked
