"""The search for the number of clusters and the bandwidth, against a loop over fit and score."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.measure import Settings
from benchmarks.problems import POINTS, histograms
from benchmarks.report import Bar, Result, Table
from sparseksc import KernelSpectralClustering, tune
from sparseksc.datasets import make_spirals

#: The paper's search on an image: chi2 kernel on histograms of 8 colours.
TRAINING, VALIDATION, BINS, IMAGE_RANK = 10_000, 20_000, 8, 200
CLUSTERS, BANDWIDTHS = range(3, 11), np.geomspace(1e-3, 1.0, 50)
#: Every so many bandwidths are in the loop, whose time is scaled accordingly.
STRIDE = 5


def run(settings: Settings) -> Result:
    """Compare on histograms, and time the search that a fit without parameters makes."""
    image, image_bar = _image(settings)
    spirals, spirals_bars = _spirals(settings)
    return Result("search", [image, spirals], [image_bar, *spirals_bars])


def _image(settings: Settings) -> tuple[Table, Bar]:
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
        f"{n_models} models: {n_training:,} points to train on, {n_validation:,} to judge on",
        ("method", "seconds", "share of the loop", "cores used"),
        [
            ("tune", times.seconds("search"), ratio, times.cores("search")),
            ("fit and score", times.seconds("loop").scaled(STRIDE), 1.0, times.cores("loop")),
        ],
        f"chi2 kernel, rank {IMAGE_RANK}, BAS. The loop takes every {STRIDE}th bandwidth, and its "
        "time is scaled.",
    )
    return table, Bar("search of 400 models: share of a loop", ratio.median, None, 0.1)


def _loop(training: Any, validation: Any, choices: dict[str, Any]) -> list[float]:
    return [
        KernelSpectralClustering(K, bandwidth=h, criterion="bas", **choices)
        .fit(training)
        .score(validation)
        for h in BANDWIDTHS[::STRIDE]
        for K in CLUSTERS
    ]


def _spirals(settings: Settings) -> tuple[Table, list[Bar]]:
    n_points = settings.points(POINTS)
    X, y = make_spirals(n_points, random_state=0)
    times = settings.alternate({"fit": lambda: KernelSpectralClustering(random_state=0).fit(X)})
    found = times.results["fit"]
    models = found.tuning_.n_models
    seconds = times.seconds("fit")
    ari = float(adjusted_rand_score(y, found.labels_))
    table = Table(
        f"KernelSpectralClustering().fit(X): two spirals, {n_points:,} points",
        ("models", "seconds", "ms per model", "clusters", "ARI"),
        [(models, seconds, seconds.scaled(1e3 / models), found.n_clusters_, ari)],
    )
    return table, [
        Bar("fit without parameters (s)", seconds.median, None, 5.0),
        Bar("the same: models searched", models, 200),
        Bar("the same: ARI", ari, 1.0),
    ]
