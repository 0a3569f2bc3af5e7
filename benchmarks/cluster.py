"""A Dask cluster of separate processes: one worker against two, and what the client holds."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np

from benchmarks.footprint import MEGABYTE, forget_peak, peak, resident
from benchmarks.measure import Settings
from benchmarks.problems import BANDWIDTH, RANK
from benchmarks.report import Result, Table, Threshold
from benchmarks.scale import EndlessSpirals
from sparseksc import KernelSpectralClustering

POINTS = 4_000_000
WORKERS = (1, 2)


def run(settings: Settings) -> Result:
    """Fit the same points, which the workers make themselves, on clusters of one and two."""
    from distributed import Client, LocalCluster

    n_points = settings.points(POINTS, least=20_000)
    with ExitStack() as open_clusters:
        clients = {
            workers: open_clusters.enter_context(
                Client(
                    open_clusters.enter_context(
                        LocalCluster(
                            n_workers=workers,
                            threads_per_worker=1,
                            processes=True,
                            dashboard_address=":0",
                        )
                    ),
                    set_as_default=False,
                )
            )
            for workers in WORKERS
        }
        contenders = {
            str(workers): partial(_fit, client, n_points) for workers, client in clients.items()
        }
        contenders["1"](), contenders["2"]()
        forget_peak()
        before = resident()
        times = settings.alternate(contenders)
        held = (peak() - before) / MEGABYTE
    local = KernelSpectralClustering(2, bandwidth=BANDWIDTH, max_rank=RANK, random_state=0)
    local.fit(EndlessSpirals(n_points))
    same = all(np.array_equal(found, local.coef_) for found in times.results.values())
    speed_up = times.ratio("1", "2")
    table = Table(
        f"Fit on a cluster: two spirals, {n_points:,} points, rank {RANK}",
        ("workers", "seconds", "times one worker", "the bits of a local run"),
        [
            (workers, times.seconds(str(workers)), times.ratio("1", str(workers)), same)
            for workers in WORKERS
        ],
        "Each worker is a process with one thread and makes its points itself. Scheduler and "
        f"client share the cores with the workers. The client grew by {held:.0f} MB at most.",
    )
    thresholds = [
        Threshold("two Dask workers: times one", speed_up.median, 1.6),
        Threshold("client of a Dask cluster, above idle (MB)", held, None, 100.0),
        Threshold("the bits of a local run on the cluster", float(same), 1.0),
    ]
    return Result("cluster", [table], thresholds)


def _fit(client: Any, n_points: int) -> Any:
    ksc = KernelSpectralClustering(2, bandwidth=BANDWIDTH, max_rank=RANK, random_state=0)
    with client.as_current():
        return ksc.fit(EndlessSpirals(n_points).to_dask()).coef_
