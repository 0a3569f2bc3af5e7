"""The search for the number of clusters and the bandwidth, against a loop over fit and score."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from benchmarks.measure import Settings
from benchmarks.problems import POINTS, histograms
from benchmarks.report import Result, Table, Threshold
from sparseksc import KernelSpectralClustering, tune
from sparseksc.datasets import make_gaussians, make_rings, make_spirals

#: The paper's search on an image: chi2 kernel on histograms of 8 colours.
TRAINING, VALIDATION, BINS, IMAGE_RANK = 10_000, 20_000, 8, 200
CLUSTERS, BANDWIDTHS = range(3, 11), np.geomspace(1e-3, 1.0, 50)
CENTRES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
#: Every so many bandwidths are in the loop, whose time is scaled accordingly.
STRIDE = 5
#: A search with few and with many pivots.
MANY_PIVOTS_POINTS, RANKS = 11_000, (200, 1000)


def run(settings: Settings) -> Result:
    """Compare on histograms, and time the search that a fit without parameters makes."""
    image, image_bar = _image(settings)
    shapes, shapes_bars = in_shapes(settings)
    return Result("search", [image, shapes, _ranks(settings)], [image_bar, *shapes_bars])


def _image(settings: Settings) -> tuple[Table, Threshold]:
    n_training = settings.points(TRAINING, least=300)
    n_validation = settings.points(VALIDATION, least=300)
    X = histograms(n_training + n_validation, BINS)
    training, validation = X[:n_training], X[n_training:]
    choices: dict[str, Any] = {"max_rank": IMAGE_RANK, "kernel": "chi2", "random_state": 0}
    times = settings.alternate(
        {
            "search": lambda: tune(
                training,
                n_clusters=CLUSTERS,
                bandwidth=list(BANDWIDTHS),
                criterion="bas",
                validation=validation,
                progress=False,
                **choices,
            ),
            "loop": partial(_loop, training, validation, choices),
        }
    )
    ratio = times.ratio("search", "loop").scaled(1.0 / STRIDE)
    n_models = len(CLUSTERS) * len(BANDWIDTHS)
    table = Table(
        f"{n_models} models: {n_training:,} points to train on, {n_validation:,} to evaluate on",
        ("method", "seconds", "share of the loop", "cores used"),
        [
            ("tune", times.seconds("search"), ratio, times.cores("search")),
            ("fit and score", times.seconds("loop").scaled(STRIDE), 1.0, times.cores("loop")),
        ],
        f"chi2 kernel, rank {IMAGE_RANK}, BAS. The loop takes every {STRIDE}th bandwidth, and its "
        "time is scaled.",
    )
    return table, Threshold("search of 400 models: share of a loop", ratio.median, None, 0.1)


def _loop(training: Any, validation: Any, choices: dict[str, Any]) -> list[float]:
    return [
        KernelSpectralClustering(K, bandwidth=h, criterion="bas", **choices)
        .fit(training)
        .score(validation)
        for h in BANDWIDTHS[::STRIDE]
        for K in CLUSTERS
    ]


def in_shapes(settings: Settings) -> tuple[Table, list[Threshold]]:
    """Time fits without parameters, shape by shape."""
    n_points = settings.points(POINTS)
    shapes = {
        "two spirals": make_spirals(n_points, random_state=0),
        "four spirals": make_spirals(n_points, n_arms=4, random_state=0),
        "moons": make_moons(n_points, noise=0.05, random_state=0),
        "rings": make_rings(n_points, random_state=0),
        "three blobs": make_blobs(n_points, centers=CENTRES, cluster_std=0.8, random_state=0),
        "blobs of widths 0.1, 1, 2": make_blobs(
            n_points, centers=2 * CENTRES, cluster_std=[0.1, 1.0, 2.0], random_state=0
        ),
    }
    rows = []
    for name, (X, y) in shapes.items():
        times = settings.alternate({"fit": partial(_fit_alone, X)})
        found, seconds = times.results["fit"], times.seconds("fit")
        models, ari = found.tuning_.n_models, float(adjusted_rand_score(y, found.labels_))
        rank = len(found.reduced_set_)
        rows.append((name, models, seconds, found.n_clusters_, rank, ari))
    table = Table(
        f"KernelSpectralClustering().fit(X): {n_points:,} points",
        ("shape", "models", "seconds", "clusters", "pivots", "ARI"),
        rows,
    )
    return table, [
        Threshold(
            "fit without parameters (s, the slowest shape)",
            max(r[2].median for r in rows),
            None,
            5.0,
        ),
        Threshold("the same: ARI, the lowest", min(row[5] for row in rows), 0.99),
    ]


def _ranks(settings: Settings) -> Table:
    """Time the search of one kernel with few pivots and with many."""
    n_points = settings.points(MANY_PIVOTS_POINTS, least=1000)
    X, y = make_gaussians(n_points, n_clusters=10, n_features=16, overlap=0.3, random_state=0)
    rows = []
    for rank in RANKS:
        model = KernelSpectralClustering(kernel="rbf", max_rank=rank, random_state=0)
        times = settings.alternate({"fit": partial(model.fit, X)})
        ari = float(adjusted_rand_score(y, model.labels_))
        rows.append((rank, times.seconds("fit"), times.cores("fit"), model.n_clusters_, ari))
    return Table(
        f"The rbf kernel alone, everything else open: {n_points:,} points in 16 features",
        ("max_rank", "seconds", "cores used", "clusters", "ARI"),
        rows,
    )


def _fit_alone(X: Any) -> KernelSpectralClustering:
    return KernelSpectralClustering(random_state=0).fit(X)
