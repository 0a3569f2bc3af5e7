"""Two models of the same kind of data: the same numbers for the same clusters, and what changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from sparseksc._text import escaped
from sparseksc._typing import Floats, Integers
from sparseksc.config.inputs import model_source
from sparseksc.core.clusters.alignment import align, realigned, shared_weight
from sparseksc.core.model import NOISE
from sparseksc.core.training import Training
from sparseksc.data.adapters import is_dask
from sparseksc.data.source import BLOCK_ROWS, ArraySource, Source
from sparseksc.data.stream import IterableSource
from sparseksc.fitted import FittedClusters
from sparseksc.preprocessing.tables import arrow_table, recut

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
    *found, weights = _labelled_by_both(old, new, X)
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
    before, now, weights = _labelled_by_both(old, estimator, X)
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


def _labelled_by_both(
    old: FittedClusters, new: FittedClusters, X: Any
) -> tuple[Integers, Integers, Floats]:
    """Clusters of some rows by two models, and the weights of the rows."""
    if hasattr(old, "table_encoder_") or hasattr(new, "table_encoder_"):
        sample = IterableSource(partial(_encoded_by_both, old, new, X)).sample(COMPARED_ROWS, 0)
        width = old.n_features_in_
        parts = sample.X[:, :width], sample.X[:, width:]
    else:
        sample = model_source(new, X).sample(COMPARED_ROWS, 0)
        values = sample.X if new.scaling_ is None else new.scaling_.undo(sample.X)
        parts = values, values
    before, now = (
        _reached(model, _with_names(model, part))
        for model, part in zip((old, new), parts, strict=True)
    )
    return before, now, sample.weights


def _with_names(model: FittedClusters, values: Any) -> ArraySource:
    """Rows in the units of the user, as a model expects them."""
    rows = ArraySource(values)
    names = getattr(model, "feature_names_in_", None)
    rows.feature_names = None if names is None else [str(name) for name in names]
    return rows


def _encoded_by_both(old: FittedClusters, new: FittedClusters, X: Any) -> Iterator[Any]:
    """Blocks of the rows of a table, as each of two models takes them, side by side.

    Each model has its own encoder, with levels and columns of its own, or none, if its columns are
    numbers; rows that one of them leaves out are left out.
    """
    names = [_columns_of(model) for model in (old, new)]
    columns = list(dict.fromkeys([*names[0], *names[1]]))
    for batch in recut(_batches(X, columns), BLOCK_ROWS):
        (first, some), (second, others) = (
            _as_features(model, batch, mine) for model, mine in zip((old, new), names, strict=True)
        )
        yield np.hstack([first, second])[some & others]


def _columns_of(model: FittedClusters) -> list[str]:
    """Columns of a table that a model uses."""
    encoder = getattr(model, "table_encoder_", None)
    if encoder is not None:
        return list(encoder.columns_in_use)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise ValueError(
            "One of the models was trained with a table and the other with columns that have no "
            "names: they cannot be compared."
        )
    return [str(name) for name in names]


def _batches(X: Any, columns: list[str]) -> Iterator[Any]:
    """Record batches of the columns of files or of a data frame."""
    files: Any = getattr(X, "files", None)
    if files is not None:
        _require_columns(columns, files.schema.names)
        yield from files.batches(columns)
        return
    if not hasattr(X, "columns"):
        raise ValueError(
            "Models of tables are compared on files or data frames with their columns, got "
            f"{type(X).__name__}."
        )
    for part in X.to_delayed() if is_dask(X) else [X]:
        table = arrow_table(part.compute() if is_dask(X) else part)
        _require_columns(columns, table.column_names)
        yield from table.select(columns).to_batches()


def _require_columns(columns: list[str], known: list[str]) -> None:
    absent = [name for name in columns if name not in known]
    if absent:
        raise ValueError(
            f"One of the models was trained with the column {escaped(repr(absent[0]))}, which "
            "these rows do not have: they cannot be compared on them."
        )


def _as_features(model: FittedClusters, batch: Any, names: list[str]) -> tuple[Any, Any]:
    """Features of the rows of a batch, and which of the rows the model takes."""
    encoder = getattr(model, "table_encoder_", None)
    if encoder is not None:
        return cast(tuple[Any, Any], encoder.encode(batch.select(names)))
    try:
        values = np.column_stack(
            [batch.column(name).to_numpy(zero_copy_only=False).astype(float) for name in names]
        )
    except (TypeError, ValueError):
        raise ValueError(
            "One of the models was trained with numbers where these rows have others: they cannot "
            "be compared on them."
        ) from None
    return values, np.isfinite(values).all(axis=1)


def _reached(model: FittedClusters, rows: ArraySource) -> Integers:
    """Cluster of each row by its number, -1 where it is noise or an outlier."""
    labels = np.asarray(model._apply(model.model_.labels, rows, None, np.intp))
    outside = np.asarray(model._apply(model.model_.outliers, rows, None, np.bool_))
    return np.where(outside, NOISE, labels)
