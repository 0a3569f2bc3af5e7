"""From data to a model: kernel, reduced set, statistics, spectrum, encoding, in this order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sparseksc._typing import Array, Booleans, Floats, Integers
from sparseksc.core.clusters.availability import check_reach, here, too_many
from sparseksc.core.clusters.classes import (
    COMPONENTS,
    LabelledRows,
    fit_classes,
    with_unlabelled_clusters,
)
from sparseksc.core.clusters.constraints import PairedRows, constrain
from sparseksc.core.clusters.hierarchy import cuts_of_landmarks, cuts_of_rows, merge_tree
from sparseksc.core.density import Density
from sparseksc.core.encoding import (
    ENCODINGS,
    ClusterSizes,
    Encoding,
    SignCodes,
    SignCounts,
    TooFewCodeWords,
    code_book,
    fit_best_directions,
    merge_counts,
    sign_counts,
)
from sparseksc.core.landmarks import (
    LandmarkSums,
    check_neighbors,
    choose_landmarks,
    collect_sums,
    solve_landmarks,
)
from sparseksc.core.model import NOISE, Projection, SparseModel, named
from sparseksc.core.recipe import ENCODING_SIZE, Recipe
from sparseksc.core.reduced_set import ReducedSet, select_reduced_set
from sparseksc.core.spectrum import Spectrum, change_kernel, solve_spectrum
from sparseksc.core.statistics import (
    Degrees,
    FeatureMap,
    Statistics,
    UnitDegrees,
    collect_degrees,
    collect_statistics,
)
from sparseksc.data.sampling import Sample
from sparseksc.data.source import ArraySource, Source
from sparseksc.execution.blas import single_threaded_blas
from sparseksc.execution.notices import warn
from sparseksc.execution.pure import warn_of_slow_fit
from sparseksc.execution.threads import sum_over
from sparseksc.kernels import Kernel, Landmarks

#: Rows that the similarity of clusters to each other is computed from.
TREE_SIZE = 10_000
#: Kernel values up to this can be squared and summed, and of these at least some must be.
LARGEST_VALUE = {np.dtype(np.float64): 1e150, np.dtype(np.float32): 1e37}
LEAST_VALUE = {np.dtype(np.float64): 1e-290, np.dtype(np.float32): 1e-36}
#: What passes over the data add up beside arrays.
SUMMANDS = (Statistics, LandmarkSums, ClusterSizes)


class Labelled(NamedTuple):
    """Rows with labels, and how many clusters without any are to be added; None if that is open."""

    rows: LabelledRows
    more: int | None


@dataclass(frozen=True)
class Training:
    """A fitted model and what its training found out about the data.

    Attributes
    ----------
    model : SparseModel
    indices : array of shape (R,)
        Row numbers of the pivots.
    residual : float
        Relative trace residual of the selection sample.
    cluster_sizes : array of shape (K,)
        Sum of the sample weights of each cluster, descending.
    n_samples, n_outliers : int
        Training points, and those of them that the reduced set does not represent.
    timings : dict of str to float
        Seconds of each step.
    labels : array of shape (n,) or None
        Where the training points are in memory; lazy where they are on a Dask cluster.
    noise_share : float
        Share of the weight of the training points that is in no cluster.
    tree : array of shape (K - 1, 4) or None
        Which clusters merge into coarser ones (:mod:`sparseksc.core.clusters.hierarchy`).
    """

    model: SparseModel
    indices: Integers
    residual: float
    cluster_sizes: Floats
    n_samples: int
    n_outliers: int
    timings: dict[str, float]
    labels: Any = None
    noise_share: float = 0.0
    tree: Floats | None = None

    def with_noise(
        self, noise: Density, source: Source, marks: Booleans | None, total: float
    ) -> Training:
        """Return the same model with noise, and -1 for the labels of the training points of it.

        ``marks`` says which of them are, where they are in memory, and ``total`` is the weight of
        all.
        """
        model = replace(self.model, noise=noise)
        labels = (
            source.later(model.labels) if marks is None else np.where(marks, NOISE, self.labels)
        )
        share = max(0.0, (total - float(self.cluster_sizes.sum())) / total)
        return replace(self, model=model, labels=labels, noise_share=share)

    def with_names(self, names: Any, source: Source) -> Training:
        """Return the same model with names for its clusters."""
        model = replace(self.model, classes=names)
        labels = source.later(model.named_labels, names.dtype)
        if isinstance(self.labels, np.ndarray):
            labels = named(self.labels, names)
        return replace(self, model=model, labels=labels)


@dataclass(frozen=True)
class ProjectionFit:
    """A projection and the steps that led to it.

    ``excluded`` are the number and the weight of the points that the reduced set does not
    represent. ``anchors`` are the scores and weights of the landmarks, which stand for all points,
    ``sums`` those that they were found by, and ``features`` what was kept of chunks of rows.
    """

    projection: Projection
    spectrum: Spectrum
    degrees: Degrees
    excluded: tuple[int, float]
    anchors: tuple[Floats, Floats] | None = None
    features: list[Any] | None = None
    sums: LandmarkSums | None = None

    def leading(self, count: int) -> ProjectionFit:
        """Only the first ``count`` components."""
        anchors = self.anchors
        if anchors is not None:
            anchors = np.ascontiguousarray(anchors[0][:, :count]), anchors[1]
        projection, spectrum = self.projection.leading(count), self.spectrum.leading(count)
        return replace(self, projection=projection, spectrum=spectrum, anchors=anchors)

    def constrained(self, count: int, pairs: PairedRows, n_jobs: int | None) -> ProjectionFit:
        """So many components that keep to pairs of rows."""
        projection, spectrum = constrain(self.projection, self.spectrum, count, pairs, n_jobs)
        anchors = None if self.anchors is None else (spectrum.coef, self.anchors[1])
        return replace(self, projection=projection, spectrum=spectrum, anchors=anchors)


def train(
    source: Source,
    n_clusters: int,
    recipe: Recipe,
    sample: Sample | None = None,
    selection: Sample | None = None,
    counted: Source | None = None,
    labelled: Labelled | None = None,
    pairs: PairedRows | None = None,
) -> Training:
    """Train a model of ``n_clusters`` clusters on all rows of ``source``.

    The prototypes are looked for in a sample, drawn here unless it was before, and so are the
    pivots, unless these have a sample of their own; everything else is computed from all the rows.
    ``counted`` has the same rows with the weights that make up the sizes of the clusters, where
    these are not those to train with. With ``labelled`` rows the clusters are their classes, and
    ``pairs`` of rows are kept together, or apart.
    """
    warn_of_slow_fit(source.n_rows)
    with single_threaded_blas():
        started = perf_counter()
        if sample is None:
            sample = source.sample(recipe.sample_size, recipe.seed)
        reduced_set = choose_pivots(sample if selection is None else selection, recipe)
        if labelled is None:
            recipe = recipe.suited_to(reduced_set.points.shape[0], n_clusters)
        selected = perf_counter()
        components = n_clusters - 1
        if labelled is not None or pairs is not None:
            components = max(components, COMPONENTS)
        fit = fit_projection(source, components, reduced_set, recipe)
        if pairs is not None and n_clusters > 1:
            fit = fit.constrained(n_clusters - 1, pairs, recipe.n_jobs)
        elif pairs is not None:
            fit = fit.leading(0)
        projected = perf_counter()
        training = fit_clusters(
            fit, reduced_set, n_clusters, counted or source, sample, recipe, labelled
        )
        if pairs is not None:
            pairs.check(training.model, recipe.n_jobs)
        tree = merge_tree(similarities(fit, training.model, reduced_set, sample, recipe))
        timings = {
            "selection": selected - started,
            "statistics and spectrum": projected - selected,
            "scores and labels": perf_counter() - projected,
        }
        return replace(training, timings=timings, tree=tree)


def similarities(
    fit: ProjectionFit, model: SparseModel, reduced_set: ReducedSet, sample: Sample, recipe: Recipe
) -> Floats:
    """Similarity between the clusters of a model, shape (K, K)."""
    if fit.sums is not None:
        return cuts_of_landmarks(fit.sums, model)
    some, K = sample.first(TREE_SIZE, recipe.seed), model.encoding.n_clusters
    labels = model.encoding.labels(model.projection.scores(some.X, recipe.n_jobs))
    weights = some.weights_for(fit.degrees.total_weight, recipe.seed)
    return cuts_of_rows(recipe.icd_kernel, reduced_set, some.X, weights, labels, K)


def choose_pivots(sample: Sample, recipe: Recipe) -> ReducedSet:
    """Select the reduced set in a sample of the rows."""
    if isinstance(recipe.kernel, Landmarks):
        landmarks = choose_landmarks(sample, recipe)
        if recipe.given_neighbors:
            check_neighbors(recipe.kernel, landmarks.points.shape[0], len(sample.rows))
        return landmarks
    sample = sample.first(recipe.selection_size, recipe.seed)
    kernel = recipe.icd_kernel
    points = kernel.among(sample.X, sample.rows)
    with np.errstate(all="ignore"):
        largest = float(kernel.diagonal(points).max())
    dtype = np.dtype(np.float64 if points.dtype.hasobject else points.dtype)
    if not (largest == 0.0 or LEAST_VALUE[dtype] <= largest <= LARGEST_VALUE[dtype]):
        raise ValueError(_no_values(kernel, dtype, largest))
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
    if len(reduced_set.indices) == 0:
        raise ValueError("The kernel is zero on all the data: there is nothing to cluster.")
    return replace(
        reduced_set,
        points=kernel.pivots(sample.X, reduced_set.indices, sample.rows),
        indices=sample.rows[reduced_set.indices],
    )


def fit_projection(
    source: Source, n_components: int, reduced_set: ReducedSet, recipe: Recipe
) -> ProjectionFit:
    """Statistics, spectrum and score variables for given pivots."""
    n_jobs = recipe.n_jobs
    if isinstance(recipe.kernel, Landmarks):
        sums, kept = collect_sums(recipe.kernel, reduced_set, source, n_jobs)
        fit = project_on_landmarks(sums, n_components, reduced_set, recipe)
        return replace(fit, features=kept)
    features = FeatureMap.choose(recipe.icd_kernel, reduced_set)
    degrees = collect_degrees(features, source, n_jobs)
    statistics = collect_statistics(features, source, degrees, n_jobs)
    spectrum = solve_spectrum(features, statistics, n_components)
    if recipe.kernel != recipe.icd_kernel:
        spectrum = change_kernel(spectrum, features, degrees, recipe.kernel, source, n_jobs)
    projection = Projection(
        kernel=recipe.kernel,
        points=reduced_set.points,
        coef=spectrum.coef,
        bias=spectrum.bias,
        degree_kernel=recipe.icd_kernel,
        degree_coef=degrees.q if features.in_kernel_space else features.unwhiten(degrees.q),
    )
    excluded = statistics.n_excluded, statistics.excluded_weight
    return ProjectionFit(projection, spectrum, degrees, excluded)


def project_on_landmarks(
    sums: LandmarkSums, n_components: int, landmarks: ReducedSet, recipe: Recipe
) -> ProjectionFit:
    """Spectrum and score variables for given landmarks and sums."""
    kernel = recipe.kernel
    spectrum, lam = solve_landmarks(sums, n_components, recipe.regularised)
    projection = Projection(kernel, landmarks.points, spectrum.coef, spectrum.bias, kernel, lam)
    degrees = UnitDegrees(lam, -landmarks.reach, spectrum.omega)
    excluded = sums.n_outliers, sums.outlier_weight
    anchors = spectrum.coef + spectrum.bias, lam
    return ProjectionFit(projection, spectrum, degrees, excluded, anchors, sums=sums)


def fit_clusters(
    fit: ProjectionFit,
    reduced_set: ReducedSet,
    n_clusters: int,
    source: Source,
    sample: Sample,
    recipe: Recipe,
    labelled: Labelled | None = None,
) -> Training:
    """From a projection to a model with numbered clusters, the largest first.

    With ``labelled`` rows, their classes come first, in their order.
    """
    by_labels = labelled is not None and n_clusters <= labelled.rows.n_classes
    available = len(fit.spectrum.eigenvalues) + 1
    if available < n_clusters and not by_labels:
        raise too_many(n_clusters, available, reduced_set, recipe)
    if fit.anchors is None:
        outside = fit.excluded[1] / fit.degrees.total_weight
        check_reach(reduced_set, recipe.icd_kernel, n_clusters, outside)
    if labelled is None:
        model = encode(fit, source, sample, recipe)
    else:
        rows = labelled.rows
        if n_clusters > rows.n_classes or labelled.more is None:
            clusters = encode(fit.leading(n_clusters - 1), source, sample, recipe)
            # Of streams, more rows may have been drawn.
            some = sample.first(ENCODING_SIZE, recipe.seed)
            rows = with_unlabelled_clusters(rows, clusters, some, labelled.more)
        model = fit_classes(fit.projection, fit.spectrum, fit.degrees.floor, rows, recipe.n_jobs)

    def label(rows: Array, weights: Floats) -> tuple[Integers, ClusterSizes]:
        labels = model.encoding.labels(model.projection.chunk_scores(rows))
        return labels, ClusterSizes.of_labels(labels, weights, len(model.eigenvalues) + 1)

    width = model.projection.written
    if fit.features is None:
        labels, counts = source.label(label, ClusterSizes.merge, width, recipe.n_jobs)
    else:
        labels, counts = _label_features(model, fit.features, source, recipe.n_jobs)
    order = counts.order if labelled is None else np.arange(len(counts.sizes))
    if labels is not None and not np.array_equal(order, np.arange(len(order))):
        labels = np.argsort(order)[labels]
    sizes = counts.sizes[order]
    empty = np.count_nonzero(sizes == 0.0)
    if empty > 0:
        warn(
            f"{empty} of the {len(sizes)} clusters {'has' if empty == 1 else 'have'} no "
            "points: ask for fewer.",
            ConvergenceWarning,
        )
    model = replace(model, encoding=model.encoding.reordered(order))
    return Training(
        model=model,
        indices=reduced_set.indices,
        residual=reduced_set.residual,
        cluster_sizes=sizes * source.weight_unit,
        n_samples=counts.n_points,
        n_outliers=fit.excluded[0],
        timings={},
        labels=source.later(model.labels) if labels is None else labels,
    )


def _label_features(
    model: SparseModel, features: list[Any], source: Source, n_jobs: int | None
) -> tuple[Integers, ClusterSizes]:
    """Label the rows of an array by the features that were kept of its chunks."""
    assert isinstance(source, ArraySource)
    projection, weights = model.projection, source.weights
    stops = np.cumsum([part.shape[0] for part in features])
    labels = np.empty(len(weights), np.intp)

    def label(place: int) -> ClusterSizes:
        rows = slice(stops[place] - features[place].shape[0], stops[place])
        scores = features[place] @ projection.coef + projection.bias
        labels[rows] = model.encoding.labels(scores)
        return ClusterSizes.of_labels(labels[rows], weights[rows], model.encoding.n_clusters)

    return labels, sum_over(label, range(len(features)), ClusterSizes.merge, n_jobs)


def encode(fit: ProjectionFit, source: Source, sample: Sample, recipe: Recipe) -> SparseModel:
    """Fit the encoding; where the scores show fewer clusters, warn and find these."""
    projection, spectrum, n_jobs = fit.projection, fit.spectrum, recipe.n_jobs
    find_prototypes = ENCODINGS[recipe.encoding]
    if fit.anchors is not None:
        scores, weights = fit.anchors
        shares = weights
        if recipe.encoding == "qr":
            find_prototypes = fit_best_directions
    else:
        sample = sample.first(ENCODING_SIZE, recipe.seed)
        scores, degrees = projection.scores_and_degrees(sample.X, n_jobs)
        weights = sample.weights_for(fit.degrees.total_weight, recipe.seed)
        shares = fit.degrees.shares_of(degrees, weights)
    for m in range(scores.shape[1], -1, -1):
        if m < scores.shape[1]:
            projection, spectrum = projection.leading(m), spectrum.leading(m)
        try:
            if recipe.encoding == "sign":
                # The code book is a count, so all rows can have their say.
                encoding: Encoding = SignCodes(count_code_book(projection, source, n_jobs))
            else:
                encoding = find_prototypes(spectrum, scores[:, :m], weights, shares)
            # Points out of reach, which may have no weight, are equally far from all prototypes and
            # go to the first: let that be the largest cluster now, as it will be in the end.
            found = ClusterSizes.of_labels(encoding.labels(scores[:, :m]), weights, m + 1)
            encoding = encoding.reordered(found.order)
            return SparseModel(projection, spectrum.eigenvalues, encoding, fit.degrees.floor)
        except TooFewCodeWords as reason:
            warn(
                f"{m + 1} clusters are not available {here(recipe.kernel)} ({reason}); "
                f"continuing with {m}.",
                ConvergenceWarning,
            )
    raise AssertionError("a single cluster is always available")


def count_code_book(projection: Projection, source: Source, n_jobs: int | None) -> Floats:
    """Return the most frequent sign patterns among the scores of all rows."""

    def counts(rows: Array, weights: Floats) -> SignCounts:
        return sign_counts(projection.chunk_scores(rows), weights)

    total = source.sum(counts, merge_counts, projection.written, n_jobs)
    return code_book(total, len(projection.bias))


def _no_values(kernel: Kernel, dtype: np.dtype[Any], largest: float) -> str:
    """Say what is wrong with kernel values that cannot be computed with."""
    if largest < 0.0:
        return (
            "The kernel must be positive semi-definite, but the similarity of a point to itself "
            f"is negative, at most {largest:g}."
        )
    size, other = ("small", "smaller") if largest < 1.0 else ("large", "larger")
    advice = f" or use a {other} bandwidth" if kernel.has_bandwidth else ""
    return f"The kernel values are too {size} for {dtype}: rescale X{advice}."
