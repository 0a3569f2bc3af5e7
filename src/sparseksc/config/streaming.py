r"""Clusters of a stream: which are born, which die, and how many there are now.

Where the number of clusters is open, it is chosen anew with every chunk, among those near the
present one: by how well its clusters are separated (:mod:`sparseksc.search.quality`), on rows of
the chunk and of those kept from before, in equal parts, so that a cluster that has just appeared
is seen. Another number has to be better by ``CLEAR_GAIN``, and by as much more than it was when the
present one was chosen: what another rule decided then, at the first chunk, is not questioned until
the data changes.

A cluster of which no more rows come is lost only where the earlier rows are forgotten. It has died
once it has been missing for so long that what was known of it counts half, and so many rows drawn
at random would have missed it with a probability of at most ``MISSED``; it is then said to have
died at the first chunk without it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from sparseksc._typing import Array, Integers
from sparseksc.config.planning import Plan
from sparseksc.config.settings import Settings
from sparseksc.core.clusters.alignment import align, realigned, shared_weight
from sparseksc.core.clusters.classes import MISSED
from sparseksc.core.incremental import LandmarkSummary, Reservoir, start_from
from sparseksc.core.model import SparseModel
from sparseksc.core.recipe import Recipe
from sparseksc.core.training import ProjectionFit, Training
from sparseksc.data.sampling import Sample
from sparseksc.data.source import Source
from sparseksc.data.sparse import stacked
from sparseksc.execution.blas import single_threaded_blas
from sparseksc.execution.notices import without_warnings
from sparseksc.search.constants import CLOUD
from sparseksc.search.quality import Graphs

#: Rows that numbers of clusters are compared on: so many of the chunk, and of those before.
COMPARED_ROWS = 500
#: Numbers of clusters that are compared: so many fewer and more than there are now.
FEWER, MORE = 2, 3
#: What another number of clusters has to gain in separation.
CLEAR_GAIN = 0.5
#: Least rows of a cluster that has appeared.
LEAST_NEW = 10
#: A cluster is missing in a chunk that has at most this share of the rows of it that were expected:
#: a few rows of other clusters may be taken for its own.
STRAY_SHARE = 0.01


@dataclass(frozen=True)
class Absence:
    """Since when no rows of a cluster have come.

    Attributes
    ----------
    chunk : int
        Number of the first chunk without it; 0 is the first of the stream.
    faded : float
        What a row before it counts now.
    missed : float
        Logarithm of the probability that rows drawn at random would have missed it since.
    """

    chunk: int
    faded: float = 1.0
    missed: float = 0.0

    @property
    def is_death(self) -> bool:
        """Whether the cluster has died."""
        return self.faded <= 0.5 and self.missed <= np.log(MISSED)


class Event(NamedTuple):
    """A cluster was ``kind`` ("born" or "died") at a chunk."""

    kind: str
    name: Any
    chunk: int


@dataclass(frozen=True)
class Watch:
    """What is known about the number of clusters of a stream, where that is open.

    Attributes
    ----------
    recipe : Recipe
        Of the model, whose neighbours are those of the graphs that separations are computed in.
    allowed : tuple of int or None
        Numbers of clusters to choose from; None for any.
    gains : dict of int to float
        What other numbers of clusters gained in separation when the present one was chosen.
    n_named : int
        Names given so far: they are not given again.
    absences : dict of name to Absence
        Of the clusters that are missing.
    """

    recipe: Recipe
    allowed: tuple[int, ...] | None
    gains: dict[int, float]
    n_named: int
    absences: dict[Any, Absence]

    def compare(self, rows: Array, memory: Reservoir, fit: ProjectionFit) -> dict[int, Candidate]:
        """Return models of numbers of clusters near the present one, and how well they separate."""
        K, available = memory.n_clusters, len(fit.spectrum.eigenvalues) + 1
        numbers = [n for n in range(max(K - FEWER, 1), min(K + MORE, available) + 1)]
        if self.allowed is not None:
            numbers = [n for n in numbers if n in self.allowed]
        sample = Sample(np.arange(rows.shape[0]), rows, np.ones(rows.shape[0]))
        graphs = Graphs.of(sample, self.recipe)
        found = dict[int, Candidate]()
        for number in numbers:
            with without_warnings():
                model = memory.model(fit, number)
            labels = model.labels(rows, memory.recipe.n_jobs)
            if model.encoding.n_clusters == number:
                found[number] = Candidate(model, labels, _separation(graphs, labels, number))
        return found

    def choose(self, candidates: dict[int, Candidate], K: int) -> int:
        """Return the number of clusters that is clearly better than the present one, or that."""
        if K not in candidates:
            return K
        here = candidates[K]
        best, most = K, 0.0
        for number, other in candidates.items():
            if number == K or (number > K and other.least_of_new(here) < LEAST_NEW):
                continue
            gain = other.separation - here.separation
            gain -= max(self.gains.get(number, 0.0), 0.0) + CLEAR_GAIN
            if gain > most:
                best, most = number, gain
        return best


class Candidate(NamedTuple):
    """A model with another number of clusters: labels of the rows compared, and separation."""

    model: SparseModel
    labels: Integers
    separation: float

    def least_of_new(self, old: Candidate) -> int:
        """Rows of the smallest cluster that is none of the old ones."""
        counts = old.model.encoding.n_clusters, self.model.encoding.n_clusters
        table = shared_weight(old.labels, self.labels, np.ones(len(self.labels)), *counts)
        matched = linear_sum_assignment(table, maximize=True)[1]
        return int(np.delete(table.sum(axis=0), matched).min(initial=np.inf))


def _separation(graphs: Graphs, labels: Integers, n_clusters: int) -> float:
    """Separation of a clustering; that of one cluster is that of the best division of a cloud."""
    if n_clusters == 1:
        return CLOUD
    if graphs.smallest(labels, n_clusters) == 0:
        return -np.inf
    return graphs.separation(labels, n_clusters).value


class Step(NamedTuple):
    """What a chunk has changed."""

    stream: Stream
    training: Training
    events: list[Event]


@dataclass(frozen=True)
class Stream:
    """What is kept between the chunks of ``partial_fit``.

    Attributes
    ----------
    memory : Reservoir or LandmarkSummary
    purpose : dict
        The parameters that may not change.
    n_chunks : int
    watch : Watch or None
        None where the number of clusters is given.
    """

    memory: Reservoir | LandmarkSummary
    purpose: dict[str, Any]
    n_chunks: int
    watch: Watch | None = None

    @classmethod
    @single_threaded_blas()
    def start(cls, chunk: Source, plan: Plan, settings: Settings) -> Step:
        """Begin with the first chunk."""
        watched = len(settings.n_clusters) > 1 and settings.kind is not None
        memory = start_from(chunk, plan.n_clusters, plan.recipe, keep_rows=watched)
        training = memory.train()
        watch = None
        if watched and isinstance(memory, Reservoir):
            allowed = None if settings.n_clusters_is_auto else tuple(settings.n_clusters)
            watch = Watch(plan.recipe, allowed, {}, training.model.encoding.n_clusters, {})
            rows = chunk.sample(2 * COMPARED_ROWS, plan.recipe.seed).X
            watch = replace(watch, gains=_gains(watch, rows, memory))
        return Step(cls(memory, settings.purpose, 1, watch), training, [])

    @single_threaded_blas()
    def update(self, chunk: Source, previous: SparseModel, forgetting: float) -> Step:
        """Add a chunk to what ``previous`` was trained on."""
        memory = self.memory.update(chunk, forgetting)
        if self.watch is None or not isinstance(memory, Reservoir):
            training = memory.train(previous)
            return Step(replace(self, memory=memory, n_chunks=self.n_chunks + 1), training, [])
        assert isinstance(self.memory, Reservoir)
        watch, seed = self.watch, memory.recipe.seed
        before = Sample(self.memory.rows, self.memory.X, self.memory.weights)
        rows = stacked(before.first(COMPARED_ROWS, seed).X, chunk.sample(COMPARED_ROWS, seed).X)
        fit = memory.project(memory.n_clusters + MORE - 1)
        candidates = watch.compare(rows, memory, fit)
        number = watch.choose(candidates, memory.n_clusters)
        if number != memory.n_clusters:
            memory = replace(memory, n_clusters=number)
            gains = {
                n: one.separation - candidates[number].separation for n, one in candidates.items()
            }
            watch = replace(watch, gains=gains)
        training = _named(memory, memory.train(fit=fit), previous, watch.n_named)
        names = names_of(previous), names_of(training.model)
        events = [Event("born", name, self.n_chunks) for name in names[1] if name not in names[0]]
        events += [Event("died", name, self.n_chunks) for name in names[0] if name not in names[1]]
        watch = replace(watch, n_named=max(watch.n_named, *(name + 1 for name in names[1])))
        stream = Stream(memory, self.purpose, self.n_chunks + 1, watch)
        return stream._without_missing(Step(stream, training, events), chunk, rows, forgetting)

    def _without_missing(self, step: Step, chunk: Source, rows: Array, forgetting: float) -> Step:
        """Lose the clusters that have been missing for long."""
        watch, memory, training = self.watch, self.memory, step.training
        assert watch is not None and isinstance(memory, Reservoir)
        model, names = training.model, names_of(training.model)
        K, n_jobs = len(names), memory.recipe.n_jobs
        sample = chunk.sample(None, 0)
        counts = np.bincount(model.labels(sample.X, n_jobs), minlength=K)
        shares = training.cluster_sizes / training.cluster_sizes.sum()
        absences = dict[Any, Absence]()
        for name, count, share in zip(names, counts, shares, strict=True):
            if count <= STRAY_SHARE * share * len(sample.rows) and share < 1.0:
                last = watch.absences.get(name, Absence(self.n_chunks - 1))
                missed = last.missed + len(sample.rows) * np.log1p(-share)
                absences[name] = Absence(last.chunk, forgetting * last.faded, missed)
        dead = [k for k, name in enumerate(names) if name in absences and absences[name].is_death]
        if not dead:
            watch = replace(watch, absences=absences)
            return step._replace(stream=replace(self, watch=watch))
        events = [*step.events, *(Event("died", names[k], absences[names[k]].chunk) for k in dead)]
        left_out = np.isin(model.labels(memory.X, n_jobs), dead)
        memory = replace(memory.without(left_out), n_clusters=K - len(dead))
        later = _named(memory, memory.train(), model, watch.n_named)
        rows = rows[np.flatnonzero(~np.isin(model.labels(rows, n_jobs), dead))]
        absences = {name: one for name, one in absences.items() if name in names_of(later.model)}
        watch = replace(watch, absences=absences, gains=_gains(watch, rows, memory))
        return Step(replace(self, memory=memory, watch=watch), later, events)


def _gains(watch: Watch, rows: Array, memory: Reservoir) -> dict[int, float]:
    """Return what numbers of clusters near the present one would gain in separation."""
    found = watch.compare(rows, memory, memory.project(memory.n_clusters + MORE - 1))
    here = found.get(memory.n_clusters)
    return {} if here is None else {n: one.separation - here.separation for n, one in found.items()}


def names_of(model: SparseModel) -> list[Any]:
    """Names of the clusters of a model."""
    K = model.encoding.n_clusters
    return list(range(K)) if model.classes is None else model.classes.tolist()


def _named(memory: Reservoir, training: Training, previous: SparseModel, taken: int) -> Training:
    """Give the clusters of a training the names of those before it."""
    table = memory.shared(previous, training.model, reached=True)
    return realigned(training, align(table, np.array(names_of(previous)), taken=taken))


def extended_history(
    history: list[dict[str, Any]], record: dict[str, Any], events: list[Event]
) -> list[dict[str, Any]]:
    """Add the record of a chunk, and enter births and deaths at the chunks where they were."""
    records = [*history, {**record, "born": [], "died": []}]
    for kind, name, chunk in events:
        records[chunk] = {**records[chunk], kind: [*records[chunk][kind], name]}
    return records
