"""Run chunks of rows on a pool of threads, with results that do not depend on their number.

The chunks are fixed by the shape of the data alone, results are delivered in the order of the
chunks or summed along a fixed tree, and BLAS is held at one thread inside, so the same bits come
out for any ``n_jobs``.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sparseksc.execution.blas import single_threaded_blas

C = TypeVar("C")
T = TypeVar("T")

#: Bytes of a tile (chunk rows x pivots) that stay in a core's share of the cache.
TILE_BYTES = 2 * 2**20
LEAST_ROWS, MOST_ROWS = 256, 16_384
#: Rows, and entries of a matrix that each of them is multiplied by, up to which BLAS takes one
#: thread by itself: OpenBLAS does for fewer than 9,216 entries (one row) and 262,144 products.
FEW_ROWS, FEW_ENTRIES = 16, 8192
#: Seconds after which a caller does not wait for its turn any longer.
LONGEST_WAIT = 1.0
#: Pools of idle threads that are kept.
KEPT_POOLS = 3
#: Chunks that wait for each thread, so that it has work while the next ones are being read.
CHUNKS_AHEAD = 3


def chunk_rows(width: int) -> int:
    """Rows per chunk for tiles with ``width`` columns; a power of two."""
    rows = TILE_BYTES // (8 * max(width, 1))
    return 1 << (min(max(rows, LEAST_ROWS), MOST_ROWS).bit_length() - 1)


def chunk_slices(n_rows: int, rows: int) -> list[slice]:
    """Cut ``n_rows`` into consecutive chunks of ``rows`` rows; the last may be shorter."""
    starts = range(0, n_rows, rows)
    return list(map(slice, starts, [*starts[1:], n_rows]))


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads: the cores of this process for None; -1 counts back from them.

    Examples
    --------
    >>> from sparseksc.execution.threads import thread_count
    >>> thread_count(3)
    3
    """
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity is not None else os.cpu_count() or 1
    return max(1, cores + 1 + (-1 if n_jobs is None else n_jobs))


class _Pools:
    """Lends pools of threads, and keeps the last few sizes that came back.

    Starting threads takes as long as a few chunks do. A pool has one borrower at a time, so
    work that maps chunks of its own does not wait for a thread that waits for it.
    """

    def __init__(self) -> None:
        self._forget()
        if hasattr(os, "register_at_fork"):
            # A forked process has the pools, but none of their threads.
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock = Lock()
        self._kept: dict[int, ThreadPoolExecutor] = {}

    @contextmanager
    def lend(self, threads: int) -> Iterator[ThreadPoolExecutor]:
        """Lend a pool of so many threads."""
        with self._lock:
            pool = self._kept.pop(threads, None)
        pool = pool or ThreadPoolExecutor(threads)
        try:
            yield pool
        except Exception:
            self._keep(threads, pool)
            raise
        except BaseException:
            # An interrupt may have fallen into the pool itself, which is not made for that.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        else:
            self._keep(threads, pool)

    def _keep(self, threads: int, pool: ThreadPoolExecutor) -> None:
        with self._lock:
            spare = [self._kept.pop(threads, None)]
            self._kept[threads] = pool
            if len(self._kept) > KEPT_POOLS:
                spare.append(self._kept.pop(next(iter(self._kept))))
        for other in spare:
            if other is not None:
                other.shutdown(wait=False)


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


class _Turns(Generic[C]):
    """Chunks that threads take in turn; there are no more after an error."""

    def __init__(self, work: Callable[[int, C], None], chunks: Sequence[C]) -> None:
        self._work = work
        self._next = enumerate(chunks)
        self._lock = Lock()
        self._stopped = False
        self._errors: dict[int, Exception] = {}

    def take(self) -> None:
        """Work on one chunk after the other, until there are no more."""
        while (turn := self._turn()) is not None:
            try:
                self._work(*turn)
            except Exception as error:
                self._errors[turn[0]] = error
                self.stop()

    def _turn(self) -> tuple[int, C] | None:
        with self._lock:
            return None if self._stopped else next(self._next, None)

    def stop(self) -> None:
        """Hand out no more chunks."""
        self._stopped = True

    def raise_first(self) -> None:
        """Raise the error of the first chunk that had one: those before it were all taken."""
        if not self._errors:
            return
        error = self._errors[min(self._errors)]
        self._errors.clear()  # or the error would hold, by its traceback, itself and all the data
        try:
            raise error
        finally:
            del error


def share_out(work: Callable[[int, C], None], chunks: Sequence[C], n_jobs: int | None) -> None:
    """Call ``work(position, chunk)`` for every chunk; each thread takes the next when it is free.

    The caller is one of the threads. No thread waits for a result, so that none has to be woken up
    for one: where chunks take a millisecond, that is a good part of the time.
    """
    threads = thread_count(n_jobs)
    n_helpers = min(threads, len(chunks)) - 1
    turns = _Turns(work, chunks)
    with single_threaded_blas():
        if n_helpers < 1:
            turns.take()
        else:
            with _pools.lend(threads) as pool:
                helpers: list[Future[None]] = []
                try:
                    for _ in range(n_helpers):
                        # In the context of the caller, which decides how NumPy takes errors.
                        helpers.append(pool.submit(copy_context().run, turns.take))
                    turns.take()
                    wait(helpers)
                finally:  # also where an interrupt fell into the waiting
                    turns.stop()
                    wait(helpers)
                for helper in helpers:
                    helper.result()
    turns.raise_first()


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
    >>> from sparseksc.execution.threads import tree_sum
    >>> tree_sum("abcde", lambda left, right: f"({left}{right})")
    '(((ab)(cd))e)'
    """
    return TreeSum(merge, parts).total()


class _MeetingTreeSum(Generic[T]):
    """The sum of :class:`TreeSum` for parts that come in any order, from several threads.

    Whoever brings the second of two neighbours merges them.
    """

    def __init__(self, merge: Callable[[T, T], T], n_parts: int) -> None:
        self._merge = merge
        self._n_parts = n_parts
        self._waiting: dict[tuple[int, int], T] = {}
        self._lock = Lock()

    def add(self, position: int, part: T) -> None:
        """Add the part of a position."""
        width = 1  # parts under a node; the node at ``position`` begins at ``position * width``
        while width < self._n_parts:
            neighbour = position ^ 1
            if neighbour * width < self._n_parts:
                with self._lock:
                    if (width, neighbour) not in self._waiting:
                        self._waiting[width, position] = part
                        return
                    other = self._waiting.pop((width, neighbour))
                pair = (other, part) if neighbour < position else (part, other)
                part = self._merge(*pair)
            position, width = position // 2, 2 * width
        self._waiting[width, position] = part

    def total(self) -> T:
        """Return the sum, once all parts are there."""
        (total,) = self._waiting.values()
        return total


def sum_over(
    work: Callable[[C], T], chunks: Sequence[C], merge: Callable[[T, T], T], n_jobs: int | None
) -> T:
    """Sum ``work(chunk)`` over all chunks along the tree of :func:`tree_sum`, on threads.

    Examples
    --------
    >>> from sparseksc.execution.threads import sum_over
    >>> sum_over(str.upper, "abcde", lambda left, right: f"({left}{right})", n_jobs=2)
    '(((AB)(CD))E)'
    """
    if len(chunks) == 1:
        with single_threaded_blas():
            return work(chunks[0])
    tree = _MeetingTreeSum(merge, len(chunks))
    share_out(lambda position, chunk: tree.add(position, work(chunk)), chunks, n_jobs)
    return tree.total()


class _Queue:
    """Lets a few callers in at a time, in the order in which they came.

    The interpreter keeps no order: of many threads that call native functions for a moment each,
    some are served at once, and others after a second. Nothing but the order depends on this, so
    that a caller who was not let in after `LONGEST_WAIT` goes ahead; it leaves a place behind
    for one that may have been lost to an interrupt.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock, self._free = Lock(), self._places
        self._waiting: deque[Any] = deque()

    def __enter__(self) -> None:
        with self._lock:
            if self._free > 0:
                self._free -= 1
                return
            turn = Lock()
            turn.acquire()
            self._waiting.append(turn)
        if not turn.acquire(timeout=LONGEST_WAIT):
            with self._lock, suppress(ValueError):
                self._waiting.remove(turn)

    def __exit__(self, *error: object) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free = min(self._free + 1, self._places)


#: Calls for a few rows. With a global interpreter lock, more at a time would wait for each other.
_queue = _Queue(2 if getattr(sys, "_is_gil_enabled", lambda: True)() else thread_count(None))


def contiguous(rows: Any) -> Any:
    """Rows in C order, so that the bits do not depend on the layout; sparse ones as they are."""
    return np.ascontiguousarray(rows) if isinstance(rows, np.ndarray) else rows


def map_rows(
    work: Callable[[Any], NDArray[Any]],
    X: Any,
    width: int,
    n_jobs: int | None,
    factor_size: Callable[[], int] | None = None,
) -> NDArray[Any]:
    """Stack ``work(rows)`` over the rows of ``X``, in chunks for tiles of ``width`` columns.

    ``factor_size`` tells the entries of the largest matrix that BLAS multiplies rows by. Few rows
    and a small matrix need neither a pool of threads nor to hold BLAS.
    """
    if X.shape[0] <= FEW_ROWS and factor_size is not None and factor_size() <= FEW_ENTRIES:
        with _queue:
            return work(contiguous(X))
    chunks = chunk_slices(X.shape[0], chunk_rows(width))
    if len(chunks) == 1:
        with single_threaded_blas():
            return work(contiguous(X))
    one = work(contiguous(X[:1]))  # its shape and type are those of all
    stacked = np.empty((X.shape[0], *one.shape[1:]), one.dtype)

    def place(_: int, chunk: slice) -> None:
        stacked[chunk] = work(contiguous(X[chunk]))

    share_out(place, chunks, n_jobs)
    return stacked
