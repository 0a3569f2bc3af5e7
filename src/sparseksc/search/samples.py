"""Samples of a search: points to train on, points to evaluate on, and the graph of the latter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr, svdvals

from sparseksc._typing import Array, Floats, Integers
from sparseksc.core.recipe import Recipe
from sparseksc.data.sampling import (
    Sample,
    in_typical_rows,
    rows_at,
    selection_sample,
    weighted_sample,
)
from sparseksc.data.source import ArraySource
from sparseksc.kernels import Exponential, make_kernel
from sparseksc.search.constants import DENSE_SIZE, GRAPH_SIZE, PROTOTYPE_SIZE, TRAINING_SIZE
from sparseksc.search.graph import NeighbourGraph, isolated_points, neighbour_graph


@dataclass(frozen=True)
class Separation:
    """The neighbour graph of some points to evaluate on, which the rule "auto" looks at.

    Attributes
    ----------
    graph : NeighbourGraph
    rows : array of int
        Its points, among those to evaluate on.
    points : array of shape (n, d) or None
        The points, where they have coordinates that distances are measured in.
    seed : int
    """

    graph: NeighbourGraph
    rows: Integers
    points: Array | None
    seed: int

    @cached_property
    def gaussian(self) -> float | None:
        """Conductance of half a Gaussian with the covariance of the points."""
        return None if self.points is None else gaussian_conductance(self.points, self.seed)


@dataclass(frozen=True)
class Samples:
    """Points to train on, points to evaluate on, and how the latter are separated.

    ``rows`` are the row numbers of the former in the data, or among themselves where a kernel is
    precomputed; ``n_isolated`` rows that were drawn are in neither, because they are far from all.
    ``coordinates`` are points with the same distances in fewer features, which models are fitted to
    instead, where there are many more features than points.
    """

    rows: Integers
    training: Array
    weights: Floats
    validation: Array
    validation_weights: Floats
    prototype_rows: Integers
    separation: Separation | None
    n_isolated: int = 0
    coordinates: Array | None = None

    @property
    def n_distinct(self) -> int:
        """Number of different rows among those to evaluate on; 0 where it is not known."""
        return 0 if self.separation is None else len(self.separation.rows)

    @cached_property
    def prototypes(self) -> Array:
        """Some of the points to train on, to find prototypes in."""
        return rows_at(self.training, self.prototype_rows)

    @property
    def source(self) -> ArraySource:
        """The points to train on, with their weights."""
        return ArraySource(self.training, self.weights)

    @property
    def sample(self) -> Sample:
        """All points to train on, to choose pivots among."""
        return Sample(self.rows, self.training, self.weights)


def draw_samples(
    sample: Sample,
    recipe: Recipe,
    validation: int | Array,
    *,
    with_graph: bool,
    training_size: int = TRAINING_SIZE,
) -> Samples:
    """Draw disjoint samples, or take all there is for both; the graph is of the latter.

    Weights are counted in typical rows: numbers of points mean the same in any unit of the weights.
    """
    kernel, seed = recipe.kernel.of_neighbours, recipe.seed
    size, evaluated = (validation, None) if isinstance(validation, int) else (0, validation)
    total = training_size + size
    places, mass = weighted_sample(sample, total, seed)
    mass = in_typical_rows(sample.weights, mass)
    X, n_drawn = sample.X, len(places)
    if with_graph and isinstance(kernel, Exponential):  # a kernel matrix is not copied for this
        kept = ~isolated_points(kernel, rows_at(X, places), mass, seed)
        places, mass = places[kept], mass[kept]
    drawn, n_isolated = sample.rows[places], n_drawn - len(places)
    order = np.random.default_rng(seed).permutation(len(places))
    first, rest = np.sort(order[:training_size]), np.sort(order[training_size:])
    if sp.issparse(X) and len(places) * X.shape[1] <= DENSE_SIZE:
        dense: Any = X[places]
        X, places = dense.toarray(), np.arange(len(places))
    training = kernel.among(rows_at(X, places[first]), places[first])
    if evaluated is not None:
        validation_mass = np.ones(evaluated.shape[0])
    elif len(rest) < min(training_size // 2, size):
        # Half of small data would be too little to find shapes in.
        evaluated, validation_mass, rest = training, mass[first], first
    else:
        evaluated, validation_mass = X[places[rest]], mass[rest]
        if kernel.name == "precomputed":
            evaluated = evaluated[:, places[first]]
    separation = None
    if with_graph:
        numbers = places[rest] if kernel.name == "precomputed" else None
        largest = max(GRAPH_SIZE, training_size // 2)
        separation = _separation(X, evaluated, validation_mass, numbers, recipe, largest)
    return Samples(
        np.arange(len(first)) if kernel.name == "precomputed" else drawn[first],
        training,
        mass[first],
        evaluated,
        validation_mass,
        selection_sample(len(first), PROTOTYPE_SIZE, seed, mass[first]),
        separation,
        n_isolated,
    )


def _separation(
    X: Array, evaluated: Array, mass: Floats, numbers: Integers | None, recipe: Recipe, size: int
) -> Separation:
    """Connect some of the points to evaluate on; ``numbers`` are theirs in a precomputed kernel."""
    kernel = recipe.kernel.of_neighbours
    rows = selection_sample(evaluated.shape[0], size, recipe.seed, mass)
    if numbers is not None:
        columns = numbers[rows]
        square = X if len(columns) == X.shape[0] else X[np.ix_(columns, columns)]
        places = np.arange(len(columns))
        graph = neighbour_graph(kernel, square, mass[rows], places)
        return Separation(graph, rows[graph.rows], None, recipe.seed)
    graph = neighbour_graph(kernel, rows_at(evaluated, rows), mass[rows])
    rows = rows[graph.rows]
    measured = isinstance(kernel, Exponential) and isinstance(evaluated, np.ndarray)
    return Separation(graph, rows, rows_at(evaluated, rows) if measured else None, recipe.seed)


def fewer_features(X: Array) -> Array:
    r"""Coordinates of n points in n features, with the same distances up to rounding errors.

    The differences of n points span no more: with the QR decomposition of the centred points,
    :math:`X^\top = Q R`, the columns of R are as far from each other as those of the former.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.search.samples import fewer_features
    >>> X = np.array([[0.0, 3.0, 0.0, 1.0], [4.0, 0.0, 0.0, 1.0]])
    >>> found = fewer_features(X)
    >>> found.shape, float(np.linalg.norm(found[0] - found[1]).round(12))
    ((2, 2), 5.0)
    """
    centred = np.subtract(X, X.mean(axis=0), dtype=np.float64)
    _, R = qr(centred.T, mode="raw", overwrite_a=True, check_finite=False)
    return np.ascontiguousarray(R.T, dtype=X.dtype)


def gaussian_conductance(X: Array, seed: int) -> float:
    """Conductance of half a Gaussian that has as many points and the covariance of ``X``."""
    centred = X - X.mean(axis=0)
    spread = svdvals(centred.T, overwrite_a=True)  # the transpose, which LAPACK takes as it is
    del centred
    spread = spread[spread > 1e-9 * spread[0]] if spread[0] > 0.0 else spread[:1] + 1.0
    cloud = np.random.default_rng(seed).standard_normal((X.shape[0], len(spread)))
    cloud *= spread
    kernel = make_kernel("rbf")
    graph = neighbour_graph(kernel, cloud, np.ones(len(cloud)))
    half = (cloud[:, 0] > np.median(cloud[:, 0])).astype(np.intp)
    return graph.evaluate(half[graph.rows])[0]
