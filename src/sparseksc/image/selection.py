"""The number of segments and the bandwidth: many models are fitted, and one is taken."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseksc.config.settings import Settings
from sparseksc.core.clusters.availability import BandwidthWarning
from sparseksc.core.encoding import ENCODINGS
from sparseksc.core.recipe import Recipe
from sparseksc.core.training import choose_pivots, fit_projection
from sparseksc.data.source import ArraySource
from sparseksc.estimator import KernelSpectralClustering
from sparseksc.execution.progress import progress_bar
from sparseksc.execution.threads import ordered_map
from sparseksc.image.boundaries import boundaries
from sparseksc.image.cleanup import remove_specks
from sparseksc.image.evaluation import Edges
from sparseksc.image.features import DistinctRows
from sparseksc.image.palette import Bytes

#: Numbers of segments that "auto" looks at.
AUTO_SEGMENTS = range(2, 6)
#: Bandwidths that "auto" looks at; the distance of two histograms is at most 1.
AUTO_BANDWIDTHS = (0.01, 0.02, 0.04, 0.07, 0.12, 0.2, 0.35, 1.0)
#: How pivots are chosen: by the residual alone they would be odd histograms of few pixels.
PIVOTING = "weighted"
#: Different histograms that pivots are looked for in; those of many pixels are nearly always
#: among them, whatever the seed.
SELECTION_SIZE = 5_000
#: A segment below this share of the pixels is not a find.
LEAST_SHARE = 0.003
#: Specks below this share of the pixels are left out of the comparison.
SPECK_SHARE = 0.0005


def choose(
    rgb: Bytes,
    pixels: DistinctRows,
    n_segments: list[int] | None,
    bandwidths: list[float] | None,
    *,
    speck_width: int,
    max_rank: int,
    random_state: Any,
    n_jobs: int | None,
    progress: bool,
) -> KernelSpectralClustering:
    """Fit the best model (:mod:`sparseksc.image.evaluation`); None stands for "auto"."""
    distinct = len(pixels.rows)
    candidates = [K for K in n_segments or AUTO_SEGMENTS if K <= distinct]
    if n_segments is not None and not candidates:
        raise ValueError(
            f"{n_segments[0]} segments asked for, but the image has {distinct} different "
            f"neighbourhood{'s' * (distinct != 1)}."
        )
    tried = list(bandwidths or AUTO_BANDWIDTHS)
    model = KernelSpectralClustering(
        kernel="chi2",
        max_rank=max(max_rank, *candidates, 1),
        pivoting=PIVOTING,
        selection_size=SELECTION_SIZE,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    best = (1 if n_segments is None else candidates[0], tried[-1])
    if candidates != [1] and len(candidates) * len(tried) > 1:
        search = _Search(rgb, pixels, candidates, speck_width, model)
        best = search.best(tried, n_jobs, progress, n_segments is None) or best
    model.set_params(n_clusters=best[0], bandwidth=best[1])
    with warnings.catch_warnings():
        if bandwidths is None:
            # A narrow kernel that leaves many histograms alone was chosen for its boundaries.
            warnings.simplefilter("ignore", BandwidthWarning)
        # The estimator refuses a single row.
        twice = [0, 0] if distinct == 1 else slice(None)
        return model.fit(pixels.rows[twice], sample_weight=pixels.weights[twice])


@dataclass(frozen=True)
class _Candidate:
    n_segments: int
    bandwidth: float
    has_tiny_segment: bool
    support: float


class _Search:
    def __init__(
        self,
        rgb: Bytes,
        pixels: DistinctRows,
        candidates: list[int],
        speck_width: int,
        model: KernelSpectralClustering,
    ) -> None:
        self.edges = Edges(rgb)
        self.shape = rgb.shape[:2]
        self.pixels = pixels
        self.candidates = candidates
        self.speck_width = speck_width
        self.source = ArraySource(pixels.rows, pixels.weights)
        params = model.set_params(n_clusters=max(candidates), bandwidth=1.0).get_params(deep=False)
        self.settings = Settings(params)

    def best(
        self, bandwidths: list[float], n_jobs: int | None, progress: bool, strict: bool
    ) -> tuple[int, float] | None:
        """Return the best number of segments and bandwidth; None where there is no model.

        Models with a tiny segment are taken only where there are no others; with ``strict``,
        not even then.
        """
        bar = progress_bar(len(bandwidths), "bandwidths", "bandwidth", shown=progress)
        candidates = []
        for found in ordered_map(self._candidates, bandwidths, n_jobs):
            candidates += found
            bar.update()
        bar.close()
        fine = [one for one in candidates if not one.has_tiny_segment]
        if not fine and not strict:
            fine = candidates
        if not fine:
            return None
        winner = max(fine, key=lambda one: one.support)
        return winner.n_segments, winner.bandwidth

    def _candidates(self, bandwidth: float) -> list[_Candidate]:
        recipe = self.settings.recipe(bandwidth, self.pixels.rows.shape[1])
        recipe = replace(recipe, n_jobs=1)
        found = []
        for K, labels in self._models(recipe):
            sizes = np.bincount(labels, self.pixels.weights, minlength=K)
            tiny = bool(sizes.min() < LEAST_SHARE * sizes.sum())
            support = self.edges.support(boundaries(self._cleaned(labels)))
            found.append(_Candidate(K, bandwidth, tiny, support))
        return found

    def _models(self, recipe: Recipe) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Labels of the different histograms for each number of segments."""
        sample = self.source.sample(recipe.sample_size, recipe.seed)
        pivots = choose_pivots(sample, recipe)
        fitted = fit_projection(self.source, max(self.candidates) - 1, pivots, recipe)
        scores, degrees = fitted.projection.scores_and_degrees(self.source.X, 1)
        seen, weights = scores[sample.rows], sample.weights
        shares = fitted.degrees.shares_of(degrees[sample.rows], weights)
        for K in self.candidates:
            if not 1 < K <= len(fitted.spectrum.eigenvalues) + 1:
                continue
            try:
                part = fitted.spectrum.leading(K - 1)
                encoding = ENCODINGS[recipe.encoding](part, seen[:, : K - 1], weights, shares)
            except ValueError:  # this bandwidth does not show as many
                continue
            yield K, encoding.labels(scores[:, : K - 1])

    def _cleaned(self, labels: NDArray[np.intp]) -> NDArray[np.uint8]:
        drawn = labels.astype(np.uint8)[self.pixels.inverse].reshape(self.shape)
        return remove_specks(drawn, int(SPECK_SHARE * drawn.size), self.speck_width)
