"""The table and the picture of README: two spirals by five methods, with CPU time and ARI.

The picture has the first answer of each method: ours with nothing given.
"""

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
from sparseksc.data.atomic import atomic_write
from sparseksc.datasets import make_spirals

#: Fits of each method, of which the median counts, after one of some rows.
ROUNDS = 3
FIGURE = Path(__file__).resolve().parents[1] / "docs" / "figures" / "peers.png"


def methods(n_samples: int) -> dict[tuple[str, str], object]:
    """Return the methods, by their name and by what they are told."""
    return {
        ("sparseksc", "nothing"): KernelSpectralClustering(random_state=0),
        ("sparseksc", "K"): KernelSpectralClustering(2, random_state=0),
        ("sparseksc", "K and bandwidth"): KernelSpectralClustering(
            2, bandwidth=0.006, random_state=0
        ),
        ("KMeans", "K"): KMeans(2, random_state=0),
        ("GaussianMixture", "K"): GaussianMixture(2, random_state=0),
        ("HDBSCAN", "min_cluster_size"): HDBSCAN(min_cluster_size=n_samples // 100, copy=True),
        ("SpectralClustering", "K"): SpectralClustering(
            2, affinity="nearest_neighbors", random_state=0
        ),
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
    panels: dict[str, tuple[np.ndarray, float]] = {}
    print(f"{given.points:,} points\n\n| method | told | CPU seconds | ARI |\n|---|---|---|---|")
    for (name, told), method in methods(given.points).items():
        with warnings.catch_warnings():
            # The neighbour graph of two spirals has two components: that is the point of them.
            # A few points of them are too few to see spirals in, which we say.
            warnings.simplefilter("ignore", UserWarning)
            method.fit_predict(X[::40])  # type: ignore[attr-defined] # imports, and threads
            rounds = []
            for _ in range(ROUNDS):
                started = time.process_time()
                labels = np.asarray(method.fit_predict(X))  # type: ignore[attr-defined]
                rounds.append(time.process_time() - started)
        ari = adjusted_rand_score(y, labels)
        panels.setdefault(name, (labels, ari))
        print(f"| {name} | {told} | {np.median(rounds):.2g} | {ari:.2f} |", flush=True)
    figure, axes = plt.subplots(1, len(panels), figsize=(15, 3.3), layout="constrained")
    for ax, (name, (labels, ari)) in zip(axes, panels.items(), strict=True):
        ax.scatter(*X[::4].T, c=np.where(labels < 0, np.nan, labels)[::4], s=1, cmap="coolwarm")
        ax.set_title(f"{name}: ARI {ari:.2f}")
        ax.set_aspect("equal")
        ax.axis("off")
    with atomic_write(given.figure) as file:
        figure.savefig(file, dpi=80, format="png")


if __name__ == "__main__":
    main()
