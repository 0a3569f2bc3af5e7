"""What is known about the models of a search: a table of values, and the best of each number.

The criteria of the literature are maximised as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparseksc._typing import Floats


@dataclass(frozen=True)
class RankedModel:
    """The best model for one number of clusters.

    Attributes
    ----------
    n_clusters : int
    bandwidth : float, tuple of float or None
    value : float
        The quality, or the criterion of the literature that decides.
    conductance_ratio : float
        Internal over external conductance: how many times as hard the clusters are to divide as to
        cut off. NaN where a criterion of the literature decides.
    ams, blf, bas : float
        Of this model, where one of them decides; NaN where the quality does.
    kernel, max_rank : str, int
        Of this model, where the quality decides.
    """

    n_clusters: int
    bandwidth: Any
    value: float
    conductance_ratio: float = np.nan
    ams: float = np.nan
    blf: float = np.nan
    bas: float = np.nan
    kernel: str = ""
    max_rank: int = 0


@dataclass(frozen=True)
class Surfaces:
    """Values of all models, one row per bandwidth and one column per number of clusters.

    NaN where that number of clusters is not available at that bandwidth.

    Attributes
    ----------
    bandwidths : list
    n_clusters : list of int
    values : dict of str to array of shape (n_bandwidths, n_cluster_numbers)
        "quality" (:mod:`sparseksc.search.quality`); where a criterion of the literature decides,
        "ams", "blf" and "bas" instead, with the balance in them.
    kernels, ranks : list of str, list of int
        Kernel and number of pivots or landmarks of each row, where the quality decides.
    """

    bandwidths: list[Any]
    n_clusters: list[int]
    values: dict[str, Floats]
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

    def model(self, row: int, column: int, value: float) -> RankedModel:
        """One model of a grid, for a ranking."""
        ams, blf, bas = (float(self[name][row, column]) for name in ("ams", "blf", "bas"))
        number, bandwidth = self.n_clusters[column], self.bandwidths[row]
        return RankedModel(number, bandwidth, float(value), ams=ams, blf=blf, bas=bas)


def rank_by_criterion(surfaces: Surfaces, criterion: str) -> list[RankedModel]:
    """Best bandwidth of each number of clusters by a criterion of the literature, best first."""
    surface = surfaces[criterion]
    models = []
    for column in np.flatnonzero(np.isfinite(surface).any(axis=0)):
        row = int(np.nanargmax(surface[:, column]))
        models.append(surfaces.model(row, int(column), surface[row, column]))
    return sorted(models, key=lambda model: -model.value)
