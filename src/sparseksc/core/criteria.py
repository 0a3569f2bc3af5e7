r"""Model selection criteria on the scores of validation points.

Each criterion is :math:`(1 - \eta) \cdot fit + \eta \cdot balance` with
:math:`balance = \min_k |A_k| / \max_k |A_k|` over the clusters :math:`A_k`. Clusters of at
most ``outlier_threshold`` points add nothing to the fit but still divide it.

==== ===================================================================================
BLF  balanced line fit: how well each cluster's scores lie on a line
AMS  average membership strength: mean soft membership of the points in their own cluster
BAS  balanced angular similarity: mean of 1 - d_nearest / d_second; K > 2
==== ===================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseksc._native.clusters import Assignment, assign, scatter
from sparseksc._typing import Floats, Integers
from sparseksc.core.encoding import Encoding

CRITERIA = ("ams", "blf", "bas")


def balance(sizes: NDArray[Any]) -> float:
    """Smallest cluster over largest, 0 where a cluster is empty."""
    return float(sizes.min() / sizes.max()) if sizes.max(initial=0) > 0 else 0.0


@dataclass(frozen=True)
class Objective:
    r"""A criterion with its parameters.

    Attributes
    ----------
    criterion : {"ams", "blf", "bas"}
    eta : float
        Weight :math:`\eta` of the balance, between 0 and 1.
    outlier_threshold : int
        Clusters of at most this many points add nothing to the fit.
    """

    criterion: str = "ams"
    eta: float = 0.0
    outlier_threshold: int = 0

    def needs_kernel_sums(self, n_clusters: int) -> bool:
        """Whether the value depends on more than the scores: BLF of two clusters."""
        return self.criterion == "blf" and n_clusters == 2

    def value(
        self,
        encoding: Encoding,
        scores: Floats,
        kernel_sums: Floats | None = None,
        weights: Floats | None = None,
    ) -> float:
        """Value for the clusters that ``encoding`` finds in ``scores`` (n, K-1).

        ``kernel_sums`` are ``sum_r k(x, p_r) + b_1``, shape (n,), the second coordinate of
        BLF for two clusters. ``weights`` are sample weights, 1 by default. The value is at
        most 1, the larger the better, and 0 for a single cluster.
        """
        K = encoding.n_clusters
        if K == 1:
            return 0.0
        found = assign(encoding.distances(scores))
        sizes = np.bincount(found.labels, weights, minlength=K)
        fit = self.fit(scores, kernel_sums, found, sizes, weights)
        return self.weigh(fit, sizes)

    def weigh(self, fit: float, sizes: NDArray[Any]) -> float:
        """Weighted mean of the fit and the balance of the clusters."""
        return (1.0 - self.eta) * fit + self.eta * balance(sizes)

    def fit(
        self,
        scores: Floats,
        kernel_sums: Floats | None,
        found: Assignment,
        sizes: NDArray[Any],
        weights: Floats | None = None,
    ) -> float:
        """Value without the balance, for clusters that are known already."""
        if self.criterion == "blf":
            if len(sizes) == 2:
                if kernel_sums is None:
                    raise ValueError("BLF of two clusters needs kernel_sums.")
                scores = np.column_stack([scores[:, 0], kernel_sums])
            return line_fit(scores, found.labels, sizes, self.outlier_threshold, weights)
        if self.criterion == "bas" and len(sizes) < 3:
            raise ValueError("The BAS criterion is defined for more than two clusters.")
        strengths = found.angular if self.criterion == "bas" else found.membership
        return mean_strength(strengths, found.labels, sizes, self.outlier_threshold, weights)


def mean_strength(
    strengths: Floats,
    labels: Integers,
    sizes: NDArray[Any],
    outlier_threshold: int = 0,
    weights: Floats | None = None,
) -> float:
    """Mean over the clusters of the mean strength of their points."""
    if weights is not None:
        strengths = strengths * weights
    totals = np.bincount(labels, strengths, minlength=len(sizes))
    counts = sizes > outlier_threshold
    return float((totals[counts] / sizes[counts]).sum() / len(sizes))


def line_fit(
    coordinates: Floats,
    labels: Integers,
    sizes: NDArray[Any],
    outlier_threshold: int = 0,
    weights: Floats | None = None,
) -> float:
    r"""How close each cluster is to a line, 0 for round clouds and 1 for lines.

    With the eigenvalues :math:`\lambda_1 \ge \dots \ge \lambda_m` of the covariance of a
    cluster in m coordinates, it is the mean over the K clusters of
    :math:`\frac{m}{m-1} (\lambda_1 / \sum_l \lambda_l - 1/m)`: for K > 2 in the K-1 scores,
    for K = 2 in two coordinates, as in the paper.
    """
    m = coordinates.shape[1]
    mass = np.ones(len(labels)) if weights is None else weights
    counts = sizes > max(outlier_threshold, 1)
    spread = np.linalg.eigvalsh(scatter(coordinates, labels, mass, len(sizes))[counts])
    total = spread.sum(axis=1)
    # Points that coincide lie on every line.
    shares = np.divide(spread[:, -1], total, out=np.ones_like(total), where=total > 0.0)
    return float((m / (m - 1) * (shares - 1.0 / m)).sum() / len(sizes))
