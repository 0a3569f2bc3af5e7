"""What the models of one bandwidth are worth: fitted on some points, judged on others.

One reduced set and one eigenproblem give the models of all numbers of clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseksc._native.clusters import assign
from sparseksc.criteria import CRITERIA, Objective
from sparseksc.encoding import fit_encoding
from sparseksc.reduced_set import ReducedSet
from sparseksc.samples import Samples
from sparseksc.spectrum import change_kernel
from sparseksc.statistics import FeatureMap
from sparseksc.training import Fitted, Recipe, choose_pivots, project

Floats = NDArray[np.float64]

SURFACES = (*CRITERIA, "strength", "conductance", "cut", "cohesion", "smallest")


class Judged(NamedTuple):
    """What is known about the models of one bandwidth.

    Attributes
    ----------
    values : dict of str to array
        Each surface for each number of clusters.
    labels : dict of int to array
        For each number of clusters, those of the points of the neighbour graph.
    eigenvalues : array
    residual : float
        Share of the kernel matrix that the pivots leave out.
    """

    values: dict[str, Floats]
    labels: dict[int, NDArray[Any]]
    eigenvalues: Floats
    residual: float


def judge_with(
    samples: Samples, n_clusters: list[int], recipe: Recipe, objective: Objective
) -> Callable[[Any], Judged]:
    """Return the function that fits and judges all numbers of clusters at one bandwidth."""
    n_components = max(n_clusters)
    shared: tuple[ReducedSet, Fitted] | None = None
    if recipe.two_bandwidths:
        # The eigenvectors come from another kernel, and are the same for all bandwidths.
        same = replace(recipe, kernel=recipe.icd_kernel)
        pivots = choose_pivots(samples.sample, same)
        shared = pivots, project(samples.source, n_components, pivots, same)

    def fit(at: Recipe) -> tuple[ReducedSet, Fitted]:
        if shared is None:
            pivots = choose_pivots(samples.sample, at)
            return pivots, project(samples.source, n_components, pivots, at)
        pivots, base = shared
        features = FeatureMap.choose(at.icd_kernel, pivots)
        spectrum = change_kernel(
            base.spectrum, features, base.degrees, at.kernel, samples.source, at.n_jobs
        )
        projection = replace(
            base.projection, kernel=at.kernel, coef=spectrum.coef, bias=spectrum.bias
        )
        return pivots, replace(base, projection=projection, spectrum=spectrum)

    def judge(bandwidth: Any) -> Judged:
        at = replace(recipe.with_bandwidth(bandwidth), n_jobs=1)
        pivots, fitted = fit(at)
        values, labels = _judge(samples, n_clusters, at, objective, fitted)
        eigenvalues = np.full(n_components, np.nan)
        found = fitted.spectrum.eigenvalues
        eigenvalues[: len(found)] = found
        return Judged(values, labels, eigenvalues, pivots.residual)

    return judge


def _judge(
    samples: Samples, n_clusters: list[int], recipe: Recipe, objective: Objective, fitted: Fitted
) -> tuple[dict[str, Floats], dict[int, NDArray[Any]]]:
    """Every criterion for every number of clusters, NaN where it is not available, and labels."""
    values = {name: np.full(len(n_clusters), np.nan) for name in SURFACES}
    labels: dict[int, NDArray[Any]] = {}
    available = len(fitted.spectrum.eigenvalues)
    if available == 0:
        return values, labels
    projection = fitted.projection
    seen = samples.encoding_rows
    weights_seen = samples.weights[seen]
    scores, degrees = projection.scores_and_degrees(samples.training[seen], 1)
    shares = fitted.degrees.shares_of(degrees, weights_seen)
    judged = projection.scores(samples.validation, 1)
    sums = None
    if 2 in n_clusters:
        sums = projection.kernel_sums(samples.validation, 1) + fitted.spectrum.bias[0]
    for column, K in enumerate(n_clusters):
        m = K - 1
        if not 0 < m <= available:
            continue
        try:
            encoding = fit_encoding(
                recipe.encoding,
                fitted.spectrum.leading(m),
                scores[:, :m],
                weights_seen,
                shares,
            )
        except ValueError:  # too few code words, or an encoding for more clusters
            continue
        found = assign(encoding.distances(judged[:, :m]))
        weights = samples.validation_weights
        sizes = np.bincount(found.labels, weights, minlength=K)
        for name in CRITERIA:
            if name == "bas" and K == 2:
                continue
            part = replace(objective, criterion=name)
            value = part.fit(judged[:, :m], sums, found, sizes, weights)
            values[name][column] = part.weigh(value, sizes)
            if name == "ams":
                values["strength"][column] = value
        values["smallest"][column] = sizes.min() / sizes.sum()
        if samples.separation is not None:
            connected = found.labels[samples.separation.rows]
            labels[K] = connected.astype(np.min_scalar_type(K))
            edges = samples.separation.graph.judge(connected)
            for name, value in zip(("conductance", "cut", "cohesion"), edges, strict=True):
                values[name][column] = value
    return values, labels
