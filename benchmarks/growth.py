"""Growth of fit and predict with points, rank, features, clusters, precision and threads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.measure import Settings, Times
from benchmarks.problems import POINTS, RANK, Spirals
from benchmarks.processes import throughput
from benchmarks.report import Result, Table, Threshold
from sparseksc import KernelSpectralClustering
from sparseksc._typing import Array
from sparseksc.datasets import make_gaussians

POINT_COUNTS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
RANKS, LARGE_RANKS = (115, 200, 400), (800,)
FEATURES = (2, 8, 32, 128)
CLUSTERS = (2, 4, 8, 16)

Problem = tuple[KernelSpectralClustering, Array]


def run(settings: Settings) -> Result:
    n_points = settings.points(POINTS)
    spirals = Spirals.of_size(n_points)
    ranks = RANKS + LARGE_RANKS if settings.long else RANKS
    tables = [
        _table(settings, "rank", {R: (spirals.estimator(max_rank=R), spirals.X) for R in ranks}),
        _table(settings, "features", {d: _gaussians(n_points, 4, d) for d in FEATURES}),
        _table(settings, "clusters", {K: _gaussians(n_points, K, 8) for K in CLUSTERS}),
        _table(
            settings,
            "precision",
            {
                np.dtype(dtype).name: (spirals.estimator(), spirals.X.astype(dtype))
                for dtype in (np.float64, np.float32)
            },
        ),
    ]
    points_table, points_bar = _in_points(settings)
    threads_table, threads_bars = _in_threads(settings)
    return Result("growth", [points_table, *tables, threads_table], [points_bar, *threads_bars])


def _gaussians(n_points: int, n_clusters: int, n_features: int) -> Problem:
    """Normal clusters and a bandwidth at which the rank is used up."""
    X, _ = make_gaussians(
        n_points, n_clusters=n_clusters, n_features=n_features, overlap=0.3, random_state=0
    )
    estimator = KernelSpectralClustering(
        n_clusters, bandwidth=4.0 * n_features, max_rank=RANK, tol=0.0, random_state=0
    )
    return estimator, X


def _fit_and_predict(settings: Settings, problems: Mapping[Any, Problem]) -> Times:
    contenders = {}
    for key, (estimator, X) in problems.items():
        fitted = estimator.fit(X)
        contenders[f"fit {key}"] = lambda estimator=estimator, X=X: estimator.fit(X).labels_
        contenders[f"predict {key}"] = lambda fitted=fitted, X=X: fitted.predict(X)
    return settings.alternate(contenders)


def _table(settings: Settings, parameter: str, problems: Mapping[Any, Problem]) -> Table:
    times = _fit_and_predict(settings, problems)
    first = next(iter(problems))
    _, X = problems[first]
    rows = [
        (
            key,
            times.seconds(f"fit {key}").scaled(1e3),
            times.ratio(f"fit {key}", f"fit {first}").median,
            times.seconds(f"predict {key}").scaled(1e3),
            times.ratio(f"predict {key}", f"predict {first}").median,
        )
        for key in problems
    ]
    columns = (parameter, "fit (ms)", f"fit / {parameter} {first}", "predict (ms)",
               f"predict / {parameter} {first}")  # fmt: skip
    return Table(f"Growth with {parameter}: {len(X):,} points", columns, rows)


def _in_points(settings: Settings) -> tuple[Table, Threshold]:
    counts = [settings.points(count) for count in POINT_COUNTS]
    problems = {}
    for count in counts:
        spirals = Spirals.of_size(count)
        problems[count] = spirals.estimator(), spirals.X
    times = _fit_and_predict(settings, problems)
    rows = [
        (
            count,
            times.seconds(f"fit {count}").scaled(1e3),
            times.seconds(f"fit {count}").median / count * 1e9,
            times.seconds(f"predict {count}").scaled(1e3),
            times.seconds(f"predict {count}").median / count * 1e9,
        )
        for count in problems
    ]
    table = Table(
        f"Growth with points: two spirals, rank {RANK}",
        ("points", "fit (ms)", "fit, ns per point", "predict (ms)", "predict, ns per point"),
        rows,
    )
    ratio = times.ratio(f"fit {counts[-1]}", f"fit {counts[2]}").median
    return table, Threshold("fit of 1,000,000 points: times that of 100,000", ratio, at_most=11.0)


def _in_threads(settings: Settings) -> tuple[Table, list[Threshold]]:
    rows, thresholds, equal = [], [], True
    for full in (POINTS, 10 * POINTS):
        spirals = Spirals.of_size(settings.points(full))
        problems = {n_jobs: (spirals.estimator(n_jobs=n_jobs), spirals.X) for n_jobs in (1, 2, 3)}
        times = _fit_and_predict(settings, problems)
        for work in ("fit", "predict"):
            rows += [
                (
                    work,
                    len(spirals.X),
                    n_jobs,
                    times.seconds(f"{work} {n_jobs}").scaled(1e3),
                    times.ratio(f"{work} 1", f"{work} {n_jobs}"),
                    times.cores(f"{work} {n_jobs}"),
                    sum(times.cpu[f"{work} {n_jobs}"]) / sum(times.cpu[f"{work} 1"]),
                )
                for n_jobs in problems
            ]
            speed_up = times.ratio(f"{work} 1", f"{work} 2").median
            thresholds.append(
                Threshold(f"two threads, {full:,} points: speed-up of {work}", speed_up, 1.7)
            )
        models = [estimator for estimator, _ in problems.values()]
        equal = equal and all(
            np.array_equal(getattr(models[0], attribute), getattr(model, attribute))
            for model in models
            for attribute in ("coef_", "bias_", "eigenvalues_", "prototypes_", "labels_")
        )
    most = throughput(settings.points(POINTS))
    table = Table(
        f"Threads: two spirals, rank {RANK}",
        (
            "work",
            "points",
            "n_jobs",
            "milliseconds",
            "speed-up",
            "cores used",
            "CPU time / that of one",
        ),
        rows,
        "A speed-up below the number of cores with as many cores used is more CPU time; one with "
        "fewer cores used is work that is not shared, or a machine that has other work. Two "
        f"processes that share nothing, with one thread each, do {most:.2f} times the work of one: "
        "more cannot be expected of two threads here.",
    )
    return table, [*thresholds, Threshold("threads 1, 2, 3 give the same bits", float(equal), 1.0)]
