r"""From the surfaces of a search to one number of clusters and one bandwidth.

The criteria of the literature are maximised as they are. The rule "auto" has two steps:

1. *The bandwidth of each number of clusters* is the one whose clusters have the strongest
   memberships for the edges that they cut (:mod:`sparseksc.search.graph`): the largest
   :math:`a / \gamma`, with the average membership strength :math:`a` and the cut
   :math:`\gamma`, among those whose clusters all have more neighbours inside than outside, and
   more than a few points. The cuts at bandwidths nearby count a little, too: the final
   model is fitted on other points, and at the end of the range that works it may not.
2. *The number of clusters* is chosen by two quantities. One is the ratio of conductances: one more
   cluster than there are must cut through the middle of one. With the conductance :math:`\phi_K`
   and the average membership strength :math:`a_K` of the best clusters for each K,

   .. math:: v_K = a_K^2 \cdot \sqrt{\frac{K}{K+1}} \;
       \frac{\phi_{K+1} + \epsilon}{\phi_K + \epsilon}.

   The square root is what a uniform square does when it is cut into more and more pieces. The
   other is the number :math:`S_K` of separated clusters (:mod:`sparseksc.search.separation`),
   which does not depend on how well the best of them are separated: two groups of clusters that
   are far apart make the ratio after K = 2 as large as one likes. The largest
   :math:`(\frac12 + a_K S_K) \sqrt{\min(v_K, 7.5)}` wins.

Where the ratio is not larger than for a single Gaussian, and the best cut into two crosses as many
edges as half a Gaussian of the same covariance would, the data is one cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from sparseksc._typing import Booleans, Floats
from sparseksc.search.constants import (
    MAX_RATIO,
    MIN_CLUSTER_SHARE,
    MIN_COHESION,
    MIN_FINER_SHARE,
    MISSING_CONDUCTANCE,
    NEARBY_RATIO,
    NEARBY_WEIGHT,
    SEPARATED_PRIOR,
)


@dataclass(frozen=True)
class RankedModel:
    """The best model for one number of clusters.

    Attributes
    ----------
    n_clusters : int
    bandwidth : float, tuple of float or None
    value : float
        What the rule maximises over the numbers of clusters.
    conductance_ratio : float
        Conductance with one more cluster over that of this model, in units of what a uniform
        square does; NaN if the rule is not "auto". Where kernels compete, internal over external
        conductance: how many times as hard the clusters are to divide as to cut off.
    conductance, ams, blf, bas : float
        Of this model; NaN where kernels compete.
    kernel, max_rank : str, int
        Of this model, where kernels compete.
    """

    n_clusters: int
    bandwidth: Any
    value: float
    conductance_ratio: float = np.nan
    conductance: float = np.nan
    ams: float = np.nan
    blf: float = np.nan
    bas: float = np.nan
    kernel: str = ""
    max_rank: int = 0


#: Criteria that are computed for every model, where one kernel is compared at its bandwidths.
SURFACES = ("ams", "blf", "bas", "strength", "conductance", "cut", "cohesion", "smallest")


@dataclass(frozen=True)
class Surfaces:
    """Values of all models, one row per bandwidth and one column per number of clusters.

    NaN where that number of clusters is not available at that bandwidth.

    Attributes
    ----------
    bandwidths : list
    n_clusters : list of int
    values : dict of str to array of shape (n_bandwidths, n_cluster_numbers)
        "ams", "blf" and "bas" with the balance in them; "strength", the AMS without it;
        "smallest", the share of the smallest cluster. For the rule "auto" also "conductance" in
        the symmetric graph; "cut", its mean with the mutual one; "cohesion", the least share of
        its edges that a cluster keeps inside.
        Where kernels compete there is only "quality" (:mod:`sparseksc.search.quality`).
    resolution : float
        Differences of the conductance below this mean nothing.
    kernels, ranks : list of str, list of int
        Kernel and number of pivots or landmarks of each row, where kernels compete.
    """

    bandwidths: list[Any]
    n_clusters: list[int]
    values: dict[str, Floats]
    resolution: float
    kernels: list[str] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)

    def __getitem__(self, name: str) -> Floats:
        return self.values[name]

    def best_by_kernel(self, name: str) -> dict[str, tuple[list[int], Floats]]:
        """Numbers of clusters that a kernel was tried with, and its best values at them."""
        lines = {}
        for kernel in dict.fromkeys(self.kernels):
            rows = [row for row, other in enumerate(self.kernels) if other == kernel]
            values = np.fmax.reduce(self[name][rows], axis=0)
            tried = np.flatnonzero(~np.isnan(values))
            lines[kernel] = [self.n_clusters[place] for place in tried], values[tried]
        return lines

    def model(self, row: int, column: int, value: float, ratio: float = np.nan) -> RankedModel:
        """One model of the surfaces, for a ranking."""
        conductance, ams, blf, bas = (
            float(self[name][row, column]) for name in ("conductance", "ams", "blf", "bas")
        )
        return RankedModel(
            self.n_clusters[column],
            self.bandwidths[row],
            float(value),
            float(ratio),
            conductance,
            ams,
            blf,
            bas,
        )


def rank_by_criterion(surfaces: Surfaces, criterion: str, allowed: list[int]) -> list[RankedModel]:
    """Best bandwidth of each number of clusters by a criterion of the literature, best first."""
    surface = surfaces[criterion]
    models = []
    for column, K in enumerate(surfaces.n_clusters):
        if K in allowed and np.isfinite(surface[:, column]).any():
            row = int(np.nanargmax(surface[:, column]))
            models.append(surfaces.model(row, column, surface[row, column]))
    return sorted(models, key=lambda model: -model.value)


def rank_by_separation(
    surfaces: Surfaces,
    allowed: list[int],
    separate: Callable[[int, int], float],
    *,
    any_size: bool = False,
    near_best: float | None = None,
) -> list[RankedModel]:
    """Return the best bandwidth of each number of clusters by the rule "auto", best first.

    Parameters
    ----------
    surfaces : Surfaces
    allowed : list of int
        Numbers of clusters to choose from.
    separate : function of a row and a column
        How many clusters of that model are separated.
    any_size : bool
        Do not refuse clusters of outliers.
    near_best : float, optional
        Take the widest bandwidth whose strength over cut is at least this share of the largest,
        instead of the bandwidth of the largest.
    """
    # One more cluster may well be a few outliers: if that is the best there is to find, the
    # clusters before it are all there are.
    finer = {}
    for column, K in enumerate(surfaces.n_clusters):
        eligible = _eligible(surfaces, column, MIN_FINER_SHARE, 0.0)
        if eligible.any():
            lowest = np.argmin(np.where(eligible, surfaces["cut"][:, column], np.inf))
            finer[K] = surfaces["conductance"][lowest, column]
    # A quarter is enough, because the ratio is limited below.
    least = 0.25 * surfaces.resolution
    guards = (0.0, 0.0) if any_size else (MIN_CLUSTER_SHARE, MIN_COHESION)
    models = []
    for column, K in enumerate(surfaces.n_clusters):
        eligible = _eligible(surfaces, column, *guards)
        if K not in allowed or not eligible.any():
            continue
        strengths, cuts = surfaces["strength"][:, column], surfaces["cut"][:, column]
        quality = strengths / (cuts * _nearby(surfaces.bandwidths, cuts) ** NEARBY_WEIGHT)
        quality = np.where(eligible, quality, -np.inf)
        row = int(np.argmax(quality))
        if near_best is not None:
            row = int(np.flatnonzero(quality >= near_best * quality[row])[-1])
        next_K = min((larger for larger in finer if larger > K), default=K + 1)
        ratio = (finer.get(next_K, MISSING_CONDUCTANCE) + least) * np.sqrt(K / next_K)
        ratio /= surfaces["conductance"][row, column] + least
        strength = surfaces["strength"][row, column]
        value = np.sqrt(min(ratio * strength**2, MAX_RATIO))
        value *= SEPARATED_PRIOR + strength * separate(row, column)
        models.append(surfaces.model(row, column, value, ratio))
    return sorted(models, key=lambda model: -model.value)


def _nearby(bandwidths: list[Any], cuts: Floats) -> Floats:
    """Geometric mean of the cuts at bandwidths nearby, divided by the cut."""
    if not all(isinstance(bandwidth, Real) for bandwidth in bandwidths):
        return np.ones_like(cuts)
    places = np.log(bandwidths)
    nearby = np.abs(places[:, None] - places) <= np.log(NEARBY_RATIO)
    # Where there are not as many clusters, every edge may be cut.
    logs = np.log(np.nan_to_num(cuts, nan=1.0))
    return np.exp(nearby @ logs / nearby.sum(axis=1) - logs)


def _eligible(
    surfaces: Surfaces, column: int, least_share: float, least_cohesion: float
) -> Booleans:
    """Bandwidths at which this number of clusters is available and none of them too small."""
    return (
        np.isfinite(surfaces["cut"][:, column])
        & (surfaces["smallest"][:, column] >= least_share)
        & (surfaces["cohesion"][:, column] >= least_cohesion)
    )
