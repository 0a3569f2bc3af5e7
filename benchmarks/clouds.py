"""One cluster or two: what the search says of single clouds and shapes, and of pairs of Gaussians.

    python -m benchmarks.clouds [--points N ...] [--seed N] [--small DRAWS]

With nothing known. The separation is that of the best clustering, also where the answer is one
cluster; a warning says that the data may be one. ``--small`` prints instead which share of draws
of few points is divided without a warning, of Gaussian and uniform clouds, and which share of
``make_moons`` is found to be two clusters.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_moons, make_swiss_roll

from benchmarks.report import Cell, Table, as_text
from sparseksc import KernelSpectralClustering
from sparseksc.tuning import DoubtWarning

Points = NDArray[np.float64]
Maker = Callable[[np.random.Generator, int], Points]


def _along(curve: Callable[[Points], Points], width: float) -> Maker:
    """Points along a curve, which is given from 0 to 1, with Gaussian noise."""

    def make(rng: np.random.Generator, n: int) -> Points:
        return curve(rng.uniform(size=n)) + rng.normal(scale=width, size=(n, 2))

    return make


def _ring(t: Points) -> Points:
    return np.column_stack([np.cos(2.0 * np.pi * t), np.sin(2.0 * np.pi * t)])


def _spiral(t: Points) -> Points:
    return (0.1 + t)[:, None] * np.column_stack([np.cos(9.0 * t), np.sin(9.0 * t)])


def _swiss_roll(rng: np.random.Generator, n: int) -> Points:
    return np.asarray(make_swiss_roll(n, noise=0.2, random_state=int(rng.integers(2**31)))[0])


def _pair(d: int, distance: float) -> Maker:
    """Two Gaussians so many standard deviations apart."""

    def make(rng: np.random.Generator, n: int) -> Points:
        X = rng.normal(size=(n, d))
        X[::2, 0] += distance
        return X

    return make


SINGLE: dict[str, Maker] = {
    "Gaussian, 2 features": lambda rng, n: rng.normal(size=(n, 2)),
    "Gaussian, 10 features": lambda rng, n: rng.normal(size=(n, 10)),
    "Gaussian, 50 features": lambda rng, n: rng.normal(size=(n, 50)),
    "uniform square": lambda rng, n: rng.uniform(size=(n, 2)),
    "uniform cube": lambda rng, n: rng.uniform(size=(n, 3)),
    "Student-t, 3 degrees of freedom": lambda rng, n: rng.standard_t(3, size=(n, 2)),
    "strip 10 : 1": lambda rng, n: rng.uniform(size=(n, 2)) * [10.0, 1.0],
    "ring": _along(_ring, 0.05),
    "spiral": _along(_spiral, 0.02),
    "swiss roll": _swiss_roll,
}
PAIRS: dict[str, Maker] = {
    f"pair {distance:g} apart, {d} features": _pair(d, distance)
    for d, distance in ((2, 3.0), (2, 4.0), (10, 4.0), (32, 6.0), (128, 6.0))
}


def look(name: str, n: int, seed: int) -> list[Cell]:
    """Return what the search finds in one set."""
    X = (SINGLE | PAIRS)[name](np.random.default_rng(seed), n)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = KernelSpectralClustering(random_state=seed).fit(X)
    doubts = any(issubclass(warning.category, DoubtWarning) for warning in caught)
    best = model.tuning_.ranking[0]
    separation = float(np.log(best.conductance_ratio))
    right = "yes" if (model.n_clusters_ == 1 or doubts) == (name in SINGLE) else "no"
    return [name, n, model.n_clusters_, best.n_clusters, separation, doubts, right]


#: Points of clouds and of moons that are few.
FEW, FEW_OF_MOONS = (10, 20, 30, 50, 100, 200), (100, 300, 1000, 3000)


def _answer(X: Points) -> tuple[int, bool]:
    """Return the number of clusters, and whether there is a doubt about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = KernelSpectralClustering(random_state=0).fit(X)
    return model.n_clusters_, any(issubclass(one.category, DoubtWarning) for one in caught)


def small_clouds(draws: int) -> Table:
    """Share of small clouds that are divided without a warning."""
    rows = []
    for d in (1, 2, 3, 5):
        row: list[Cell] = [d]
        for n in FEW:
            rngs = [np.random.default_rng([seed, d, n]) for seed in range(draws)]
            answers = [
                _answer((rng.normal if seed % 2 else rng.uniform)(size=(n, d)))
                for seed, rng in enumerate(rngs)
            ]
            row.append(round(float(np.mean([K > 1 and not doubt for K, doubt in answers])), 2))
        rows.append(row)
    return Table("clouds divided without a warning", ("features", *map(str, FEW)), rows)


def small_moons(draws: int) -> Table:
    """Share of moons that are found to be two clusters."""
    rows = []
    for noise in (0.05, 0.08):
        row: list[Cell] = [noise]
        for n in FEW_OF_MOONS:
            sets = [make_moons(n, noise=noise, random_state=seed)[0] for seed in range(draws)]
            row.append(round(float(np.mean([_answer(X)[0] == 2 for X in sets])), 2))
        rows.append(row)
    return Table("make_moons that are two clusters", ("noise", *map(str, FEW_OF_MOONS)), rows)


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.clouds",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--points", type=int, nargs="+", default=[400, 3000])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--small", type=int, metavar="DRAWS", help="few points, so many draws")
    given = parser.parse_args(arguments)
    if given.small:
        print(as_text(small_clouds(given.small)))
        print(as_text(small_moons(given.small)))
        return
    columns = ("data", "points", "answer", "best division", "separation", "warning", "as meant")
    rows = [look(name, n, given.seed) for name in SINGLE | PAIRS for n in given.points]
    print(as_text(Table(f"seed {given.seed}", columns, rows)))


if __name__ == "__main__":
    main(sys.argv[1:])
