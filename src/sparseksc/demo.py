"""The demonstration: 100,000 points of two intertwined spirals, a table and a figure.

Run it as ``python -m sparseksc.demo``; the figure goes to ``demo/spirals.png``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from sparseksc import _native
from sparseksc.data.atomic import atomic_write
from sparseksc.datasets import make_spirals
from sparseksc.estimator import KernelSpectralClustering


def main(arguments: list[str] | None = None) -> None:
    """Cluster the spirals, print what it took, and draw the result."""
    parser = argparse.ArgumentParser(prog="python -m sparseksc.demo", description=__doc__)
    parser.add_argument("--points", type=int, default=100_000, help="number of points")
    parser.add_argument("--rank", type=int, default=115, help="largest size of the reduced set")
    parser.add_argument("--bandwidth", type=float, default=0.006, help="kernel bandwidth")
    parser.add_argument("--seed", type=int, default=0, help="seed of the data and the model")
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder of the figure")
    options = parser.parse_args(arguments)

    print(f"clustering {options.points:,} points", flush=True)
    X, y = make_spirals(options.points, random_state=options.seed)
    start = perf_counter()
    ksc = KernelSpectralClustering(
        n_clusters=2,
        bandwidth=options.bandwidth,
        max_rank=options.rank,
        random_state=options.seed,
    ).fit(X)
    fitted = perf_counter()
    print("labelling as many new points", flush=True)
    fresh, truth = make_spirals(options.points, random_state=options.seed + 1)
    made = perf_counter()
    predicted = ksc.predict(fresh)
    done = perf_counter()

    rows = [
        ("points", f"{options.points:,}"),
        ("reduced set", f"{len(ksc.reduced_set_)} points"),
        ("kernel", "compiled" if _native.IS_NATIVE else "NumPy"),
        *((f"  {step}", f"{seconds:.3f} s") for step, seconds in ksc.timings_.items()),
        ("fit", f"{fitted - start:.3f} s"),
        (f"predict {options.points:,} new points", f"{done - made:.3f} s"),
        ("ARI of the training points", f"{adjusted_rand_score(y, ksc.labels_):.4f}"),
        ("ARI of the new points", f"{adjusted_rand_score(truth, predicted):.4f}"),
    ]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value:>12}")

    figure = options.out / "spirals.png"
    print("\ndrawing", flush=True)
    draw(X, ksc, figure)
    print(f"picture: {figure}")


def draw(X: np.ndarray[Any, Any], ksc: KernelSpectralClustering, path: Path) -> None:
    """Draw data, reduced set and clusters side by side, as in the paper's figure 1."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    shown = np.linspace(0, len(X) - 1, min(len(X), 20_000)).astype(int)
    colours = np.array(["#0072b2", "#d55e00", "#009e73", "#cc79a7"])
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.3), layout="constrained")
    axes[0].scatter(*X[shown].T, s=1, color="#777777", rasterized=True)
    axes[0].set_title(f"{len(X):,} points")
    axes[1].scatter(*X[shown].T, s=1, color="#dddddd", rasterized=True)
    axes[1].scatter(*ksc.reduced_set_.T, s=14, color="black")
    axes[1].set_title(f"reduced set: {len(ksc.reduced_set_)} pivots")
    axes[2].scatter(
        *X[shown].T, s=1, color=colours[ksc.labels_[shown] % len(colours)], rasterized=True
    )
    axes[2].set_title(f"{ksc.n_clusters_} clusters")
    for ax in axes:
        ax.set(xticks=[], yticks=[], aspect="equal")
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        figure.savefig(file, format="png", dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    main()
