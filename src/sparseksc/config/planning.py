"""Planning: from settings and data to a recipe, with a search where something is left open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sparseksc._typing import Array, Floats
from sparseksc.config.checks import check_distinct_rows
from sparseksc.config.labels import KnownClasses, labelled_rows
from sparseksc.config.low_density import plan_with_noise, plan_without_bridges
from sparseksc.config.memory import estimate_memory
from sparseksc.config.settings import Settings
from sparseksc.core.clusters.availability import BandwidthWarning
from sparseksc.core.clusters.constraints import PairedRows
from sparseksc.core.density import Density
from sparseksc.core.model import more_names
from sparseksc.core.recipe import ENCODING_SIZE, Recipe
from sparseksc.core.training import Labelled, Training, train
from sparseksc.data.fingerprint import Fingerprint, fingerprint_of
from sparseksc.data.sampling import Sample
from sparseksc.data.source import ArraySource, MaskedSource, Source
from sparseksc.execution.memory import release_memory
from sparseksc.execution.notices import has_warned, warn
from sparseksc.search.automatic import search
from sparseksc.search.constants import (
    FEW_FEATURES,
    GRAPH_SIZE,
    ONE_FEATURE_SHARE,
    SAMPLE_SIZE,
    SECOND_LOOK_LEAST,
    SECOND_LOOK_TIMES,
    TRAINING_SIZE,
    VALIDATION_SIZE,
)
from sparseksc.search.grid import search_grid
from sparseksc.search.result import DoubtWarning, TuningResult


@dataclass(frozen=True)
class Plan:
    """What to train, and on which samples its prototypes and its pivots are found.

    After a search, ``selection`` are the rows in which the pivots of the best model were
    selected; otherwise it is None, and they are selected in ``sample``. Rows below the floor of
    ``sparse`` are left out of the training, and those below the floor of ``noise`` are noise; both
    are None where nothing is. Bridges between clusters are sparse, and no noise. ``densities`` and
    ``total_weight`` are those of all rows, where they are in memory. ``labelled`` rows have one of
    the ``classes``, and ``pairs`` of rows are kept together, or apart. ``doubts`` are sentences.
    """

    recipe: Recipe
    n_clusters: int
    sample: Sample
    tuning: TuningResult | None = None
    selection: Sample | None = None
    sparse: Density | None = None
    noise: Density | None = None
    densities: Floats | None = None
    total_weight: float | None = None
    labelled: Labelled | None = None
    classes: Any = None
    pairs: PairedRows | None = None
    doubts: tuple[str, ...] = ()

    @property
    def purpose(self) -> Fingerprint:
        """Everything that decides how rows are summed, to tell one plan from another."""
        samples = self.sample, self.selection  # in which the pivots are selected
        parts: tuple[Any, ...] = self.n_clusters, self.recipe.without_threads(), samples
        if self.sparse is not None:
            parts = *parts, self.sparse, self.noise
        if self.labelled is not None:
            rows, more = self.labelled
            parts = *parts, rows.X, rows.codes, more
        if self.pairs is not None:
            parts = *parts, self.pairs.X, self.pairs.must, self.pairs.cannot
        return fingerprint_of(parts)

    def train(self, source: Source) -> Training:
        """Train on all rows of a source but those that are left out."""
        training = self._train(source)
        if self.labelled is None:
            return training
        added = len(training.cluster_sizes) - len(self.classes)
        return training.with_names(more_names(self.classes, added), source)

    def _train(self, source: Source) -> Training:
        rows = source if self.sparse is None else self._without(self.sparse, source)
        counted = source if self.noise is None else self._without(self.noise, source)
        training = train(
            rows,
            self.n_clusters,
            self.recipe,
            self.sample,
            self.selection,
            counted,
            self.labelled,
            self.pairs,
        )
        if self.noise is None:
            return training
        marks = None if self.densities is None else self.densities < self.noise.floor
        total = self.total_weight or training.n_samples
        return training.with_noise(self.noise, source, marks, total)

    def warn_of_doubts(self) -> None:
        """Warn once of all doubts, unless a bandwidth that explains them was warned of."""
        if self.doubts and not has_warned(BandwidthWarning):
            warn(" ".join(self.doubts), DoubtWarning)

    def with_classes(self, classes: KnownClasses, source: Source, settings: Settings) -> Plan:
        """Return the plan to find the classes of some rows, and clusters beside them."""
        n_clusters = settings.n_clusters[0] if len(settings.n_clusters) == 1 else None
        rows = labelled_rows(classes, source, n_clusters, settings.seed)
        return replace(self, labelled=rows, classes=classes.names)

    def _without(self, density: Density, source: Source) -> Source:
        """Take the weight from rows below the floor of a density."""
        if isinstance(source, ArraySource) and self.densities is not None:
            kept = np.where(self.densities < density.floor, 0.0, source.weights)
            return ArraySource(source.X, kept, source.weight_unit)
        return MaskedSource(source, density.chunk_is_noise)


def make_plan(
    settings: Settings,
    source: Source,
    *,
    always_search: bool = False,
    every_row: bool = False,
    validation: int | Array | None = None,
    progress: bool = False,
) -> Plan:
    """Look at the data, and search for what the user has left open.

    ``always_search`` evaluates a single candidate, too. With ``every_row``, no bridges between
    clusters are left out of the training. ``validation`` and ``progress`` are those
    of :func:`sparseksc.tune`.
    """
    left_open = always_search or settings.bandwidth_is_auto or len(settings.n_clusters) > 1
    sizes = TRAINING_SIZE, GRAPH_SIZE if settings.rule == "auto" else VALIDATION_SIZE
    if isinstance(validation, int):
        sizes = TRAINING_SIZE, validation
    if source.n_rows is not None:  # refuse what does not fit before any work
        recipe = settings.recipe(None, source.n_features)
        threads_for(recipe, settings, source, sizes if left_open else None)
    size = settings.selection_size
    if size is not None:
        size = max(TRAINING_SIZE + VALIDATION_SIZE, ENCODING_SIZE, size)
        if source.n_features <= FEW_FEATURES:
            size = max(size, SECOND_LOOK_TIMES * (TRAINING_SIZE + GRAPH_SIZE))
    # All rows that are in memory, or a sample that is drawn in one pass.
    sample = source.sample_for_search(size, settings.seed)
    if not source.in_memory:  # or it was checked at the door
        settings.check_rows(sample.X)

    doubts = [settings.doubt_of_rows(sample.X, source.feature_names)]
    if settings.depends_on_scales:
        doubts.append(_doubt_of_one_feature(sample, source.feature_names, settings.seed))
    plan_for = partial(
        _plan_for,
        settings=settings,
        source=source,
        sizes=sizes,
        always_search=always_search,
        validation=validation,
        progress=progress,
    )
    if settings.noise is not None:
        plan = plan_with_noise(settings, source, sample, plan_for)
    elif every_row or validation is not None:
        plan = plan_for(sample)
    else:
        plan = plan_without_bridges(settings, source, sample, plan_for)
    if plan.tuning is not None:
        doubts.append(plan.tuning.doubt or "")
    plan = replace(plan, doubts=tuple(doubt for doubt in doubts if doubt))
    if source.in_memory:
        recipe = plan.recipe
        rows = source if plan.sparse is None else plan._without(plan.sparse, source)
        return replace(plan, sample=rows.sample(recipe.sample_size, recipe.seed))
    return plan


def _doubt_of_one_feature(sample: Sample, names: list[str] | None, seed: int) -> str:
    """Say that one feature makes up nearly all of the distances between ordinary rows."""
    X = sample.first(SAMPLE_SIZE, seed).X
    if not isinstance(X, np.ndarray):
        return ""
    X = X / (np.abs(X).max() or 1.0)
    low, high = np.quantile(X, [0.25, 0.75], axis=0)
    if (high > low).sum() < 2:
        return ""
    # Far rows enlarge the one, and clusters that are far from each other the other.
    spreads = np.array([np.std(X, axis=0), high - low])
    shares = (spreads**2 / (spreads**2).sum(axis=1, keepdims=True)).min(axis=0)
    place = int(np.argmax(shares))
    if shares[place] < ONE_FEATURE_SHARE:
        return ""
    which = f"The feature {names[place]!r}" if names else f"Feature {place}"
    return (
        f"{which} makes up {100.0 * shares[place]:.4g} % of all squared distances, and "
        "the others hardly count. If their units differ, use scale=True."
    )


def _plan_for(
    sample: Sample,
    *,
    settings: Settings,
    source: Source,
    sizes: tuple[int, int],
    always_search: bool,
    validation: int | Array | None,
    progress: bool,
    second_look: bool = True,
) -> Plan:
    """Search in some rows for what the user has left open."""
    left_open = always_search or settings.bandwidth_is_auto or len(settings.n_clusters) > 1
    least = 1 if settings.n_clusters_is_auto else min(settings.n_clusters)
    counted = sample.X if sample.weights.all() else sample.X[sample.weights > 0]
    check_distinct_rows(counted, least)
    bandwidths = settings.bandwidths(sample.X, sample.weights, sample.rows)
    recipe = settings.recipe(bandwidths[0], source.n_features)
    recipe = replace(recipe, n_jobs=threads_for(recipe, settings, source))
    plan = Plan(recipe, settings.n_clusters[0], sample)
    several = len(settings.n_clusters) * len(bandwidths) > 1
    if not (always_search or settings.competes or several):
        return plan
    threads = threads_for(recipe, settings, source, sizes if left_open else None)
    progress = progress or settings.verbose
    if settings.rule != "auto":
        outcome = search_grid(
            sample,
            settings.n_clusters,
            bandwidths,
            replace(recipe, n_jobs=threads),
            settings.objective,
            single_allowed=settings.n_clusters_is_auto,
            refine=settings.bandwidth_is_auto and len(bandwidths) > 1,
            validation=validation,
            progress=progress,
        )
    else:
        models = settings.models(bandwidths, source.n_features)
        finer = []
        if validation is None and second_look:
            finer = _finer_models(settings, models, source, int(np.count_nonzero(sample.weights)))
        outcome = search(
            sample,
            None if settings.n_clusters_is_auto else settings.n_clusters,
            [replace(one, n_jobs=threads) for one in models],
            finer,
            validation=validation,
            progress=progress,
        )
    tuning, best, selection = outcome
    recipe = replace(best, n_jobs=threads_for(best, settings, source))
    release_memory()
    return Plan(recipe, tuning.best_n_clusters, sample, tuning, selection)


def _finer_models(
    settings: Settings, models: list[Recipe], source: Source, n_rows: int
) -> list[Recipe]:
    """Return models for a second look: the narrower ones, with more pivots.

    None where they would find nothing more, or need too much memory.
    """
    least = SECOND_LOOK_LEAST * (TRAINING_SIZE + GRAPH_SIZE)
    if n_rows < least or source.n_features > FEW_FEATURES or source.n_entries is not None:
        return []
    wide = [one for one in models if one.kernel.name in ("rbf", "laplacian")]
    if not settings.bandwidth_is_auto or not wide or wide[0].two_bandwidths:
        return []
    narrow = wide[: (len(wide) + 1) // 2]
    sizes = SECOND_LOOK_TIMES * TRAINING_SIZE, SECOND_LOOK_TIMES * GRAPH_SIZE
    finer = [settings.finer(one) for one in narrow]
    try:
        return [replace(one, n_jobs=threads_for(one, settings, source, sizes)) for one in finer]
    except MemoryError:
        return []


def threads_for(
    recipe: Recipe,
    settings: Settings,
    source: Source,
    search_sizes: tuple[int, int] | None = None,
) -> int | None:
    """As many threads as were asked for, or as fit into the memory.

    ``search_sizes`` are the points that the models of a search are trained and evaluated on, where
    it is for one.
    """
    if not source.runs_here:
        return settings.n_jobs  # a cluster looks after its memory
    n_rows = 10**9 if source.n_rows is None else source.n_rows
    estimate = estimate_memory(
        n_rows,
        source.n_features,
        max_rank=recipe.max_rank,
        n_clusters=max(settings.n_clusters),
        selection_size=recipe.selection_size or n_rows,
        n_jobs=settings.n_jobs,
        streamed=not source.in_memory,
        search=search_sizes is not None,
        search_sizes=search_sizes or (TRAINING_SIZE, VALIDATION_SIZE),
        itemsize=source.dtype.itemsize,
        n_entries=source.n_entries,
        c_contiguous=source.c_contiguous,
        block_rows=source.block_rows,
        kernel=recipe.kernel.name,
    )
    return estimate.threads_within(settings.memory_limit)
