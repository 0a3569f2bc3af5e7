r"""Competition of kernels: landmarks and rbf models at several scales, judged by one criterion.

Every model is fitted on a sample and proposes numbers of clusters: the usual ones, and those after
which its eigenvalues fall most. Each of its clusterings is judged on the same graphs
(:mod:`sparseksc.search.quality`), and the best quality wins. There is no other rule.

In a few dimensions the search over the bandwidths of one kernel, on the graph of nearest neighbours
(:mod:`sparseksc.search.procedure`), sees thinner shapes than graphs of landmarks can: its answer is
then an *incumbent*, which only more clusters than it has looked at can beat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sparseksc._native.clusters import assign
from sparseksc._typing import Floats
from sparseksc.core.encoding import ENCODINGS, fit_best_directions
from sparseksc.core.recipe import Recipe
from sparseksc.core.training import ProjectionFit, choose_pivots, fit_projection
from sparseksc.data.sampling import Sample
from sparseksc.data.source import ArraySource
from sparseksc.execution.blas import single_threaded_blas
from sparseksc.execution.memory import release_memory
from sparseksc.execution.progress import map_with_progress
from sparseksc.search.constants import (
    CLEAR_QUALITY,
    CLOUD_CLUSTERS,
    CLOUD_QUALITY,
    COMMON_NUMBERS,
    GRAPH_SIZE,
    LARGE_EIGENVALUE,
    LARGEST_NUMBER,
    LEAST_CONDUCTANCE,
    LEAST_ROWS,
    PROPOSED_NUMBERS,
    SEARCH_STARTS,
    TRAINING_SIZE,
)
from sparseksc.search.procedure import SearchOutcome
from sparseksc.search.quality import Judge
from sparseksc.search.ranking import RankedModel, Surfaces
from sparseksc.search.result import TuningResult

#: Numbers of clusters to choose from; None for any.
Numbers = Sequence[int] | None


class Entry(NamedTuple):
    """What is known about one model: its eigenvalues, and the quality of its clusterings.

    ``others`` are the qualities of those with a cluster of fewer than ``LEAST_ROWS`` distinct rows,
    an outlier or two, which count only where there are no others.
    """

    eigenvalues: Floats
    qualities: dict[int, float]
    others: dict[int, float]


def compete(
    sample: Sample,
    n_clusters: Numbers,
    landmarks: Sequence[Recipe],
    others: Sequence[Recipe],
    *,
    incumbent: SearchOutcome | None = None,
    progress: bool = False,
) -> SearchOutcome:
    """Fit all models on a sample, and select the clustering of the best quality.

    Parameters
    ----------
    sample : Sample
        The rows, or enough of them.
    n_clusters : list of int or None
        Numbers of clusters to choose from. None is any, and one cluster a possible answer.
    landmarks, others : lists of Recipe
        The models: with landmarks, whose metric is that of the judging graphs, and with another
        kernel, at ascending bandwidths.
    incumbent : SearchOutcome, optional
        What another search has found among the common numbers of clusters, which is kept unless
        more clusters have a better quality, and a clear one where it is beyond doubt.
    progress : bool
        Show a progress bar if the search takes long.
    """
    recipes = [*landmarks, *others]
    least = 2 if incumbent is None else max(COMMON_NUMBERS) + 1
    seed, n_jobs = recipes[0].seed, recipes[0].n_jobs
    with single_threaded_blas():
        training = None if incumbent is None else incumbent.selection
        if training is None:
            training = sample.drawn(TRAINING_SIZE, seed)
        else:  # the same rows, without those that are isolated
            training = training.first(TRAINING_SIZE, seed)
        judged = training.first(GRAPH_SIZE, seed)
        judge = Judge.of(judged, landmarks[0])

        def enter(recipe: Recipe) -> Entry:
            alone = replace(recipe, n_jobs=1)
            return _judge_model(alone, training, judged, judge, n_clusters, least)

        entries = map_with_progress(enter, recipes, n_jobs, "model", progress)
        if not any(entry.qualities for entry in entries):
            entries = [entry._replace(qualities=entry.others) for entry in entries]
        ranking = _ranked(recipes, entries)
        if incumbent is not None:
            known = incumbent.result.best_n_clusters
            other = replace(incumbent.recipe, n_jobs=1)
            entry = _judge_model(other, training, judged, judge, [known])
            least_quality = CLOUD_QUALITY if incumbent.result.doubt else CLEAR_QUALITY
            bar = max(entry.qualities.get(known, least_quality), least_quality)
            ranking = ranking if ranking and ranking[0].value > bar else []
    release_memory()
    if not ranking and n_clusters is not None:
        raise ValueError(
            "None of the models tried has as many clusters as asked for: ask for fewer."
        )
    best = ranking[0] if ranking else None
    if incumbent is not None and best is None:
        return incumbent
    single = best is None or (n_clusters is None and _is_cloud(best))
    doubt = None if n_clusters is not None and len(n_clusters) == 1 else _doubt(best, single)
    if best is None or single:
        chosen, K = others[-1], 1  # the widest bandwidth reaches all points
    else:
        place = _place(recipes, best)
        chosen, K = recipes[place], best.n_clusters
    surfaces, eigenvalues = _surfaces(recipes, entries)
    result = TuningResult(
        K,
        _bandwidth(chosen),
        "auto",
        ranking,
        surfaces,
        eigenvalues,
        doubt,
        chosen.max_rank,
        chosen.kernel.name,
    )
    return SearchOutcome(result, chosen, training)


def _judge_model(
    recipe: Recipe,
    training: Sample,
    judged: Sample,
    judge: Judge,
    n_clusters: Numbers,
    least: int = 2,
) -> Entry:
    """Fit a model, and judge its clusterings of the judged rows."""
    nothing = Entry(np.empty(0), {}, {})
    try:
        fit = _fit(recipe, training, n_clusters)
    except ValueError:  # a kernel without values on this data
        return nothing
    values = fit.spectrum.eigenvalues
    numbers = proposed(values) if n_clusters is None else n_clusters
    numbers = [K for K in numbers if least <= K <= len(values) + 1]
    if not numbers:
        return nothing
    scores, degrees = fit.projection.scores_and_degrees(judged.X, 1)
    seen, weights, shares = scores, judged.weights, np.empty(0)
    find = ENCODINGS[recipe.encoding]
    if fit.anchors is not None:
        (seen, weights), shares = fit.anchors, fit.anchors[1]
        if recipe.encoding == "qr":
            find = partial(fit_best_directions, more_starts=SEARCH_STARTS)
    else:
        shares = fit.degrees.shares_of(degrees, weights)
    entry = Entry(values, {}, {})
    for K in numbers:
        m = K - 1
        try:
            encoding = find(fit.spectrum.leading(m), seen[:, :m], weights, shares)
        except ValueError:  # too few code words, or an encoding for more clusters
            continue
        labels = assign(encoding.distances(np.ascontiguousarray(scores[:, :m]))).labels
        smallest = judge.smallest(labels, K)
        quality = judge.quality(labels, K) if smallest > 0 else -np.inf
        if np.isfinite(quality):
            (entry.qualities if smallest >= LEAST_ROWS else entry.others)[K] = quality
    return entry


def _fit(recipe: Recipe, training: Sample, n_clusters: Numbers) -> ProjectionFit:
    """Fit as many components as there may be clusters."""
    source = ArraySource(training.X, training.weights)
    pivots = choose_pivots(training, recipe)
    most = max(pivots.points.shape[0] - 1, 1)
    if n_clusters is not None:
        return fit_projection(source, min(max(n_clusters) - 1, most), pivots, recipe)
    count = min(LARGEST_NUMBER, most)
    while True:
        fit = fit_projection(source, count, pivots, recipe)
        values = fit.spectrum.eigenvalues
        if fit.anchors is None or len(values) < count or values[-1] < LARGE_EIGENVALUE:
            return fit
        if 4 * count > most:
            return fit
        count = min(2 * count, most)


def proposed(eigenvalues: Floats) -> list[int]:
    """Return numbers of clusters to try: the usual ones, and those before the largest gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.search.competition import proposed
    >>> proposed(np.concatenate([np.full(29, 0.99), np.full(20, 0.1)]))[8:]
    [10, 30]
    """
    missing = np.append(0.0, 1.0 - np.minimum(eigenvalues, 1.0)) + LEAST_CONDUCTANCE
    K = np.arange(2, len(missing))
    widest = np.argsort(-missing[K] / missing[K - 1], kind="stable")[:PROPOSED_NUMBERS]
    usual = [number for number in COMMON_NUMBERS if number <= len(eigenvalues) + 1]
    return sorted({*usual, *K[widest].tolist()})


def _ranked(recipes: Sequence[Recipe], entries: Sequence[Entry]) -> list[RankedModel]:
    """Return the best model for each number of clusters, best first."""
    best: dict[int, RankedModel] = {}
    for recipe, entry in zip(recipes, entries, strict=True):
        for K, quality in entry.qualities.items():
            if K not in best or quality > best[K].value:
                best[K] = RankedModel(
                    K,
                    _bandwidth(recipe),
                    quality,
                    kernel=recipe.kernel.name,
                    max_rank=recipe.max_rank,
                )
    return sorted(best.values(), key=lambda model: (-model.value, model.n_clusters))


def _place(recipes: Sequence[Recipe], model: RankedModel) -> int:
    """Which of the recipes a model of the ranking has."""
    wanted = model.kernel, model.bandwidth, model.max_rank
    known = [(one.kernel.name, _bandwidth(one), one.max_rank) for one in recipes]
    return known.index(wanted)


def _bandwidth(recipe: Recipe) -> Any:
    return getattr(recipe.kernel, "bandwidth", None)


def _is_cloud(best: RankedModel) -> bool:
    """Whether the best clustering is no better than the best division of a cloud."""
    return best.n_clusters <= CLOUD_CLUSTERS and best.value < CLOUD_QUALITY


def _doubt(best: RankedModel | None, single: bool) -> str | None:
    """Say in a sentence what the quality leaves open."""
    if best is None:
        return "No model shows two clusters: the data is one cluster."
    if single:
        return (
            "The data is one cluster: every division of it is as arbitrary as that of a single "
            "cloud of points."
        )
    if best.value < CLEAR_QUALITY:
        return (
            f"The {best.n_clusters} clusters are hardly easier to tell apart than to divide "
            f"further (quality {best.value:.2f}): they overlap, or the data is one cluster."
        )
    return None


def _surfaces(recipes: Sequence[Recipe], entries: Sequence[Entry]) -> tuple[Surfaces, Floats]:
    """Return the qualities of all models as a table, and their eigenvalues."""
    columns = sorted({K for entry in entries for K in entry.qualities})
    quality = np.full((len(entries), len(columns)), np.nan)
    width = max((len(entry.eigenvalues) for entry in entries), default=0)
    eigenvalues = np.full((len(entries), width), np.nan)
    for row, entry in enumerate(entries):
        eigenvalues[row, : len(entry.eigenvalues)] = entry.eigenvalues
        for K, value in entry.qualities.items():
            quality[row, columns.index(K)] = value
    surfaces = Surfaces(
        [_bandwidth(recipe) for recipe in recipes],
        columns,
        {"quality": quality},
        0.0,
        [recipe.kernel.name for recipe in recipes],
        [recipe.max_rank for recipe in recipes],
    )
    return surfaces, eigenvalues
