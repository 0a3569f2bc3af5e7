"""Search over the number of clusters and the bandwidth.

Models are trained on one sample of the data and evaluated on another
(:mod:`sparseksc.search.evaluation`), so that the cost does not grow with the data.
:mod:`sparseksc.search.ranking` selects the best of them. Where no number of clusters stands out,
and narrow bandwidths need more pivots than they had, a refinement at a higher rank follows: narrow
bandwidths with more pivots, and with larger samples. Where many pivots are asked for, all
bandwidths are compared with fewer of them first.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sparseksc._typing import Array
from sparseksc.core.criteria import Objective
from sparseksc.core.recipe import Recipe
from sparseksc.data.sampling import Sample
from sparseksc.execution.blas import single_threaded_blas
from sparseksc.execution.memory import release_memory
from sparseksc.execution.notices import warn
from sparseksc.kernels import RBF
from sparseksc.search.candidates import halfway
from sparseksc.search.constants import (
    FIRST_RANK,
    GRAPH_SIZE,
    MANY_FEATURES,
    MIN_CLUSTER_SHARE,
    MIN_COPIES,
    MIN_REFINEMENT_TIMES,
    N_FULL_RANK,
    N_REFINED,
    NEAR_BEST_RATIO,
    REFINEMENT_BANDWIDTHS,
    REFINEMENT_MAX_FEATURES,
    REFINEMENT_TIMES,
    TRAINING_SIZE,
    UNREPRESENTED_SHARE,
    VALIDATION_SIZE,
)
from sparseksc.search.evaluation import Evaluation
from sparseksc.search.ranking import RankedModel
from sparseksc.search.result import DoubtWarning, TuningResult
from sparseksc.search.rounds import SearchRequest, SearchRound
from sparseksc.search.samples import Samples, draw_samples, fewer_features


class SearchOutcome(NamedTuple):
    """What a search found, and how to train the model that it selected.

    Attributes
    ----------
    result : TuningResult
    recipe : Recipe
    selection : Sample or None
        Rows that its pivots were selected in; None where others are to be used.
    """

    result: TuningResult
    recipe: Recipe
    selection: Sample | None


def search(
    sample: Sample,
    n_clusters: list[int],
    bandwidths: list[Any],
    recipe: Recipe,
    objective: Objective,
    *,
    refinement: Recipe | None = None,
    rule: str = "auto",
    single_allowed: bool = False,
    refine: bool = False,
    validation: int | Array | None = None,
    progress: bool = False,
) -> SearchOutcome:
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
    refinement : Recipe, optional
        How to train for a refinement at a higher rank, which ``refine`` and the rule "auto" allow;
        None where there is not enough memory for one.
    rule : {"auto", "ams", "blf", "bas"}
    single_allowed : bool
        Whether one cluster may be the answer of "auto".
    refine : bool
        Whether to add bandwidths between the best ones and their neighbours.
    validation, progress
        As in :func:`sparseksc.tune`.
    """
    if n_clusters == [1]:
        # Nothing to compare: the widest bandwidth reaches all points.
        bandwidths, refine = bandwidths[-1:], False
    elif refine and len(n_clusters) == 1:
        # A single number of clusters leaves time for twice as many bandwidths.
        between = [halfway(low, high) for low, high in pairwise(bandwidths)]
        bandwidths = sorted([*bandwidths, *between])
    request = SearchRequest(n_clusters, rule, objective, single_allowed, refine, progress)
    graph = rule == "auto"
    size = validation if validation is not None else GRAPH_SIZE if graph else VALIDATION_SIZE
    with single_threaded_blas():
        samples = draw_samples(sample, recipe, size, with_graph=graph)
        if _has_many_features(samples, recipe, bandwidths):
            samples = replace(samples, coordinates=fewer_features(samples.training))
        release_memory()
        first = _first_recipe(recipe, request)
        current = SearchRound(request, samples, first)
        current.at(bandwidths)
        before: dict[Any, Evaluation] = {}
        finer = None
        if refine and graph and validation is None:
            finer = _refine_at_higher_rank(current, sample, refinement)
        if finer is not None:
            # At narrow bandwidths the first round had too few pivots to count.
            before = {
                h: evaluation
                for h, evaluation in current.evaluations.items()
                if evaluation.residual <= UNREPRESENTED_SHARE
            }
            current = finer
        else:
            for count in N_REFINED if refine else ():
                current.at(_between(current.ranking[:count], current.surfaces().bandwidths))
            if first is not recipe:
                current.again(recipe, _for_full_rank(current), N_FULL_RANK)
        release_memory()
        one, doubt = current.doubts() if n_clusters != [1] else (True, None)
        few = _search_few_distinct_rows(current, bandwidths) if one and n_clusters != [1] else None
        if few is not None:
            current, one, before = few, False, {}
            doubt = f"The data has only {few.samples.n_distinct} distinct rows: each is a cluster."
    surfaces, evaluations = current.surfaces(before), {**before, **current.evaluations}
    ranking = current.ranking if n_clusters != [1] else []
    if not ranking and not single_allowed and n_clusters != [1]:
        raise ValueError(
            f"None of the {surfaces['ams'].size} models tried has as many clusters as asked "
            "for: widen the range of bandwidths or of cluster numbers."
        )
    best_K, best_h = 1, surfaces.bandwidths[-1]
    if ranking and not (one and single_allowed):
        best_K, best_h = ranking[0].n_clusters, ranking[0].bandwidth
    eigenvalues = np.array([evaluations[h].eigenvalues for h in surfaces.bandwidths])
    rank = current.recipe.max_rank
    result = TuningResult(best_K, best_h, rule, ranking, surfaces, eigenvalues, doubt, rank)
    return SearchOutcome(result, current.recipe.with_bandwidth(best_h), current.selection(sample))


def _first_recipe(recipe: Recipe, request: SearchRequest) -> Recipe:
    """How to train when all bandwidths are compared: many pivots take a second for each."""
    rank = max(FIRST_RANK, 2 * max(request.columns))
    by_graph = request.refine and request.rule == "auto" and not recipe.two_bandwidths
    return replace(recipe, max_rank=rank) if by_graph and recipe.max_rank >= 2 * rank else recipe


def _for_full_rank(first: SearchRound) -> list[Any]:
    """Bandwidths of the best models, and in few features some that need more pivots to count."""
    best = [model.bandwidth for model in first.ranking[:N_FULL_RANK]]
    narrow: list[Any] = []
    if first.samples.training.shape[1] <= REFINEMENT_MAX_FEATURES:
        narrow = sorted(_unrepresented(first))
        places = np.linspace(0, len(narrow) - 1, min(len(narrow), REFINEMENT_BANDWIDTHS))
        narrow = [narrow[place] for place in places.round().astype(int)]
    return list(dict.fromkeys(best + narrow)) or list(first.evaluations)


def _unrepresented(first: SearchRound) -> list[Any]:
    """Bandwidths at which the pivots leave out most of the kernel matrix."""
    return [
        h
        for h, evaluation in first.evaluations.items()
        if evaluation.residual > UNREPRESENTED_SHARE
    ]


def _has_many_features(samples: Samples, recipe: Recipe, bandwidths: list[Any]) -> bool:
    """Whether coordinates in fewer features save time, and are all that the kernel depends on."""
    X, kernels = samples.training, (recipe.kernel, recipe.icd_kernel)
    return (
        isinstance(X, np.ndarray)
        and samples.validation is X
        and X.shape[1] >= MANY_FEATURES * X.shape[0]
        and all(isinstance(kernel, RBF) and np.ndim(kernel.bandwidth) == 0 for kernel in kernels)
        and all(np.ndim(bandwidth) == 0 for bandwidth in bandwidths)
    )


def _search_few_distinct_rows(first: SearchRound, bandwidths: list[Any]) -> SearchRound | None:
    """Take each of a few rows with many copies for a cluster; None where that fails."""
    samples, request = first.samples, first.request
    K = samples.n_distinct
    if K not in request.n_clusters or samples.validation_weights.sum() < MIN_COPIES * K:
        return None
    request = replace(request, n_clusters=[K], single_allowed=False)
    second = SearchRound(request, samples, first.recipe)
    second.at(bandwidths)
    if not second.ranking:
        return None
    surfaces = second.surfaces()
    place = surfaces.bandwidths.index(second.ranking[0].bandwidth), surfaces.n_clusters.index(K)
    return second if surfaces["smallest"][place] >= MIN_CLUSTER_SHARE else None


def _refine_at_higher_rank(
    first: SearchRound, sample: Sample, recipe: Recipe | None
) -> SearchRound | None:
    """Evaluate narrow bandwidths with more points and pivots; None if that settles nothing."""
    separation, n = first.samples.separation, np.count_nonzero(sample.weights)
    if separation is None or separation.points is None or first.recipe.two_bandwidths:
        return None
    if n < MIN_REFINEMENT_TIMES * (TRAINING_SIZE + GRAPH_SIZE):
        return None
    if sample.X.shape[1] > REFINEMENT_MAX_FEATURES:
        return None
    narrow = _unrepresented(first)
    if not narrow or first.settled:
        return None
    if recipe is None:
        warn(
            "No cluster is separated, and the refinement of the search at a higher rank would need "
            "more memory than there is: see memory_limit.",
            DoubtWarning,
        )
        return None
    times = min(REFINEMENT_TIMES, n / (TRAINING_SIZE + GRAPH_SIZE))
    samples = draw_samples(
        sample,
        recipe,
        int(times * GRAPH_SIZE),
        with_graph=True,
        training_size=int(times * TRAINING_SIZE),
    )
    second = SearchRound(first.request, samples, recipe, NEAR_BEST_RATIO)
    if len(narrow) > REFINEMENT_BANDWIDTHS:
        narrow = [float(h) for h in np.geomspace(min(narrow), max(narrow), REFINEMENT_BANDWIDTHS)]
    second.at(sorted(narrow, reverse=True))  # the widest take longest
    return second if second.settled else None


def _between(models: list[RankedModel], bandwidths: list[float]) -> list[float]:
    """Bandwidths halfway between those of some models and their neighbours."""
    new = []
    for model in models:
        place = bandwidths.index(model.bandwidth)
        for neighbour in bandwidths[max(place - 1, 0) : place + 2]:
            if neighbour != model.bandwidth:
                new.append(halfway(neighbour, model.bandwidth))
    return list(dict.fromkeys(new))
