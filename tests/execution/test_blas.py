"""BLAS has one thread while chunks are computed, and its own again afterwards."""

import multiprocessing
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from queue import Empty

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sparseksc.execution.blas import single_threaded_blas


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def in_another_thread(work):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def test_blas_has_one_thread_inside_and_what_it_had_before_outside():
    before = blas_threads()
    with single_threaded_blas():
        assert set(blas_threads()) <= {1}
        with single_threaded_blas():
            assert set(blas_threads()) <= {1}
        assert set(blas_threads()) <= {1}
    assert blas_threads() == before


def test_blas_has_its_threads_back_after_two_holders_that_overlap():
    with threadpool_limits(2, user_api="blas"):
        if set(blas_threads()) != {2}:
            pytest.skip("needs a BLAS library with threads")
        with ExitStack() as first, ExitStack() as second:
            first.enter_context(single_threaded_blas())
            second.enter_context(single_threaded_blas())
            first.close()
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {2}


def test_any_thread_can_hold_blas_and_let_go_of_it():
    other = ExitStack()
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with single_threaded_blas():
            assert set(blas_threads()) <= {1}
        in_another_thread(lambda: other.enter_context(single_threaded_blas()))
        assert set(blas_threads()) <= {1}
        other.close()
        assert blas_threads() == before
        with single_threaded_blas():
            in_another_thread(lambda: other.enter_context(single_threaded_blas()))
        assert set(blas_threads()) <= {1}
        in_another_thread(other.close)
        assert blas_threads() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("own", [False, True])
def test_a_process_forked_while_others_compute_does_not_wait_for_them(own):
    """Other threads hold BLAS, or are about to; the process that forks may as well."""
    context = multiprocessing.get_context("fork")
    queue, ready, done = context.Queue(), threading.Event(), threading.Event()

    def compute():
        with single_threaded_blas():
            ready.set()
            while not done.is_set():
                with single_threaded_blas():
                    pass

    def report():
        seen = [set(blas_threads())]
        with single_threaded_blas():
            seen.append(set(blas_threads()))
        queue.put([*seen, set(blas_threads())])

    with threadpool_limits(2, user_api="blas"), ExitStack() as stack:
        before = set(blas_threads())
        if own:
            stack.enter_context(single_threaded_blas())
        outside = {1} if own else before
        other = threading.Thread(target=compute)
        other.start()
        ready.wait(30)
        children = []
        try:
            # Locks of the loader and of other libraries are rarely caught by a fork, too.
            for patience in (10, 10, 30):
                children.append(context.Process(target=report))
                children[-1].start()
                with suppress(Empty):
                    assert queue.get(timeout=patience) == [outside, {1}, outside]
                    break
            else:
                pytest.fail("no forked process has answered")
        finally:
            done.set()
            other.join()
            for child in children:
                child.kill()
                child.join()
