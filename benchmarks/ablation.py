"""What each part of the automatic choice at one kernel is worth, over the sets of the battery.

    python -m benchmarks.ablation [--data FOLDER] [--only NAME ...] [--seed N]

Each set is searched once with the number of clusters known and once with nothing known. Every rule
then chooses from the same surfaces, and its choice is fitted and compared with the labels.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.battery import DATA, Problem, load
from benchmarks.report import Table, as_text
from sparseksc import KernelSpectralClustering, tune
from sparseksc.kernels import make_kernel
from sparseksc.search.graph import neighbour_graph
from sparseksc.search.ranking import RankedModel, Surfaces, rank_by_criterion, rank_by_separation
from sparseksc.search.result import TuningResult
from sparseksc.search.separation import count_separated

#: How many clusters of a model are separate, from their number and the bandwidth.
Separate = Callable[[int, float], float]
#: From a search, the numbers of clusters that are allowed, and how many are separate in each model
#: to the best choice, if there is one.
Rule = Callable[[TuningResult, list[int], Separate], RankedModel | None]


def separation(
    any_size: bool = False, ratio_only: bool = False, **changes: Callable[[Surfaces], Any]
) -> Rule:
    """Return the rule "auto", with some of the surfaces replaced, or without the separation."""

    def choose(found: TuningResult, allowed: list[int], separate: Separate) -> RankedModel | None:
        changed = {name: change(found.surfaces) for name, change in changes.items()}
        surfaces = replace(found.surfaces, values=found.surfaces.values | changed)

        def at(row: int, column: int) -> float:
            if ratio_only:
                return 0.0
            return separate(surfaces.n_clusters[column], surfaces.bandwidths[row])

        ranking = rank_by_separation(surfaces, allowed, at, any_size=any_size)
        return ranking[0] if ranking else None

    return choose


def criterion(name: str) -> Rule:
    """Return the largest value of a criterion of the literature."""

    def choose(found: TuningResult, allowed: list[int], separate: Separate) -> RankedModel | None:
        ranking = rank_by_criterion(found.surfaces, name, allowed)
        return ranking[0] if ranking else None

    return choose


def eigengap(found: TuningResult, allowed: list[int], separate: Separate) -> RankedModel | None:
    """Return the largest gap after the eigenvalue of the last cluster, over all bandwidths."""
    surfaces, values = found.surfaces, np.nan_to_num(found.eigenvalues)
    columns = [place for place, K in enumerate(surfaces.n_clusters) if K in allowed]
    places = np.array([surfaces.n_clusters[column] for column in columns])
    gaps = values[:, places - 2] - values[:, places - 1]
    available = np.isfinite(surfaces["ams"][:, columns])
    if not available.any():
        return None
    row, column = np.unravel_index(np.argmax(np.where(available, gaps, -1.0)), gaps.shape)
    return surfaces.model(int(row), columns[column], float(gaps[row, column]))


RULES: dict[str, Rule] = {
    "auto": separation(),
    "number of clusters by the ratio of conductances only": separation(ratio_only=True),
    "lowest cut, whatever the memberships": separation(strength=lambda s: np.ones_like(s["cut"])),
    "one-sided neighbours only": separation(cut=lambda s: s["conductance"] + s.resolution),
    "clusters of any size and cohesion": separation(any_size=True),
    "AMS": criterion("ams"),
    "BLF": criterion("blf"),
    "BAS (K > 2)": criterion("bas"),
    "eigengap": eigengap,
}


def evaluate(problem: Problem, seed: int) -> dict[str, tuple[float, float, bool]]:
    """Return, for each rule: ARI with K known, ARI with nothing known, whether K was right."""

    graph = neighbour_graph(make_kernel("rbf"), problem.X, np.ones(len(problem.X)))

    @cache
    def labels(K: int, bandwidth: float) -> NDArray[np.intp]:
        ksc = KernelSpectralClustering(K, kernel="rbf", bandwidth=bandwidth, random_state=seed)
        return ksc.fit(problem.X).labels_

    @cache
    def separate(K: int, bandwidth: float) -> float:
        return count_separated(graph, labels(K, bandwidth)[graph.rows])

    @cache
    def ari(K: int, bandwidth: float) -> float:
        return problem.ari(labels(K, bandwidth))

    def value(choice: RankedModel | None) -> float:
        return 0.0 if choice is None else ari(choice.n_clusters, choice.bandwidth)

    numbers = problem.cluster_numbers
    quiet = {"kernel": "rbf", "random_state": seed, "progress": False}
    known = {K: tune(problem.X, n_clusters=[K], **quiet) for K in numbers}
    # One number more than the default has: the largest needs something to be compared with.
    unknown = tune(problem.X, n_clusters="auto", **quiet)
    allowed = [K for K in unknown.surfaces.n_clusters if K <= 10]
    results = {}
    for name, rule in RULES.items():
        choice = rule(unknown, allowed, separate)
        results[name] = (
            max(value(rule(known[K], [K], separate)) for K in numbers),
            value(choice),
            choice is not None and choice.n_clusters in numbers,
        )
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablation", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the sets")
    parser.add_argument("--only", nargs="*", default=None, help="names of sets")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    problems = [p for p in load(given.data) if given.only is None or p.name in given.only]
    if not problems:
        parser.error(f"there are no such sets in {given.data}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = [evaluate(problem, given.seed) for problem in problems]
    rows = []
    for name in RULES:
        known, unknown, right = np.array([result[name] for result in results]).T
        rows.append((name, float(known.mean()), float(unknown.mean()), int(right.sum())))
    title = f"Mean ARI over {len(problems)} sets, seed {given.seed}"
    print(as_text(Table(title, ("rule", "K known", "nothing known", "right K"), rows)))


if __name__ == "__main__":
    main()
