"""Bandwidths and numbers of clusters on a grid, compared by a criterion of the literature.

Models are trained on one sample of the data and evaluated on another, so that the cost does not
grow with the data. One reduced set and one eigenproblem give the models of all numbers of clusters
at a bandwidth.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sparseksc._native.clusters import assign
from sparseksc._typing import Array, Floats
from sparseksc.core.criteria import CRITERIA, Objective
from sparseksc.core.encoding import ENCODINGS
from sparseksc.core.recipe import Recipe
from sparseksc.core.training import choose_pivots, fit_projection
from sparseksc.data.sampling import Sample, rows_at, selection_sample
from sparseksc.execution.blas import single_threaded_blas
from sparseksc.execution.memory import release_memory
from sparseksc.execution.progress import map_with_progress
from sparseksc.search.candidates import halfway
from sparseksc.search.constants import GRAPH_SIZE, N_REFINED, VALIDATION_SIZE
from sparseksc.search.result import SearchOutcome, TuningResult
from sparseksc.search.samples import Samples, draw_samples
from sparseksc.search.surfaces import RankedModel, Surfaces, rank_by_criterion


class Evaluation(NamedTuple):
    """Every criterion for every number of clusters at one bandwidth, and the eigenvalues."""

    values: dict[str, Floats]
    eigenvalues: Floats


def search_grid(
    sample: Sample,
    n_clusters: list[int],
    bandwidths: list[Any],
    recipe: Recipe,
    objective: Objective,
    *,
    single_allowed: bool = False,
    refine: bool = False,
    validation: int | Array | None = None,
    progress: bool = False,
) -> SearchOutcome:
    """Fit every combination on a sample, and take the largest value of a criterion.

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
        The criterion, with its balance and its outlier threshold.
    single_allowed : bool
        Whether the answer is one cluster where there are no others.
    refine : bool
        Whether to add bandwidths between the best ones and their neighbours.
    validation, progress
        As in :func:`sparseksc.tune`.
    """
    if n_clusters == [1]:
        bandwidths, refine = bandwidths[-1:], False  # nothing to compare
    elif refine and len(n_clusters) == 1:
        # A single number of clusters leaves time for twice as many bandwidths.
        between = [halfway(low, high) for low, high in pairwise(bandwidths)]
        bandwidths = sorted([*bandwidths, *between])
    evaluations: dict[Any, Evaluation] = {}
    compared = VALIDATION_SIZE if validation is None else validation
    with single_threaded_blas():
        tried = [recipe.with_bandwidth(bandwidth) for bandwidth in bandwidths]
        samples = draw_samples(sample, tried, compared, apart=True)
        release_memory()

        def evaluate(bandwidth: Any) -> Evaluation:
            at = replace(recipe.with_bandwidth(bandwidth), n_jobs=1)
            return _evaluate(samples, n_clusters, at, objective)

        def ranked(more: list[Any]) -> tuple[Surfaces, list[RankedModel]]:
            new = [h for h in dict.fromkeys(more) if h not in evaluations]
            found = map_with_progress(evaluate, new, recipe.n_jobs, "bandwidth", progress)
            evaluations.update(zip(new, found, strict=True))
            order = sorted(evaluations) if refine else list(evaluations)
            values = {
                name: np.array([evaluations[h].values[name] for h in order]) for name in CRITERIA
            }
            surfaces = Surfaces(order, n_clusters, values)
            return surfaces, rank_by_criterion(surfaces, objective.criterion)

        surfaces, ranking = ranked(bandwidths)
        for count in N_REFINED if refine else ():
            surfaces, ranking = ranked(_between(ranking[:count], surfaces.bandwidths))
        release_memory()
    doubt = None
    if not ranking and n_clusters != [1]:
        if not single_allowed:
            raise ValueError(
                f"None of the {surfaces['ams'].size} models tried has as many clusters as asked "
                "for: widen the range of bandwidths or of cluster numbers."
            )
        doubt = "No bandwidth shows two clusters: the data is one cluster."
    best_K, best_h = 1, surfaces.bandwidths[-1]
    if ranking:
        best_K, best_h = ranking[0].n_clusters, ranking[0].bandwidth
    eigenvalues = np.array([evaluations[h].eigenvalues for h in surfaces.bandwidths])
    result = TuningResult(
        best_K, best_h, objective.criterion, ranking, surfaces, eigenvalues, doubt, recipe.max_rank
    )
    chosen = recipe.with_bandwidth(best_h)
    return SearchOutcome(result, chosen, samples.for_pivots(chosen))


def _evaluate(
    samples: Samples, n_clusters: list[int], recipe: Recipe, objective: Objective
) -> Evaluation:
    """Fit the models of one bandwidth; values that are not available are NaN."""
    n_components = max(n_clusters)
    pivots = choose_pivots(samples.training, recipe)
    fit = fit_projection(samples.source, n_components, pivots, recipe)
    found = fit.spectrum.eigenvalues
    eigenvalues = np.full(n_components, np.nan)
    eigenvalues[: len(found)] = found
    values = {name: np.full(len(n_clusters), np.nan) for name in CRITERIA}
    evaluation = Evaluation(values, eigenvalues)
    if len(found) == 0:
        return evaluation
    training, compared = samples.training, samples.compared
    places = selection_sample(training.rows, GRAPH_SIZE, recipe.seed, training.weights)
    weights = training.weights[places]
    validated, degrees, sums = fit.projection.scores_and_degrees(
        compared.X, 1, with_kernel_sums=True
    )
    if compared is training:
        scores, degrees = validated[places], degrees[places]
    else:
        scores, degrees = fit.projection.scores_and_degrees(rows_at(training.X, places), 1)
    shares = fit.degrees.shares_of(degrees, weights)
    sums = sums + fit.spectrum.bias[0]
    for column, K in enumerate(n_clusters):
        m = K - 1
        if not 0 < m <= len(found):
            continue
        try:
            encoding = ENCODINGS[recipe.encoding](
                fit.spectrum.leading(m), scores[:, :m], weights, shares
            )
        except ValueError:  # too few code words, or an encoding for more clusters
            continue
        part = np.ascontiguousarray(validated[:, :m])
        clusters = assign(encoding.distances(part))
        sizes = np.bincount(clusters.labels, compared.weights, minlength=K)
        for name in CRITERIA:
            if name == "bas" and K == 2:
                continue
            criterion = replace(objective, criterion=name)
            value = criterion.fit(part, sums, clusters, sizes, compared.weights)
            values[name][column] = criterion.weigh(value, sizes)
    return evaluation


def _between(models: list[RankedModel], bandwidths: list[float]) -> list[float]:
    """Bandwidths halfway between those of some models and their neighbours."""
    new = []
    for model in models:
        place = bandwidths.index(model.bandwidth)
        for neighbour in bandwidths[max(place - 1, 0) : place + 2]:
            if neighbour != model.bandwidth:
                new.append(halfway(neighbour, model.bandwidth))
    return list(dict.fromkeys(new))
