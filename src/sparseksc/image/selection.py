"""Segments of colour histograms: many models are fitted, and one is taken.

The paper's features. The number of segments and the bandwidth are those whose boundaries follow the
edges of the image best (:mod:`sparseksc.image.evaluation`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseksc.config.checks import check_bandwidth
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
from sparseksc.image.features import DistinctRows, PixelFeatures, distinct_rows
from sparseksc.image.histograms import check_window
from sparseksc.image.palette import Bytes, minimum_variance_palette, quantise
from sparseksc.image.pixels import reduced, reduction

#: Images of up to about this many pixels are used as they are; larger ones are trained on a reduced
#: copy of this size, and windows grow with the image.
TRAINING_PIXELS = 400_000
#: Pixels that are labelled together.
BAND_PIXELS = 100_000
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


@dataclass(frozen=True)
class HistogramSegments:
    """Clusters of the histograms of the pixels.

    Attributes
    ----------
    labels : array of shape (height, width), uint8
        Cluster of each pixel.
    model : KernelSpectralClustering
    palette : array of shape (n_colours, 3), uint8
    windows : tuple of int
        In pixels of the image, also where the model was trained on a reduced copy.
    """

    labels: NDArray[np.uint8]
    model: KernelSpectralClustering
    palette: Bytes
    windows: tuple[int, ...]


def histogram_segments(
    rgb: Bytes,
    n_segments: list[int] | None,
    bandwidths: list[float] | None,
    *,
    levels: int,
    windows: tuple[int, ...],
    dither: bool,
    max_rank: int,
    random_state: Any,
    n_jobs: int | None,
    progress: bool,
) -> HistogramSegments:
    """Cluster the histograms of all pixels; None stands for "auto"."""
    scale = reduction(rgb.shape[:2], TRAINING_PIXELS)
    small = reduced(rgb, scale)
    palette = minimum_variance_palette(small, levels)
    features = PixelFeatures(quantise(small, palette, dither=dither), levels, windows)
    pixels = distinct_rows(features.band(0, len(small)))
    model = choose(
        small,
        pixels,
        n_segments,
        bandwidths,
        speck_width=max(windows),
        max_rank=max_rank,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    )
    if scale == 1:
        labels = model.labels_.astype(np.uint8)[pixels.inverse].reshape(rgb.shape[:2])
        return HistogramSegments(labels, model, palette, windows)
    wide = tuple(scale * size // 2 * 2 + 1 for size in windows)
    features = PixelFeatures(quantise(rgb, palette, dither=dither), levels, wide)
    labels = labels_in_bands(model, features, n_jobs, progress)
    return HistogramSegments(labels, model, palette, wide)


def labels_in_bands(
    model: KernelSpectralClustering, features: PixelFeatures, n_jobs: int | None, progress: bool
) -> NDArray[np.uint8]:
    """Label all pixels, in bands of rows."""
    height, width = features.indices.shape
    labels = np.empty((height, width), dtype=np.uint8)
    step = max(1, BAND_PIXELS // width)
    starts = range(0, height, step)
    fitted = model.model_

    def work(first: int) -> NDArray[np.uint8]:
        band = features.band(first, min(first + step, height))
        return fitted.labels(band, 1).astype(np.uint8).reshape(-1, width)

    bar = progress_bar(len(starts), "labels", "band", shown=progress)
    for first, band in zip(starts, ordered_map(work, starts, n_jobs), strict=True):
        labels[first : first + len(band)] = band
        bar.update()
    bar.close()
    return labels


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


def check_bandwidths(value: Any) -> list[float] | None:
    """Bandwidths to look at; None for "auto"."""
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(
                f"bandwidth must be a number, a list of them or 'auto', got {value!r}."
            )
        return None
    several = isinstance(value, Iterable)
    found = [check_bandwidth("bandwidth", one, 1) for one in (value if several else [value])]
    if not found:
        raise ValueError("bandwidth must not be an empty list of candidates.")
    return [float(one) for one in found if isinstance(one, float)]


def check_windows(value: Any) -> tuple[int, ...]:
    """Return the widths of the windows."""
    sizes = tuple(value) if isinstance(value, Iterable) else (value,)
    if not sizes:
        raise ValueError("windows must name at least one window.")
    return tuple(check_window(size) for size in sizes)
