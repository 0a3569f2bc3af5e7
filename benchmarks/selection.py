"""Pivot selection: its share of a fit, and "block" against "greedy" at large ranks."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.measure import Settings, Spread
from benchmarks.problems import POINTS, RANK, Spirals, histograms
from benchmarks.report import Result, Table, Threshold
from sparseksc._typing import Array
from sparseksc.core.reduced_set import select_reduced_set
from sparseksc.datasets import make_gaussians, make_spirals
from sparseksc.kernels import Kernel, make_kernel

LARGE_POINTS, LARGE_RANK = 50_000, 1000


def run(settings: Settings) -> Result:
    share_table, share_bar = _share_of_fit(settings)
    block_table, block_bars = _block_against_greedy(settings)
    return Result("selection", [share_table, block_table], [share_bar, *block_bars])


def _share_of_fit(settings: Settings) -> tuple[Table, Threshold]:
    """Take the steps of a fit apart, from the timings that it keeps."""
    problem = Spirals.of_size(settings.points(POINTS))
    steps: dict[str, list[float]] = {}

    def fit() -> None:
        for step, seconds in problem.estimator().fit(problem.X).timings_.items():
            steps.setdefault(step, []).append(seconds)

    whole = settings.alternate({"fit": fit}).seconds("fit")
    rows = [
        (step, Spread.of(seconds).scaled(1e3), float(np.median(seconds)) / whole.median)
        for step, seconds in steps.items()
    ]
    rows.append(("whole fit", whole.scaled(1e3), 1.0))
    table = Table(
        f"Steps of a fit: {len(problem.X):,} points, rank {RANK}",
        ("step", "milliseconds", "share of the fit"),
        rows,
    )
    return table, Threshold("selection: share of the fit at rank 115", rows[0][2], at_most=0.2)


def _data_sets(settings: Settings) -> dict[str, tuple[Kernel, Array]]:
    n_points = settings.points(LARGE_POINTS)
    data: dict[str, tuple[Kernel, Array]] = {
        "16 Gaussians, 8-D, rbf": (
            make_kernel("rbf", 20.0),
            make_gaussians(n_points, n_clusters=16, n_features=8, random_state=0)[0],
        )
    }
    if settings.long:
        data["spirals, rbf"] = (
            make_kernel("rbf", 0.0003),
            make_spirals(n_points, random_state=0)[0],
        )
        data["histograms, chi2"] = (make_kernel("chi2", 0.05), histograms(n_points, 8))
    return data


def _block_against_greedy(settings: Settings) -> tuple[Table, list[Threshold]]:
    rank = settings.points(LARGE_RANK, least=20)
    rows, speed, residual = [], [], []
    for name, (kernel, X) in _data_sets(settings).items():
        select = partial(select_reduced_set, kernel, X, max_rank=rank, tol=0.0)
        contenders = {
            pivoting: partial(select, pivoting=pivoting) for pivoting in ("block", "greedy")
        }
        times = settings.alternate(contenders, once=["greedy"] if settings.scale == 1.0 else ())
        block, greedy = times.results["block"], times.results["greedy"]
        ratio = times.ratio("greedy", "block")
        rows.append((
            name, times.seconds("block"), times.seconds("greedy"), ratio,
            block.residual, greedy.residual, block.residual / greedy.residual,
        ))  # fmt: skip
        speed.append(ratio.median)
        residual.append(block.residual / greedy.residual)
    table = Table(
        f'"block" and "greedy" pivots: {len(X):,} points, rank {rank:,}',
        (
            "data", "block (s)", "greedy (s)", "greedy / block",
            "residual of block", "residual of greedy", "block / greedy",
        ),
        rows,
        "The residual is the trace of the kernel matrix that the pivots leave, relative to its "
        "trace.",
    )  # fmt: skip
    return table, [
        Threshold('"block" pivots at rank 1,000: times "greedy" (worst data set)', min(speed), 4.0),
        Threshold(
            "the same: residual relative to greedy (worst data set)", max(residual), at_most=1.0
        ),
    ]
