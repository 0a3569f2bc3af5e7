"""What each part of the quality is worth where kernels compete, over the sets of the battery.

    python -m benchmarks.quality_parts [--suites NAME ...] [--only NAME ...] [--seeds N ...]
        [--draw N]

The models of each set are fitted and compared once, with the number of clusters known and with
nothing known. Every variant of the quality then selects among the same clusterings, as they label
the compared rows. The means over the seeds are also given for every other set, from the first and
from the second.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.labelled_sets import SUITES, Problem
from benchmarks.report import Table, as_text
from sparseksc import KernelSpectralClustering
from sparseksc.config.settings import Settings
from sparseksc.core.clusters.agreement import agreements
from sparseksc.data.sampling import Sample
from sparseksc.execution.blas import single_threaded_blas
from sparseksc.search.competition import enter, without_repetitions
from sparseksc.search.constants import (
    AGREEING,
    AGREEMENT,
    CLOUD,
    CLOUD_CLUSTERS,
    FINER,
    GRAPH_SIZE,
    LEAST_ROWS,
    MIN_CLUSTER_SHARE,
    TRAINING_SIZE,
)
from sparseksc.search.quality import Graphs, joined, limited

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Candidate:
    """One clustering: what the quality is made of, and what it is worth."""

    n_clusters: int
    ratios: tuple[Floats, ...]
    sizes: Floats
    agreement: float
    smallest_share: float
    ari: float
    number_is_given: bool

    @property
    def used(self) -> Sequence[int]:
        """Places of the graphs that count: the mutual one alone where the number is given."""
        return (0,) if self.number_is_given else (0, 1)

    def separation(self, graphs: Sequence[int] | None = None) -> float:
        return max(joined(self.ratios[graph], self.sizes) for graph in graphs or self.used)

    def firm(self, graphs: Sequence[int] | None = None) -> float:
        return max(joined(limited(self.ratios[graph]), self.sizes) for graph in graphs or self.used)

    @property
    def agreed(self) -> float:
        return AGREEMENT * self.agreement

    @property
    def finer(self) -> float:
        return FINER * float(np.log(self.n_clusters))


Quality = Callable[[Candidate], float]

#: The quality first, then what is left of it without one of its parts.
VARIANTS: dict[str, Quality] = {
    "the quality": lambda one: one.firm() + one.agreed + one.finer,
    "without agreement": lambda one: one.firm() + one.finer,
    "twice the agreement": lambda one: one.firm() + 2.0 * one.agreed + one.finer,
    "half of log K": lambda one: one.firm() + one.agreed + one.finer / 2.0,
    "without log K": lambda one: one.firm() + one.agreed,
    "without a limit": lambda one: one.separation() + one.agreed + one.finer,
    "mutual graph only": lambda one: one.firm([0]) + one.agreed + one.finer,
    "better graph": lambda one: one.firm((0, 1)) + one.agreed + one.finer,
    "landmark graph only": lambda one: one.firm([1]) + one.agreed + one.finer,
    "separation only": lambda one: one.separation(),
    "agreement only": lambda one: one.agreement,
    "best candidate": lambda one: one.ari,
}


def candidates(problem: Problem, n_clusters: list[int] | None, seed: int) -> list[Candidate]:
    """Fit and compare all models of a set, with all of its rows."""
    X = problem.X
    ksc = KernelSpectralClustering(n_clusters or "auto", random_state=seed, n_jobs=1)
    settings = Settings(ksc.get_params())
    sample = Sample(np.arange(len(X)), X, np.ones(len(X)))
    bandwidths = settings.bandwidths(X, sample.weights, sample.rows)
    recipes = settings.models(bandwidths, X.shape[1])
    found = []
    with single_threaded_blas():
        training = sample.drawn(TRAINING_SIZE, seed)
        compared = training.first(GRAPH_SIZE, seed)
        graphs = Graphs.of(compared, replace(recipes[0], n_jobs=1))
        models = without_repetitions(recipes, training)
        entries = [enter(one, training, compared, n_clusters) for one in models]
        for K in sorted({K for entry in entries for K in entry.labels}):
            labels = [entry.labels[K] for entry in entries if K in entry.labels]
            agreed = agreements(labels, K, graphs.weights, AGREEING)
            unique = {one.tobytes(): (one, a) for one, a in zip(labels, agreed, strict=True)}
            found += [(K, one, agreement) for one, agreement in unique.values()]
        return [
            Candidate(
                K,
                tuple(graph(labels, K) for graph in graphs.graphs),
                np.bincount(labels, graphs.weights, K),
                float(agreement),
                graphs.smallest(labels, K) / len(graphs.distinct),
                replace(problem, answers=[y[compared.rows] for y in problem.answers]).ari(labels),
                n_clusters is not None and len(n_clusters) == 1,
            )
            for K, labels, agreement in found
            if graphs.smallest(labels, K) >= LEAST_ROWS
        ]


def selected(found: Sequence[Candidate], quality: Quality, known: bool) -> tuple[int, float]:
    """Return number of clusters and ARI of the best candidate; one cluster is a cloud."""
    large = [one for one in found if one.smallest_share >= MIN_CLUSTER_SHARE] or found
    best = max(large, key=quality)
    if not known and best.n_clusters <= CLOUD_CLUSTERS and best.separation() < CLOUD:
        return 1, 0.0
    return best.n_clusters, best.ari


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality_parts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--suites", nargs="+", choices=SUITES, default=list(SUITES)[:2], help="suites of sets"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some of the sets")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--draw", type=int, default=0, help="number of the sets that are drawn")
    given = parser.parse_args(arguments)
    for suite in given.suites:
        problems = [
            one for one in SUITES[suite](given.draw) if not given.only or one.name in given.only
        ]
        if not problems:
            parser.error(f"no sets in {suite}; battery and battery-more need ../shared/data")
        rows = np.mean([measure(problems, seed) for seed in given.seeds], axis=0)
        title = f"{suite}, {len(problems)} sets, seeds {' '.join(map(str, given.seeds))}"
        columns = ("quality", "nothing known", "odd sets", "even sets", "right K", "K known")
        cells = [
            (name, *(f"{value:.3f}" for value in row[:3]), f"{row[3]:.1f}", f"{row[4]:.3f}")
            for name, row in zip(VARIANTS, rows, strict=True)
        ]
        print(as_text(Table(title, columns, cells)), flush=True)


def measure(problems: Sequence[Problem], seed: int) -> list[tuple[float, ...]]:
    """Return, for each quality, the mean ARI, also of every other set, hits of K, and K known."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unknown = [candidates(one, None, seed) for one in problems]
        known = [candidates(one, one.cluster_numbers, seed) for one in problems]
    rows = []
    for name, quality in VARIANTS.items():
        any_number = name == "best candidate"  # no cluster is none of the candidates
        answers = [selected(found, quality, any_number) for found in unknown]
        aris = [ari for _, ari in answers]
        right = sum(
            K in problem.cluster_numbers for (K, _), problem in zip(answers, problems, strict=True)
        )
        with_K = np.mean([selected(found, quality, True)[1] for found in known])
        halves = (np.mean(part) if part else np.nan for part in (aris[::2], aris[1::2]))
        rows.append((float(np.mean(aris)), *map(float, halves), float(right), float(with_K)))
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
