"""Rows of low density: what a plan leaves out of the training, and what of it is noise.

Rows between clusters bridge them. A share of noise is given or found, and its rows are in no
cluster. Where nothing is said of noise, the training may leave bridges out, and every row has a
cluster all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from sparseksc._typing import Floats
from sparseksc.config.settings import Settings
from sparseksc.core.density import Density
from sparseksc.data.sampling import Sample
from sparseksc.data.source import Source
from sparseksc.kernels import Precomputed
from sparseksc.search.constants import (
    CLEAR,
    FEW_FEATURES,
    GRAPH_SIZE,
    NOISE_LEVEL,
    NOISE_SHARES,
    TRAINING_SIZE,
)
from sparseksc.search.noise import Trial, bridge_floors, choose_trial

if TYPE_CHECKING:
    from sparseksc.config.planning import Plan

#: From rows to a plan, with a search where something is left open.
Planner = Callable[..., "Plan"]


def plan_without_bridges(
    settings: Settings, source: Source, sample: Sample, plan_for: Planner
) -> Plan:
    """Plan with all rows, or without the bridges between clusters, if these are clearer then.

    Without their rims, groups of clusters that overlap are clearer, too: only as many clusters as
    with all rows count, or more where these are clear, unless these are harder to cut off than to
    divide. Clusters that are twice clear are not searched again. The other searches are on some of
    the rows, if there are many.
    """
    plan = plan_for(sample)
    first, given = _trial(plan), len(settings.n_clusters) == 1
    clear = first.separation >= CLEAR
    beyond_doubt = first.separation >= 2.0 * CLEAR or (clear and given)
    if beyond_doubt or not _was_searched(plan) or not _has_few_features(settings, sample):
        return plan
    density = Density.of_sample(sample, settings.seed, by_angle=settings.by_angle)
    some = sample.first(2 * (TRAINING_SIZE + GRAPH_SIZE), settings.seed)
    values = density.values(some.X, settings.n_jobs)
    floors = [0.0, *bridge_floors(clear or given, values, some.weights)]
    plans = [plan]
    for floor in floors[1:]:
        try:
            plans.append(plan_for(_without(some, values, floor), second_look=False))
        except ValueError:  # too few rows are left
            break
    least = first.n_clusters + clear if first.separation >= 0.0 else 2
    others = [_trial(one) if one.n_clusters >= least else Trial(1) for one in plans[1:]]
    place = choose_trial([first, *others])
    chosen, floor = plans[place], floors[place]
    if place == 0 or chosen.tuning is None:
        return plan
    left_out = float(some.weights[values < floor].sum() / some.weights.sum())
    if len(some.rows) < len(sample.rows):
        values = density.values(sample.X, settings.n_jobs)
    return replace(
        chosen,
        sample=_without(sample, values, floor),
        tuning=replace(chosen.tuning, left_out=left_out),
        sparse=replace(density, floor=floor),
        densities=values if source.in_memory else None,
    )


def plan_with_noise(settings: Settings, source: Source, sample: Sample, plan_for: Planner) -> Plan:
    """Plan without the rows of low density, whose share is given or to be found."""
    density = Density.of_sample(sample, settings.seed, by_angle=settings.by_angle)
    values = density.values(sample.X, settings.n_jobs)
    known: dict[str, Any] = {}
    if source.in_memory:
        weight = float(sample.weights.sum() * source.weight_unit)
        known = {"densities": values, "total_weight": weight}
    if not isinstance(settings.noise, str):
        assert settings.noise is not None
        density = density.with_share(settings.noise, values, sample.weights)
        plan = plan_for(_without(sample, values, density.floor))
        return replace(plan, sparse=density, noise=density, **known)
    floors = [
        density.with_share(share, values, sample.weights).floor if share > 0.0 else 0.0
        for share in NOISE_SHARES
    ]
    plans = [plan_for(sample, always_search=True)]
    for floor in floors[1:]:
        try:
            plans.append(plan_for(_without(sample, values, floor), always_search=True))
        except ValueError:  # too few rows are left
            break
    place = choose_trial([_trial(plan) for plan in plans])
    middle = density.with_share(0.5, values, sample.weights).floor
    floor = min(floors[place], NOISE_LEVEL * middle)
    return replace(
        plans[place],
        sparse=replace(density, floor=floors[place]),
        noise=replace(density, floor=floor),
        **known,
    )


def _was_searched(plan: Plan) -> bool:
    """Whether models were compared by their quality."""
    return plan.tuning is not None and plan.tuning.by_quality and bool(plan.tuning.ranking)


def _has_few_features(settings: Settings, sample: Sample) -> bool:
    """Whether rows have so few features that noise may bridge clusters.

    Not in one feature: what is thin there is a gap by itself, and leaving it out divides any data.
    """
    if settings.kind in (None, Precomputed) or sp.issparse(sample.X):
        return False
    return 1 < sample.X.shape[1] <= FEW_FEATURES


def _without(sample: Sample, values: Floats, floor: float) -> Sample:
    """Take the weight from the rows of a sample below a floor."""
    return replace(sample, weights=np.where(values < floor, 0.0, sample.weights))


def _trial(plan: Plan) -> Trial:
    """Return what a search without some rows has found."""
    if plan.tuning is None or plan.n_clusters == 1 or not plan.tuning.ranking:
        return Trial(1)
    best = plan.tuning.ranking[0]
    return Trial(plan.n_clusters, best.value, float(np.log(best.conductance_ratio)))
