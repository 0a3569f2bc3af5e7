"""Samples of a search: rows to train on, and rows to compare models on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr

from sparseksc._typing import Array, Integers
from sparseksc.core.recipe import Recipe
from sparseksc.data.distinct import distinct_rows
from sparseksc.data.sampling import Sample
from sparseksc.data.source import ArraySource
from sparseksc.kernels import RBF, Kernel, Landmarks
from sparseksc.search.constants import DENSE_SIZE, TRAINING_SIZE
from sparseksc.search.isolation import isolated_rows


@dataclass(frozen=True)
class Samples:
    """Rows to train on, and rows to compare models on.

    Attributes
    ----------
    drawn : Sample
        The rows to train on as they are in the data.
    training : Sample
        The same rows as models are fitted to them: in fewer features where there are many more than
        rows, dense where they have few entries, and among themselves where a kernel is precomputed.
    compared : Sample
        Other rows or some of these, with the columns of ``training``.
    complete : bool
        Whether these are all the rows there are, but for isolated ones.
    """

    drawn: Sample
    training: Sample
    compared: Sample
    complete: bool

    @property
    def source(self) -> ArraySource:
        """The rows to train on, with their weights."""
        return ArraySource(self.training.X, self.training.weights)

    def for_pivots(self, recipe: Recipe) -> Sample | None:
        """Rows to select the pivots of the final model in: the same, so that it is that model.

        None where others are needed: those of a precomputed kernel have other columns here, and the
        user may ask for a larger selection sample.
        """
        size = recipe.selection_size
        enough = self.complete or (size is not None and size <= len(self.drawn.rows))
        return self.drawn if enough and recipe.kernel.name != "precomputed" else None


def draw_samples(
    sample: Sample,
    recipes: Sequence[Recipe],
    compared: int | Array,
    *,
    apart: bool = False,
    training_size: int = TRAINING_SIZE,
) -> Samples:
    """Draw rows to train on, and compare models on so many rows, or on given ones.

    Some of the rows to train on are compared, without isolated ones, or others, if these are to be
    ``apart`` and there are enough of them. Weights are counted in typical rows: numbers of rows
    mean the same in any unit of the weights.
    """
    kernel, seed = recipes[0].kernel, recipes[0].seed
    n_apart = compared if apart and isinstance(compared, int) else 0
    drawn = sample.drawn(training_size + n_apart, seed)
    complete = len(drawn.rows) == np.count_nonzero(sample.weights)
    if not apart:
        drawn = _part(drawn, np.flatnonzero(~isolated_rows(kernel, drawn, seed)))
    order = np.random.default_rng(seed).permutation(len(drawn.rows))
    first, rest = np.sort(order[:training_size]), np.sort(order[training_size:])
    # Half of small data would be too little to find shapes in.
    few = len(rest) < min(training_size // 2, n_apart)
    others = _part(drawn, rest) if n_apart and not few else None
    if len(rest) > 0:
        drawn, complete = _part(drawn, first), False
    training = _as_fitted(drawn, kernel)
    if others is not None:
        others = replace(others, X=_dense(kernel.among(others.X, drawn.rows), training.X))
    elif isinstance(compared, int):
        kernels = [one for recipe in recipes for one in (recipe.kernel, recipe.icd_kernel)]
        if _has_many_features(training.X, kernels):
            training = replace(training, X=fewer_features(training.X))
        others = training if apart else training.first(compared, seed)
    else:
        n = compared.shape[0]
        others = Sample(np.arange(n), compared, np.ones(n))
    return Samples(drawn, training, others, complete)


def _part(sample: Sample, places: Integers) -> Sample:
    if len(places) == len(sample.rows):
        return sample
    return Sample(sample.rows[places], sample.X[places], sample.weights[places])


def _as_fitted(drawn: Sample, kernel: Kernel) -> Sample:
    if kernel.name == "precomputed":
        return replace(drawn, rows=np.arange(len(drawn.rows)), X=kernel.among(drawn.X, drawn.rows))
    few = drawn.X.shape[0] * drawn.X.shape[1] <= DENSE_SIZE
    return replace(drawn, X=_dense(drawn.X, np.empty(0))) if few else drawn


def _dense(X: Array, like: Array) -> Array:
    """Return the rows as an array, if others are one."""
    if not sp.issparse(X) or sp.issparse(like):
        return X
    entries: Any = X
    dense: Array = entries.toarray()
    return dense


def _has_many_features(X: Array, kernels: Sequence[Kernel]) -> bool:
    """Whether coordinates in fewer features save time, and are all that kernels depend on."""
    if not isinstance(X, np.ndarray) or X.shape[1] <= X.shape[0]:
        return False
    return all(
        (isinstance(kernel, RBF) and np.ndim(kernel.bandwidth) == 0)
        or (isinstance(kernel, Landmarks) and kernel.metric == "euclidean")
        for kernel in kernels
    )


def fewer_features(X: Array) -> Array:
    r"""Coordinates of n points in n features, with the same distances up to rounding errors.

    The differences of n points span no more: with the QR decomposition of the centred points,
    :math:`X^\top = Q R`, the columns of R are as far from each other as those of the former. Equal
    points get equal coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.search.samples import fewer_features
    >>> X = np.array([[0.0, 3.0, 0.0, 1.0], [4.0, 0.0, 0.0, 1.0]])
    >>> found = fewer_features(X)
    >>> found.shape, float(np.linalg.norm(found[0] - found[1]).round(12))
    ((2, 2), 5.0)
    """
    first, group = distinct_rows(X)
    centred = np.subtract(X[first], X.mean(axis=0), dtype=np.float64)
    _, R = qr(centred.T, mode="raw", overwrite_a=True, check_finite=False)
    return np.ascontiguousarray(R.T[group], dtype=X.dtype)
