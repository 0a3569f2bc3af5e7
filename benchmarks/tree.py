"""What the tree of clusters adds to a fit: seconds of both, 50 clusters in 10⁶ points.

python -m benchmarks tree [--points N] [--clusters K]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from time import perf_counter

import numpy as np
from sklearn.datasets import make_blobs

from sparseksc import KernelSpectralClustering
from sparseksc.core import training

ROUNDS = 3


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks tree")
    parser.add_argument("--points", type=int, default=10**6)
    parser.add_argument("--clusters", type=int, default=50)
    given = parser.parse_args(arguments)
    X, _ = make_blobs(given.points, centers=given.clusters, center_box=(-40, 40), random_state=0)
    print("| kernel | fit, seconds | of these the tree | share |\n|---|---|---|---|")
    for name, settings in {"rbf": {"bandwidth": 4.0}, "landmarks": {"kernel": "landmarks"}}.items():
        model = KernelSpectralClustering(given.clusters, random_state=0, **settings)
        rounds = np.array([_measured(model, X) for _ in range(ROUNDS)])
        whole, tree = np.median(rounds, axis=0)
        print(f"| {name} | {whole:.2f} | {tree:.3f} | {tree / whole:.1%} |", flush=True)
    return 0


def _measured(model: KernelSpectralClustering, X: np.ndarray) -> tuple[float, float]:
    """Seconds of a fit, and of the steps in it that make the tree."""
    spent, steps = [0.0], {name: getattr(training, name) for name in ("similarities", "merge_tree")}

    def timed(step):  # type: ignore[no-untyped-def]
        def run(*given):  # type: ignore[no-untyped-def]
            started = perf_counter()
            result = step(*given)
            spent[0] += perf_counter() - started
            return result

        return run

    try:
        for name, step in steps.items():
            setattr(training, name, timed(step))
        started = perf_counter()
        model.fit(X)
        return perf_counter() - started, spent[0]
    finally:
        for name, step in steps.items():
            setattr(training, name, step)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
