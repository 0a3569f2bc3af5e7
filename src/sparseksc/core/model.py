"""The fitted model: a small immutable object that scores and labels any point."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparseksc._typing import Array, Floats, Integers
from sparseksc.core.density import Density
from sparseksc.core.encoding import Encoding
from sparseksc.execution.threads import map_rows
from sparseksc.kernels import CallableKernel, Exponential, Kernel

#: Label of noise.
NOISE = -1
#: What stands for noise where clusters have names that are text.
NOISE_NAME = "noise"


@dataclass(frozen=True)
class Projection:
    r"""From points to score variables :math:`z(x) = \xi^\top k_P(x) + b` and degrees.

    Attributes
    ----------
    kernel : Kernel
    points : array of shape (R, d)
        The reduced set P.
    coef : array of shape (R, K-1)
        ``xi``.
    bias : array of shape (K-1,)
        ``b``.
    degree_kernel : Kernel
        Kernel of the degrees; differs from ``kernel`` only with two bandwidths.
    degree_coef : array of shape (R,)
        ``q`` of the degree ``d(x) = k_P(x) . q``.
    """

    kernel: Kernel
    points: Array
    coef: Floats
    bias: Floats
    degree_kernel: Kernel
    degree_coef: Floats

    def leading(self, count: int) -> Projection:
        """Only the first ``count`` score variables."""
        coef = np.ascontiguousarray(self.coef[:, :count])
        return replace(self, coef=coef, bias=self.bias[:count])

    @property
    def rank(self) -> int:
        """Number of pivots, R."""
        return len(self.coef)

    @property
    def written(self) -> int:
        """Columns of the tiles that are written to memory on the way to scores."""
        return self.kernel.written(self.points)

    def factor_size(self) -> int:
        """Entries of the largest matrix that BLAS multiplies rows by, on the way to labels."""
        K = len(self.bias) + 1
        if self.written == 1 and isinstance(self.kernel, Exponential):
            return K * K
        known = not isinstance(self.kernel, CallableKernel)
        return max(int(np.prod(self.points.shape)), K * self.rank) if known else sys.maxsize

    def scores(self, X: Array, n_jobs: int | None = None) -> Floats:
        """Score variables, shape (n, K-1)."""
        return map_rows(self.chunk_scores, X, self.written, n_jobs, self.factor_size)

    def chunk_scores(self, rows: Array) -> Floats:
        """Scores of a few rows, in the calling thread."""
        return self.kernel.scores(rows, self.points, self.coef, self.bias)

    def degrees(self, X: Array, n_jobs: int | None = None) -> Floats:
        """Degrees in the similarity graph of the training data, shape (n,)."""
        work = partial(self.degree_kernel.degrees, P=self.points, q=self.degree_coef)
        return map_rows(work, X, self.written, n_jobs, self.factor_size)

    def scores_and_degrees(
        self, X: Array, n_jobs: int | None = None, *, with_kernel_sums: bool = False
    ) -> tuple[Floats, ...]:
        """Both, and kernel sums if asked, from one evaluation of the kernel where they share it."""
        sums = [np.ones(self.rank)] if with_kernel_sums else []
        if self.degree_kernel != self.kernel or not self.kernel.has_linear_degrees:
            more = [self.kernel_sums(X, n_jobs) for _ in sums]
            return self.scores(X, n_jobs), self.degrees(X, n_jobs), *more
        coef = np.column_stack([self.coef, self.degree_coef, *sums])
        m = len(self.bias)
        bias = np.append(self.bias, np.zeros(coef.shape[1] - m))
        work = partial(self.kernel.scores, P=self.points, coef=coef, bias=bias)
        columns = map_rows(work, X, self.written, n_jobs, self.factor_size)
        return columns[:, :m], *columns.T[m:]

    def kernel_sums(self, X: Array, n_jobs: int | None = None) -> Floats:
        """``sum_r k(x, p_r)``, shape (n,)."""
        column, none = np.ones((self.rank, 1)), np.zeros(1)

        def work(rows: Array) -> Array:
            return self.kernel.scores(rows, self.points, column, none)[:, 0]

        return map_rows(work, X, self.written, n_jobs, self.factor_size)


@dataclass(frozen=True)
class SparseModel:
    """A trained clustering: it holds R pivots, not the training data.

    Attributes
    ----------
    projection : Projection
    eigenvalues : array of shape (K-1,)
    encoding : Encoding
        Prototypes of the K clusters.
    degree_floor : float
        At or below it a point is an outlier: the reduced set does not represent it.
    noise : Density or None
        Points below its floor are noise, with the label -1; None where nothing is.
    classes : array of shape (K,) or None
        Names of the clusters, where they are not 0 to K - 1.
    """

    projection: Projection
    eigenvalues: Floats
    encoding: Encoding
    degree_floor: float
    noise: Density | None = None
    classes: Any = None

    def scores(self, X: Array, n_jobs: int | None = None) -> Floats:
        """Score variables, shape (n, K-1)."""
        return self.projection.scores(X, n_jobs)

    def scores_in_precision(self, X: Array, n_jobs: int | None = None) -> Array:
        """Score variables in the precision of the rows, shape (n, K-1)."""
        kind = np.float64 if X.dtype.hasobject else X.dtype
        return self.scores(X, n_jobs).astype(kind, copy=False)

    def labels(self, X: Array, n_jobs: int | None = None) -> Integers:
        """Cluster numbers, shape (n,); -1 for noise."""
        width, size = self.projection.written, self.projection.factor_size
        if self.noise is None:
            return map_rows(self.chunk_labels, X, width, n_jobs, size)
        return map_rows(self.chunk_labels, X, max(width, self.noise.written), n_jobs)

    def named_labels(self, X: Array, n_jobs: int | None = None) -> Any:
        """Names of the clusters, shape (n,); their numbers where they have no others."""
        labels = self.labels(X, n_jobs)
        return labels if self.classes is None else named(labels, self.classes)

    def named_labels_and_membership(
        self, X: Array, n_jobs: int | None = None
    ) -> tuple[Any, Floats]:
        """Both, from one evaluation of the kernel."""
        labels, membership = self.labels_and_membership(X, n_jobs)
        return labels if self.classes is None else named(labels, self.classes), membership

    def chunk_labels(self, rows: Array) -> Integers:
        """Cluster numbers of a few rows, in the calling thread."""
        labels = self.encoding.labels(self.projection.chunk_scores(rows))
        if self.noise is None:
            return labels
        return np.where(self.noise.chunk_is_noise(rows), NOISE, labels)

    def membership(self, X: Array, n_jobs: int | None = None) -> Floats:
        """Soft memberships, shape (n, K); rows sum to 1."""

        def work(rows: Array) -> Array:
            return self.encoding.membership(self.projection.chunk_scores(rows))

        return map_rows(work, X, self.projection.written, n_jobs, self.projection.factor_size)

    def labels_and_membership(self, X: Array, n_jobs: int | None = None) -> tuple[Integers, Floats]:
        """Both, from one evaluation of the kernel."""

        def work(rows: Array) -> Array:
            scores = self.projection.chunk_scores(rows)
            labels, membership = self.encoding.labels(scores), self.encoding.membership(scores)
            if self.noise is not None:
                labels = np.where(self.noise.chunk_is_noise(rows), NOISE, labels)
            return np.column_stack([membership, labels])

        columns = map_rows(work, X, self.projection.written, n_jobs, self.projection.factor_size)
        return columns[:, -1].astype(np.intp), columns[:, :-1]

    def outliers(self, X: Array, n_jobs: int | None = None) -> NDArray[np.bool_]:
        """Whether a point is out of the reach of the reduced set, shape (n,)."""
        return self.projection.degrees(X, n_jobs) <= self.degree_floor


def more_names(names: Any, count: int) -> Any:
    """Append so many names that are not taken: the next numbers, or "cluster 1" and so on.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.core.model import more_names
    >>> more_names(np.array([2, 5]), 2)
    array([2, 5, 6, 7])
    >>> more_names(np.array(["cat", "dog"]), 1)
    array(['cat', 'dog', 'cluster 1'], dtype='<U9')
    """
    if names.dtype.kind in "iu":
        first = int(names.max(initial=-1)) + 1
        return np.append(names, np.arange(first, first + count, dtype=names.dtype))
    taken, added, number = set(names.tolist()), list[str](), 0
    while len(added) < count:
        number += 1
        if f"cluster {number}" not in taken:
            added.append(f"cluster {number}")
    return np.append(names, np.array(added, dtype=np.str_)) if added else names


def named(labels: Any, names: Any) -> Any:
    """Replace numbers of clusters by their names, and -1 by that of noise.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.core.model import named
    >>> named(np.array([1, 0, -1]), np.array(["cat", "dog"]))
    array(['dog', 'cat', 'noise'], dtype='<U5')
    """
    noise = -1 if names.dtype.kind in "iu" else NOISE_NAME
    return np.append(names, noise)[labels]
