"""Accuracy with labels of some rows, beside scikit-learn's LabelSpreading.

    python -m benchmarks some_labels [--data FOLDER] [--mnist]

Mean and least accuracy on the rows without labels over five draws of them, and seconds of one fit.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.semi_supervised import LabelSpreading

from sparseksc import KernelSpectralClustering

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "large"
DRAWS = 5


def drawn(y: Any, per_class: int, seed: int) -> Any:
    """Labels of so many rows of each class, -1 for the others."""
    rng = np.random.default_rng(seed)
    known = np.full(len(y), -1)
    for name in np.unique(y):
        rows = rng.choice(np.flatnonzero(y == name), per_class, replace=False)
        known[rows] = name
    return known


def problems(folder: Path, mnist: bool) -> list[tuple[str, Any, Any, int]]:
    """Name, rows, classes and labels for each class."""
    found = [("digits", *load_digits(return_X_y=True), 5)]
    files = [("pendigits", 3), ("pendigits", 10)] + [("mnist", 10)] * mnist
    for name, per_class in files:
        path = folder / f"{name}.npz"
        if not path.exists():
            print(f"{name}: not there, left out", file=sys.stderr)
            continue
        with np.load(path) as data:
            kind = np.float32 if name == "mnist" else np.float64
            found.append((name, data["X"].astype(kind), data["y"].astype(int), per_class))
    return found


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks some_labels")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--mnist", action="store_true", help="70,000 images; takes minutes")
    given = parser.parse_args(arguments)
    print("| data | labels per class | ours: mean, least | seconds | LabelSpreading | seconds |")
    print("|---|---|---|---|---|---|")
    for name, X, y, per_class in problems(given.data, given.mnist):
        known = [drawn(y, per_class, seed) for seed in range(DRAWS)]
        ours = [_ours(X, y, one) for one in known]
        # One draw of MNIST is enough to see what it takes.
        theirs = [_spreading(X, y, one) for one in known[: 1 if name == "mnist" else DRAWS]]
        accuracy, seconds = np.array(ours).T
        others, other_seconds = np.array(theirs).T
        print(
            f"| {name} | {per_class} | {accuracy.mean():.3f}, {accuracy.min():.3f} | "
            f"{seconds.mean():.2f} | {others.mean():.3f} | {other_seconds.mean():.2f} |",
            flush=True,
        )
    return 0


def _ours(X: Any, y: Any, known: Any) -> tuple[float, float]:
    model = KernelSpectralClustering(len(np.unique(y)), kernel="landmarks", random_state=0)
    started = perf_counter()
    labels = model.fit(X, known).labels_
    seconds = perf_counter() - started
    return float(np.mean((labels == y)[known < 0])), seconds


def _spreading(X: Any, y: Any, known: Any) -> tuple[float, float]:
    started = perf_counter()
    labels = LabelSpreading(kernel="knn", n_neighbors=7).fit(X, known).transduction_
    seconds = perf_counter() - started
    return float(np.mean((labels == y)[known < 0])), seconds


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
