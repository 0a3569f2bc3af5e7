"""Estimates never promise less than a fit needs, and never more threads than fit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparseksc.config.memory import estimate_memory

RUNS = st.fixed_dictionaries(
    {
        "n_rows": st.integers(2, 10**10),
        "n_features": st.integers(1, 2000),
        "max_rank": st.integers(2, 2000),
        "n_clusters": st.integers(2, 100),
        "selection_size": st.integers(2, 20_000),
        "streamed": st.booleans(),
    }
)


@given(run=RUNS, threads=st.integers(1, 16))
def test_an_estimate_grows_with_everything_it_depends_on(run, threads):
    total = estimate_memory(**run, n_jobs=threads).total
    assert total > 0
    for name in ("n_rows", "n_features", "n_clusters", "selection_size"):
        assert estimate_memory(**{**run, name: 2 * run[name]}, n_jobs=threads).total >= total
    assert estimate_memory(**run, n_jobs=threads + 1).total >= total


@given(run=RUNS)
def test_a_stream_needs_no_memory_that_grows_with_its_rows(run):
    run = {**run, "streamed": True, "n_rows": 10**6}
    more = estimate_memory(**{**run, "n_rows": 10**9}, n_jobs=2).total
    # Only the logarithm of the number of chunks enters.
    assert more <= 1.1 * estimate_memory(**run, n_jobs=2).total + 10 * 8 * run["max_rank"] ** 2


@given(run=RUNS, threads=st.integers(1, 16), limit=st.integers(10**5, 10**11))
def test_the_threads_that_are_granted_fit_and_one_more_would_not(run, threads, limit):
    try:
        granted = estimate_memory(**run, n_jobs=threads).threads_within(limit)
    except MemoryError as error:
        assert "memory_limit" in str(error)
        assert estimate_memory(**run, n_jobs=1).total > limit
        return
    assert 1 <= granted <= threads
    assert estimate_memory(**run, n_jobs=granted).total <= limit
    if granted < threads:
        assert estimate_memory(**run, n_jobs=granted + 1).total > limit


def test_what_cannot_fit_is_refused_with_the_numbers():
    with pytest.raises(MemoryError, match=r"needs about [\d,]+ MB .* memory_limit is 1 MB"):
        estimate_memory(10**6, 2, max_rank=1000).threads_within(10**6)


@given(run=RUNS, threads=st.integers(1, 10**6), limit=st.integers(10**6, 10**12))
def test_threads_that_select_pivots_at_once_all_have_room_for_them(run, threads, limit):
    estimate = estimate_memory(**run, n_jobs=threads)

    def needed(count):
        return replace(estimate, n_threads=count).total + (count - 1) * estimate.selection

    try:
        granted = estimate.threads_within(limit, at_once=True)
    except MemoryError:
        assert needed(1) > limit
        return
    assert needed(granted) <= limit
    assert granted == threads or needed(granted + 1) > limit


def test_estimates_cover_what_a_fit_really_allocates():
    import tracemalloc

    from sparseksc import KernelSpectralClustering
    from sparseksc.datasets import make_spirals

    X, _ = make_spirals(50_000, random_state=0)
    ksc = KernelSpectralClustering(2, bandwidth=0.006, max_rank=115, random_state=0, n_jobs=2)
    ksc.fit(X[:1000])
    tracemalloc.start()
    try:
        ksc.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    promised = estimate_memory(len(X), 2, max_rank=115, n_clusters=2, n_jobs=2).total
    assert peak <= promised <= 20 * peak
    assert np.isfinite(promised)
