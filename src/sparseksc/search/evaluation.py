"""Evaluation of the models of one bandwidth: fitted on some points, evaluated on others.

One reduced set and one eigenproblem give the models of all numbers of clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseksc._native.clusters import assign
from sparseksc._typing import Floats
from sparseksc.core.criteria import CRITERIA, Objective
from sparseksc.core.encoding import ENCODINGS
from sparseksc.core.model import Projection
from sparseksc.core.recipe import Recipe
from sparseksc.core.reduced_set import ReducedSet
from sparseksc.core.spectrum import change_kernel
from sparseksc.core.statistics import FeatureMap
from sparseksc.core.training import ProjectionFit, choose_pivots, fit_projection
from sparseksc.search.ranking import SURFACES
from sparseksc.search.samples import Samples


class Evaluation(NamedTuple):
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


def make_evaluator(
    samples: Samples, n_clusters: list[int], recipe: Recipe, objective: Objective
) -> Callable[[Any], Evaluation]:
    """Return the function that fits and evaluates all numbers of clusters at one bandwidth."""
    n_components = max(n_clusters)
    if samples.coordinates is not None:
        samples = replace(samples, training=samples.coordinates, validation=samples.coordinates)
    # Drawn once, and not by every thread.
    selection = samples.sample.first(recipe.selection_size, recipe.seed)
    shared: tuple[ReducedSet, ProjectionFit] | None = None
    if recipe.two_bandwidths:
        # The eigenvectors come from another kernel, and are the same for all bandwidths.
        same = replace(recipe, kernel=recipe.icd_kernel)
        pivots = choose_pivots(selection, same)
        shared = pivots, fit_projection(samples.source, n_components, pivots, same)

    def fit_at(at: Recipe) -> tuple[ReducedSet, ProjectionFit]:
        if shared is None:
            pivots = choose_pivots(selection, at)
            return pivots, fit_projection(samples.source, n_components, pivots, at)
        pivots, base = shared
        features = FeatureMap.choose(at.icd_kernel, pivots)
        spectrum = change_kernel(
            base.spectrum, features, base.degrees, at.kernel, samples.source, at.n_jobs
        )
        projection = replace(
            base.projection, kernel=at.kernel, coef=spectrum.coef, bias=spectrum.bias
        )
        return pivots, replace(base, projection=projection, spectrum=spectrum)

    def evaluate(bandwidth: Any) -> Evaluation:
        at = replace(recipe.with_bandwidth(bandwidth), n_jobs=1)
        pivots, fit = fit_at(at)
        values, labels = _evaluate(samples, n_clusters, at, objective, fit)
        eigenvalues = np.full(n_components, np.nan)
        found = fit.spectrum.eigenvalues
        eigenvalues[: len(found)] = found
        return Evaluation(values, labels, eigenvalues, pivots.residual)

    return evaluate


def _evaluate(
    samples: Samples,
    n_clusters: list[int],
    recipe: Recipe,
    objective: Objective,
    fit: ProjectionFit,
) -> tuple[dict[str, Floats], dict[int, NDArray[Any]]]:
    """Every criterion for every number of clusters, NaN where it is not available, and labels."""
    values = {name: np.full(len(n_clusters), np.nan) for name in SURFACES}
    labels: dict[int, NDArray[Any]] = {}
    available = len(fit.spectrum.eigenvalues)
    if available == 0:
        return values, labels
    weights_seen = samples.weights[samples.prototype_rows]
    scores, degrees, validated, sums = _projected(
        samples, fit.projection, with_sums=2 in n_clusters
    )
    shares = fit.degrees.shares_of(degrees, weights_seen)
    sums = sums + fit.spectrum.bias[0]
    for column, K in enumerate(n_clusters):
        m = K - 1
        if not 0 < m <= available:
            continue
        try:
            encoding = ENCODINGS[recipe.encoding](
                fit.spectrum.leading(m),
                scores[:, :m],
                weights_seen,
                shares,
            )
        except ValueError:  # too few code words, or an encoding for more clusters
            continue
        found = assign(encoding.distances(validated[:, :m]))
        weights = samples.validation_weights
        sizes = np.bincount(found.labels, weights, minlength=K)
        for name in CRITERIA:
            if name == "bas" and K == 2:
                continue
            part = replace(objective, criterion=name)
            value = part.fit(validated[:, :m], sums, found, sizes, weights)
            values[name][column] = part.weigh(value, sizes)
            if name == "ams":
                values["strength"][column] = value
        values["smallest"][column] = sizes.min() / sizes.sum()
        if samples.separation is not None:
            connected = found.labels[samples.separation.rows]
            labels[K] = connected.astype(np.min_scalar_type(K))
            edges = samples.separation.graph.evaluate(connected)
            for name, value in zip(("conductance", "cut", "cohesion"), edges, strict=True):
                values[name][column] = value
    return values, labels


def _projected(
    samples: Samples, projection: Projection, with_sums: bool
) -> tuple[Floats, Floats, Floats, Floats]:
    """Scores and degrees of the points for prototypes; scores, and kernel sums, of those evaluated.

    From as few evaluations of the kernel as give the same bits: the columns of a product by BLAS
    may depend on how many there are, and those of fused scores do not.
    """
    rows = samples.validation
    if projection.written > 1 or projection.degree_kernel != projection.kernel:
        scores, degrees = projection.scores_and_degrees(samples.prototypes, 1)
        sums = projection.kernel_sums(rows, 1) if with_sums else np.empty(0)
        return scores, degrees, projection.scores(rows, 1), sums
    validated, degrees, sums = projection.scores_and_degrees(rows, 1, with_kernel_sums=True)
    if rows is samples.training:
        scores, degrees = (part[samples.prototype_rows] for part in (validated, degrees))
    else:
        scores, degrees = projection.scores_and_degrees(samples.prototypes, 1)
    return scores, degrees, np.ascontiguousarray(validated), sums
