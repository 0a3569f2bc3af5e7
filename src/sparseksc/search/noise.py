r"""How much of the data is noise: rows of low density, which bridge clusters.

The data is searched with all its rows, and again without more and more of the least dense ones.
Where clusters are bridged by noise, they are not separated until the last bridges are gone, and
hardly better afterwards: that is the share of the noise. Of these rows, those are noise whose
density is low beside that of the others, too, so that nothing is cut off even clusters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sparseksc._typing import Floats
from sparseksc.core.density import floor_of_share
from sparseksc.search.constants import CLEAR, NOISE_LEVEL, NOISE_SHARES


class Trial(NamedTuple):
    """Answer of a search, its quality and its separation; those of one cluster are -inf."""

    n_clusters: int
    quality: float = -np.inf
    separation: float = -np.inf


def bridge_floors(several: bool, values: Floats, weights: Floats) -> list[float]:
    """Return densities below which rows may be bridges between clusters, the lowest first.

    One is ``NOISE_LEVEL`` of the median. Without more rows there are holes in thin shapes, which
    look like borders: the last of ``NOISE_SHARES`` is tried only where there are ``several``
    clusters for sure.
    """
    most = floor_of_share(values, weights, NOISE_SHARES[-1])
    least = min(NOISE_LEVEL * floor_of_share(values, weights, 0.5), most)
    return [least, most] if several and least < most else [least]


def choose_trial(trials: Sequence[Trial]) -> int:
    """Return the place of the trial that leaves out the noise, and as little else as possible.

    An answer must have clear clusters, and without some rows clearly better ones than that of all
    rows; where none has, that of all rows is taken. The number of clusters is that of most of the
    answers that are left, by their quality where numbers are as common; the first with this number
    is taken that is not clearly worse separated than another.

    Parameters
    ----------
    trials : list of Trial
        That of all rows, and those of fewer and fewer.

    Examples
    --------
    >>> from sparseksc.search.noise import Trial, choose_trial
    >>> choose_trial([Trial(2, 1.9, 1.2), Trial(3, 1.9, 2.0), Trial(3, 2.0, 4.2), Trial(3, 2.0, 5)])
    2
    >>> choose_trial([Trial(3, 2.0, 3.1), Trial(3, 2.0, 3.3), Trial(4, 2.1, 3.6)])
    0
    >>> choose_trial([Trial(8, 0.7, -0.1), Trial(2, 1.7, 3), Trial(2, 1.7, 3), Trial(3, 1.8, 1.5)])
    1
    """
    least = max(trials[0].separation + CLEAR, CLEAR)
    places = [p for p, one in enumerate(trials) if one.separation >= (least if p else CLEAR)] or [0]
    counts = Counter(trials[place].n_clusters for place in places)
    best = max(places, key=lambda place: (counts[trials[place].n_clusters], trials[place].quality))
    alike = [place for place in places if trials[place].n_clusters == trials[best].n_clusters]
    enough = max(trials[place].separation for place in alike) - CLEAR
    return next(place for place in alike if trials[place].separation >= enough)
