r"""From the surfaces of a search to one number of clusters and one bandwidth.

The criteria of the literature are maximised as they are. The rule "auto" has two steps:

1. *The bandwidth of each number of clusters* is the one whose clusters have the firmest
   memberships for the edges that they cut (:mod:`sparseksc.neighbours`): the largest
   :math:`a / \gamma`, with the average membership strength :math:`a` and the cut
   :math:`\gamma`, among those whose clusters all have more neighbours inside than outside, and
   more than a handful of points. The cuts at bandwidths nearby count a little, too: the final
   model is fitted on other points, and at the end of the range that works it may not.
2. *The number of clusters* has two witnesses. One is the rise of the conductance: one more cluster
   than there are must cut through the middle of one. With the conductance :math:`\phi_K` and the
   average membership strength :math:`a_K` of the best clusters for each K,

   .. math:: v_K = a_K^2 \cdot \sqrt{\frac{K}{K+1}} \;
       \frac{\phi_{K+1} + \epsilon}{\phi_K + \epsilon}.

   The square root is what a uniform square does when it is cut into more and more pieces. The
   other is the number :math:`S_K` of clusters that are easier to leave than to cross
   (:mod:`sparseksc.crossings`), which does not mind how well the best of them are separated: two
   groups of clusters that are far apart make the rise after K = 2 as large as one likes. The
   largest :math:`(\frac12 + a_K S_K) \sqrt{\min(v_K, 7.5)}` wins.

Where the conductance does not rise more than it does for a single round cloud, and the best cut
into two crosses as many edges as half a normal cloud of the same covariance would, the data is
one cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: A cluster below this share of the points is not a find, and neither is one that keeps less than
#: this share of its edges inside: it is a few outliers, or a slice of something.
LEAST_SHARE, LEAST_COHESION = 0.003, 0.5
#: The same for one cluster more than there are, which may well be a few outliers.
LEAST_FINER_SHARE = 0.001
#: Bandwidths up to this ratio are nearby, and their cuts have this weight.
NEARBY, NEARBY_WEIGHT = 1.3, 0.05
#: Below this rise of the conductance nothing stands out.
CLEAR_RISE = 1.5
#: Beyond this the rise of the conductance, weighed by the strength, says nothing new.
LARGEST_RISE = 7.5
#: Number of separate clusters that is assumed besides those that are found, so that the rise
#: decides where there are none.
TAKEN_FOR_GRANTED = 0.5
#: Conductance that is assumed where no larger number of clusters is available.
NO_FINER_CLUSTERS = 0.5


@dataclass(frozen=True)
class Choice:
    """The best model for one number of clusters.

    Attributes
    ----------
    n_clusters : int
    bandwidth : float, tuple of float or None
    value : float
        What the rule maximises over the numbers of clusters.
    rise : float
        How much the conductance rises with one more cluster; NaN if the rule is not "auto".
    conductance, ams, blf, bas : float
        Of this model.
    """

    n_clusters: int
    bandwidth: Any
    value: float
    rise: float
    conductance: float
    ams: float
    blf: float
    bas: float


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
    resolution : float
        Differences of the conductance below this mean nothing.
    """

    bandwidths: list[Any]
    n_clusters: list[int]
    values: dict[str, Floats]
    resolution: float

    def __getitem__(self, name: str) -> Floats:
        return self.values[name]

    def choice(self, row: int, column: int, value: float, rise: float = np.nan) -> Choice:
        """Describe one model."""
        fields = ("conductance", "ams", "blf", "bas")
        return Choice(
            self.n_clusters[column],
            self.bandwidths[row],
            float(value),
            float(rise),
            **{name: float(self[name][row, column]) for name in fields},
        )


def rank_by_criterion(surfaces: Surfaces, criterion: str, allowed: list[int]) -> list[Choice]:
    """Best bandwidth of each number of clusters by a criterion of the literature, best first."""
    surface = surfaces[criterion]
    choices = []
    for column, K in enumerate(surfaces.n_clusters):
        if K in allowed and np.isfinite(surface[:, column]).any():
            row = int(np.nanargmax(surface[:, column]))
            choices.append(surfaces.choice(row, column, surface[row, column]))
    return sorted(choices, key=lambda choice: -choice.value)


def rank_by_separation(
    surfaces: Surfaces,
    allowed: list[int],
    separate: Callable[[int, int], float],
    *,
    any_size: bool = False,
    as_firm: float | None = None,
) -> list[Choice]:
    """Return the best bandwidth of each number of clusters by the rule "auto", best first.

    Parameters
    ----------
    surfaces : Surfaces
    allowed : list of int
        Numbers of clusters to choose from.
    separate : function of a row and a column
        How many clusters of that model are easier to leave than to cross.
    any_size : bool
        Do not refuse clusters of outliers.
    as_firm : float, optional
        Take the last bandwidth that is at least this share as firm as the firmest one, which is
        taken otherwise.
    """
    # One more cluster may well be a few outliers: if that is the best there is to find, so much
    # the better for the clusters before it.
    finer = {}
    for column, K in enumerate(surfaces.n_clusters):
        eligible = _eligible(surfaces, column, LEAST_FINER_SHARE, 0.0)
        if eligible.any():
            lowest = np.argmin(np.where(eligible, surfaces["cut"][:, column], np.inf))
            finer[K] = surfaces["conductance"][lowest, column]
    # A quarter is enough, because the rise is limited below.
    least = 0.25 * surfaces.resolution
    guards = (0.0, 0.0) if any_size else (LEAST_SHARE, LEAST_COHESION)
    choices = []
    for column, K in enumerate(surfaces.n_clusters):
        eligible = _eligible(surfaces, column, *guards)
        if K not in allowed or not eligible.any():
            continue
        strengths, cuts = surfaces["strength"][:, column], surfaces["cut"][:, column]
        firmness = strengths / (cuts * _nearby(surfaces.bandwidths, cuts) ** NEARBY_WEIGHT)
        firmness = np.where(eligible, firmness, -np.inf)
        row = int(np.argmax(firmness))
        if as_firm is not None:
            row = int(np.flatnonzero(firmness >= as_firm * firmness[row])[-1])
        next_K = min((larger for larger in finer if larger > K), default=K + 1)
        rise = (finer.get(next_K, NO_FINER_CLUSTERS) + least) * np.sqrt(K / next_K)
        rise /= surfaces["conductance"][row, column] + least
        strength = surfaces["strength"][row, column]
        value = np.sqrt(min(rise * strength**2, LARGEST_RISE))
        value *= TAKEN_FOR_GRANTED + strength * separate(row, column)
        choices.append(surfaces.choice(row, column, value, rise))
    return sorted(choices, key=lambda choice: -choice.value)


def _nearby(bandwidths: list[Any], cuts: Floats) -> Floats:
    """Geometric mean of the cuts at bandwidths nearby, divided by the cut."""
    if not all(isinstance(bandwidth, Real) for bandwidth in bandwidths):
        return np.ones_like(cuts)
    places = np.log(bandwidths)
    nearby = np.abs(places[:, None] - places) <= np.log(NEARBY)
    # Where there are not as many clusters, every edge may be cut.
    logs = np.log(np.nan_to_num(cuts, nan=1.0))
    return np.exp(nearby @ logs / nearby.sum(axis=1) - logs)


def _eligible(
    surfaces: Surfaces, column: int, least_share: float, least_cohesion: float
) -> NDArray[np.bool_]:
    """Bandwidths at which this number of clusters is available and none of them too small."""
    return (
        np.isfinite(surfaces["cut"][:, column])
        & (surfaces["smallest"][:, column] >= least_share)
        & (surfaces["cohesion"][:, column] >= least_cohesion)
    )
