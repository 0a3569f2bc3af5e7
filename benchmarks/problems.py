"""The data that the benchmarks share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseksc import KernelSpectralClustering
from sparseksc.config.settings import Settings
from sparseksc.core.recipe import Recipe
from sparseksc.datasets import make_spirals

#: The paper's problem: two spirals, 100,000 points, and the smallest rank that separates them.
POINTS, RANK, BANDWIDTH = 100_000, 115, 0.006


@dataclass(frozen=True)
class Spirals:
    """The two spirals and the estimator that clusters them."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]

    @classmethod
    def of_size(cls, n_points: int) -> Spirals:
        return cls(*make_spirals(n_points, random_state=0))

    def estimator(self, **changes: Any) -> KernelSpectralClustering:
        choices = {
            "n_clusters": 2,
            "bandwidth": BANDWIDTH,
            "max_rank": min(RANK, len(self.X)),
            "random_state": 0,
        }
        return KernelSpectralClustering(**(choices | changes))

    def recipe(self) -> Recipe:
        """Return what `fit` hands to the training, for benchmarks of its single steps."""
        settings = Settings(self.estimator().get_params(deep=False))
        return settings.recipe(BANDWIDTH, self.X.shape[1])


def histograms(n_points: int, n_bins: int, seed: int = 0) -> NDArray[np.float64]:
    """Return rows of non-negative numbers that sum to 1, as pixels have colour histograms."""
    rng = np.random.default_rng(seed)
    centres = rng.dirichlet(np.full(n_bins, 0.5), size=64)
    rows = rng.gamma(0.3 + 20.0 * centres[rng.integers(64, size=n_points)])
    return np.asarray(rows / rows.sum(axis=1, keepdims=True), dtype=np.float64)


def gaussians(n_points: int, n_features: int = 16, n_clusters: int = 10) -> NDArray[np.float64]:
    """Return clusters of equal shape and nearly equal size that hardly overlap."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n_points, n_features))
    centers = 6.0 * rng.normal(size=(n_clusters, n_features))
    return points + centers[rng.integers(n_clusters, size=n_points)]
