r"""The quality of a clustering: how much harder its clusters are to divide than to cut off.

In a graph of landmarks (:mod:`sparseksc.kernels.landmarks`), which has no bandwidth and is the same
for all models, a cluster has an *external conductance* :math:`\phi_{out}`, what leaves it over the
smaller of its volume and that of the rest, and an *internal conductance* :math:`\phi_{in}`, the
least conductance of a cut through it, which a sweep along its slowest mode finds. With

.. math:: r_k = \log\frac{\phi_{in} + \epsilon}{\phi_{out} + \epsilon}

the quality is half the mean of :math:`r_k` over the clusters, weighted by their volumes, and half
the least of them: one bad cluster makes a bad clustering. It is that of the graph, from coarse to
fine, which shows the clusters best. It has a scale of its own: see ``CLOUD_QUALITY`` and
``CLEAR_QUALITY`` in :mod:`sparseksc.search.constants`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparseksc._native.conductance import conductances
from sparseksc._typing import Floats, Integers
from sparseksc.core.landmarks import choose_landmarks
from sparseksc.core.recipe import Recipe
from sparseksc.data.distinct import distinct_rows
from sparseksc.data.sampling import Sample
from sparseksc.kernels import Landmarks
from sparseksc.search.constants import JUDGING_GRAPHS, LEAST_CONDUCTANCE


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
    """

    numbers: Integers
    shares: Floats
    weights: Floats
    volumes: Floats

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

    def quality(self, labels: Integers, n_clusters: int) -> float:
        """Mean and least of the log ratios of the clusters, half each."""
        found = conductances(
            self.numbers,
            self.shares,
            self.weights,
            self.volumes,
            np.ascontiguousarray(labels, np.int64),
            n_clusters,
        )
        if not (found.sizes > 0.0).all():
            return -np.inf
        ratios = np.log((found.inside + LEAST_CONDUCTANCE) / (found.outside + LEAST_CONDUCTANCE))
        return float(np.average(ratios, weights=found.sizes) + ratios.min()) / 2.0


@dataclass(frozen=True)
class Judge:
    """Graphs of the same rows, from coarse to fine; ``distinct`` are the first of equal rows."""

    graphs: tuple[LandmarkGraph, ...]
    distinct: Integers

    @classmethod
    def of(cls, sample: Sample, landmarks: Recipe) -> Judge:
        """Build the graphs of a sample, in the metric of a recipe for landmarks."""
        recipes = (landmarks.with_landmarks(R, s) for R, s in JUDGING_GRAPHS)
        graphs = tuple(LandmarkGraph.of(sample, recipe) for recipe in recipes)
        return cls(graphs, distinct_rows(sample.X)[0])

    def smallest(self, labels: Integers, n_clusters: int) -> int:
        """Fewest distinct rows of a cluster: copies of a row count like its weight."""
        return int(np.bincount(labels[self.distinct], minlength=n_clusters).min())

    def quality(self, labels: Integers, n_clusters: int) -> float:
        """Quality of a clustering of the rows.

        Examples
        --------
        >>> import numpy as np
        >>> from sparseksc.config.settings import Settings
        >>> from sparseksc.data.sampling import Sample
        >>> from sparseksc.estimator import KernelSpectralClustering
        >>> from sparseksc.search.quality import Judge
        >>> X = np.random.default_rng(0).normal(size=(400, 2))
        >>> X[200:, 0] += 8.0
        >>> ksc = KernelSpectralClustering(kernel="landmarks", random_state=0)
        >>> recipe = Settings(ksc.get_params()).recipe(None, 2)
        >>> judge = Judge.of(Sample(np.arange(400), X, np.ones(400)), recipe)
        >>> clusters, halves = np.repeat([0, 1], 200), (X[:, 1] > 0.0).astype(int)
        >>> bool(judge.quality(clusters, 2) > 2.0), bool(judge.quality(halves, 2) < 0.0)
        (True, True)
        """
        return max(graph.quality(labels, n_clusters) for graph in self.graphs)
