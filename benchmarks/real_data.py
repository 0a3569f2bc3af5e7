"""Labelled data with the number of clusters known: NMI, ARI and seconds beside other methods.

    python -m benchmarks real_data --long

Handwritten digits and letters come from scikit-learn and from ../shared/data/large; the small sets
of ../shared/data/battery-more are measured by the ARI alone. What others have printed for their
landmark methods (U-SPEC and U-SENC: Huang et al., TKDE 2020, with LSC-K) stands beside it.
"""

from __future__ import annotations

import gzip
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, MiniBatchKMeans, SpectralClustering
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from benchmarks.measure import Settings, Spread
from benchmarks.problems import gaussians
from benchmarks.report import Result, Table, Threshold
from sparseksc import KernelSpectralClustering

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
MNIST = SHARED / "large" / "mnist.npz"
SEEDS = 5
#: NMI as printed: U-SPEC, LSC-K, U-SENC; and the least that ours has to reach.
PRINTED = {"pendigits": ".80, .80, .85", "letter": ".43, .43, .46", "mnist": ".67, .74, .75"}
LEAST_NMI = {"digits": 0.88, "pendigits": 0.82, "letter": 0.46, "mnist": 0.74}
#: Small sets, and the least ARI.
SMALL = {
    "sipu/s1": 0.94,
    "sipu/s3": 0.72,
    "sipu/a1": 0.94,
    "sipu/d31": 0.94,
    "h2mg/h2mg_128_30": 0.93,
    "g2mg/g2mg_8_60": 0.82,
}
#: Points up to which methods that need much time for each are tried.
FEW = 12_000

Clustering = Callable[[Any, int, int], Any]


def ours(X: Any, K: int, seed: int) -> Any:
    return KernelSpectralClustering(K, kernel="landmarks", random_state=seed).fit_predict(X)


def of_class(kind: Any, name: str = "n_clusters", **parameters: Any) -> Clustering:
    """Return the function that clusters with an estimator of scikit-learn."""

    def cluster(X: Any, K: int, seed: int) -> Any:
        return kind(**{name: K}, random_state=seed, **parameters).fit_predict(X)

    return cluster


def hdbscan(X: Any, K: int, seed: int) -> Any:
    return HDBSCAN(min_cluster_size=20, copy=True).fit_predict(X)


#: Methods, and whether they are for few points only.
METHODS: dict[str, tuple[Clustering, bool]] = {
    "landmarks": (ours, False),
    "KMeans": (of_class(KMeans, n_init=1), False),
    "MiniBatchKMeans": (of_class(MiniBatchKMeans, n_init=3), False),
    "SpectralClustering (neighbours)": (
        of_class(SpectralClustering, affinity="nearest_neighbors"),
        True,
    ),
    "GaussianMixture": (of_class(GaussianMixture, "n_components", reg_covar=1e-3), True),
    "HDBSCAN": (hdbscan, True),
}


def large_sets() -> Iterator[tuple[str, Any, Any]]:
    """Yield names, points and labels of what is at hand."""
    X, y = load_digits(return_X_y=True)
    yield "digits", X, y
    for name in ("pendigits", "letter", "mnist"):
        path = SHARED / "large" / f"{name}.npz"
        if path.exists():
            with np.load(path) as file:
                yield name, file["X"].astype(np.float32), file["y"]


def run(settings: Settings) -> Result:
    """Cluster each set with each method, several times; MNIST and five seeds with ``--long``."""
    seeds = SEEDS if settings.long else 1
    rows, thresholds = [], []
    for name, X, y in large_sets():
        if name == "mnist" and not settings.long:
            continue
        share = min(len(X), max(300, int(settings.scale * len(X))))
        X, y = X[:share], y[:share]
        for method, (cluster, few) in METHODS.items():
            if few and len(X) > FEW:
                continue
            nmi, ari, seconds = repeated(cluster, X, y, seeds)
            printed = PRINTED.get(name, "") if method == "landmarks" else ""
            taken = float(np.median(seconds))
            rows.append((name, method, spread(nmi), spread(ari), taken, printed))
            if method == "landmarks":
                least = LEAST_NMI[name]
                thresholds.append(Threshold(f"NMI of {name}", float(np.mean(nmi)), at_least=least))
                thresholds.append(
                    Threshold(f"its standard deviation ({name})", float(np.std(nmi)), at_most=0.02)
                )
    small = []
    for name, least in SMALL.items():
        if not (SHARED / "battery-more" / f"{name}.data.gz").exists():
            continue
        X, truths = small_set(name)
        found = [ours(X, int(truths[0].max()), seed) for seed in range(seeds)]
        values = [
            max(adjusted_rand_score(y[y > 0], labels[y > 0]) for y in truths) for labels in found
        ]
        small.append((name, len(X), X.shape[1], spread(values), least))
        thresholds.append(Threshold(f"ARI of {name}", float(np.mean(values)), at_least=least))
    columns = ("data", "method", "NMI", "ARI", "seconds", "printed: U-SPEC, LSC-K, U-SENC")
    tables = [Table("Number of clusters known", columns, rows)]
    if small:
        tables.append(
            Table("Small sets, landmarks", ("data", "rows", "features", "ARI", "bar"), small)
        )
    seconds, more = speed(settings)
    return Result("real_data", [*tables, seconds], [*thresholds, *more])


def speed(settings: Settings) -> tuple[Table, list[Threshold]]:
    """Time the landmarks kernel beside k-means, side by side, by CPU time.

    In one thread each: threads that wait for others count as work, most of all on a busy machine.
    """
    with threadpool_limits(1):
        return _speed(settings)


def _speed(settings: Settings) -> tuple[Table, list[Threshold]]:
    n = max(2000, int(1_000_000 * min(1.0, settings.scale)))
    X = gaussians(n)
    model = KernelSpectralClustering(
        10, kernel="landmarks", max_rank=1000, random_state=0, n_jobs=1
    )
    work: dict[str, Callable[[], Any]] = {
        "landmarks": lambda: model.fit(X),
        "MiniBatchKMeans": lambda: MiniBatchKMeans(10, random_state=0).fit(X),
    }
    times = settings.alternate(work)
    rows = [(f"{n:,} x 16, R = 1,000, fit", name, times.cpu_seconds(name)) for name in work]
    ratio = times.cpu_ratio("landmarks", "MiniBatchKMeans").median
    thresholds = [Threshold("landmarks / MiniBatchKMeans, 10⁶ x 16", ratio, at_most=3.0)]
    if settings.long and MNIST.exists():
        Y = mnist()
        seeds = range(SEEDS)  # the time of k-means depends on its start
        work = {
            "landmarks": lambda: [labels_of(model.set_params(random_state=i), Y) for i in seeds],
            "KMeans": lambda: [labels_of(KMeans(10, n_init=1, random_state=i), Y) for i in seeds],
        }
        times = settings.alternate(work)
        what = f"MNIST, R = 1,000, fit and predict, {SEEDS} seeds"
        rows += [(what, name, times.cpu_seconds(name)) for name in work]
        ratio = times.cpu_ratio("landmarks", "KMeans").median
        thresholds.append(Threshold("landmarks / KMeans, MNIST", ratio, at_most=1.0))
    for rank in (2000, 20_000) if settings.long else (2000,):
        rows.append(many_clusters(settings, rank))
    return Table("CPU seconds", ("work", "method", "seconds"), rows), thresholds


def labels_of(model: Any, X: Any) -> Any:
    return model.fit(X).predict(X)


def mnist() -> Any:
    """Return the points of MNIST, in float32."""
    with np.load(MNIST) as file:
        return file["X"].astype(np.float32)


def many_clusters(settings: Settings, rank: int) -> tuple[str, str, Spread]:
    """Time a fit of 100 clusters on a grid, as those of the set Birch1."""
    rng = np.random.default_rng(0)
    n = max(10_000, int(100_000 * min(1.0, settings.scale)))
    grid = np.indices((10, 10)).reshape(2, -1).T
    X = grid[rng.integers(100, size=n)] + 0.25 * rng.normal(size=(n, 2))
    rank = min(rank, n // 5)
    model = KernelSpectralClustering(
        100, kernel="landmarks", max_rank=rank, random_state=0, n_jobs=1
    )
    seconds = settings.alternate({"landmarks": lambda: model.fit(X)}).cpu_seconds("landmarks")
    return f"{n:,} x 2, 100 clusters, R = {rank:,}, fit", "landmarks", seconds


def repeated(cluster: Clustering, X: Any, y: Any, seeds: int) -> tuple[list[float], ...]:
    """NMI, ARI and seconds of each seed."""
    nmi, ari, seconds = [], [], []
    for seed in range(seeds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            started = time.perf_counter()
            labels = cluster(X, len(np.unique(y)), seed)
            seconds.append(time.perf_counter() - started)
        nmi.append(float(normalized_mutual_info_score(y, labels)))
        ari.append(float(adjusted_rand_score(y, labels)))
    return nmi, ari, seconds


def small_set(name: str) -> tuple[Any, list[Any]]:
    """Points, and all ways in which they are labelled; 0 is noise."""
    stem = SHARED / "battery-more" / name
    with gzip.open(f"{stem}.data.gz") as file:
        X = np.loadtxt(file, ndmin=2)
    truths = []
    for path in sorted(stem.parent.glob(f"{stem.name}.labels*.gz")):
        with gzip.open(path) as file:
            truths.append(np.loadtxt(file, dtype=int))
    return X, truths


def spread(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}"
