"""Search over the number of clusters and the bandwidth.

One reduced set and one eigenproblem per bandwidth give the models of all numbers of clusters.
They are trained on one sample of the data and judged on another, so that the cost does not grow
with the data. :mod:`sparseksc.choice` says which of them is best.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseksc._native.clusters import assign
from sparseksc.choice import (
    CLEAR_RISE,
    Choice,
    Surfaces,
    rank_by_criterion,
    rank_by_separation,
)
from sparseksc.criteria import CRITERIA, Objective
from sparseksc.crossings import separate_clusters
from sparseksc.encoding import fit_encoding
from sparseksc.engines.threads import ordered_map, single_threaded_blas
from sparseksc.kernels import Array
from sparseksc.progress import progress_bar
from sparseksc.reduced_set import ReducedSet
from sparseksc.samples import GRAPH_SIZE, VALIDATION_SIZE, Samples, draw_samples
from sparseksc.spectrum import change_kernel
from sparseksc.statistics import FeatureMap
from sparseksc.training import Fitted, Recipe, choose_pivots, project
from sparseksc.tuning import DoubtWarning, TuningResult

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

#: Points to train on above which bandwidths are worth a thread each.
WORTH_THREADS = 1_000
#: The bandwidths around this many of the best choices are refined, in turn.
REFINED_CHOICES = (3, 2)
#: Below the first share of the conductance that a normal cloud has, a cut separates something;
#: above the second, nothing.
CLOUD_SHARE, SAME_AS_CLOUD = 0.6, 0.8
#: Rise of the conductance beyond which no comparison with a cloud is needed.
BEYOND_DOUBT = 2.5

#: Below this number of separate clusters there are none.
NONE_SEPARATE = 0.5

SURFACES = (*CRITERIA, "strength", "conductance", "cut", "cohesion", "smallest")


class Judged(NamedTuple):
    """What is known about the models of one bandwidth.

    Attributes
    ----------
    values : dict of str to array
        Each surface for each number of clusters.
    labels : dict of int to array
        For each number of clusters, those of the points of the neighbour graph.
    eigenvalues : array
    """

    values: dict[str, Floats]
    labels: dict[int, NDArray[Any]]
    eigenvalues: Floats


#: From a number of clusters and a bandwidth to the number of these clusters that are separate.
Separate = Callable[[int, Any], float]


def search(
    X: Array,
    weights: Floats,
    n_clusters: list[int],
    bandwidths: list[Any],
    recipe: Recipe,
    objective: Objective,
    *,
    rule: str = "auto",
    single_allowed: bool = False,
    refine: bool = False,
    validation: int | Array | None = None,
    progress: bool = False,
) -> TuningResult:
    """Fit every combination on a sample and rank them.

    Parameters
    ----------
    X : array of shape (n, d)
    weights : array of shape (n,)
    n_clusters : list of int
        Candidates, ascending.
    bandwidths : list
        Candidates; [None] for kernels without a bandwidth.
    recipe : Recipe
    objective : Objective
        Balance and outlier threshold of the criteria.
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
        between = [float(np.sqrt(low * high)) for low, high in pairwise(bandwidths)]
        bandwidths = sorted([*bandwidths, *between])
    if validation is None:
        validation = GRAPH_SIZE if rule == "auto" else VALIDATION_SIZE
    columns = sorted({*n_clusters, *(K + 1 for K in n_clusters if rule == "auto")})
    if len(n_clusters) == 1:
        columns = n_clusters
    with single_threaded_blas():
        samples = draw_samples(X, weights, recipe, validation, with_graph=rule == "auto")
        judge = _judge_with(samples, columns, recipe, objective)
        judged: dict[Any, Judged] = {}
        # Small arrays keep the interpreter busy, and threads would only wait for each other.
        n_jobs = recipe.n_jobs if samples.training.shape[0] > WORTH_THREADS else 1

        @cache
        def separate(n_clusters: int, bandwidth: Any) -> float:
            """How many clusters of a model are separate; only the best are worth the time."""
            if samples.separation is None:
                return 0.0
            return separate_clusters(samples.separation.graph, judged[bandwidth].labels[n_clusters])

        def look_at(bandwidths: list[Any]) -> tuple[Surfaces, list[Choice]]:
            """Judge more bandwidths, and rank the models of all so far."""
            new = [h for h in dict.fromkeys(bandwidths) if h not in judged]
            judged.update(zip(new, _in_threads(judge, new, n_jobs, progress), strict=True))
            order = sorted(judged) if refine else list(judged)
            values = {name: np.array([judged[h].values[name] for h in order]) for name in SURFACES}
            graph = samples.separation.graph if samples.separation is not None else None
            surfaces = Surfaces(order, columns, values, graph.resolution if graph else 0.0)
            return surfaces, _ranked(surfaces, rule, n_clusters, separate, strict=single_allowed)

        surfaces, ranking = look_at(bandwidths)
        for count in REFINED_CHOICES if refine else ():
            surfaces, ranking = look_at(_between(ranking[:count], surfaces.bandwidths))
    eigenvalues = np.array([judged[h].eigenvalues for h in surfaces.bandwidths])
    if n_clusters == [1]:
        return TuningResult(1, bandwidths[0], rule, [], surfaces, eigenvalues, None)
    if not ranking and not single_allowed:
        raise ValueError(
            f"None of the {surfaces['ams'].size} models tried has as many clusters as asked "
            "for: widen the range of bandwidths or of cluster numbers."
        )
    one, doubt = _doubts(ranking, samples, rule, n_clusters, separate)
    if doubt:
        warnings.warn(doubt, DoubtWarning, stacklevel=4)
    best = (1, surfaces.bandwidths[-1])
    if ranking and not (one and single_allowed):
        best = ranking[0].n_clusters, ranking[0].bandwidth
    return TuningResult(*best, rule, ranking, surfaces, eigenvalues, doubt)


def _ranked(
    surfaces: Surfaces, rule: str, allowed: list[int], separate: Separate, strict: bool
) -> list[Choice]:
    if rule != "auto":
        return rank_by_criterion(surfaces, rule, allowed)

    def separate_at(row: int, column: int) -> float:
        return separate(surfaces.n_clusters[column], surfaces.bandwidths[row])

    ranking = rank_by_separation(surfaces, allowed, separate_at)
    if ranking or strict:
        return ranking
    # All models have a cluster of outliers, and the user insists on clusters: so be it.
    return rank_by_separation(surfaces, allowed, separate_at, any_size=True)


def _between(choices: list[Choice], bandwidths: list[float]) -> list[float]:
    """Bandwidths halfway between the chosen ones and their neighbours."""
    new = []
    for choice in choices:
        place = bandwidths.index(choice.bandwidth)
        for neighbour in bandwidths[max(place - 1, 0) : place + 2]:
            if neighbour != choice.bandwidth:
                new.append(float(np.sqrt(neighbour * choice.bandwidth)))
    return list(dict.fromkeys(new))


def _doubts(
    ranking: list[Choice],
    samples: Samples,
    rule: str,
    n_clusters: list[int],
    separate: Separate,
) -> tuple[bool, str | None]:
    """Whether the data is rather a single cluster, and a sentence of doubt."""
    if not ranking:
        return True, "No bandwidth shows two clusters that are more than a few points."
    if rule != "auto" or len(n_clusters) < 2:
        return False, None
    best, coarsest = ranking[0], min(ranking, key=lambda choice: choice.n_clusters)
    found = separate(best.n_clusters, best.bandwidth)
    rise = max(choice.rise for choice in ranking)
    unclear = rise < CLEAR_RISE and found < best.n_clusters / 2
    cut, cloud = coarsest.conductance, samples.separation.cloud if samples.separation else None
    if cloud is not None:
        # A single cloud is best cut into as few parts as possible, and none of them is separate.
        parts = best is coarsest and found < NONE_SEPARATE and cut > SAME_AS_CLOUD * cloud
        if parts or (best.rise < BEYOND_DOUBT and cut > CLOUD_SHARE * cloud):
            return unclear or parts, (
                f"The best cut through the data crosses {cut:.1%} of the edges between nearest "
                f"neighbours, and a cut through a single normal cloud {cloud:.1%}: the data may "
                "well be one cluster."
            )
    if unclear:
        return False, (
            f"No number of clusters stands out: {best.n_clusters} clusters are hardly better "
            "separated than any other number of them."
        )
    return False, None


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


def _judge_with(
    samples: Samples, n_clusters: list[int], recipe: Recipe, objective: Objective
) -> Callable[[Any], Judged]:
    """Return the function that fits and judges all numbers of clusters at one bandwidth."""
    n_components = max(n_clusters)
    shared: tuple[ReducedSet, Fitted] | None = None
    if recipe.kernel != recipe.icd_kernel:
        # The eigenvectors come from another kernel, and are the same for all bandwidths.
        same = replace(recipe, kernel=recipe.icd_kernel)
        pivots = choose_pivots(samples.sample, same)
        shared = pivots, project(samples.source, n_components, pivots, same)

    def fit(at: Recipe) -> Fitted:
        if shared is None:
            return project(samples.source, n_components, choose_pivots(samples.sample, at), at)
        pivots, base = shared
        features = FeatureMap.choose(at.icd_kernel, pivots)
        spectrum = change_kernel(
            base.spectrum, features, base.degrees, at.kernel, samples.source, at.n_jobs
        )
        projection = replace(
            base.projection, kernel=at.kernel, coef=spectrum.coef, bias=spectrum.bias
        )
        return replace(base, projection=projection, spectrum=spectrum)

    def judge(bandwidth: Any) -> Judged:
        at = replace(recipe.with_bandwidth(bandwidth), n_jobs=1)
        fitted = fit(at)
        values, labels = _judge(samples, n_clusters, at, objective, fitted)
        eigenvalues = np.full(n_components, np.nan)
        found = fitted.spectrum.eigenvalues
        eigenvalues[: len(found)] = found
        return Judged(values, labels, eigenvalues)

    return judge


def _judge(
    samples: Samples, n_clusters: list[int], recipe: Recipe, objective: Objective, fitted: Fitted
) -> tuple[dict[str, Floats], dict[int, NDArray[Any]]]:
    """Every criterion for every number of clusters, NaN where it is not available, and labels."""
    values = {name: np.full(len(n_clusters), np.nan) for name in SURFACES}
    labels: dict[int, NDArray[Any]] = {}
    available = len(fitted.spectrum.eigenvalues)
    if available == 0:
        return values, labels
    projection = fitted.projection
    seen = samples.encoding_rows
    weights_seen = samples.weights[seen]
    scores, degrees = projection.scores_and_degrees(samples.training[seen], 1)
    shares = fitted.degrees.shares_of(degrees, weights_seen)
    judged = projection.scores(samples.validation, 1)
    sums = None
    if 2 in n_clusters:
        sums = projection.kernel_sums(samples.validation, 1) + fitted.spectrum.bias[0]
    for column, K in enumerate(n_clusters):
        m = K - 1
        if not 0 < m <= available:
            continue
        try:
            encoding = fit_encoding(
                recipe.encoding,
                fitted.spectrum.leading(m),
                scores[:, :m],
                weights_seen,
                shares,
            )
        except ValueError:  # too few code words, or an encoding for more clusters
            continue
        found = assign(encoding.distances(judged[:, :m]))
        weights = samples.validation_weights
        sizes = np.bincount(found.labels, weights, minlength=K)
        for name in CRITERIA:
            if name == "bas" and K == 2:
                continue
            part = replace(objective, criterion=name)
            value = part.fit(judged[:, :m], sums, found, sizes, weights)
            values[name][column] = part.weigh(value, sizes)
            if name == "ams":
                values["strength"][column] = value
        values["smallest"][column] = sizes.min() / sizes.sum()
        if samples.separation is not None:
            connected = found.labels[samples.separation.rows]
            labels[K] = connected.astype(np.min_scalar_type(K))
            edges = samples.separation.graph.judge(connected)
            for name, value in zip(("conductance", "cut", "cohesion"), edges, strict=True):
                values[name][column] = value
    return values, labels
