r"""Training from chunks that are seen once: a reservoir of points and a growing reduced set.

The degree of every point depends on all the others, so sums that were taken before a chunk came
hold degrees that are no longer right: adding them up gives eigenvalues above 1 and wrong
clusters as soon as the data drifts. What is kept instead is a uniform sample of all
rows so far, over which the statistics are exact. While all rows fit in the reservoir, the
model is that of all rows. With a forgetting factor :math:`\gamma`, a row that came t chunks
ago stays with a weight of :math:`\gamma^t`.

Pivots are added where a chunk is not represented. Once there are as many as there may be, they are
chosen anew among the rows that are kept, so that they follow the data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparseksc._typing import Array, Booleans, Floats, Integers
from sparseksc.core.cholesky import PartialCholesky
from sparseksc.core.clusters.alignment import keep_numbers, shared_weight
from sparseksc.core.clusters.availability import too_many
from sparseksc.core.clusters.hierarchy import cuts_of_landmarks, labels_of_landmarks, merge_tree
from sparseksc.core.encoding import ClusterSizes
from sparseksc.core.landmarks import (
    FAR,
    LandmarkSums,
    collect_sums,
    distortion,
    relative_distortion,
)
from sparseksc.core.model import NOISE, SparseModel
from sparseksc.core.pivoting import complete
from sparseksc.core.recipe import Recipe
from sparseksc.core.reduced_set import ReducedSet
from sparseksc.core.statistics import FeatureMap
from sparseksc.core.training import (
    ProjectionFit,
    Training,
    choose_pivots,
    encode,
    fit_clusters,
    fit_projection,
    project_on_landmarks,
    similarities,
)
from sparseksc.data.sampling import (
    NEGLIGIBLE_WEIGHT,
    Sample,
    first_to_finish,
    hashed_uniform,
    weight_unit,
)
from sparseksc.data.source import ArraySource, Source
from sparseksc.data.sparse import stacked
from sparseksc.kernels import Landmarks

#: Points by which clusters are told to be the same before and after a chunk.
ALIGNMENT_SIZE = 5000
#: Points that are kept of all chunks.
RESERVOIR_SIZE = 50_000
#: Landmarks are chosen anew where they are this many times as far from the rows as at first.
OUTGROWN = 2.0


@dataclass(frozen=True)
class Reservoir:
    """A weighted sample of the rows so far and the pivots that represent them.

    Every row runs in an exponential race with its weight as rate, and the first to finish
    stay. Fading multiplies all finishing times so far, which is the same as a smaller rate.

    Attributes
    ----------
    X : array of shape (m, d)
    rows : array of shape (m,)
        Their numbers, counted from the first chunk on, ascending.
    finish, weights : arrays of shape (m,)
        Finishing times of the rows in the reservoir, and what they count.
    reduced_set : ReducedSet
        Pivots; their indices count rows from the first chunk on.
    weight_unit : float
        What the weights are multiples of, in units of the user.
    n_rows : int
        Rows seen.
    residual : float
        Share of the last chunk that the pivots before it did not represent.
    n_clusters : int
    recipe : Recipe
        What the first chunk decided.
    """

    X: Array
    rows: Integers
    finish: Floats
    weights: Floats
    weight_unit: float
    reduced_set: ReducedSet
    n_rows: int
    residual: float
    n_clusters: int
    recipe: Recipe

    @classmethod
    def start(cls, chunk: Source, n_clusters: int, recipe: Recipe) -> Reservoir:
        """Choose pivots in the first chunk and fill the reservoir."""
        sample = chunk.sample(recipe.selection_size, recipe.seed)
        pivots = choose_pivots(sample, recipe)
        none = sample.X[:0], sample.rows[:0], np.empty(0), np.empty(0), chunk.weight_unit
        empty = cls(*none, pivots, 0, pivots.residual, n_clusters, recipe)
        return empty._filled(chunk, 1.0)

    def update(self, chunk: Source, forgetting: float) -> Reservoir:
        """Add a chunk, and pivots where it is not represented to the tolerance."""
        if isinstance(self.recipe.kernel, Landmarks):
            covered, full = self._compared(chunk)
        else:
            covered = self._cover(chunk)
            full = covered.reduced_set.rank >= self.recipe.max_rank
        filled = covered._filled(chunk, forgetting)
        return filled._with_new_pivots(chunk) if full else filled

    def without(self, left_out: Booleans) -> Reservoir:
        """Forget some rows, and choose pivots among the others."""
        kept = np.flatnonzero(~left_out)
        names = ("X", "rows", "finish", "weights")
        state = replace(self, **{name: getattr(self, name)[kept] for name in names})
        return replace(state, reduced_set=choose_pivots(state._some(), self.recipe))

    def project(self, n_components: int) -> ProjectionFit:
        """Score variables of the points in the reservoir."""
        return fit_projection(self._source, n_components, self.reduced_set, self.recipe)

    def train(
        self, previous: SparseModel | None = None, fit: ProjectionFit | None = None
    ) -> Training:
        """Train on the points in the reservoir.

        Clusters keep the numbers of ``previous``, which has as many. ``fit`` are the score
        variables, where they are known.
        """
        source, recipe, K = self._source, self.recipe, self.n_clusters
        fit = self.project(K - 1) if fit is None else fit.leading(K - 1)
        sample = source.sample(recipe.sample_size, recipe.seed)
        training = fit_clusters(fit, self.reduced_set, K, source, sample, recipe)
        if previous is not None and previous.encoding.n_clusters == len(training.cluster_sizes):
            training = keep_numbers(
                replace(training, labels=None), self.shared(previous, training.model)
            )
        tree = merge_tree(similarities(fit, training.model, self.reduced_set, sample, recipe))
        n = self.n_rows
        return replace(training, residual=self.residual, n_samples=n, labels=None, tree=tree)

    def model(self, fit: ProjectionFit, n_clusters: int) -> SparseModel:
        """Return the model of so many clusters, in any order."""
        source, recipe = self._source, self.recipe
        sample = source.sample(recipe.sample_size, recipe.seed)
        return encode(fit.leading(n_clusters - 1), source, sample, recipe)

    def shared(self, old: SparseModel, new: SparseModel, *, reached: bool = False) -> Floats:
        """Weight that each cluster of a model shares with each of another, among the points kept.

        With ``reached``, points out of the reach of the old model are in none of its clusters.
        """
        n_jobs, seed = self.recipe.n_jobs, self.recipe.seed
        some = self._source.sample(ALIGNMENT_SIZE, seed)
        before, now = old.labels(some.X, n_jobs), new.labels(some.X, n_jobs)
        if reached:
            before = np.where(old.outliers(some.X, n_jobs), NOISE, before)
        weights = some.weights_for(float(self.weights.sum()), seed)
        counts = old.encoding.n_clusters, new.encoding.n_clusters
        return shared_weight(before, now, weights, *counts)

    @property
    def _source(self) -> ArraySource:
        return ArraySource(self.X, self.weights, self.weight_unit)

    def _some(self) -> Sample:
        """Points to select pivots in."""
        sample = Sample(self.rows, self.X, self.weights)
        return sample.first(self.recipe.selection_size, self.recipe.seed)

    def _with_new_pivots(self, chunk: Source) -> Reservoir:
        """Choose pivots among the rows kept and those of the last chunk, few as these may be."""
        recipe, kept = self.recipe, self._some()
        new = chunk.sample(recipe.selection_size, recipe.seed)
        rows = new.rows + self.n_rows - int(chunk.n_rows or 0)
        more = np.flatnonzero(~np.isin(rows, kept.rows))
        numbers = np.append(kept.rows, rows[more])
        order = np.argsort(numbers)
        weights = np.append(
            kept.weights, new.weights[more] * (chunk.weight_unit / self.weight_unit)
        )
        X = stacked(kept.X, new.X[more])
        sample = Sample(numbers[order], X[order], weights[order])
        return replace(self, reduced_set=choose_pivots(sample, recipe))

    def _filled(self, chunk: Source, forgetting: float) -> Reservoir:
        whole = chunk.sample_for_search(None, self.recipe.seed)
        before = forgetting * self.weights.max(initial=0.0) * self.weight_unit
        unit = weight_unit(max(before, whole.weights.max() * chunk.weight_unit))
        fading = forgetting * (self.weight_unit / unit)
        old, new = self.weights * fading, whole.weights * (chunk.weight_unit / unit)
        least = NEGLIGIBLE_WEIGHT * max(old.max(initial=0.0), new.max())
        kept, present = old > least, new > least
        rows = self.n_rows + np.flatnonzero(present)
        times = -np.log(hashed_uniform(self.recipe.seed, rows)) / new[present]
        finish = np.append(self.finish[kept] / fading, times)
        mass = np.append(old[kept], new[present])
        stay = np.arange(len(finish))
        if len(finish) > RESERVOIR_SIZE:
            stay = first_to_finish(finish, RESERVOIR_SIZE)
            # Rows won their place by their weight, so now they all count the same.
            mass = np.full(len(finish), mass.sum() / RESERVOIR_SIZE)
        return replace(
            self,
            X=stacked(self.X[kept], whole.X[present])[stay],
            rows=np.append(self.rows[kept], rows)[stay],
            finish=finish[stay],
            weights=mass[stay],
            weight_unit=unit,
            n_rows=self.n_rows + whole.X.shape[0],
        )

    def _compared(self, chunk: Source) -> tuple[Reservoir, bool]:
        """Measure how far a chunk is from the landmarks, and tell whether that is too far."""
        kernel, landmarks = self.recipe.kernel, self.reduced_set
        assert isinstance(kernel, Landmarks)
        sample = chunk.sample(self.recipe.selection_size, self.recipe.seed)
        far = distortion(kernel, sample, landmarks.points) > OUTGROWN * landmarks.reach / FAR
        residual = relative_distortion(kernel, sample, landmarks.points)
        return replace(self, residual=residual), far

    def _cover(self, chunk: Source) -> Reservoir:
        recipe, known = self.recipe, self.reduced_set.rank
        kernel = recipe.icd_kernel
        sample = chunk.sample(recipe.selection_size, recipe.seed)
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
            points=stacked(self.reduced_set.points, sample.X[added]),
            indices=np.append(self.reduced_set.indices, self.n_rows + sample.rows[added]),
            factor=factor,
            path=np.append(self.reduced_set.path, state.path),
        )
        return replace(self, reduced_set=reduced_set, residual=residual)


@dataclass(frozen=True)
class LandmarkSummary:
    """Sums over all rows so far, for landmarks that the first chunk has chosen.

    They add up exactly, so that no row has to be kept. ``residual`` is the mean squared distance of
    the rows of the last chunk to their landmarks, relative to that to their mean.
    """

    sums: LandmarkSums
    landmarks: ReducedSet
    weight_unit: float
    n_rows: int
    residual: float
    n_clusters: int
    recipe: Recipe

    @classmethod
    def start(cls, chunk: Source, n_clusters: int, recipe: Recipe) -> LandmarkSummary:
        """Choose landmarks in the first chunk, and sum over it."""
        landmarks = choose_pivots(chunk.sample(recipe.selection_size, recipe.seed), recipe)
        recipe = recipe.suited_to(landmarks.points.shape[0], n_clusters)
        sums = _sums_of_chunk(chunk, landmarks, recipe)
        rows = int(chunk.n_rows or 0)
        unit, residual = chunk.weight_unit, landmarks.residual
        return cls(sums, landmarks, unit, rows, residual, n_clusters, recipe)

    def update(self, chunk: Source, forgetting: float) -> LandmarkSummary:
        """Add the sums over a chunk."""
        kernel = self.recipe.kernel
        assert isinstance(kernel, Landmarks)
        new = _sums_of_chunk(chunk, self.landmarks, self.recipe)
        unit = max(self.weight_unit, chunk.weight_unit)
        old = self.sums.faded(forgetting * (self.weight_unit / unit))
        sample = chunk.sample(self.recipe.selection_size, self.recipe.seed)
        return replace(
            self,
            sums=old.merge(new.faded(chunk.weight_unit / unit)),
            weight_unit=unit,
            n_rows=self.n_rows + int(chunk.n_rows or 0),
            residual=relative_distortion(kernel, sample, self.landmarks.points),
        )

    def train(self, previous: SparseModel | None = None) -> Training:
        """Solve for the sums so far; a cluster is as large as its landmarks are.

        Clusters keep the numbers of ``previous``, which has the same landmarks.
        """
        recipe = self.recipe
        fit = project_on_landmarks(self.sums, self.n_clusters - 1, self.landmarks, recipe)
        available = len(fit.spectrum.eigenvalues) + 1
        if available < self.n_clusters:
            raise too_many(self.n_clusters, available, self.landmarks, recipe)
        assert fit.anchors is not None
        scores, lam = fit.anchors
        nothing = self.landmarks.points[:0]
        model = encode(
            fit, ArraySource(nothing), Sample(np.empty(0, np.intp), nothing, lam[:0]), recipe
        )
        labels = model.encoding.labels(scores[:, : len(model.eigenvalues)])
        counts = ClusterSizes.of_labels(labels, lam, model.encoding.n_clusters)
        training = Training(
            model=replace(model, encoding=model.encoding.reordered(counts.order)),
            indices=self.landmarks.indices,
            residual=self.residual,
            cluster_sizes=counts.sizes[counts.order] * self.weight_unit,
            n_samples=self.n_rows,
            n_outliers=self.sums.n_outliers,
            timings={},
        )
        if previous is not None and previous.encoding.n_clusters == len(counts.sizes):
            old, new = labels_of_landmarks(previous), labels_of_landmarks(training.model)
            K = len(counts.sizes)
            training = keep_numbers(training, shared_weight(old, new, lam, K, K))
        return replace(training, tree=merge_tree(cuts_of_landmarks(self.sums, training.model)))


def _sums_of_chunk(chunk: Source, landmarks: ReducedSet, recipe: Recipe) -> LandmarkSums:
    assert isinstance(recipe.kernel, Landmarks)
    return collect_sums(recipe.kernel, landmarks, chunk, recipe.n_jobs)[0]


def start_from(
    chunk: Source, n_clusters: int, recipe: Recipe, *, keep_rows: bool = False
) -> Reservoir | LandmarkSummary:
    """Begin with the first chunk; landmarks need no rows of earlier chunks unless they may move."""
    sums = isinstance(recipe.kernel, Landmarks) and not keep_rows
    return (LandmarkSummary if sums else Reservoir).start(chunk, n_clusters, recipe)


def sees_rows_one_by_one(estimator: Any) -> bool:
    """Whether every row can be used without the others; an error says why not."""
    if estimator.noise is not None:
        raise AttributeError(
            "partial_fit sees every row once; the density that tells noise needs all rows at once."
        )
    if estimator.kernel == "precomputed" or estimator.icd_bandwidth is not None:
        raise AttributeError(
            "partial_fit sees every row once; a precomputed kernel and icd_bandwidth need all "
            "rows at once."
        )
    return True
