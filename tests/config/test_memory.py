"""Estimates never promise less than a fit needs, and never more threads than fit."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparseksc import KernelSpectralClustering, _native
from sparseksc._native import twin
from sparseksc.config.memory import estimate_memory
from sparseksc.datasets import make_spirals

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
    names = ["n_rows", "n_features", "n_clusters"]
    # More rows than the rank do not change it, and with it the chunks; all rows are not copied.
    if run["selection_size"] >= run["max_rank"] and (
        run["streamed"] or 2 * run["selection_size"] < run["n_rows"]
    ):
        names.append("selection_size")
    for name in names:
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
def test_threads_of_a_search_that_are_granted_fit_and_one_more_would_not(run, threads, limit):
    estimate = estimate_memory(**run, n_jobs=threads, search=True)
    try:
        granted = estimate.threads_within(limit)
    except MemoryError as error:
        assert "memory_limit" in str(error)
        assert replace(estimate, n_threads=1).total > limit
        return
    assert replace(estimate, n_threads=granted).total <= limit
    assert granted == threads or replace(estimate, n_threads=granted + 1).total > limit


@given(run=RUNS, threads=st.integers(1, 16))
def test_a_search_needs_no_less_than_the_training_after_it(run, threads):
    with_search = estimate_memory(**run, n_jobs=threads, search=True).total
    assert with_search >= estimate_memory(**run, n_jobs=threads).total


def test_narrow_values_and_few_entries_need_less():
    usual = estimate_memory(20_000, 1000, n_jobs=2, search=True).total
    assert estimate_memory(20_000, 1000, n_jobs=2, search=True, itemsize=4).total < 0.6 * usual
    assert estimate_memory(20_000, 1000, n_jobs=2, search=True, n_entries=10**6).total < 0.3 * usual
    assert estimate_memory(20_000, 1000, n_jobs=2, search=True, c_contiguous=False).total >= usual
    assert estimate_memory(10**6, 1000, streamed=True, block_rows=100).total < 0.6 * (
        estimate_memory(10**6, 1000, streamed=True).total
    )


@pytest.mark.skipif(not _native.IS_NATIVE, reason="the extension module is not built")
@pytest.mark.parametrize(("n_rows", "n_features"), [(3000, 600), (150, 6000), (16_000, 60)])
def test_estimates_cover_what_a_search_allocates(n_rows, n_features):
    X = np.random.default_rng(0).normal(size=(n_rows, n_features))
    X[::2, 0] += 2.0 * np.sqrt(n_features)
    ksc = KernelSpectralClustering([2, 3], random_state=0, n_jobs=1)
    promised = estimate_memory(n_rows, n_features, n_jobs=1, search=True).total
    tracemalloc.start()
    try:
        ksc.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 1.2 * promised


def test_a_search_that_does_not_fit_is_refused_before_any_work():
    X = np.random.default_rng(0).normal(size=(3000, 2000))
    with pytest.raises(
        MemoryError, match=r"This search needs about \d+ MB .* memory_limit is 60 MB"
    ):
        KernelSpectralClustering(random_state=0, memory_limit="60MB").fit(X)


def peak_of_a_fit(X, max_rank):
    """Bytes that Python and NumPy allocate at the peak of a fit with one thread."""
    ksc = KernelSpectralClustering(2, bandwidth=0.006, max_rank=max_rank, random_state=0, n_jobs=1)
    ksc.fit(X[:1000])  # so that modules and caches are there
    tracemalloc.start()
    try:
        ksc.fit(X)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not _native.IS_NATIVE, reason="the extension module is not built")
@pytest.mark.parametrize(("n_rows", "max_rank"), [(400_000, 115), (20_000, 500)])
def test_estimates_cover_what_a_fit_really_allocates(n_rows, max_rank):
    X, _ = make_spirals(n_rows, random_state=0)
    peak = peak_of_a_fit(X, max_rank)
    promised = estimate_memory(n_rows, 2, max_rank=max_rank, n_clusters=2, n_jobs=1).total
    # The estimate has room for the tiles of a thread, which the compiled loops keep in buffers of
    # their own, unseen here. With the labels of many rows, or with large sums, they are less than
    # half of it.
    assert peak <= promised <= 2.2 * peak


@pytest.mark.xfail(reason="the estimate counts fewer tiles than the NumPy twin has at once")
def test_estimates_cover_what_a_fit_allocates_without_the_compiled_core(monkeypatch):
    monkeypatch.setattr(_native, "_backend", twin)
    X, _ = make_spirals(50_000, random_state=0)
    promised = estimate_memory(len(X), 2, max_rank=115, n_clusters=2, n_jobs=1).total
    assert peak_of_a_fit(X, 115) <= promised
