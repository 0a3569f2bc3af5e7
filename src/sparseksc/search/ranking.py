"""Ranking of the models of a search: the best of each number of clusters, and what is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sparseksc.core.recipe import Recipe
from sparseksc.search.constants import CLEAR, CLOUD, CLOUD_CLUSTERS, LEAST_ROWS
from sparseksc.search.result import TuningResult
from sparseksc.search.surfaces import RankedModel


class Clustering(NamedTuple):
    """A clustering by the model with a number, its quality and its separation."""

    model: int
    n_clusters: int
    quality: float
    separation: float


def ranked(recipes: Sequence[Recipe], found: Sequence[Clustering]) -> list[RankedModel]:
    """Return the best model for each number of clusters, best first."""
    middle = []
    for K in dict.fromkeys(one.n_clusters for one in found):
        values = {one: (one.quality, one.separation) for one in found if one.n_clusters == K}
        best = max(values.values())
        middle.append(_middle([one for one in values if values[one] == best], recipes))
    ordered = sorted(middle, key=lambda one: (-one.quality, -one.separation, one.n_clusters))
    return [
        RankedModel(
            one.n_clusters,
            bandwidth_of(recipes[one.model]),
            one.quality,
            conductance_ratio=float(np.exp(one.separation)),
            kernel=recipes[one.model].kernel.name,
            max_rank=recipes[one.model].max_rank,
        )
        for one in ordered
    ]


def _middle(equal: Sequence[Clustering], recipes: Sequence[Recipe]) -> Clustering:
    """Return the middle one of the bandwidths that show the same; of landmarks, the fewest suffice.

    At the ends of the range that works it may not on other rows.
    """
    kernel = recipes[equal[0].model].kernel
    if not kernel.has_bandwidth:
        return equal[0]
    same = [one for one in equal if recipes[one.model].kernel.name == kernel.name]
    return same[len(same) // 2]


def place_of(model: RankedModel, recipes: Sequence[Recipe]) -> int:
    """Which of the recipes a model of the ranking has."""
    wanted = model.kernel, model.bandwidth, model.max_rank
    known = [(one.kernel.name, bandwidth_of(one), one.max_rank) for one in recipes]
    return known.index(wanted)


def bandwidth_of(recipe: Recipe) -> Any:
    """Bandwidth of a recipe; None where its kernel has none."""
    return getattr(recipe.kernel, "bandwidth", None)


def is_cloud(best: RankedModel) -> bool:
    """Whether the best clustering is no better than the best division of a cloud."""
    return best.n_clusters <= CLOUD_CLUSTERS and bool(np.log(best.conductance_ratio) < CLOUD)


def best_separation(result: TuningResult) -> float:
    """Separation of the best clustering."""
    return float(np.log(result.ranking[0].conductance_ratio)) if result.ranking else -np.inf


def doubt_about(
    best: RankedModel | None, single: bool, *, few: bool = False, listed: bool = False
) -> str | None:
    """Say in a sentence what the quality leaves open.

    Parameters
    ----------
    best : RankedModel or None
    single : bool
        Whether the answer is one cluster.
    few : bool
        Whether a cluster of the best clustering has too few rows to see anything inside.
    listed : bool
        Whether numbers of clusters were given, one not among them.
    """
    if best is None:
        return "No model shows two clusters: the data is one cluster."
    if single:
        return (
            "The data is one cluster: every division of it is as arbitrary as that of a single "
            "cloud of points."
        )
    if np.log(best.conductance_ratio) < CLEAR:
        other = (
            "the right number of clusters was not tried" if listed else "the data is one cluster"
        )
        return (
            f"The {best.n_clusters} clusters are only {best.conductance_ratio:.1f} times as hard "
            f"to divide as to cut off from each other: they overlap, or {other}."
        )
    if few:
        return (
            f"One or more of the {best.n_clusters} clusters have fewer than {LEAST_ROWS} rows: too "
            "few to tell a cluster from single points."
        )
    return None
