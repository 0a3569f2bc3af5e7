"""Threads: order, sums and bits do not depend on their number."""

import gc
import multiprocessing
import os
import signal
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparseksc.execution.threads import (
    LEAST_ROWS,
    MOST_ROWS,
    chunk_rows,
    chunk_slices,
    map_rows,
    ordered_map,
    share_out,
    sum_over,
    thread_count,
    tree_sum,
)


@contextmanager
def interrupted_after(seconds):
    """Ctrl-C after so many seconds, which must come through."""

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def bracketed(left, right):
    return f"({left}{right})"


@given(st.integers(0, 100_000))
def test_chunks_have_a_power_of_two_of_rows_within_limits(width):
    rows = chunk_rows(width)
    assert rows & (rows - 1) == 0
    assert LEAST_ROWS <= rows <= MOST_ROWS


@given(st.integers(0, 5000), st.integers(1, 700))
def test_chunks_cover_every_row_once_and_in_order(n_rows, rows):
    slices = chunk_slices(n_rows, rows)
    covered = np.concatenate([np.arange(n_rows)[chunk] for chunk in slices] or [np.arange(0)])
    np.testing.assert_array_equal(covered, np.arange(n_rows))
    assert all(chunk.stop - chunk.start == rows for chunk in slices[:-1])


def test_the_number_of_threads_is_what_was_asked_for():
    assert thread_count(3) == 3
    assert thread_count(None) == thread_count(-1) == len(os.sched_getaffinity(0))
    assert thread_count(-1000) == 1


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_results_come_in_the_order_of_the_chunks(n_jobs):
    def work(chunk):
        time.sleep(0.002 if chunk.start % 20 == 0 else 0.0)
        return chunk.start

    assert list(ordered_map(work, chunk_slices(200, 10), n_jobs)) == list(range(0, 200, 10))


def test_only_a_few_chunks_are_computed_ahead():
    started = []
    results = ordered_map(lambda chunk: started.append(chunk.start), chunk_slices(1000, 1), 2)
    next(results)
    time.sleep(0.05)
    assert len(started) <= 8
    assert len(list(results)) == 999


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_error_in_a_chunk_reaches_the_caller(n_jobs):
    def work(chunk):
        if chunk.start == 30:
            raise RuntimeError("chunk 30")
        return chunk.start

    with pytest.raises(RuntimeError, match="chunk 30"):
        list(ordered_map(work, chunk_slices(100, 10), n_jobs))


def test_threads_are_started_once():
    def threads_of_a_map():
        barrier = threading.Barrier(3, timeout=10)
        return set(ordered_map(lambda _: (barrier.wait(), threading.get_ident())[1], range(3), 3))

    assert threads_of_a_map() == threads_of_a_map()


def test_nothing_runs_on_after_the_caller_has_stopped():
    running, started = [], []

    def work(chunk):
        started.append(chunk)
        running.append(chunk)
        time.sleep(0.01)
        running.remove(chunk)

    results = ordered_map(work, range(100), 2)
    next(results)
    results.close()
    assert not running
    before = list(started)
    assert list(ordered_map(abs, [-1, -2], 2)) == [1, 2]
    assert started == before


def test_the_chunk_that_the_caller_waits_for_is_over_after_an_interrupt():
    running = []

    def work(chunk):
        running.append(chunk)
        time.sleep(0.3)
        running.remove(chunk)

    with interrupted_after(0.1):
        list(ordered_map(work, range(4), 2))
    assert not running


def test_chunks_can_be_mapped_inside_of_chunks():
    def rows(number):
        return list(ordered_map(lambda chunk: 10 * number + chunk, range(5), 2))

    expected = [[10 * number + chunk for chunk in range(5)] for number in range(6)]
    assert list(ordered_map(rows, range(6), 2)) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    assert list(ordered_map(abs, [-1, -2, -3], 2)) == [1, 2, 3]
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=lambda: queue.put(list(ordered_map(abs, [-4, -5], 2))))
    child.start()
    try:
        assert queue.get(timeout=30) == [4, 5]
    finally:
        child.kill()
        child.join()


def test_several_threads_work_at_once():
    barrier = threading.Barrier(2, timeout=10)
    assert list(ordered_map(lambda chunk: barrier.wait() >= 0, chunk_slices(4, 1), 2)) == [True] * 4


@given(st.lists(st.integers(), min_size=1, max_size=70))
def test_a_tree_sum_adds_every_part_once_and_in_order(parts):
    merged = tree_sum([[part] for part in parts], lambda left, right: left + right)
    assert merged == parts


@given(st.lists(st.integers(0, 9), min_size=1, max_size=70), st.integers(1, 5))
def test_a_sum_over_chunks_has_the_tree_of_a_tree_sum(parts, n_jobs):
    assert sum_over(str, parts, bracketed, n_jobs) == tree_sum(map(str, parts), bracketed)


@pytest.mark.parametrize("n_parts", [1, 2, 5, 8, 13])
def test_the_tree_of_a_sum_does_not_depend_on_which_chunks_are_slow(n_parts):
    def work(part):
        time.sleep(0.004 * (part % 3))
        return str(part)

    expected = tree_sum(map(str, range(n_parts)), bracketed)
    for n_jobs in (1, 2, 4):
        assert sum_over(work, range(n_parts), bracketed, n_jobs) == expected


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_every_chunk_is_handed_out_once_with_its_position(n_jobs):
    seen = []
    share_out(lambda position, chunk: seen.append((position, chunk)), "abcdefghij", n_jobs)
    assert sorted(seen) == list(enumerate("abcdefghij"))
    share_out(lambda *_: pytest.fail("there is no chunk"), [], n_jobs)


def test_the_caller_and_other_threads_share_the_chunks():
    barrier, threads = threading.Barrier(3, timeout=10), set()

    def work(*_):
        barrier.wait()
        threads.add(threading.get_ident())

    share_out(work, range(3), 3)
    assert len(threads) == 3
    assert threading.get_ident() in threads


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_of_several_errors_the_one_of_the_first_chunk_is_raised(n_jobs):
    done = []

    def work(position, _):
        if position in (3, 4):
            time.sleep(0.02 if position == 3 else 0.0)
            raise RuntimeError(f"chunk {position}")
        done.append(position)

    with pytest.raises(RuntimeError, match="chunk 3"):
        share_out(work, range(50), n_jobs)
    assert len(done) < 50


def test_chunks_are_shared_out_inside_of_chunks():
    def work(number):
        return sum_over(str, [number, 10 + number], bracketed, 2)

    expected = tree_sum([f"({number}{10 + number})" for number in range(6)], bracketed)
    assert sum_over(work, range(6), bracketed, 2) == expected


def test_no_chunk_runs_on_after_the_caller_was_interrupted():
    running, started = [], []

    def work(_, chunk):
        started.append(chunk)
        running.append(chunk)
        time.sleep(0.3)
        running.remove(chunk)

    with interrupted_after(0.1):
        share_out(work, range(20), 2)
    assert len(running) <= 1  # the one that the interrupt fell into
    assert len(started) == 2


def test_the_chunks_of_other_threads_are_over_after_an_interrupt_of_the_waiting_caller():
    caller, running = threading.get_ident(), []

    def work(*_):
        if threading.get_ident() != caller:
            running.append(True)
            time.sleep(0.4)
            running.pop()
        else:
            time.sleep(0.02)

    with interrupted_after(0.2):
        share_out(work, range(2), 2)
    assert not running


def test_an_interrupt_is_not_replaced_by_the_error_of_an_earlier_chunk():
    barrier = threading.Barrier(2, timeout=10)
    caller = threading.get_ident()

    def work(*_):
        barrier.wait()
        raise KeyboardInterrupt if threading.get_ident() == caller else ValueError("a chunk")

    for _ in range(5):
        with pytest.raises(KeyboardInterrupt):
            share_out(work, range(2), 2)


def test_no_chunk_runs_where_not_all_threads_can_be_started(monkeypatch):
    done, submit = [], ThreadPoolExecutor.submit

    def submit_once(pool, *arguments):
        if done:
            raise RuntimeError("can't start new thread")
        done.append("submitted")
        return submit(pool, *arguments)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit_once)
    with pytest.raises(RuntimeError, match="new thread"):
        share_out(lambda *_: (time.sleep(0.01), done.append("chunk")), range(50), 3)
    after = len(done)
    time.sleep(0.1)
    assert len(done) == after < 50


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_does_not_keep_the_data_alive(n_jobs):
    class Data:
        pass

    data = Data()
    alive = weakref.ref(data)

    def work(*_, held=data):
        raise RuntimeError("a chunk")

    with pytest.raises(RuntimeError, match="a chunk"):
        share_out(work, range(4), n_jobs)
    del data, work
    gc.disable()
    try:
        assert alive() is None
    finally:
        gc.enable()


def test_a_few_pools_are_kept_and_not_more():
    before = threading.active_count()
    for n_jobs in [2, 3] * 3:
        share_out(lambda *_: time.sleep(0.001), range(12), n_jobs)
    started = threading.active_count()
    share_out(lambda *_: time.sleep(0.001), range(12), 2)
    assert threading.active_count() == started
    for n_jobs in range(4, 14):
        share_out(lambda *_: time.sleep(0.001), range(3 * n_jobs), n_jobs)
    deadline = time.monotonic() + 10.0
    while threading.active_count() > before + 13 + 12 + 11 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= before + 13 + 12 + 11


def test_other_threads_take_errors_of_numbers_as_the_caller_does():
    barrier, raised = threading.Barrier(2, timeout=10), set()

    def work(*_):
        barrier.wait()
        with pytest.raises(FloatingPointError):
            np.float64(1.0) / np.zeros(1)
        raised.add(threading.get_ident())

    with np.errstate(divide="raise"):
        share_out(work, range(2), 2)
    assert len(raised) == 2


def test_a_tree_sum_has_the_rounding_error_of_a_tree():
    parts = [0.1] * 2**16
    total = tree_sum(parts, lambda left, right: left + right)
    assert abs(total - 0.1 * 2**16) <= 1e-12


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_mapped_rows_are_stacked_in_order(n_jobs):
    X = np.arange(20_000.0)[:, None]
    np.testing.assert_array_equal(map_rows(lambda rows: 2 * rows, X, 1, n_jobs), 2 * X)
