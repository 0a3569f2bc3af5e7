"""Two models of the same kind of data: the same numbers for the same clusters, and what changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sparseksc._typing import Floats, Integers
from sparseksc.config.inputs import model_source
from sparseksc.core.clusters.alignment import align, realigned, shared_weight
from sparseksc.core.model import NOISE
from sparseksc.core.training import Training
from sparseksc.data.source import ArraySource, Source
from sparseksc.fitted import FittedClusters

#: Rows that both models label, at most.
COMPARED_ROWS = 20_000
#: A cluster has gone to another one, or come from it, where they share this part of either.
LEAST_SHARE = 0.25


class Change(NamedTuple):
    """What became of clusters: ``kind`` is kept, split, merged, born or died."""

    kind: str
    old: tuple[Any, ...]
    new: tuple[Any, ...]

    def __str__(self) -> str:
        old, new = (", ".join(map(str, names)) for names in (self.old, self.new))
        return f"{self.kind}: {old or 'none'} -> {new or 'none'}"


@dataclass(frozen=True)
class Comparison:
    """Clusters of two models, compared by the rows that both label.

    Attributes
    ----------
    table : array of shape (n_old + 1, n_new + 1)
        Rows of each pair of clusters; the last row and column are those in none: noise, and rows
        out of the reach of a model.
    old, new : arrays
        Names of the clusters.
    changes : list of Change
    """

    table: Floats
    old: Any
    new: Any

    @property
    def changes(self) -> list[Change]:
        """What was kept, split, merged, born and died."""
        inner = self.table[:-1, :-1]
        of_old = inner / np.maximum(self.table[:-1].sum(axis=1, keepdims=True), 1.0)
        of_new = inner / np.maximum(self.table[:, :-1].sum(axis=0), 1.0)
        linked = np.maximum(of_old, of_new) >= LEAST_SHARE
        found = list[Change]()
        for a, name in enumerate(self.old):
            heirs = np.flatnonzero(linked[a])
            alone = [b for b in heirs if linked[:, b].sum() == 1]
            if len(heirs) == 0:
                found.append(Change("died", (name,), ()))
            elif len(heirs) == 1 and len(alone) == 1:
                found.append(Change("kept", (name,), (self.new[heirs[0]],)))
            elif len(heirs) > 1:
                found.append(Change("split", (name,), tuple(self.new[heirs])))
        for b, name in enumerate(self.new):
            parents = np.flatnonzero(linked[:, b])
            if len(parents) == 0:
                found.append(Change("born", (), (name,)))
            elif len(parents) > 1:
                found.append(Change("merged", tuple(self.old[parents]), (name,)))
        return found

    def __str__(self) -> str:
        return "\n".join(map(str, self.changes))

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the table: where the rows of each old cluster are now."""
        from sparseksc.plotting import ComparisonDisplay

        return ComparisonDisplay(self.table, [*self.old, "none"], [*self.new, "none"]).plot(ax=ax)


def compare(old: FittedClusters, new: FittedClusters, X: Any) -> Comparison:
    """Compare two models on rows that both label.

    Parameters
    ----------
    old, new : KernelSpectralClustering
        Fitted, with the same features.
    X : array-like of shape (n_samples, n_features), Source, or Dask collection
        Of more than 20,000 rows, as many are sampled.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sparseksc import KernelSpectralClustering, compare
    >>> X, _ = make_blobs(300, centers=[[0, 0], [0, 6], [30, 0]], random_state=0)
    >>> two, three = (
    ...     KernelSpectralClustering(k, bandwidth=4.0, random_state=0).fit(X) for k in (2, 3)
    ... )
    >>> print(compare(two, three, X))
    split: 0 -> 0, 1
    kept: 1 -> 2
    """
    rows, weights = _rows_for_both(new, X)
    found = [_reached(model, rows) for model in (old, new)]
    n_old, n_new = old.n_clusters_, new.n_clusters_
    # What is in no cluster is one more.
    a, b = (
        np.where(labels < 0, n, labels) for labels, n in zip(found, (n_old, n_new), strict=True)
    )
    table = shared_weight(a, b, weights, n_old + 1, n_new + 1)
    return Comparison(table, _names(old), _names(new))


def aligned(
    estimator: FittedClusters,
    training: Training,
    old: FittedClusters,
    X: Any,
    source: Source,
    close_gaps: bool,
) -> Training:
    """Give the clusters of a training the names of those of an older model."""
    rows, weights = _rows_for_both(estimator, X)
    before, now = _reached(old, rows), _reached(estimator, rows)
    K = estimator.n_clusters_
    table = shared_weight(before, now, weights, old.n_clusters_, K)
    result = realigned(training, align(table, _names(old), close_gaps=close_gaps))
    if isinstance(training.labels, np.ndarray) or training.labels is None:
        return result
    names = result.model.classes
    kind = np.dtype(np.intp) if names is None else names.dtype
    return replace(result, labels=source.later(result.model.named_labels, kind))


def _names(model: FittedClusters) -> Any:
    names = model.model_.classes
    return np.arange(model.n_clusters_) if names is None else names


def _rows_for_both(estimator: FittedClusters, X: Any) -> tuple[ArraySource, Floats]:
    """Rows in the units of the user, and their weights."""
    if hasattr(estimator, "table_encoder_"):
        raise ValueError("Models of tables that are encoded can only be compared by their labels.")
    source = model_source(estimator, X)
    sample = source.sample(COMPARED_ROWS, 0)
    scaling = estimator.scaling_
    values = sample.X if scaling is None else scaling.undo(sample.X)
    rows = ArraySource(values)
    names = getattr(estimator, "feature_names_in_", None)
    rows.feature_names = None if names is None else [str(name) for name in names]
    return rows, sample.weights


def _reached(model: FittedClusters, rows: ArraySource) -> Integers:
    """Cluster of each row by its number, -1 where it is noise or out of reach."""
    labels = np.asarray(model._apply(model.model_.labels, rows, None, np.intp))
    outside = np.asarray(model._apply(model.model_.outliers, rows, None, np.bool_))
    return np.where(outside, NOISE, labels)
