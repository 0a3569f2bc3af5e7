r"""Standardised features: :math:`(x_f - \mu_f) / \sigma_f`, measured in one pass over any source.

The mean and the standard deviation of every feature come from sums over chunks that are merged
along the fixed tree of :mod:`sparseksc.data.source`, like everything else that is learnt from all
rows: the same rows in the same blocks give the same bits.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparseksc._typing import Floats
from sparseksc.data.source import Source
from sparseksc.data.sparse import times_columns


@dataclass(frozen=True, eq=False)
class Scaling:
    r"""Subtract ``mean`` from every feature and divide by ``scale``.

    Attributes
    ----------
    mean : array of shape (d,)
        Zeros for a model of sparse data, which is divided only: centring would fill it.
    scale : array of shape (d,)
        Standard deviations :math:`\sqrt{\sum_i w_i (x_i - \mu)^2 / \sum_i w_i}`; 1 for features
        that are constant.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.scaling import measure_scaling
    >>> from sparseksc.data.source import ArraySource
    >>> X = np.array([[1.0, 5.0], [3.0, 5.0]])
    >>> scaling = measure_scaling(ArraySource(X))
    >>> scaling.mean, scaling.scale
    (array([2., 5.]), array([1., 1.]))
    >>> scaling.apply(X)
    array([[-1.,  0.],
           [ 1.,  0.]])
    """

    mean: Floats
    scale: Floats

    def __post_init__(self) -> None:
        self.mean.flags.writeable = self.scale.flags.writeable = False

    def apply(self, X: Any) -> Any:
        """Rows in units of the training data, in the precision of ``X``."""
        if isinstance(X, np.ndarray):
            return ((X - self.mean) / self.scale).astype(X.dtype, copy=False)
        if self.mean.any():
            raise ValueError(
                "This model subtracts the mean of each feature, which would fill a sparse matrix; "
                "pass X.toarray()."
            )
        return times_columns(X.tocsr(), 1.0 / self.scale).astype(X.dtype, copy=False)

    def undo(self, X: Any) -> Any:
        """Rows in the units of the user, from those of :meth:`apply`."""
        if isinstance(X, np.ndarray):
            return (X * self.scale + self.mean).astype(X.dtype, copy=False)
        return times_columns(X.tocsr(), self.scale).astype(X.dtype, copy=False)

    def fingerprint(self) -> str:
        """Say in a word which scaling this is."""
        return hashlib.sha256(self.mean.tobytes() + self.scale.tobytes()).hexdigest()


@dataclass(frozen=True)
class Spread:
    """Weight, mean, sum of squared deviations, least and largest value of each feature."""

    weight: float
    mean: Floats
    deviation: Floats
    least: Floats
    largest: Floats

    @classmethod
    def of(cls, X: Any, weights: Floats) -> Spread:
        """Measure a chunk; rows of weight zero count nowhere."""
        present = weights > 0.0
        if not present.all():
            X, weights = X[present], weights[present]
        total = float(weights.sum())
        if total == 0.0:
            nothing = np.zeros(X.shape[1])
            return cls(0.0, nothing, nothing, nothing + np.inf, nothing - np.inf)
        with np.errstate(over="ignore", invalid="ignore"):  # checked at the end
            return cls._of_present(X.astype(np.float64, copy=False), weights, total)

    @classmethod
    def _of_present(cls, X: Any, weights: Floats, total: float) -> Spread:
        mean = np.asarray(weights @ X) / total
        if isinstance(X, np.ndarray):
            deviation = weights @ (X - mean) ** 2
            return cls(total, mean, deviation, X.min(axis=0), X.max(axis=0))
        # The entries that are not stored are zeros, at the distance of the mean.
        d, columns = X.shape[1], X.indices
        mass = np.repeat(weights, np.diff(X.indptr))
        stored = np.bincount(columns, mass, minlength=d)
        there = np.bincount(columns, mass * (X.data - mean[columns]) ** 2, minlength=d)
        deviation = there + np.maximum(total - stored, 0.0) * mean**2
        least, largest = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
        return cls(total, mean, deviation, least, largest)

    def merge(self, other: Spread) -> Spread:
        """Measure these rows and others."""
        weight = self.weight + other.weight
        if weight == 0.0:
            return self
        share = other.weight / weight
        with np.errstate(over="ignore", invalid="ignore"):
            step = other.mean - self.mean
            mean = self.mean + share * step
            deviation = self.deviation + other.deviation + self.weight * share * step**2
        least = np.minimum(self.least, other.least)
        return Spread(weight, mean, deviation, least, np.maximum(self.largest, other.largest))


def measure_scaling(source: Source, n_jobs: int | None = None) -> Scaling:
    """Mean and standard deviation of every feature, in one pass over the rows."""
    spread = source.sum(Spread.of, Spread.merge, source.n_features, n_jobs)
    # By the values, not by the deviation: the mean of equal numbers is rounded, too.
    constant = spread.least == spread.largest
    mean = np.where(constant, spread.least, spread.mean)
    scale = np.where(constant, 1.0, np.sqrt(spread.deviation / spread.weight))
    if not (np.isfinite(mean).all() and np.isfinite(scale).all()):
        raise ValueError("The features are too large to be standardised: rescale X.")
    if (scale < np.finfo(np.float64).tiny).any():
        raise ValueError("The features are too small to be standardised: rescale X.")
    if source.is_sparse:
        mean = np.zeros_like(mean)
    return Scaling(mean, scale)
