"""The comparison of the manual: seven methods on the same panels, with ARI and time.

``python -m benchmarks comparison --docs`` writes the picture and the tables of docs/comparison.md.
All sets are made here or come with scikit-learn, so that anybody can repeat it. No parameter of any
method was chosen on them: the number of clusters is given where a method asks for it, and the rest
are defaults, but for `min_cluster_size` of HDBSCAN, 1 % of the points.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from benchmarks.report import fill
from sparseksc import KernelSpectralClustering
from sparseksc.data.atomic import atomic_write
from sparseksc.datasets import make_rings, make_spirals

DOCS = Path(__file__).resolve().parents[1] / "docs"
#: All of it takes some minutes with two seeds; a search takes seconds where the others take none.
SEEDS = 2
POINTS = 2_000
#: Seconds above which a method is not timed, if it goes on growing as it did between the two sizes
#: before. Each size is ten times the one before it.
PATIENCE = 20.0
SIZES = (1_000, 10_000, 100_000)

Labels = Any
Problem = Callable[[int, int], tuple[Any, Any]]


def _genie(X: Any, K: int, seed: int) -> Labels:
    from genieclust import Genie

    return Genie(K).fit_predict(X)


def _spectral(X: Any, K: int, seed: int) -> Labels:
    return SpectralClustering(K, affinity="nearest_neighbors", random_state=seed).fit_predict(X)


METHODS: dict[str, Callable[[Any, int, int], Labels]] = {
    "sparseksc": lambda X, K, s: KernelSpectralClustering(K, random_state=s).fit_predict(X),
    "sparseksc, nothing given": lambda X, K, s: KernelSpectralClustering(
        random_state=s
    ).fit_predict(X),
    "KMeans": lambda X, K, s: KMeans(K, random_state=s).fit_predict(X),
    "GaussianMixture": lambda X, K, s: GaussianMixture(K, random_state=s).fit_predict(X),
    "HDBSCAN": lambda X, K, s: HDBSCAN(max(5, len(X) // 100), copy=True).fit_predict(X),
    "SpectralClustering": _spectral,
    "Genie": _genie,
}
#: What is told to each, for the tables.
GIVEN = {"sparseksc, nothing given": "nothing", "HDBSCAN": "`min_cluster_size`"}


def _skewed(n: int, seed: int) -> tuple[Any, Any]:
    X, y = make_blobs(n, random_state=170 + seed)
    return X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y


def _noisy_moons(n: int, seed: int) -> tuple[Any, Any]:
    X, y = make_moons(n * 9 // 10, noise=0.05, random_state=seed)
    low, high = X.min(axis=0), X.max(axis=0)
    noise = np.random.default_rng(seed).uniform(low, high, size=(n // 10, 2))
    return np.vstack([X, noise]), np.append(y, np.full(len(noise), -1))


def _overlapping(n: int, seed: int) -> tuple[Any, Any]:
    centres = [[0, 0], [3, 0], [1.5, 2.6]]
    return make_blobs(n, centers=centres, cluster_std=1.0, random_state=seed)


def _grid(n: int, seed: int) -> tuple[Any, Any]:
    centres = np.array([(a, b) for a in range(6) for b in range(5)], dtype=float)
    return make_blobs(n, centers=centres, cluster_std=0.15, random_state=seed)


def _many_features(n: int, seed: int) -> tuple[Any, Any]:
    return make_blobs(n, n_features=50, centers=8, cluster_std=4.0, random_state=seed)


def _digits(n: int, seed: int) -> tuple[Any, Any]:
    return load_digits(return_X_y=True)


PROBLEMS: dict[str, Problem] = {
    "circles": lambda n, s: make_circles(n, factor=0.5, noise=0.05, random_state=s),
    "moons": lambda n, s: make_moons(n, noise=0.05, random_state=s),
    "spirals": lambda n, s: make_spirals(n, random_state=s),
    "spirals, 4 times": lambda n, s: make_spirals(4 * n, random_state=s),
    "rings": lambda n, s: make_rings(n, random_state=s),
    "skewed blobs": _skewed,
    "unequal widths": lambda n, s: make_blobs(n, cluster_std=[1.0, 2.5, 0.5], random_state=170 + s),
    "overlapping": _overlapping,
    "30 blobs": _grid,
    "moons and noise": _noisy_moons,
    "8 blobs, 50 features": _many_features,
    "digits, 64 features": _digits,
}


def run_method(name: str, X: Any, K: int, seed: int) -> tuple[Labels, float]:
    """Return the labels of a method, and the CPU time that it took, in seconds.

    CPU time, of all threads, is hardly disturbed by what else the machine has to do.
    """
    with warnings.catch_warnings():
        # Shapes that are apart have neighbour graphs that are apart; doubt is part of the answer.
        warnings.simplefilter("ignore")
        started = time.process_time()
        labels = np.asarray(METHODS[name](X, K, seed))
        return labels, time.process_time() - started


def agreement(y: Any, labels: Labels) -> float:
    """Return the ARI of the points that belong to a cluster; noise found is one more cluster."""
    belongs = y >= 0
    return float(adjusted_rand_score(y[belongs], labels[belongs]))


def warm_up() -> None:
    """Run every method on some points, for the imports and the threads."""
    X, _ = make_blobs(300, random_state=0)
    for name in METHODS:
        run_method(name, X, 3, 0)


def quality(n: int, seeds: Sequence[int]) -> tuple[dict[str, dict[str, list[float]]], list[Any]]:
    """Return the ARI of every method on every set, and what the first seed looks like."""
    scores: dict[str, dict[str, list[float]]] = {}
    panels = []
    for problem, make in PROBLEMS.items():
        row: dict[str, list[float]] = {name: [] for name in METHODS}
        for seed in seeds:
            X, y = make(n, seed)
            K = len(np.unique(y[y >= 0]))
            for name in METHODS:
                labels, seconds = run_method(name, X, K, seed)
                row[name].append(agreement(y, labels))
                if seed == seeds[0] and X.shape[1] == 2:
                    panels.append((problem, name, X, labels, row[name][0], seconds))
        scores[problem] = row
        print(problem, {name: round(float(np.mean(v)), 2) for name, v in row.items()}, flush=True)
    return scores, panels


def times(sizes: Sequence[int]) -> dict[str, list[float | None]]:
    """Return the seconds of every method on blobs of eight features, by size."""
    seconds: dict[str, list[float | None]] = {name: [] for name in METHODS}
    for size in sizes:
        X, _ = make_blobs(size, n_features=8, centers=10, cluster_std=2.0, random_state=0)
        for name, column in seconds.items():
            expected = None if None in column[-2:] else _extrapolated(column)
            in_time = expected is not None and expected < PATIENCE
            column.append(run_method(name, X, 10, 0)[1] if in_time else None)
        print(size, {name: column[-1] for name, column in seconds.items()}, flush=True)
    return seconds


def _extrapolated(column: Sequence[Any]) -> float:
    """Return the seconds at the next size, if the last growth goes on."""
    if len(column) < 2:
        return 0.0
    return float(column[-1] * max(1.0, column[-1] / column[-2]))


def with_noise(n: int, seeds: Sequence[int]) -> float:
    """Return our mean ARI on the set with noise where noise is asked for."""
    scores = []
    for seed in seeds:
        X, y = _noisy_moons(n, seed)
        model = KernelSpectralClustering(noise="auto", random_state=seed)
        scores.append(agreement(y, np.asarray(model.fit_predict(X))))
    return float(np.mean(scores))


def tables(
    scores: dict[str, dict[str, list[float]]],
    seconds: dict[str, list[float | None]],
    n: int,
    sizes: Sequence[int],
) -> str:
    """Return the tables as Markdown."""
    names = list(METHODS)
    given = [GIVEN.get(name, "K") for name in names]
    lines = [
        f"Adjusted Rand index, {_mean(scores)}, {n:,} points (digits: 1,797):",
        "",
        "| | " + " | ".join(names) + " |",
        "|---|" + "---|" * len(names),
        "| told | " + " | ".join(given) + " |",
    ]
    for problem, row in scores.items():
        means = [round(float(np.mean(row[name])), 2) + 0.0 for name in names]  # no "-0.00"
        best = max(means)
        cells = [f"**{m:.2f}**" if m == best else f"{m:.2f}" for m in means]
        lines.append(f"| {problem} | " + " | ".join(cells) + " |")
    overall = [np.mean([np.mean(row[name]) for row in scores.values()]) for name in names]
    lines.append("| mean | " + " | ".join(f"{m:.2f}" for m in overall) + " |")
    lines += [
        "",
        "CPU seconds of all threads for ten Gaussians in eight features, one run each:",
        "",
    ]
    lines += ["| points | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for place, size in enumerate(sizes):
        row_cells = [_seconds(seconds[name][place]) for name in names]
        lines.append(f"| {size:,} | " + " | ".join(row_cells) + " |")
    lines += ["", f"A dash: more than {PATIENCE:.0f} s if the last growth goes on."]
    return "\n".join(lines)


def _mean(scores: dict[str, dict[str, list[float]]]) -> str:
    count = len(next(iter(next(iter(scores.values())).values())))
    return "one seed" if count == 1 else f"mean of {count} seeds"


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def draw(panels: list[Any], path: Path) -> None:
    """Draw the answers of the first seed: sets from top to bottom, methods from left to right."""
    import matplotlib
    from PIL import Image

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    problems = list(dict.fromkeys(panel[0] for panel in panels))
    names = list(METHODS)
    size = (1.75 * len(names), 1.7 * len(problems))
    figure, axes = plt.subplots(len(problems), len(names), figsize=size, layout="constrained")
    for problem, name, X, labels, ari, seconds in panels:
        ax = axes[problems.index(problem), names.index(name)]
        noise = labels < 0
        ax.scatter(*X[noise].T, s=1, color="0.75")
        ax.scatter(*X[~noise].T, s=1, c=labels[~noise] % 20, cmap="tab20", vmin=0, vmax=19)
        ax.set(xticks=[], yticks=[])
        good = ari > 0.9
        mark = {"color": "black" if good else "firebrick", "fontsize": 8}
        ax.set_title(f"{round(ari, 2) + 0.0:.2f}   {seconds:.2f} s", **mark)
        if ax in axes[:, 0]:
            ax.set_ylabel(problem, fontsize=9)
    for name, above, below in zip(names, axes[0], axes[-1], strict=True):
        heading = name.replace(", ", ",\n")
        above.annotate(heading, (0.5, 1.2), xycoords="axes fraction", ha="center", fontsize=9)
        below.set_xlabel(heading, fontsize=9)
    drawn = BytesIO()
    figure.savefig(drawn, dpi=100, format="png")
    with atomic_write(path) as file:
        Image.open(drawn).convert("RGB").quantize(64).save(file, format="png", optimize=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare, print, and write the page if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks comparison", description=__doc__)
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--docs", action="store_true", help="write docs/comparison.md")
    given = parser.parse_args(arguments)
    warm_up()
    scores, panels = quality(given.points, range(given.seeds))
    text = tables(scores, times(given.sizes), given.points, given.sizes)
    ours = with_noise(given.points, range(given.seeds))
    text += f'\n\nWith `noise="auto"`, sparseksc has {ours:.2f} on *moons and noise*.'
    print(text)
    if given.docs:
        draw(panels, DOCS / "figures" / "comparison.png")
        text = f"![The sets in two features, by seven methods](figures/comparison.png)\n\n{text}"
        fill(DOCS / "comparison.md", text)


if __name__ == "__main__":
    main()
