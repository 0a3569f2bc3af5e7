"""Kernel tiles, fused scores and column sums against scikit-learn's pairwise kernels."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import (
    chi2_kernel,
    cosine_similarity,
    laplacian_kernel,
    pairwise_distances,
    polynomial_kernel,
    rbf_kernel,
)
from threadpoolctl import threadpool_limits

from benchmarks.measure import Settings, Times
from benchmarks.problems import RANK, histograms
from benchmarks.report import Cell, Result, Table, Threshold
from sparseksc import _native
from sparseksc.execution.threads import chunk_slices, share_out
from sparseksc.kernels import Cosine, Landmarks, Polynomial

CHUNK = 2048
CHUNKS = 16
SCIKIT_LEARN = {"rbf": rbf_kernel, "laplacian": laplacian_kernel, "chi2": chi2_kernel}
#: Scikit-learn's chi2 has no factor of one half.
GAMMA = {"rbf": 1.0, "laplacian": 1.0, "chi2": 0.5}
#: The segmentation problem of the paper: a picture of 481 x 321 pixels.
PIXELS, PIXEL_PIVOTS, BINS = 154_401, 196, 8
#: Many features, and the pivots or landmarks of such rows.
MANY_FEATURES, MANY_PIVOTS = (64, 256, 784), 1000

Array = NDArray[Any]


def run(settings: Settings) -> Result:
    """Time single entries on one core and on two, and one large block."""
    rows, thresholds = [], []
    for dtype in (np.float64, np.float32):
        for features in (2, 8):
            for name in _native.KERNELS:
                times, entries = _entries(settings, name, features, dtype)
                rows.append(_row(times, entries, name, features, dtype))
                if name == "rbf" and features == 2:
                    thresholds += _rbf_thresholds(times, entries, dtype)
    columns = (
        "kernel", "d", "type", "tile", "scores (m=1)", "scores (m=2)", "column sums",
        "scikit-learn", "scikit-learn / tile", "the same, two threads",
    )  # fmt: skip
    entries_table = Table(
        f"Nanoseconds of CPU time per entry: chunks of {CHUNK} rows, {RANK} pivots",
        columns,
        rows,
        "Tiles are written into an array that is used again. With two threads, the chunks go "
        "through the library's thread pool; scikit-learn takes them one by one.",
    )
    block_table, threshold = _block(settings)
    wide_table, wide_thresholds = _many_features(settings)
    return Result(
        "kernels",
        [entries_table, block_table, wide_table],
        [*thresholds, threshold, *wide_thresholds],
    )


def _entries(settings: Settings, name: str, features: int, dtype: type) -> tuple[Times, int]:
    """Time all functions on the chunks of one array."""
    rng = np.random.default_rng(0)
    n_rows = CHUNK * settings.points(CHUNKS, least=1)
    X: Array = rng.random((n_rows, features)).astype(dtype)
    P: Array = rng.random((RANK, features)).astype(dtype)
    factors, coef, bias = np.ones(features), rng.normal(size=(RANK, 2)), np.zeros(2)
    first, weights = np.ascontiguousarray(coef[:, :1]), np.ones(CHUNK)
    function = SCIKIT_LEARN[name]
    buffers = threading.local()  # each thread writes its tiles into an array of its own

    def tile(rows: Array) -> Array:
        if not hasattr(buffers, "tile"):
            buffers.tile = np.empty((CHUNK, RANK), dtype)
        return _native.tile(name, rows, P, factors, buffers.tile)

    def over_chunks(work: Callable[[Array], object], n_jobs: int = 1) -> Callable[[], None]:
        def all_chunks() -> None:
            share_out(lambda _, chunk: work(X[chunk]), chunk_slices(n_rows, CHUNK), n_jobs)

        return all_chunks

    with threadpool_limits(1):
        times = settings.alternate({
            "tile": over_chunks(tile),
            "two threads": over_chunks(tile, n_jobs=2),
            "scores": over_chunks(
                lambda rows: _native.scores(name, rows, P, factors, first, bias[:1])
            ),
            "two scores": over_chunks(
                lambda rows: _native.scores(name, rows, P, factors, coef, bias)
            ),
            "sums": over_chunks(lambda rows: _native.column_sums(name, rows, P, factors, weights)),
            "scikit-learn": over_chunks(lambda rows: function(rows, P, gamma=GAMMA[name])),
        })  # fmt: skip
    return times, n_rows * RANK


def _row(times: Times, entries: int, name: str, features: int, dtype: type) -> list[Cell]:
    measured = ("tile", "scores", "two scores", "sums", "scikit-learn")
    return [
        name,
        features,
        np.dtype(dtype).name,
        *(times.nanoseconds_per(function, entries).median for function in measured),
        times.ratio("scikit-learn", "tile"),
        times.ratio("scikit-learn", "two threads"),
    ]


def _rbf_thresholds(times: Times, entries: int, dtype: type) -> list[Threshold]:
    kind = np.dtype(dtype).name
    thresholds = [
        Threshold(
            f"rbf tile, d = 2, {kind}: ns of CPU time per entry",
            times.nanoseconds_per("tile", entries).median,
            at_most=2.0 if dtype is np.float64 else 1.2,
        )
    ]
    if dtype is np.float64:
        ratio = times.ratio("scikit-learn", "two threads").median
        thresholds.append(
            Threshold("rbf tile, d = 2, two cores: times scikit-learn", ratio, at_least=8.0)
        )
    return thresholds


def _block(settings: Settings) -> tuple[Table, Threshold]:
    """Time the chi2 block of the segmentation problem, all of it in memory."""
    X = histograms(settings.points(PIXELS), BINS)
    P = histograms(PIXEL_PIVOTS, BINS, seed=1)
    factors, reused = np.ones(BINS), np.empty((len(X), PIXEL_PIVOTS))

    def block(n_jobs: int, out: Array | None = None) -> Array:
        target = np.empty_like(reused) if out is None else out

        def work(_: int, rows: slice) -> None:
            _native.tile("chi2", X[rows], P, factors, target[rows])

        share_out(work, chunk_slices(len(X), CHUNK), n_jobs)
        return target

    contenders = {
        "two threads, array used again": lambda: block(2, reused),
        "two threads, new array": lambda: block(2),
        "one thread, array used again": lambda: block(1, reused),
        "scikit-learn": lambda: chi2_kernel(X, P, gamma=0.5),
    }
    times = settings.alternate(contenders)
    rows = [
        (name, times.nanoseconds_per(name, reused.size), times.ratio("scikit-learn", name))
        for name in contenders
    ]
    table = Table(
        f"chi2 block, {len(X):,} x {PIXEL_PIVOTS}, d = {BINS}, float64",
        ("contender", "CPU ns per entry", "times scikit-learn"),
        rows,
    )
    ratio = times.ratio("scikit-learn", "two threads, array used again").median
    return table, Threshold("chi2 block, d = 8, two cores: times scikit-learn", ratio, at_least=8.0)


def _many_features(settings: Settings) -> tuple[Table, list[Threshold]]:
    """Time chunks of many features beside scikit-learn and the bare product of the same block."""
    rows: list[list[Cell]] = []
    thresholds = []
    for dtype in (np.float64, np.float32):
        for features in MANY_FEATURES:
            times = _wide_chunk(settings, features, dtype)
            kind = np.dtype(dtype).name
            for name, peer in WIDE.items():
                ratio, product = times.cpu_ratio(peer, name), times.cpu_ratio(name, "product")
                rows.append([name, features, kind, ratio, product])
                if name in ("rbf", "landmarks"):
                    label = f"{name}, d = {features}, {kind}"
                    thresholds += [
                        Threshold(f"{label}: times scikit-learn", ratio.median, at_least=1.2),
                        Threshold(f"{label}: times the product", product.median, at_most=1.6),
                    ]
    table = Table(
        f"Many features, ratios of CPU time: {CHUNK} rows, {MANY_PIVOTS} pivots or landmarks",
        ("kernel", "d", "type", "scikit-learn / ours", "ours / product"),
        rows,
        "Landmarks are the seven nearest of each row and their distances, beside all distances of "
        "scikit-learn. The product is the matrix product of rows and pivots by BLAS, written into "
        "an array that is used again, in the same precision.",
    )
    return table, thresholds


WIDE = {
    "rbf": "rbf_kernel",
    "landmarks": "pairwise_distances",
    "cosine": "cosine_similarity",
    "polynomial": "polynomial_kernel",
}


def _wide_chunk(settings: Settings, features: int, dtype: type) -> Times:
    rng = np.random.default_rng(0)
    rows = settings.points(CHUNK, least=100)
    X: Array = rng.normal(size=(rows, features)).astype(dtype)
    P: Array = rng.normal(size=(settings.points(MANY_PIVOTS), features)).astype(dtype)
    gamma = 0.5 / features
    factors, out = np.full(features, gamma), np.empty((rows, len(P)), dtype)
    with threadpool_limits(1):
        return settings.alternate({
            "product": lambda: np.matmul(X, P.T, out=out),
            "rbf": lambda: _native.tile("rbf", X, P, factors, out),
            "rbf_kernel": lambda: rbf_kernel(X, P, gamma=gamma),
            "landmarks": lambda: Landmarks().nearest(X, P, 7),
            "pairwise_distances": lambda: pairwise_distances(X, P),
            "cosine": lambda: Cosine().tile(X, P),
            "cosine_similarity": lambda: cosine_similarity(X, P),
            "polynomial": lambda: Polynomial(1.0 / gamma).tile(X, P),
            "polynomial_kernel": lambda: polynomial_kernel(X, P, gamma=gamma),
        })  # fmt: skip
