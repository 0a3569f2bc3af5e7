r"""Competition of models: kernels at several scales, compared by one criterion.

Every model is fitted on a sample and proposes numbers of clusters: the usual ones, and those after
which its eigenvalues fall most. The quality of a clustering with K clusters has three parts:

.. math:: q = s + \tfrac12 a + \tfrac15 \log K

its separation :math:`s` in graphs that are the same for all models, where each cluster counts
little beyond ``CLEAR`` (:mod:`sparseksc.search.quality`); the agreement :math:`a` of other models
(:mod:`sparseksc.core.clusters.agreement`); and a little for every cluster more, so that of two
answers beyond doubt the finer one is taken. The best quality wins. There is no other rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from sparseksc._native.clusters import assign
from sparseksc._typing import Array, Floats, Integers
from sparseksc.core.clusters.agreement import agreements
from sparseksc.core.encoding import (
    ENCODINGS,
    START_ROWS,
    START_ROWS_PER_CLUSTER,
    fit_best_directions,
)
from sparseksc.core.landmarks import most_landmarks
from sparseksc.core.recipe import Recipe
from sparseksc.core.training import ProjectionFit, choose_pivots, fit_projection
from sparseksc.data.distinct import distinct_rows
from sparseksc.data.sampling import Sample, selection_sample
from sparseksc.data.source import ArraySource
from sparseksc.execution.blas import single_threaded_blas
from sparseksc.execution.memory import release_memory
from sparseksc.execution.progress import map_with_progress
from sparseksc.search.constants import (
    AGREEING,
    AGREEMENT,
    COMMON_NUMBERS,
    FINER,
    GRAPH_SIZE,
    LARGE_EIGENVALUE,
    LARGEST_NUMBER,
    LEAST_GAP,
    LEAST_ROWS,
    MANY_CLUSTERS_RANK,
    MIN_CLUSTER_SHARE,
    PROPOSED_NUMBERS,
    SEARCH_STARTS,
    TIED,
    TRAINING_SIZE,
)
from sparseksc.search.quality import Graphs, Separation
from sparseksc.search.ranking import (
    Clustering,
    bandwidth_of,
    doubt_about,
    is_cloud,
    place_of,
    ranked,
)
from sparseksc.search.result import SearchOutcome, TuningResult
from sparseksc.search.samples import draw_samples
from sparseksc.search.surfaces import Surfaces

#: Numbers of clusters to choose from; None for any.
Numbers = Sequence[int] | None


class Entry(NamedTuple):
    """One model: its eigenvalues, and its clusterings of the compared rows by their numbers.

    ``error`` says why there are none, where the kernel has no values on this data.
    """

    eigenvalues: Floats
    labels: dict[int, Integers]
    error: ValueError | None = None

    def is_tied(self, n_clusters: int) -> bool:
        """Whether the eigenvectors of so many clusters are arbitrary ones among equals.

        As those of a kernel that sees more unconnected parts than clusters, of eigenvalue 1.
        """
        values = self.eigenvalues
        m = n_clusters - 1
        return m < len(values) and bool(values[m - 1] - values[m] <= TIED)


def compete(
    sample: Sample,
    n_clusters: Numbers,
    recipes: Sequence[Recipe],
    *,
    times: float = 1.0,
    validation: int | Array | None = None,
    progress: bool = False,
) -> SearchOutcome:
    """Fit all models on a sample, and select the clustering of the best quality.

    Parameters
    ----------
    sample : Sample
        The rows, or enough of them.
    n_clusters : list of int or None
        Numbers of clusters to choose from. None is any, and one cluster a possible answer.
    recipes : list of Recipe
        The models. Neighbours in the graphs are those of the first, and the last is taken
        for one cluster.
    times : float
        How many times as many rows to take as usual.
    validation : int or array, optional
        How many of the rows to compare the models on, or others to compare them on.
    progress : bool
        Show a progress bar if the search takes long.
    """
    n_jobs = recipes[0].n_jobs
    size = int(times * GRAPH_SIZE)
    with single_threaded_blas():
        samples = draw_samples(
            sample,
            recipes,
            size if validation is None else validation,
            training_size=int(times * TRAINING_SIZE),
        )
        training, compared = samples.training, samples.compared
        recipes = without_repetitions(recipes, training)
        # Others may be too few to find prototypes in.
        seen = None if validation is None else training.first(size, recipes[0].seed)

        def fit_one(recipe: Recipe) -> Entry:
            return enter(replace(recipe, n_jobs=1), training, compared, n_clusters, seen)

        entries = map_with_progress(fit_one, recipes, n_jobs, "model", progress)
        if entries[0].error is not None and all(entry.error is not None for entry in entries):
            raise entries[0].error
        one_number = n_clusters is not None and len(n_clusters) == 1
        graphs = Graphs.of(compared, replace(recipes[0], n_jobs=1), smooth=not one_number)
        found = without_ties(_qualities(entries, graphs, n_jobs, progress), entries)
    release_memory()
    ranking = ranked(recipes, found)
    if not ranking and validation is not None and any(entry.labels for entry in entries):
        raise ValueError(
            "No model has points of all its clusters among those of validation: give it more."
        )
    if not ranking and n_clusters is not None and n_clusters != [1]:
        raise ValueError(
            "None of the models tried has as many clusters as asked for, "
            f"{min(n_clusters)}: ask for fewer."
        )
    best = ranking[0] if ranking else None
    single = best is None or (n_clusters is None and is_cloud(best))
    few = False
    if best is None or single:
        chosen, K = recipes[-1], 1  # the widest bandwidth reaches all points
    else:
        place, K = place_of(best, recipes), best.n_clusters
        chosen = recipes[place]
        labels = entries[place].labels[K]
        # Copies of a row, or its weight, are rows, too.
        least = max(graphs.smallest(labels, K), float(np.bincount(labels, minlength=K).min()))
        few = validation is None and least < LEAST_ROWS
    listed = n_clusters is not None
    doubt = None if one_number else doubt_about(best, single, few=few, listed=listed)
    surfaces, eigenvalues = _surfaces(recipes, entries, found, n_clusters or ())
    result = TuningResult(
        K,
        bandwidth_of(chosen),
        "auto",
        ranking,
        surfaces,
        eigenvalues,
        doubt,
        chosen.max_rank,
        chosen.kernel.name,
    )
    return SearchOutcome(result, chosen, samples.for_pivots(chosen))


def without_repetitions(recipes: Sequence[Recipe], training: Sample) -> list[Recipe]:
    """Return the models but those with the landmarks of another: few rows give no more."""
    if sum(recipe.kernel.name == "landmarks" for recipe in recipes) < 2:
        return list(recipes)
    n = len(distinct_rows(training.X)[0])
    known, kept = set[int](), []
    for recipe in recipes:
        if recipe.kernel.name == "landmarks":
            R = most_landmarks(recipe, n)
            if R in known:
                continue
            known.add(R)
        kept.append(recipe)
    return kept


def enter(
    recipe: Recipe,
    training: Sample,
    compared: Sample,
    n_clusters: Numbers,
    prototypes: Sample | None = None,
) -> Entry:
    """Fit a model, and find its clusterings of the compared rows.

    ``prototypes`` are rows that these are found in, where they are not the compared ones.
    """
    nothing = Entry(np.empty(0), {})
    if n_clusters == [1]:
        return nothing
    try:
        fit = _fit(recipe, training, n_clusters)
    except ValueError as error:
        return nothing._replace(error=error)
    values = fit.spectrum.eigenvalues
    numbers = proposed(values) if n_clusters is None else n_clusters
    numbers = [K for K in numbers if 2 <= K <= len(values) + 1]
    if not numbers:
        return nothing
    rows = compared if prototypes is None else prototypes
    seen, degrees = fit.projection.scores_and_degrees(rows.X, 1)
    scores = seen if prototypes is None else fit.projection.scores(compared.X, 1)
    find = ENCODINGS[recipe.encoding]
    if fit.anchors is not None:
        (seen, weights), shares = fit.anchors, fit.anchors[1]
        if recipe.encoding == "qr":
            find = partial(fit_best_directions, more_starts=SEARCH_STARTS)
    else:
        size = max(START_ROWS, START_ROWS_PER_CLUSTER * max(numbers))
        some = selection_sample(rows.rows, size, recipe.seed, rows.weights)
        seen, weights = seen[some], rows.weights[some]
        shares = fit.degrees.shares_of(degrees[some], weights)
    entry = Entry(values, {})
    for K in numbers:
        m = K - 1
        try:
            encoding = find(fit.spectrum.leading(m), seen[:, :m], weights, shares)
        except ValueError:  # too few code words, or an encoding for more clusters
            continue
        labels = assign(encoding.distances(np.ascontiguousarray(scores[:, :m]))).labels
        entry.labels[K] = numbered_by_first_rows(labels, K)
    return entry


def numbered_by_first_rows(labels: Integers, n_clusters: int) -> Integers:
    """Return labels in the order of their first rows: equal clusterings get equal labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.search.competition import numbered_by_first_rows
    >>> numbered_by_first_rows(np.array([2, 2, 0, 1, 0]), 3)
    array([0, 0, 1, 2, 1])
    """
    present, first = np.unique(labels, return_index=True)
    number = np.zeros(n_clusters, np.int64)
    number[present[np.argsort(first)]] = np.arange(len(present))
    return number[labels]


def _qualities(
    entries: Sequence[Entry], graphs: Graphs, n_jobs: int | None, progress: bool
) -> list[Clustering]:
    """Quality of every clustering; those with a cluster of outliers only where there is no other.

    A cluster of fewer than ``LEAST_ROWS`` rows is an outlier or two, and one with less than the
    share ``MIN_CLUSTER_SHARE`` a clump of noise.
    """
    members: dict[tuple[int, bytes], list[int]] = {}
    for place, entry in enumerate(entries):
        for K, labels in entry.labels.items():
            members.setdefault((K, labels.tobytes()), []).append(place)
    smallest = {
        key: graphs.smallest(entries[places[0]].labels[key[0]], key[0])
        for key, places in members.items()
    }
    least = max(LEAST_ROWS, MIN_CLUSTER_SHARE * len(graphs.distinct))
    enough = [key for key in members if smallest[key] >= least]
    kept = enough or [key for key in members if smallest[key] > 0.0]

    def separation(key: tuple[int, bytes]) -> Separation:
        return graphs.separation(entries[members[key][0]].labels[key[0]], key[0])

    separations = dict(
        zip(kept, map_with_progress(separation, kept, n_jobs, "clustering", progress), strict=True)
    )
    found = []
    for K in sorted({K for K, _ in kept}):
        places = [place for place, entry in enumerate(entries) if K in entry.labels]
        all_labels = [entries[place].labels[K] for place in places]
        agreed = agreements(all_labels, K, graphs.weights, AGREEING)
        for place, labels, agreement in zip(places, all_labels, agreed, strict=True):
            separated = separations.get((K, labels.tobytes()))
            if separated is not None and np.isfinite(separated.value):
                quality = separated.firm + AGREEMENT * float(agreement) + FINER * float(np.log(K))
                found.append(Clustering(place, K, quality, separated.value))
    return found


def without_ties(found: Sequence[Clustering], entries: Sequence[Entry]) -> list[Clustering]:
    """Return the clusterings without those that rounding errors decide, where others are sound.

    That is where clusters of a model without a tie are harder to divide than to cut off. Ties may
    be right all the same, as those of thin shapes that only narrow kernels see.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.search.competition import Entry, without_ties
    >>> from sparseksc.search.ranking import Clustering
    >>> entries = [Entry(np.array([1.0, 1.0, 0.4]), {}), Entry(np.array([0.9, 0.5, 0.4]), {})]
    >>> tied, other = Clustering(0, 2, 1.5, 2.0), Clustering(1, 2, 1.2, 0.5)
    >>> [one.model for one in without_ties([tied, other], entries)]
    [1]
    >>> [one.model for one in without_ties([tied, other._replace(separation=-0.5)], entries)]
    [0, 1]
    """
    tied = [entries[one.model].is_tied(one.n_clusters) for one in found]
    pairs = list(zip(found, tied, strict=True))
    sound = {one.n_clusters for one, is_tied in pairs if not is_tied and one.separation >= 0.0}
    return [one for one, is_tied in pairs if not (is_tied and one.n_clusters in sound)]


def _fit(recipe: Recipe, training: Sample, n_clusters: Numbers) -> ProjectionFit:
    """Fit as many components as there may be clusters: one more than they need, to see ties."""
    source = ArraySource(training.X, training.weights)
    pivots = choose_pivots(training, recipe)
    most = pivots.points.shape[0]
    if recipe.kernel.name == "landmarks":  # which see as many clusters
        most = max(most - 1, 1)
    if n_clusters is not None:
        return fit_projection(source, min(max(n_clusters), most), pivots, recipe)
    count = min(LARGEST_NUMBER, most)
    while True:
        fit = fit_projection(source, count, pivots, recipe)
        values = fit.spectrum.eigenvalues
        if fit.anchors is None or len(values) < count or values[-1] < LARGE_EIGENVALUE:
            return fit
        if 4 * count > most or most > MANY_CLUSTERS_RANK:
            return fit
        count = min(2 * count, most)


def proposed(eigenvalues: Floats) -> list[int]:
    """Return numbers of clusters to try: the usual ones, and those before the largest gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.search.competition import proposed
    >>> proposed(np.concatenate([np.full(29, 0.99), np.full(20, 0.1)]))[-2:]
    [4, 30]
    """
    missing = np.append(0.0, 1.0 - np.minimum(eigenvalues, 1.0)) + LEAST_GAP
    K = np.arange(2, len(missing))
    widest = np.argsort(-missing[K] / missing[K - 1], kind="stable")[:PROPOSED_NUMBERS]
    usual = [number for number in COMMON_NUMBERS if number <= len(eigenvalues) + 1]
    return sorted({*usual, *K[widest].tolist()})


def _surfaces(
    recipes: Sequence[Recipe],
    entries: Sequence[Entry],
    found: Sequence[Clustering],
    asked: Sequence[int],
) -> tuple[Surfaces, Floats]:
    """Return the qualities of all models as a table, and their eigenvalues."""
    columns = sorted({*asked, *(one.n_clusters for one in found)})
    quality = np.full((len(entries), len(columns)), np.nan)
    for one in found:
        quality[one.model, columns.index(one.n_clusters)] = one.quality
    width = max((len(entry.eigenvalues) for entry in entries), default=0)
    eigenvalues = np.full((len(entries), width), np.nan)
    for row, entry in enumerate(entries):
        eigenvalues[row, : len(entry.eigenvalues)] = entry.eigenvalues
    surfaces = Surfaces(
        [bandwidth_of(recipe) for recipe in recipes],
        columns,
        {"quality": quality},
        [recipe.kernel.name for recipe in recipes],
        [recipe.max_rank for recipe in recipes],
    )
    return surfaces, eigenvalues
