r"""How well clusters are separated: how much harder they are to divide than to cut off.

In a graph of the points, which has no bandwidth and is the same for all models, a cluster has an
*external conductance* :math:`\phi_{out}`, what leaves it over the smaller of its volume and that of
the rest, and an *internal conductance* :math:`\phi_{in}`, the least conductance of a cut through
it, which a sweep along its slowest mode finds. With

.. math:: r_k = \log\frac{\phi_{in}}{\phi_{out}}

the *separation* of a clustering is half the mean of :math:`r_k` over the clusters, weighted by
their sizes, and half the mean over the worst tenth of the clusters (``WORST_SHARE``), or the worst
one: of up to ten clusters a bad one makes a bad clustering, and of fifty, two may overlap. Every
cut has a share of an average point added to it (``RESOLUTION``), so that a few points prove
nothing.

Two graphs are looked at, because they err on different sides. Points of the *mutual* graph are
connected if each is among the nearest neighbours of the other: it shows thin shapes that are close
to each other. Points of the *landmark* graph (:mod:`sparseksc.kernels.landmarks`) are connected by
the landmarks that they share: it is smoother, and shows clusters that overlap. The separation is
that of the graph which shows the clusters best. Where the number of clusters is given, the mutual
graph alone tells which model shows them. The separation has a scale of its own: see ``CLOUD`` and
``CLEAR`` in :mod:`sparseksc.search.constants`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sparseksc._native.conductance import conductances
from sparseksc._typing import Floats, Integers
from sparseksc.core.landmarks import choose_landmarks
from sparseksc.core.recipe import Recipe
from sparseksc.data.distinct import distinct_rows
from sparseksc.data.sampling import Sample
from sparseksc.kernels import Kernel, Landmarks
from sparseksc.kernels.products import in_ordinary_unit
from sparseksc.search.constants import (
    BEYOND_CLEAR,
    CLEAR,
    GRAPH_LANDMARKS,
    RESOLUTION,
    WORST_SHARE,
)
from sparseksc.search.graph import Edges, neighbour_graph

#: Metrics of landmarks that are like a kernel.
LIKE = {
    "rbf": "euclidean",
    "laplacian": "euclidean",
    "linear": "euclidean",
    "cosine": "cosine",
}
#: Conductance of a cluster that nothing holds together.
NOTHING = 1e-6


class Separation(NamedTuple):
    """How well the clusters of a clustering are separated.

    Attributes
    ----------
    value : float
        Half the mean of the log ratios of conductances, and half that of the worst clusters.
    firm : float
        The same of ratios that count little beyond ``CLEAR``: a cluster that is beyond doubt does
        not make up for others that are not.
    """

    value: float
    firm: float


#: Log ratios of the conductances of the clusters, from labels and the number of clusters.
Ratios = Callable[[Integers, int], Floats]


def _log_ratios(inside: Floats, outside: Floats) -> Floats:
    # Weights that differ by hundreds of powers of ten leave no numbers.
    inside, outside = (np.maximum(np.nan_to_num(one), 0.0) for one in (inside, outside))
    ratios: Floats = np.log((inside + NOTHING) / (outside + NOTHING))
    return ratios


def joined(ratios: Floats, sizes: Floats) -> float:
    """Return half the mean of log ratios, weighted by sizes, and half that of the worst clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.search.quality import joined
    >>> joined(np.array([1.0, 0.0]), np.ones(2))
    0.25
    >>> joined(np.repeat([1.0, 0.0], [19, 1]), np.ones(20))
    0.725
    """
    worst = np.sort(ratios)
    count = max(WORST_SHARE * len(worst), 1.0)
    counted = np.clip(count - np.arange(len(worst)), 0.0, 1.0)
    return float(np.average(ratios, weights=sizes) + np.average(worst, weights=counted)) / 2.0


def limited(ratios: Floats) -> Floats:
    r"""Return log ratios that count little beyond ``CLEAR``.

    .. math:: \min(r, c) + \tfrac{1}{10} \log(1 + \max(r - c, 0)), \quad c = \text{CLEAR}

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.search.quality import limited
    >>> limited(np.array([-2.0, 0.5, 1.0, 4.0])).round(2).tolist()
    [-2.0, 0.5, 1.0, 1.14]
    """
    beyond = np.log1p(np.maximum(ratios - CLEAR, 0.0))
    found: Floats = np.minimum(ratios, CLEAR) + BEYOND_CLEAR * beyond
    return found


@dataclass(frozen=True)
class LandmarkGraph:
    """Rows that are connected by the landmarks that they share.

    Attributes
    ----------
    numbers, shares : arrays of shape (n, s)
        Landmarks of each row, and their shares in it.
    weights : array of shape (n,)
        Of the rows.
    volumes : array of shape (R,)
        Of the landmarks.
    resolution : float
        Weight that is added to every cut.
    """

    numbers: Integers
    shares: Floats
    weights: Floats
    volumes: Floats
    resolution: float = 0.0

    @classmethod
    def of(cls, sample: Sample, recipe: Recipe) -> LandmarkGraph:
        """Connect the rows of a sample by the landmarks of a recipe."""
        kernel = recipe.kernel
        assert isinstance(kernel, Landmarks)
        Z = kernel.features(sample.X, choose_landmarks(sample, recipe).points)
        numbers = np.ascontiguousarray(Z.indices.reshape(Z.shape[0], -1), np.int64)
        shares = np.ascontiguousarray(Z.data.reshape(numbers.shape), np.float64)
        weights = sample.weights / sample.weights.max()  # their unit does not matter
        mass = weights[:, None] * shares
        volumes: Floats = np.bincount(numbers.ravel(), mass.ravel(), Z.shape[1]).astype(np.float64)
        return cls(numbers, shares, np.ascontiguousarray(weights), volumes)

    def ratios(self, labels: Integers, n_clusters: int) -> Floats:
        """Log ratios of internal to external conductance."""
        found = conductances(
            self.numbers,
            self.shares,
            self.weights,
            self.volumes,
            np.ascontiguousarray(labels, np.int64),
            n_clusters,
            self.resolution,
        )
        return _log_ratios(found.inside, found.outside)


@dataclass(frozen=True)
class MutualGraph:
    """Distinct rows that are each among the nearest neighbours of the other.

    Attributes
    ----------
    rows : array of int
        The distinct rows, among all.
    edges : Edges
        Between them.
    """

    rows: Integers
    edges: Edges

    @classmethod
    def of(cls, sample: Sample, recipe: Recipe) -> MutualGraph:
        """Connect the rows of a sample, near as the kernel of a recipe has it."""
        weights, kernel = sample.weights / sample.weights.max(), recipe.kernel.of_neighbours
        columns = sample.rows if kernel.name == "precomputed" else None
        graph = neighbour_graph(kernel, sample.X, weights, columns)
        return cls(graph.rows, graph.edges)

    def ratios(self, labels: Integers, n_clusters: int) -> Floats:
        r"""Log ratios of internal to external conductance.

        An edge of weight w is a row of a landmark graph that has half of each of its ends, which
        are the landmarks. It adds :math:`w/4` to a cut between them and :math:`w/2` to the
        volumes of both: all conductances are half of what they are between the points.
        """
        first, second, weights, volumes = self.edges
        mine = np.asarray(labels, np.int64)[self.rows]
        total, n = float(volumes.sum()), len(self.rows)
        if total == 0.0:
            return np.full(n_clusters, np.log(NOTHING))
        resolution = RESOLUTION * total / n
        inner = mine[first] == mine[second]
        found = conductances(
            np.column_stack([first, second]).astype(np.int64),
            np.full((len(first), 2), 0.5),
            weights,
            volumes / 2.0,
            np.where(inner, mine[first], n_clusters),
            n_clusters + 1,
            resolution / 4.0,
        )
        held = found.sizes[:n_clusters] > 0.0
        inside = np.where(held, np.minimum(2.0 * found.inside[:n_clusters], 1.0), 0.0)
        volume = np.bincount(mine, volumes, n_clusters)
        leaving = volume - 2.0 * np.bincount(mine[first], weights * inner, n_clusters)
        side = np.minimum(volume, total - volume)
        leaving = np.maximum(leaving, 0.0) + resolution
        outside = np.divide(leaving, side, out=np.ones(n_clusters), where=side > 0.0)
        return _log_ratios(inside, outside)


def landmarks_like(kernel: Kernel) -> Landmarks | None:
    """Return landmarks in the metric of a kernel, if there is one."""
    if isinstance(kernel, Landmarks):
        return kernel
    name = LIKE.get(kernel.name)
    if name is None or np.ndim(getattr(kernel, "bandwidth", 0.0) or 0.0) > 0:
        return None
    return Landmarks(metric=name)


@dataclass(frozen=True)
class Graphs:
    """Graphs of the same rows.

    Attributes
    ----------
    graphs : tuple of functions
        Each from a clustering to the log ratios of its clusters.
    weights : array of shape (n,)
        Of the rows.
    distinct : array of int
        The first of equal rows.
    """

    graphs: tuple[Ratios, ...]
    weights: Floats
    distinct: Integers

    @classmethod
    def of(cls, sample: Sample, recipe: Recipe, smooth: bool = True) -> Graphs:
        """Build the graphs of a sample, in which rows are near as the kernel of a recipe has it.

        Both, if the ``smooth`` one is wanted and landmarks have a metric like it.
        """
        distinct = distinct_rows(sample.X)[0]
        graphs = [MutualGraph.of(sample, recipe).ratios]
        landmarks = landmarks_like(recipe.kernel) if smooth else None
        if landmarks is not None:
            alike = replace(recipe, kernel=landmarks, icd_kernel=landmarks)
            rows = replace(sample, X=in_ordinary_unit(sample.X)[0])
            shared = LandmarkGraph.of(rows, alike.with_landmarks(*GRAPH_LANDMARKS))
            average = float(shared.weights.sum()) / len(distinct)
            graphs.append(replace(shared, resolution=RESOLUTION * average).ratios)
        return cls(tuple(graphs), sample.weights, distinct)

    def smallest(self, labels: Integers, n_clusters: int) -> float:
        """Fewest rows of a cluster: distinct ones, or as many as their weight stands for.

        Copies of a row and its weight count alike.
        """
        rows = np.bincount(labels[self.distinct], minlength=n_clusters)
        average = self.weights.sum() / len(self.distinct)
        return float(
            np.maximum(rows, np.bincount(labels, self.weights, n_clusters) / average).min()
        )

    def separation(self, labels: Integers, n_clusters: int) -> Separation:
        """Return how well the clusters are separated in the graph that shows them best.

        Examples
        --------
        >>> import numpy as np
        >>> from sparseksc.config.settings import Settings
        >>> from sparseksc.data.sampling import Sample
        >>> from sparseksc.estimator import KernelSpectralClustering
        >>> from sparseksc.search.quality import Graphs
        >>> X = np.random.default_rng(0).normal(size=(400, 2))
        >>> X[200:, 0] += 8.0
        >>> ksc = KernelSpectralClustering(kernel="landmarks", random_state=0)
        >>> recipe = Settings(ksc.get_params()).recipe(None, 2)
        >>> graphs = Graphs.of(Sample(np.arange(400), X, np.ones(400)), recipe)
        >>> clusters, halves = np.repeat([0, 1], 200), (X[:, 1] > 0.0).astype(int)
        >>> graphs.separation(clusters, 2).value > 2.0, graphs.separation(halves, 2).value < 0.1
        (True, True)
        """
        sizes = np.bincount(labels, self.weights, n_clusters).astype(np.float64)
        if not (sizes > 0.0).all():
            return Separation(-np.inf, -np.inf)

        ratios = [graph(labels, n_clusters) for graph in self.graphs]
        return Separation(
            max(joined(one, sizes) for one in ratios),
            max(joined(limited(one), sizes) for one in ratios),
        )
