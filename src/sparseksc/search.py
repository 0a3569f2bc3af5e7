"""Search over the number of clusters and the bandwidth.

Models are trained on one sample of the data and judged on another (:mod:`sparseksc.judging`), so
that the cost does not grow with the data. :mod:`sparseksc.choice` says which of them is best.
Where nothing stands out, and narrow bandwidths need more pivots than they had, a closer look at
them follows: with more pivots, and with larger samples.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseksc.bandwidths import halfway
from sparseksc.choice import (
    CLEAR_RISE,
    LEAST_SHARE,
    Choice,
    Surfaces,
    rank_by_criterion,
    rank_by_separation,
)
from sparseksc.criteria import Objective
from sparseksc.crossings import separate_clusters
from sparseksc.engines.blas import single_threaded_blas
from sparseksc.engines.threads import ordered_map
from sparseksc.judging import SURFACES, Judged, judge_with
from sparseksc.kernels import Array
from sparseksc.progress import progress_bar
from sparseksc.samples import GRAPH_SIZE, TRAINING_SIZE, VALIDATION_SIZE, Samples, draw_samples
from sparseksc.sources import Sample
from sparseksc.training import Recipe
from sparseksc.tuning import DoubtWarning, TuningResult

Floats = NDArray[np.float64]

#: Points to train on above which bandwidths are worth a thread each.
WORTH_THREADS = 1_000
#: Copies of each row that make it a cluster, where there are hardly any different rows.
COPIES = 10
#: The bandwidths around this many of the best choices are refined, in turn.
REFINED_CHOICES = (3, 2)
#: Below the first share of the conductance that a normal cloud has, a cut separates something;
#: above the second, nothing.
CLOUD_SHARE, SAME_AS_CLOUD = 0.6, 0.8
#: Rise of the conductance beyond which no comparison with a cloud is needed, nor with a long shape.
BEYOND_DOUBT = 2.5
#: Share of the clusters below which those that are separate are too few: a long shape can be cut
#: cheaply anywhere.
MOST_SEPARATE = 2.0 / 3.0
#: Below this number of separate clusters there are none.
NONE_SEPARATE = 0.5
#: A closer look takes four times as many points as the first, or all if they are at least twice
#: as many, in up to three dimensions: in more, narrow kernels see hardly any neighbours.
CLOSER_TIMES, LEAST_TIMES, CLOSER_FEATURES = 4, 2, 3
#: It has so many bandwidths, up to the last one at which the pivots of the first look left out
#: more than this share of the kernel matrix: five times as many may represent that.
CLOSER_BANDWIDTHS, LEFT_OUT = 4, 0.8
#: Of bandwidths that are nearly as firm as the firmest one, a closer look takes the widest, which
#: the pivots represent best.
AS_FIRM = 0.8


class Found(NamedTuple):
    """What a search found, and how to train the model that it chose.

    Attributes
    ----------
    result : TuningResult
    recipe : Recipe
    selection : Sample or None
        Rows that its pivots were looked for in; None where others are to be used.
    """

    result: TuningResult
    recipe: Recipe
    selection: Sample | None


@dataclass(frozen=True)
class Question:
    """What a search is asked; see :func:`search`."""

    n_clusters: list[int]
    rule: str
    objective: Objective
    single_allowed: bool
    refine: bool
    progress: bool

    @property
    def columns(self) -> list[int]:
        """Numbers of clusters to fit: the rule "auto" compares each with the next."""
        if len(self.n_clusters) == 1:
            return self.n_clusters
        return sorted({*self.n_clusters, *(K + 1 for K in self.n_clusters if self.rule == "auto")})


class Look:
    """Models that are fitted and judged on the same samples, and their ranking.

    Attributes
    ----------
    judged : dict of bandwidth to Judged
    ranking : list of Choice
        The best model for each number of clusters, best first.
    """

    def __init__(
        self,
        question: Question,
        samples: Samples,
        recipe: Recipe,
        as_firm: float | None = None,
    ) -> None:
        self.question, self.samples, self.recipe = question, samples, recipe
        self._as_firm = as_firm
        self.judged: dict[Any, Judged] = {}
        self.ranking: list[Choice] = []
        self._judge = judge_with(samples, question.columns, recipe, question.objective)
        self._separate = cache(self._count_separate)  # only the best are worth the time

    def at(self, bandwidths: list[Any]) -> None:
        """Judge more bandwidths, and rank the models of all so far."""
        new = [h for h in dict.fromkeys(bandwidths) if h not in self.judged]
        # Small arrays keep the interpreter busy, and threads would only wait for each other.
        n_jobs = self.recipe.n_jobs if self.samples.training.shape[0] > WORTH_THREADS else 1
        found = _in_threads(self._judge, new, n_jobs, self.question.progress)
        self.judged.update(zip(new, found, strict=True))
        self.ranking = self._ranked()

    def surfaces(self, before: dict[Any, Judged] | None = None) -> Surfaces:
        """Values of all models so far, and of those ``before`` at other bandwidths."""
        judged = {**(before or {}), **self.judged}
        order = sorted(judged) if self.question.refine else list(judged)
        values = {name: np.array([judged[h].values[name] for h in order]) for name in SURFACES}
        separation = self.samples.separation
        resolution = separation.graph.resolution if separation is not None else 0.0
        return Surfaces(order, self.question.columns, values, resolution)

    def _ranked(self) -> list[Choice]:
        surfaces, allowed = self.surfaces(), self.question.n_clusters
        if self.question.rule != "auto":
            return rank_by_criterion(surfaces, self.question.rule, allowed)

        def separate(row: int, column: int) -> float:
            return self._separate(surfaces.n_clusters[column], surfaces.bandwidths[row])

        ranking = rank_by_separation(surfaces, allowed, separate, as_firm=self._as_firm)
        if ranking or self.question.single_allowed:
            return ranking
        # All models have a cluster of outliers, and the user insists on clusters: so be it.
        return rank_by_separation(surfaces, allowed, separate, any_size=True)

    def _count_separate(self, n_clusters: int, bandwidth: Any) -> float:
        """Count the clusters of a model that are easier to leave than to cross."""
        if self.samples.separation is None:
            return 0.0
        labels = self.judged[bandwidth].labels[n_clusters]
        return separate_clusters(self.samples.separation.graph, labels)

    def doubts(self) -> tuple[bool, str | None]:
        """Whether the data is rather a single cluster, and a sentence of doubt."""
        if not self.ranking:
            return True, "No bandwidth shows two clusters that are more than a few points."
        if self.question.rule != "auto" or len(self.question.n_clusters) < 2:
            return False, None
        best, coarsest = self.ranking[0], min(self.ranking, key=lambda choice: choice.n_clusters)
        found = self._separate(best.n_clusters, best.bandwidth)
        rise = max(choice.rise for choice in self.ranking)
        unclear = rise < CLEAR_RISE and found < best.n_clusters / 2
        # A single cloud is best cut into as few parts as possible, none of them separate.
        parts = best is coarsest and found < NONE_SEPARATE
        separation = self.samples.separation
        if separation is not None and (parts or best.rise < BEYOND_DOUBT):
            cut, cloud = coarsest.conductance, separation.cloud or np.inf
            parts = parts and cut > SAME_AS_CLOUD * cloud
            if parts or (best.rise < BEYOND_DOUBT and cut > CLOUD_SHARE * cloud):
                return unclear or parts, (
                    f"The best cut through the data crosses {cut:.1%} of the edges between nearest "
                    f"neighbours, and a cut through a single normal cloud {cloud:.1%}: the data "
                    "may well be one cluster."
                )
        if unclear:
            return False, (
                f"No number of clusters stands out: {best.n_clusters} clusters are hardly better "
                "separated than any other number of them."
            )
        if best.rise < BEYOND_DOUBT and found < MOST_SEPARATE * best.n_clusters:
            return False, (
                f"The {best.n_clusters} clusters are hardly easier to leave than to cross: they "
                "may be parts of a longer shape."
            )
        return False, None

    def selection(self, sample: Sample) -> Sample | None:
        """Rows to look for the pivots of the final model in: the same, if they will do.

        It is the model that was judged then. Precomputed and sparse data have other rows here,
        and the user may ask for more rows than were looked at.
        """
        size, same = self.recipe.selection_size, isinstance(sample.X, np.ndarray)
        if not same or self.recipe.kernel.name == "precomputed":
            return None
        looked_at = self.samples.training.shape[0]
        all_but_lonely = looked_at + self.samples.n_lonely == np.count_nonzero(sample.weights)
        if all_but_lonely or (size is not None and size <= looked_at):
            return self.samples.sample
        return None

    @property
    def settled(self) -> bool:
        """Whether at least half of the clusters of the best model are separate."""
        if not self.ranking:
            return False
        best = self.ranking[0]
        return self._separate(best.n_clusters, best.bandwidth) >= best.n_clusters / 2


def search(
    sample: Sample,
    n_clusters: list[int],
    bandwidths: list[Any],
    recipe: Recipe,
    objective: Objective,
    *,
    closer: Recipe | None = None,
    rule: str = "auto",
    single_allowed: bool = False,
    refine: bool = False,
    validation: int | Array | None = None,
    progress: bool = False,
) -> Found:
    """Fit every combination on a sample and rank them.

    Parameters
    ----------
    sample : Sample
        The rows, or enough of them.
    n_clusters : list of int
        Candidates, ascending.
    bandwidths : list
        Candidates; [None] for kernels without a bandwidth.
    recipe : Recipe
    objective : Objective
        Balance and outlier threshold of the criteria.
    closer : Recipe, optional
        How to train for a closer look, which ``refine`` and the rule "auto" allow; None where
        there is not enough memory for one.
    rule : {"auto", "ams", "blf", "bas"}
    single_allowed : bool
        Whether one cluster may be the answer of "auto".
    refine : bool
        Whether to look at bandwidths between the best ones and their neighbours.
    validation, progress
        As in :func:`tune`.
    """
    if n_clusters == [1]:
        # Nothing to compare: the widest bandwidth reaches all points.
        bandwidths, refine = bandwidths[-1:], False
    elif refine and len(n_clusters) == 1:
        # A single number of clusters leaves time for twice as many bandwidths.
        between = [halfway(low, high) for low, high in pairwise(bandwidths)]
        bandwidths = sorted([*bandwidths, *between])
    question = Question(n_clusters, rule, objective, single_allowed, refine, progress)
    graph = rule == "auto"
    size = validation if validation is not None else GRAPH_SIZE if graph else VALIDATION_SIZE
    with single_threaded_blas():
        samples = draw_samples(sample, recipe, size, with_graph=graph)
        look = Look(question, samples, recipe)
        look.at(bandwidths)
        before: dict[Any, Judged] = {}
        finer = None
        if refine and graph and validation is None:
            finer = _closer_look(look, sample, closer)
        if finer is not None:
            # At narrow bandwidths the first look had too few pivots to count.
            before = {h: judged for h, judged in look.judged.items() if judged.residual <= LEFT_OUT}
            look = finer
        else:
            for count in REFINED_CHOICES if refine else ():
                look.at(_between(look.ranking[:count], look.surfaces().bandwidths))
        one, doubt = look.doubts() if n_clusters != [1] else (True, None)
        few = _look_at_few_rows(look, bandwidths) if one and n_clusters != [1] else None
        if few is not None:
            look, one, before = few, False, {}
            doubt = (
                f"The data has only {few.samples.n_different} different rows: each is a cluster."
            )
    surfaces, judged = look.surfaces(before), {**before, **look.judged}
    ranking = look.ranking if n_clusters != [1] else []
    if not ranking and not single_allowed and n_clusters != [1]:
        raise ValueError(
            f"None of the {surfaces['ams'].size} models tried has as many clusters as asked "
            "for: widen the range of bandwidths or of cluster numbers."
        )
    if doubt:
        warnings.warn(doubt, DoubtWarning, stacklevel=4)
    best_K, best_h = 1, surfaces.bandwidths[-1]
    if ranking and not (one and single_allowed):
        best_K, best_h = ranking[0].n_clusters, ranking[0].bandwidth
    eigenvalues = np.array([judged[h].eigenvalues for h in surfaces.bandwidths])
    rank = look.recipe.max_rank
    result = TuningResult(best_K, best_h, rule, ranking, surfaces, eigenvalues, doubt, rank)
    return Found(result, look.recipe.with_bandwidth(best_h), look.selection(sample))


def _look_at_few_rows(first: Look, bandwidths: list[Any]) -> Look | None:
    """Take each of a few rows, all of them there often, for a cluster; None where that fails."""
    samples, question = first.samples, first.question
    K = samples.n_different
    if K not in question.n_clusters or samples.validation_weights.sum() < COPIES * K:
        return None
    look = Look(replace(question, n_clusters=[K], single_allowed=False), samples, first.recipe)
    look.at(bandwidths)
    if not look.ranking:
        return None
    surfaces = look.surfaces()
    place = surfaces.bandwidths.index(look.ranking[0].bandwidth), surfaces.n_clusters.index(K)
    return look if surfaces["smallest"][place] >= LEAST_SHARE else None


def _closer_look(first: Look, sample: Sample, recipe: Recipe | None) -> Look | None:
    """Look again with more points and pivots at narrow bandwidths; None if that settles nothing."""
    separation, n = first.samples.separation, np.count_nonzero(sample.weights)
    if separation is None or separation.points is None or first.recipe.two_bandwidths:
        return None
    if n < LEAST_TIMES * (TRAINING_SIZE + GRAPH_SIZE) or sample.X.shape[1] > CLOSER_FEATURES:
        return None
    narrow = [h for h, judged in first.judged.items() if judged.residual > LEFT_OUT]
    if not narrow or first.settled:
        return None
    if recipe is None:
        warnings.warn(
            "No cluster is separate, and a closer look would need more memory than there is: see "
            "memory_limit.",
            DoubtWarning,
            stacklevel=5,
        )
        return None
    times = min(CLOSER_TIMES, n / (TRAINING_SIZE + GRAPH_SIZE))
    samples = draw_samples(
        sample,
        recipe,
        int(times * GRAPH_SIZE),
        with_graph=True,
        training_size=int(times * TRAINING_SIZE),
    )
    look = Look(first.question, samples, recipe, AS_FIRM)
    if len(narrow) > CLOSER_BANDWIDTHS:
        narrow = [float(h) for h in np.geomspace(min(narrow), max(narrow), CLOSER_BANDWIDTHS)]
    look.at(sorted(narrow, reverse=True))  # the widest take longest
    return look if look.settled else None


def _between(choices: list[Choice], bandwidths: list[float]) -> list[float]:
    """Bandwidths halfway between the chosen ones and their neighbours."""
    new = []
    for choice in choices:
        place = bandwidths.index(choice.bandwidth)
        for neighbour in bandwidths[max(place - 1, 0) : place + 2]:
            if neighbour != choice.bandwidth:
                new.append(halfway(neighbour, choice.bandwidth))
    return list(dict.fromkeys(new))


def _in_threads(
    work: Callable[[Any], Judged], items: Sequence[Any], n_jobs: int | None, progress: bool
) -> list[Judged]:
    """Work on all items, with a progress bar if that is wanted and takes long."""
    bar = progress_bar(len(items), "bandwidths", "bandwidth", shown=progress)
    results = []
    for result in ordered_map(work, items, n_jobs):
        results.append(result)
        bar.update()
    bar.close()
    return results
