"""One round of a search: models that are fitted and evaluated on the same samples, and ranked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparseksc.core.criteria import Objective
from sparseksc.core.recipe import Recipe
from sparseksc.data.sampling import Sample
from sparseksc.execution.progress import map_with_progress
from sparseksc.search.constants import (
    CERTAIN_RATIO,
    CLEAR_RATIO,
    GAUSSIAN_SHARE,
    MIN_ENTRIES_FOR_THREADS,
    MIN_POINTS_FOR_THREADS,
    MIN_SEPARATED,
    MIN_SEPARATED_SHARE,
    SEPARATES_SHARE,
)
from sparseksc.search.evaluation import Evaluation, make_evaluator
from sparseksc.search.ranking import (
    SURFACES,
    RankedModel,
    Surfaces,
    rank_by_criterion,
    rank_by_separation,
)
from sparseksc.search.samples import Samples
from sparseksc.search.separation import count_separated


@dataclass(frozen=True)
class SearchRequest:
    """What a search is asked; see :func:`sparseksc.search.procedure.search`."""

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


class SearchRound:
    """Models that are fitted and evaluated on the same samples, and their ranking.

    Attributes
    ----------
    evaluations : dict of bandwidth to Evaluation
    ranking : list of RankedModel
        The best model for each number of clusters, best first.
    """

    def __init__(
        self,
        request: SearchRequest,
        samples: Samples,
        recipe: Recipe,
        near_best: float | None = None,
    ) -> None:
        self.request, self.samples, self.recipe = request, samples, recipe
        self._near_best = near_best
        self.evaluations: dict[Any, Evaluation] = {}
        self.ranking: list[RankedModel] = []
        self._evaluate = make_evaluator(samples, request.columns, recipe, request.objective)
        self._separated: dict[tuple[int, Any], float] = {}  # takes time: only of the best models

    def at(self, bandwidths: list[Any]) -> None:
        """Evaluate more bandwidths, and rank the models of all so far."""
        new = [h for h in dict.fromkeys(bandwidths) if h not in self.evaluations]
        # Small arrays keep the interpreter busy, and threads would only wait for each other.
        X = self.samples.training if self.samples.coordinates is None else self.samples.coordinates
        large = X.shape[0] > MIN_POINTS_FOR_THREADS or X.size > MIN_ENTRIES_FOR_THREADS
        n_jobs = self.recipe.n_jobs if large else 1
        found = map_with_progress(self._evaluate, new, n_jobs, "bandwidth", self.request.progress)
        self.evaluations.update(zip(new, found, strict=True))
        self.ranking = self._ranked()

    def again(self, recipe: Recipe, bandwidths: list[Any], count: int) -> None:
        """Evaluate by another recipe some bandwidths, and those of the ``count`` best models.

        Models of both recipes are compared, in the same graph, until the best have the new one.
        """
        self.recipe = recipe
        self._evaluate = make_evaluator(
            self.samples, self.request.columns, recipe, self.request.objective
        )
        done: set[Any] = set()
        while bandwidths:
            done.update(bandwidths)
            for h in bandwidths:
                del self.evaluations[h]
            self._separated = {
                model: value for model, value in self._separated.items() if model[1] not in done
            }
            self.at(bandwidths)
            best = dict.fromkeys(model.bandwidth for model in self.ranking[:count])
            bandwidths = [h for h in best if h not in done]

    def surfaces(self, before: dict[Any, Evaluation] | None = None) -> Surfaces:
        """Values of all models so far, and of those ``before`` at other bandwidths."""
        evaluations = {**(before or {}), **self.evaluations}
        order = sorted(evaluations) if self.request.refine else list(evaluations)
        values = {name: np.array([evaluations[h].values[name] for h in order]) for name in SURFACES}
        separation = self.samples.separation
        resolution = separation.graph.resolution if separation is not None else 0.0
        return Surfaces(order, self.request.columns, values, resolution)

    def _ranked(self) -> list[RankedModel]:
        surfaces, allowed = self.surfaces(), self.request.n_clusters
        if self.request.rule != "auto":
            return rank_by_criterion(surfaces, self.request.rule, allowed)

        def n_separated(row: int, column: int) -> float:
            return self._n_separated(surfaces.n_clusters[column], surfaces.bandwidths[row])

        ranking = rank_by_separation(surfaces, allowed, n_separated, near_best=self._near_best)
        if ranking or self.request.single_allowed:
            return ranking
        # All models have a cluster of outliers, but several clusters were asked for.
        return rank_by_separation(surfaces, allowed, n_separated, any_size=True)

    def _n_separated(self, n_clusters: int, bandwidth: Any) -> float:
        separation, model = self.samples.separation, (n_clusters, bandwidth)
        if separation is None:
            return 0.0
        if model not in self._separated:
            labels = self.evaluations[bandwidth].labels[n_clusters]
            self._separated[model] = count_separated(separation.graph, labels)
        return self._separated[model]

    def doubts(self) -> tuple[bool, str | None]:
        """Whether the data is rather a single cluster, and a sentence of doubt."""
        if not self.ranking:
            return True, "No bandwidth shows two clusters that are more than a few points."
        if self.request.rule != "auto" or len(self.request.n_clusters) < 2:
            return False, None
        best, coarsest = self.ranking[0], min(self.ranking, key=lambda model: model.n_clusters)
        separated = self._n_separated(best.n_clusters, best.bandwidth)
        ratio = max(model.conductance_ratio for model in self.ranking)
        unclear = ratio < CLEAR_RATIO and separated < best.n_clusters / 2
        # A single Gaussian is best cut into as few parts as possible, none of them separated.
        parts = best is coarsest and separated < MIN_SEPARATED
        uncertain = best.conductance_ratio < CERTAIN_RATIO
        separation = self.samples.separation
        if separation is not None and (parts or uncertain):
            cut, gaussian = coarsest.conductance, separation.gaussian or np.inf
            parts = parts and cut > GAUSSIAN_SHARE * gaussian
            if parts or (uncertain and cut > SEPARATES_SHARE * gaussian):
                return unclear or parts, (
                    f"The best cut through the data crosses {cut:.1%} of the edges between nearest "
                    f"neighbours, and a cut through a single Gaussian {gaussian:.1%}: the data "
                    "may well be one cluster."
                )
        if unclear:
            return False, (
                f"No number of clusters stands out: {best.n_clusters} clusters are hardly better "
                "separated than any other number of them."
            )
        if uncertain and separated < MIN_SEPARATED_SHARE * best.n_clusters:
            return False, (
                f"The {best.n_clusters} clusters are hardly easier to cut off than to divide: they "
                "may be parts of a longer shape."
            )
        return False, None

    def selection(self, sample: Sample) -> Sample | None:
        """Rows to select the pivots of the final model in: the same, where that is possible.

        It is the model that was evaluated then. Precomputed and sparse data have other rows here,
        and the user may ask for a larger selection sample.
        """
        size, dense = self.recipe.selection_size, isinstance(sample.X, np.ndarray)
        if not dense or self.recipe.kernel.name == "precomputed":
            return None
        n_training = self.samples.training.shape[0]
        complete = n_training + self.samples.n_isolated == np.count_nonzero(sample.weights)
        if complete or (size is not None and size <= n_training):
            return self.samples.sample
        return None

    @property
    def settled(self) -> bool:
        """Whether at least half of the clusters of the best model are separated."""
        if not self.ranking:
            return False
        best = self.ranking[0]
        return self._n_separated(best.n_clusters, best.bandwidth) >= best.n_clusters / 2
