"""From data to a model: kernel, reduced set, statistics, spectrum, encoding, in this order."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from sparseksc.encoding import (
    ClusterSizes,
    Encoding,
    SignCodes,
    SignCounts,
    TooFewCodeWords,
    code_book,
    fit_encoding,
    merge_counts,
    sign_counts,
)
from sparseksc.engines.blas import single_threaded_blas
from sparseksc.engines.threads import (
    chunk_rows,
    chunk_slices,
    contiguous,
    sum_over,
)
from sparseksc.kernels import Array, Bandwidth, Exponential, Kernel
from sparseksc.model import Projection, SparseModel
from sparseksc.reduced_set import ReducedSet, represented_weights, select_reduced_set
from sparseksc.sources import ArraySource, Sample, Source
from sparseksc.spectrum import Spectrum, change_kernel, solve_spectrum
from sparseksc.statistics import (
    Degrees,
    FeatureMap,
    Statistics,
    collect_degrees,
    collect_statistics,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

#: Points whose scores the prototypes of the clusters are found in.
ENCODING_SIZE = 20_000
#: Share of the sample weight outside the reach of the reduced set that calls for a warning.
MANY_OUTLIERS = 0.5
#: Pivots whose kernel values are all below this are similar to nothing but themselves.
UNRELATED = 1e-8


#: Kernel values up to this can be squared and summed.
LARGEST_VALUE = {np.dtype(np.float64): 1e150, np.dtype(np.float32): 1e37}


class BandwidthWarning(UserWarning):
    """The bandwidth makes the kernel see too little of the data, or too much."""


@dataclass(frozen=True)
class Recipe:
    """How to train: the choices of the user, checked.

    ``icd_kernel`` selects the pivots and gives the eigenvectors, ``kernel`` the scores; it is the
    same unless two bandwidths were asked for (``two_bandwidths``).
    """

    kernel: Kernel
    icd_kernel: Kernel
    max_rank: int
    tol: float
    pivoting: str
    selection_size: int | None
    encoding: str
    seed: int
    n_jobs: int | None
    two_bandwidths: bool = False

    @property
    def sample_size(self) -> int | None:
        """Rows that are looked at more closely: for the pivots and for the prototypes."""
        return None if self.selection_size is None else max(self.selection_size, ENCODING_SIZE)

    def without_threads(self) -> Recipe:
        """Return what decides the result, which the number of threads does not."""
        return replace(self, n_jobs=None)

    def with_bandwidth(self, bandwidth: Bandwidth | None) -> Recipe:
        """Return the same recipe at another bandwidth of the scores."""
        if bandwidth is None:
            return self
        kernel = self.kernel.with_bandwidth(bandwidth)
        return replace(
            self, kernel=kernel, icd_kernel=self.icd_kernel if self.two_bandwidths else kernel
        )


@dataclass(frozen=True)
class Training:
    """A fitted model and what its training found out about the data."""

    model: SparseModel
    reduced_set: ReducedSet
    labels: Integers | None
    sizes: ClusterSizes
    n_outliers: int
    timings: dict[str, float]


def train(
    source: Source,
    n_clusters: int,
    recipe: Recipe,
    sample: Sample | None = None,
    selection: Sample | None = None,
) -> Training:
    """Train a model of ``n_clusters`` clusters on all rows of ``source``.

    The prototypes are looked for in a sample, drawn here unless it was before, and so are the
    pivots, unless these have a sample of their own; everything else is computed from all the rows.
    """
    with single_threaded_blas():
        started = perf_counter()
        if sample is None:
            sample = source.sample(recipe.sample_size, recipe.seed)
        reduced_set = choose_pivots(sample if selection is None else selection, recipe)
        selected = perf_counter()
        fitted = project(source, n_clusters - 1, reduced_set, recipe)
        projected = perf_counter()
        training = finish(fitted, reduced_set, n_clusters, source, sample, recipe)
        timings = {
            "selection": selected - started,
            "statistics and spectrum": projected - selected,
            "scores and labels": perf_counter() - projected,
        }
        return replace(training, timings=timings)


@dataclass(frozen=True)
class Fitted:
    """A projection and the steps that led to it."""

    projection: Projection
    spectrum: Spectrum
    degrees: Degrees
    statistics: Statistics


def project(source: Source, n_components: int, reduced_set: ReducedSet, recipe: Recipe) -> Fitted:
    """Statistics, spectrum and score variables for given pivots."""
    n_jobs = recipe.n_jobs
    features = FeatureMap.choose(recipe.icd_kernel, reduced_set)
    degrees = collect_degrees(features, source, n_jobs)
    statistics = collect_statistics(features, source, degrees, n_jobs)
    spectrum = solve_spectrum(features, statistics, n_components)
    if recipe.kernel != recipe.icd_kernel:
        spectrum = change_kernel(spectrum, features, degrees, recipe.kernel, source, n_jobs)
    projection = projection_of(spectrum, features, degrees, recipe)
    return Fitted(projection, spectrum, degrees, statistics)


def projection_of(
    spectrum: Spectrum, features: FeatureMap, degrees: Degrees, recipe: Recipe
) -> Projection:
    """Scores and degrees as functions of a point."""
    return Projection(
        kernel=recipe.kernel,
        points=features.reduced_set.points,
        coef=spectrum.coef,
        bias=spectrum.bias,
        degree_kernel=recipe.icd_kernel,
        degree_coef=degrees.q if features.in_kernel_space else features.unwhiten(degrees.q),
    )


def finish(
    fitted: Fitted,
    reduced_set: ReducedSet,
    n_clusters: int,
    source: Source,
    sample: Sample,
    recipe: Recipe,
) -> Training:
    """From a projection to a model with numbered clusters."""
    found = len(fitted.spectrum.eigenvalues) + 1
    if found < n_clusters:
        raise ValueError(_too_many(n_clusters, found, reduced_set, recipe))
    outside = fitted.statistics.excluded_weight / fitted.degrees.total_weight
    _check_reach(reduced_set, recipe.icd_kernel, n_clusters, outside)
    model = encode(fitted, source, sample, recipe)
    model, labels, sizes = number_by_size(model, source, recipe.n_jobs)
    empty = np.count_nonzero(sizes.sizes == 0.0)
    if empty > 0:
        warnings.warn(
            f"{empty} of the {len(sizes.sizes)} clusters {'has' if empty == 1 else 'have'} no "
            "points: ask for fewer.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return Training(model, reduced_set, labels, sizes, fitted.statistics.n_excluded, {})


def choose_pivots(sample: Sample, recipe: Recipe) -> ReducedSet:
    """Select the reduced set in a sample of the rows."""
    sample = sample.first(recipe.selection_size, recipe.seed)
    kernel = recipe.icd_kernel
    points = kernel.among(sample.X, sample.rows)
    _check_diagonal(kernel, points)
    reduced_set = select_reduced_set(
        kernel,
        points,
        pivoting=recipe.pivoting,
        max_rank=recipe.max_rank,
        tol=recipe.tol,
        seed=recipe.seed,
        weights=sample.weights,
        n_jobs=recipe.n_jobs,
    )
    if reduced_set.rank == 0:
        raise ValueError("The kernel is zero on all the data: there is nothing to cluster.")
    return replace(
        reduced_set,
        points=kernel.pivots(sample.X, reduced_set.indices, sample.rows),
        indices=sample.rows[reduced_set.indices],
    )


def encode(fitted: Fitted, source: Source, sample: Sample, recipe: Recipe) -> SparseModel:
    """Fit the encoding; where the scores show fewer clusters, warn and find these."""
    projection, spectrum, n_jobs = fitted.projection, fitted.spectrum, recipe.n_jobs
    sample = sample.first(ENCODING_SIZE, recipe.seed)
    scores, degrees = projection.scores_and_degrees(sample.X, n_jobs)
    weights = sample.weights
    if np.ptp(weights) > 0.0 and weights.sum() < (1.0 - 1e-9) * fitted.degrees.total_weight:
        weights = represented_weights(sample.rows, recipe.seed, weights)
    shares = fitted.degrees.shares_of(degrees, weights)
    for m in range(scores.shape[1], -1, -1):
        part = projection.leading(m)
        try:
            if recipe.encoding == "sign":
                # The code book is a count, so all rows can have their say.
                encoding: Encoding = SignCodes(count_code_book(part, source, n_jobs))
            else:
                encoding = fit_encoding(
                    recipe.encoding, spectrum.leading(m), scores[:, :m], weights, shares
                )
            if fitted.statistics.n_excluded > 0:
                # Points out of reach are equally far from all prototypes and go to the first:
                # let that be the largest cluster now, as it will be in the end.
                found = ClusterSizes.of_labels(encoding.labels(scores[:, :m]), weights, m + 1)
                encoding = encoding.reordered(found.order)
            return SparseModel(part, spectrum.eigenvalues[:m], encoding, fitted.degrees.floor)
        except TooFewCodeWords as reason:
            warnings.warn(
                f"{m + 1} clusters are not available at this bandwidth ({reason}); "
                f"continuing with {m}.",
                ConvergenceWarning,
                stacklevel=4,
            )
    raise AssertionError("a single cluster is always available")


def count_code_book(projection: Projection, source: Source, n_jobs: int | None) -> Floats:
    """Return the most frequent sign patterns among the scores of all rows."""

    def counts(rows: Array, weights: Floats) -> SignCounts:
        return sign_counts(projection.chunk_scores(rows), weights)

    total = source.sum(counts, merge_counts, projection.written, n_jobs)
    return code_book(total, len(projection.bias))


def number_by_size(
    model: SparseModel, source: Source, n_jobs: int | None
) -> tuple[SparseModel, Integers | None, ClusterSizes]:
    """Renumber the clusters, the largest first; the labels too where the rows are in memory."""
    labels: Integers | None = None
    if isinstance(source, ArraySource):
        labels, counted = _label(model, source, n_jobs)
    else:

        def count(rows: Array, weights: Floats) -> ClusterSizes:
            labels = model.chunk_labels(rows)
            return ClusterSizes.of_labels(labels, weights, model.encoding.n_clusters)

        counted = source.sum(count, ClusterSizes.merge, model.projection.written, n_jobs)
    order = counted.order
    if labels is not None and not np.array_equal(order, np.arange(len(order))):
        labels = np.argsort(order)[labels]
    return replace(model, encoding=model.encoding.reordered(order)), labels, counted.ordered()


def _label(
    model: SparseModel, source: ArraySource, n_jobs: int | None
) -> tuple[Integers, ClusterSizes]:
    """Label all rows, and count the labels while they are at hand."""
    X, weights, labels = source.X, source.weights, np.empty(source.X.shape[0], np.intp)

    def label(part: slice) -> ClusterSizes:
        labels[part] = model.chunk_labels(contiguous(X[part]))
        return ClusterSizes.of_labels(labels[part], weights[part], model.encoding.n_clusters)

    chunks = chunk_slices(len(labels), chunk_rows(model.projection.written))
    return labels, sum_over(label, chunks, ClusterSizes.merge, n_jobs)


def _too_many(n_clusters: int, found: int, reduced_set: ReducedSet, recipe: Recipe) -> str:
    if reduced_set.rank < n_clusters and UNRELATED < reduced_set.residual <= recipe.tol:
        return (
            f"{n_clusters} clusters asked for, but tol={recipe.tol} is reached with "
            f"{reduced_set.rank} pivots, too few to tell them apart. Use a smaller tol."
        )
    advice = ", or use a smaller bandwidth" if recipe.kernel.has_bandwidth else ""
    return (
        f"{n_clusters} clusters asked for, but with this kernel the data shows no more than "
        f"{found}: everything else is rounding error. Ask for fewer clusters{advice}."
    )


def _check_diagonal(kernel: Kernel, X: Array) -> None:
    """Refuse kernels whose values overflow, or that no point is similar to itself under."""
    with np.errstate(all="ignore"):
        largest = float(kernel.diagonal(X).max())
    if not largest <= LARGEST_VALUE[np.dtype(X.dtype)]:
        advice = " or use a larger bandwidth" if kernel.has_bandwidth else ""
        raise ValueError(f"The kernel values are too large for {X.dtype}: rescale X{advice}.")
    if largest < 0.0:
        raise ValueError(
            "The kernel must be positive semi-definite, but the similarity of a point to itself "
            f"is negative, at most {largest:g}."
        )


def _check_reach(reduced_set: ReducedSet, kernel: Kernel, n_clusters: int, outside: float) -> None:
    """Complain about a bandwidth at which the kernel is close to the identity."""
    L = reduced_set.factor
    unrelated = reduced_set.rank > n_clusters and (
        np.abs(np.tril(L, -1)).max() < UNRELATED * np.abs(np.diagonal(L)).max()
    )
    if unrelated and reduced_set.residual < UNRELATED:
        raise ValueError(
            "No two different points are similar with this kernel"
            f"{_too_small(kernel, '. Use a larger one.')}"
        )
    if unrelated:
        warnings.warn(
            f"No two of the {reduced_set.rank} pivots are similar, so that the clusters are "
            f"arbitrary groups of them{_too_small(kernel, ' for this rank. Use a larger one.')}",
            BandwidthWarning,
            stacklevel=4,
        )
    elif outside > MANY_OUTLIERS:
        warnings.warn(
            f"{outside:.0%} of the points are out of the reach of the {reduced_set.rank} pivots, "
            "and their labels mean little"
            f"{_too_small(kernel, ' for this rank. Use a larger one, or a larger max_rank.')}",
            BandwidthWarning,
            stacklevel=4,
        )


def _too_small(kernel: Kernel, advice: str) -> str:
    """Blame the bandwidth, where there is one."""
    if isinstance(kernel, Exponential):
        return f": the bandwidth {kernel.bandwidth} is too small{advice}"
    return "."
