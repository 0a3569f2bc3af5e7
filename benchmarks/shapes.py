"""The table and the picture of README: two spirals by five methods, with time and ARI."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_spirals

#: Fits of each method, of which the median counts, after one of some rows.
ROUNDS = 3
FIGURE = Path(__file__).resolve().parents[1] / "docs" / "figures" / "peers.png"


def methods(n_samples: int) -> dict[str, object]:
    """All but HDBSCAN are told that there are two clusters."""
    return {
        "sparseksc": KernelSpectralClustering(2, bandwidth=0.006, random_state=0),
        "KMeans": KMeans(2, random_state=0),
        "GaussianMixture": GaussianMixture(2, random_state=0),
        "HDBSCAN": HDBSCAN(min_cluster_size=n_samples // 100, copy=True),
        "SpectralClustering": SpectralClustering(2, affinity="nearest_neighbors", random_state=0),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    parser = argparse.ArgumentParser(prog="python -m benchmarks shapes", description=__doc__)
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--figure", type=Path, default=FIGURE)
    given = parser.parse_args(arguments)
    X, y = make_spirals(given.points, random_state=0)
    contenders = methods(given.points)
    figure, axes = plt.subplots(1, len(contenders), figsize=(15, 3.3), layout="constrained")
    ours = None
    print(f"{given.points:,} points\n\n| method | seconds | times ours | ARI |\n|---|---|---|---|")
    for ax, (name, method) in zip(axes, contenders.items(), strict=True):
        with warnings.catch_warnings():
            # The neighbour graph of two spirals has two components: that is the point of them.
            warnings.filterwarnings("ignore", "Graph is not fully connected")
            method.fit_predict(X[::40])  # type: ignore[attr-defined] # imports, and threads
            rounds = []
            for _ in range(ROUNDS):
                started = time.perf_counter()
                labels = np.asarray(method.fit_predict(X))  # type: ignore[attr-defined]
                rounds.append(time.perf_counter() - started)
        seconds = float(np.median(rounds))
        ours = ours or seconds
        ari = adjusted_rand_score(y, labels)
        print(f"| {name} | {seconds:.2f} | {seconds / ours:.1f} | {ari:.2f} |", flush=True)
        ax.scatter(*X[::4].T, c=np.where(labels < 0, np.nan, labels)[::4], s=1, cmap="coolwarm")
        ax.set_title(f"{name}: ARI {ari:.2f}")
        ax.set_aspect("equal")
        ax.axis("off")
    figure.savefig(given.figure, dpi=80)


if __name__ == "__main__":
    main()
