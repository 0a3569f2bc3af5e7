"""What a report reads: rows in blocks, with their names, as they were given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from sparseksc._text import escaped
from sparseksc._typing import Array, Floats, Integers
from sparseksc.config.inputs import encoded_rows
from sparseksc.data.adapters import external_source, is_dask, is_external
from sparseksc.data.files import FileStream
from sparseksc.data.sampling import Sample
from sparseksc.data.source import ArraySource, Source


@dataclass(frozen=True)
class Answers:
    """What a fitted model says about some rows.

    Attributes
    ----------
    labels : array of shape (n,)
    membership : array of shape (n, K)
    outliers : array of bool of shape (n,)
    """

    labels: Integers
    membership: Floats
    outliers: NDArray[np.bool_]

    def in_clusters(self, block: Any) -> tuple[Any, Answers]:
        """Return the rows that are not noise, and what is said about them."""
        kept = self.labels >= 0
        if kept.all():
            return block, self
        mine = Answers(self.labels[kept], self.membership[kept], self.outliers[kept])
        return block[kept], mine


@dataclass(frozen=True)
class Rows:
    """The rows that a report is about, in their original units.

    Attributes
    ----------
    estimator : KernelSpectralClustering
        Fitted.
    source : Source
    names : list of str
        Of the features.
    kind : str
        What was given, in words.
    ids : sequence or None
        Names of the rows; None for their numbers.
    """

    estimator: Any
    source: Source
    names: list[str]
    kind: str
    ids: Sequence[Any] | None

    @property
    def has_features(self) -> bool:
        """Whether columns are features: those of a kernel matrix are not."""
        return bool(self.estimator.kernel != "precomputed")

    def blocks(self) -> Iterator[Array]:
        """Yield blocks of rows, in order."""
        return (block for block, _ in self.source.blocks())

    def sample(self, size: int, seed: int) -> Sample:
        """Draw rows uniformly."""
        return self.source.sample(size, seed)

    def answers(self, block: Array) -> Answers:
        """Ask the model."""
        rows = self._for_model(block)
        return Answers(
            np.asarray(self.estimator._apply(self.estimator.model_.labels, rows, None, np.intp)),
            np.asarray(self.estimator.membership(rows)),
            np.asarray(self.estimator.outliers(rows)),
        )

    def scores(self, block: Array) -> Floats:
        """Score variables, shape (n, K-1)."""
        return np.asarray(self.estimator.transform(self._for_model(block)), dtype=np.float64)

    def _for_model(self, block: Array) -> Any:
        # The names were checked once for all; a block has none, and as a source needs none.
        return ArraySource(block) if self.has_features else block

    def name_of(self, row: int) -> str:
        """Name of a row, or its number."""
        return f"{row:,}" if self.ids is None else escaped(str(self.ids[row]))


def read_rows(estimator: Any, X: Any, ids: Sequence[Any] | None) -> Rows:
    """Check the data against the model, and give rows and features their names."""
    check_is_fitted(estimator)
    names = _index_of(X) if ids is None else ids
    X = encoded_rows(estimator, X)
    if isinstance(X, ArraySource):
        return Rows(estimator, X, _feature_names(estimator, X, X), "a data frame", names)
    if is_external(X):
        source = external_source(X, estimator, reset=False)
    else:
        data = validate_data(
            estimator, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        source = ArraySource(data)
        if ids is not None and len(ids) != data.shape[0]:
            raise ValueError(f"ids has {len(ids):,} names for {data.shape[0]:,} rows.")
        ids = _index_of(X) if ids is None else ids
    return Rows(estimator, source, _feature_names(estimator, X, source), _kind(X, source), ids)


def _index_of(X: Any) -> Sequence[Any] | None:
    """Row names of a pandas data frame that has any."""
    index = getattr(X, "index", None)
    if index is None or not hasattr(X, "iloc") or type(index).__name__ == "RangeIndex":
        return None
    names: Sequence[Any] = index.tolist()
    return names


def _feature_names(estimator: Any, X: Any, source: Source) -> list[str]:
    known = getattr(estimator, "feature_names_in_", None)
    if known is None:
        known = source.feature_names
    if known is None and hasattr(X, "columns"):
        known = list(X.columns)
    if known is None:
        known = [f"feature {number}" for number in range(source.n_features)]
    return [escaped(str(name)) for name in known]


def _kind(X: Any, source: Source) -> str:
    if isinstance(source, FileStream):
        shown = ", ".join(path.name for path in source.paths[:3])
        more = len(source.paths) - 3
        return f"{shown} and {more:,} more files" if more > 0 else shown
    if is_dask(X):
        return "a Dask collection"
    if isinstance(X, Source):
        return "a stream of rows"
    if sp.issparse(X):
        return "a sparse matrix"
    if hasattr(X, "columns"):
        return f"a data frame ({type(X).__module__.partition('.')[0]})"
    return "an array"
