r"""Training from chunks that are seen once: a reservoir of points and a growing reduced set.

The degree of every point depends on all the others, so sums that were taken with the degrees
of yesterday do not fit the degrees of today: adding them up gives eigenvalues above 1 and
broken clusters as soon as the data drifts. What is kept instead is a uniform sample of all
rows so far, over which the statistics are exact. While all rows fit in the reservoir, the
model is that of all rows. With a forgetting factor :math:`\gamma`, a row that came t chunks
ago stays with a weight of :math:`\gamma^t`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sparseksc.kernels import Array
from sparseksc.partial_cholesky import PartialCholesky
from sparseksc.pivoting import complete
from sparseksc.reduced_set import ReducedSet, first_to_finish, hashed_uniform
from sparseksc.sources import ArraySource
from sparseksc.statistics import FeatureMap
from sparseksc.training import Recipe, Training, choose_pivots, finish, project

Floats = NDArray[np.float64]

#: Points that are kept of all chunks.
RESERVOIR_SIZE = 50_000


@dataclass(frozen=True)
class Reservoir:
    """A weighted sample of the rows so far and the pivots that represent them.

    Every row runs in an exponential race with its weight as rate, and the first to finish
    stay. Fading multiplies all finishing times so far, which is the same as a smaller rate.

    Attributes
    ----------
    X : array of shape (m, d)
    finish : array of shape (m,)
        Finishing times of the rows in the reservoir.
    reduced_set : ReducedSet
        Pivots; their indices count rows from the first chunk on.
    n_rows : int
        Rows seen.
    residual : float
        Share of the last chunk that the pivots before it did not represent.
    """

    X: Array
    finish: Floats
    weights: Floats
    reduced_set: ReducedSet
    n_rows: int
    residual: float

    @classmethod
    def start(cls, X: Array, weights: Floats, recipe: Recipe) -> Reservoir:
        """Choose pivots in the first chunk and fill the reservoir."""
        sample = ArraySource(X, weights).sample(recipe.selection_size, recipe.seed)
        reduced_set = choose_pivots(sample, recipe)
        empty = cls(X[:0], np.empty(0), np.empty(0), reduced_set, 0, reduced_set.residual)
        return empty._filled(X, weights, recipe.seed, 1.0)

    def update(self, X: Array, weights: Floats, recipe: Recipe, forgetting: float) -> Reservoir:
        """Add a chunk, and pivots where it is not represented to the tolerance."""
        covered = self._cover(X, weights, recipe)
        return covered._filled(X, weights, recipe.seed, forgetting)

    def train(self, n_clusters: int, recipe: Recipe) -> Training:
        """Train on the points in the reservoir."""
        source = ArraySource(self.X, self.weights)
        fitted = project(source, n_clusters - 1, self.reduced_set, recipe)
        sample = source.sample(recipe.sample_size, recipe.seed)
        return finish(fitted, self.reduced_set, n_clusters, source, sample, recipe)

    def _filled(self, X: Array, weights: Floats, seed: int, forgetting: float) -> Reservoir:
        rows = np.arange(self.n_rows, self.n_rows + X.shape[0])
        present = weights > 0
        new = -np.log(hashed_uniform(seed, rows[present])) / weights[present]
        finish = np.append(self.finish / forgetting, new)
        mass = np.append(self.weights * forgetting, weights[present])
        stay = np.arange(len(finish))
        if len(finish) > RESERVOIR_SIZE:
            stay = first_to_finish(finish, RESERVOIR_SIZE)
            # Rows won their place by their weight, so now they all count the same.
            mass = np.full(len(finish), mass.sum() / RESERVOIR_SIZE)
        return replace(
            self,
            X=_stacked(self.X, X[present])[stay],
            finish=finish[stay],
            weights=mass[stay],
            n_rows=self.n_rows + X.shape[0],
        )

    def _cover(self, X: Array, weights: Floats, recipe: Recipe) -> Reservoir:
        kernel, known = recipe.icd_kernel, self.reduced_set.rank
        sample = ArraySource(X, weights).sample(recipe.selection_size, recipe.seed)
        coordinates = FeatureMap(kernel, self.reduced_set, in_kernel_space=False)(sample.X)
        state = PartialCholesky(
            kernel,
            sample.X,
            sample.weights,
            recipe.max_rank,
            recipe.tol,
            recipe.n_jobs,
            known=coordinates.T,
        )
        residual = state.relative_residual
        complete(state, recipe.pivoting, recipe.seed)
        added = np.array(state.pivots[known:], dtype=np.intp)
        factor = np.zeros((state.rank, state.rank))
        factor[:known, :known] = self.reduced_set.factor
        factor[known:] = np.tril(state.G[: state.rank, added].T, known)
        reduced_set = replace(
            self.reduced_set,
            points=_stacked(self.reduced_set.points, sample.X[added]),
            indices=np.append(self.reduced_set.indices, self.n_rows + sample.rows[added]),
            factor=factor,
            path=np.append(self.reduced_set.path, state.path),
        )
        return replace(self, reduced_set=reduced_set, residual=residual)


def _stacked(upper: Any, lower: Any) -> Any:
    if hasattr(upper, "tocsr"):
        return sp.vstack([upper, lower]).tocsr()
    return np.concatenate([upper, lower])
