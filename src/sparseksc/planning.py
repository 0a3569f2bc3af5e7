"""Planning: from settings and data to a recipe, with a search where something is left open."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparseksc.memory import threads_within
from sparseksc.parameters import check_distinct_rows
from sparseksc.samples import GRAPH_SIZE, TRAINING_SIZE, VALIDATION_SIZE
from sparseksc.search import CLOSER_FEATURES, CLOSER_TIMES, Found, search
from sparseksc.settings import Settings
from sparseksc.sources import ArraySource, Sample, Source, Stream
from sparseksc.training import ENCODING_SIZE, Recipe, Training, train
from sparseksc.tuning import TuningResult


@dataclass(frozen=True)
class Plan:
    """What to train, and on which samples its prototypes and its pivots are found.

    After a search, ``selection`` are the rows in which the pivots of the chosen model were looked
    for; otherwise it is None, and they are looked for in ``sample``.
    """

    recipe: Recipe
    n_clusters: int
    sample: Sample
    tuning: TuningResult | None
    selection: Sample | None

    def train(self, source: Source) -> Training:
        """Train on all rows of the source."""
        return train(source, self.n_clusters, self.recipe, self.sample, self.selection)

    @property
    def purpose(self) -> str:
        """Everything that decides the result, to tell one plan from another."""
        rows = b"" if self.selection is None else self.selection.rows.tobytes()
        digest = hashlib.sha256(rows).hexdigest()
        return f"{self.n_clusters} {self.recipe.without_threads()} {digest}"


def make_plan(settings: Settings, source: Source) -> Plan:
    """Look at the data, and search for what the user has left open."""
    sample = look_closer(settings, source)
    least = 1 if settings.n_clusters_is_auto else min(settings.n_clusters)
    counted = sample.X if sample.weights.all() else sample.X[sample.weights > 0]
    check_distinct_rows(counted, least)
    settings.check_rows(sample.X)
    bandwidths = settings.bandwidths(sample.X, sample.weights, sample.rows)
    recipe = settings.recipe(bandwidths[0], source.n_features, settings.n_jobs)
    recipe = replace(recipe, n_jobs=threads_for(recipe, settings, source))
    n_clusters, tuning, selection = settings.n_clusters[0], None, None
    if len(settings.n_clusters) * len(bandwidths) > 1:
        closer = closer_recipe(recipe, settings, source)
        tuning, recipe, selection = search_sample(settings, sample, bandwidths, recipe, closer)
        n_clusters = tuning.best_n_clusters
    if isinstance(source, ArraySource):
        sample = source.sample(recipe.sample_size, recipe.seed)
    return Plan(recipe, n_clusters, sample, tuning, selection)


def look_closer(settings: Settings, source: Source) -> Sample:
    """Rows to search on: all that are in memory, or a sample that is drawn in one pass."""
    if isinstance(source, ArraySource):
        return Sample(np.arange(source.X.shape[0]), source.X, source.weights)
    if settings.selection_size is None:
        return source.sample(None, settings.seed)
    size = max(TRAINING_SIZE + VALIDATION_SIZE, ENCODING_SIZE, settings.selection_size)
    if source.n_features <= CLOSER_FEATURES:
        size = max(size, CLOSER_TIMES * (TRAINING_SIZE + GRAPH_SIZE))
    return source.sample(size, settings.seed)


def search_sample(
    settings: Settings,
    sample: Sample,
    bandwidths: list[Any],
    recipe: Recipe,
    closer: Recipe | None,
    validation: Any = None,
    progress: bool = False,
) -> Found:
    """Compare all candidates on a sample."""
    return search(
        sample,
        settings.n_clusters,
        bandwidths,
        recipe,
        settings.objective,
        closer=closer,
        rule=settings.rule,
        single_allowed=settings.n_clusters_is_auto,
        refine=settings.bandwidth_is_auto and len(bandwidths) > 1,
        validation=validation,
        progress=progress or settings.verbose,
    )


def closer_recipe(recipe: Recipe, settings: Settings, source: Source) -> Recipe | None:
    """How to train for a closer look; None where its pivots do not fit into the memory."""
    closer = settings.closer(recipe)
    try:
        return replace(closer, n_jobs=threads_for(closer, settings, source, at_once=True))
    except MemoryError:
        return None


def threads_for(
    recipe: Recipe, settings: Settings, source: Source, *, at_once: bool = False
) -> int | None:
    """As many threads as were asked for, or as fit into the memory.

    ``at_once`` says that each of them selects pivots, as in a search.
    """
    if not isinstance(source, ArraySource | Stream):
        return settings.n_jobs  # a cluster looks after its memory
    streamed = isinstance(source, Stream)
    n_rows = source.n_rows if isinstance(source, Stream) else source.X.shape[0]
    n_rows = 10**9 if n_rows is None else n_rows
    return threads_within(
        settings.memory_limit,
        at_once=at_once,
        n_rows=n_rows,
        n_features=source.n_features,
        max_rank=recipe.max_rank,
        n_clusters=max(settings.n_clusters),
        selection_size=recipe.selection_size or n_rows,
        n_jobs=settings.n_jobs,
        streamed=streamed,
    )
