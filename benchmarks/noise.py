"""Background noise: what ``noise="auto"`` finds beside HDBSCAN, in one run.

    python -m benchmarks.noise [--seeds N] [--first N]

Two sets of ``../shared/data/battery-more`` with their own noise, and shapes with uniform background
noise that the rule was not chosen on. ARI is that of the points that are in a cluster by the
labels, where noise counts as a cluster of its own; F1 is that of the noise.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score, f1_score

from benchmarks.labelled_sets import DATA, load
from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_rings, make_spirals


def with_background(X: Any, y: Any, share: float, seed: int) -> tuple[Any, Any]:
    """Add uniform noise in the box of the points, with the label 0; clusters count from 1."""
    rng = np.random.default_rng(seed)
    low, high = X.min(axis=0), X.max(axis=0)
    n = round(len(X) * share / (1.0 - share))
    noise = rng.uniform(low, high, size=(n, X.shape[1]))
    order = rng.permutation(len(X) + n)
    return np.vstack([X, noise])[order], np.append(y + 1, np.zeros(n, int))[order]


def shapes(seed: int) -> Iterator[tuple[str, Any, Any]]:
    """Clusters without noise."""
    rng = np.random.default_rng(seed)
    yield "circles", *make_circles(4000, factor=0.45, noise=0.04, random_state=seed)
    yield "spirals", *make_spirals(4000, random_state=seed)
    yield "rings", *make_rings(4000, random_state=seed)
    X, y = make_blobs(4000, centers=[[0, 0], [0, 6], [7, 0]], random_state=seed)
    yield "ellipses", X @ np.array([[1.0, 0.7], [0.0, 0.5]]), y
    X, y = make_blobs([3000, 700, 300], centers=[[0, 0], [8, 0], [4, 8]], random_state=seed)
    yield "unequal", X, y
    yield "in 5 dimensions", *make_blobs(4000, 5, centers=8, random_state=rng.integers(2**31))


def problems(seed: int) -> Iterator[tuple[str, Any, Any]]:
    """Points and labels, 0 for noise."""
    folder = DATA.parent / "battery-more"
    if folder.exists():
        for problem in load(folder):
            if problem.name.startswith("chameleon"):
                yield problem.name, problem.X, problem.answers[0]
    for name, X, y in shapes(seed):
        for share in (0.05, 0.15):
            yield f"{name}, {share:.0%}", *with_background(X, y, share, seed)


def measured(labels: Any, y: Any) -> tuple[float, float, float]:
    """ARI of the points in clusters, F1 of the noise, and its share."""
    inside = y > 0
    return (
        adjusted_rand_score(y[inside], labels[inside]),
        f1_score(~inside, labels < 0, zero_division=0.0),
        float((labels < 0).mean()),
    )


def main() -> None:
    """Print a line for each set, and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    arguments = parser.parse_args()
    methods = {
        "ours": lambda X, s: KernelSpectralClustering(noise="auto", random_state=s).fit(X).labels_,
        "HDBSCAN": lambda X, s: (
            HDBSCAN(min_cluster_size=max(5, len(X) // 100), copy=True).fit(X).labels_
        ),
    }
    print(f"{'set':24}{'K':>4}{'noise':>7}" + "".join(f"{name:>34}" for name in methods))
    print(f"{'':35}" + f"{'K':>8}{'noise':>7}{'ARI':>6}{'F1':>6}{'s':>7}" * len(methods))
    rows: dict[str, list[tuple[float, float]]] = {name: [] for name in methods}
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        for name, X, y in problems(seed):
            line = f"{name:24}{len(np.unique(y[y > 0])):>4}{(y == 0).mean():>7.3f}"
            for method, fit in methods.items():
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    labels = fit(X, seed)
                seconds = time.perf_counter() - start
                ari, f1, share = measured(labels, y)
                rows[method].append((ari, f1))
                found = len(np.unique(labels[labels >= 0]))
                line += f"{found:>8}{share:>7.3f}{ari:>6.2f}{f1:>6.2f}{seconds:>7.1f}"
            print(line, flush=True)
    means = {name: np.mean(values, axis=0) for name, values in rows.items()}
    line = f"{'mean':35}"
    print(line + "".join(f"{'':15}{ari:>6.2f}{f1:>6.2f}{'':7}" for ari, f1 in means.values()))


if __name__ == "__main__":
    main()
