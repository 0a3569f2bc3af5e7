r"""Training with the landmarks kernel: one pass, and sums that add up exactly.

With the weights :math:`z_i` of :mod:`sparseksc.kernels.landmarks`,

.. math::

    S = \sum_i w_i z_i z_i^\top, \quad \lambda = S 1, \quad W = 1^\top \lambda, \quad
    C = \Lambda^{-1/2} S \Lambda^{-1/2} - \sqrt\lambda \sqrt\lambda^\top / W = V \Theta V^\top,

and the scores of any point are :math:`z(x)^\top \Lambda^{-1/2} V \Theta^{1/2}`, averages of
those of its landmarks. All degrees are 1, so that no pass is needed for them, and the bias is 0.

Averages over many neighbours leave clusters that overlap, in many dimensions, less alike than a
single far point is to itself, and the eigenvectors would find such points. There each point gives a
share :math:`\eta` of its weight to all R landmarks alike, :math:`z' = (1 - \eta) z + \eta / R`, as
in regularised spectral clustering (Zhang and Rohe, NeurIPS 2018), and

.. math::

    \lambda' = (1 - \eta) \lambda + \eta W / R, \quad
    C = \Lambda'^{-1/2} (S - \lambda \lambda^\top / W) \Lambda'^{-1/2}

up to the factor :math:`(1 - \eta)^2`, which is left out. The bias is
:math:`-\lambda^\top \Lambda'^{-1/2} V \Theta^{1/2} / W`. The share is as large as what leaves the
clusters, :math:`\eta = 1 - \theta_{K-1}` of the eigenvalues without it: next to nothing where they
are apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from sparseksc._typing import Array, Floats, Integers
from sparseksc.core.recipe import Recipe
from sparseksc.core.reduced_set import ReducedSet
from sparseksc.core.spectrum import LEAST_EIGENVALUE, Spectrum, with_fixed_signs
from sparseksc.data.distinct import distinct_sample
from sparseksc.data.sampling import Sample
from sparseksc.data.source import Source
from sparseksc.execution.notices import warn
from sparseksc.execution.threads import map_rows
from sparseksc.kernels import Landmarks
from sparseksc.kernels.metrics import METRICS, Metric
from sparseksc.kernels.products import in_ordinary_unit

#: Steps of Lloyd's algorithm: later ones move the landmarks, and not the clusters.
LLOYD_STEPS = 5
#: Fewer are taken where no more than this share of the rows change their landmark.
SETTLED = 0.01
#: Rows for each landmark that they are found in, where there are as many.
ROWS_PER_LANDMARK = 10
#: At least so many rows share a landmark, or the kernel falls into pieces.
LEAST_ROWS_PER_LANDMARK = 2
#: A point whose distance to the nearest landmark is this many times the root of the mean square is
#: an outlier.
FAR, LEAST_DISTANCE = 5.0, float(np.finfo(np.float64).tiny)
#: Up to this rank all of the matrix is decomposed; beyond, only its leading vectors are iterated.
DENSE_RANK = 512
#: Up to this rank, and so many entries for each landmark, the matrix is inverted first, with the
#: eigenvalues just below the shift in front: in half of the time in the plane, and no gain where
#: landmarks have more neighbours (cost).
INVERTED_RANK, INVERTED_ENTRIES, SHIFT = 2_000, 20, 1.01
#: Most bytes of features that are kept, so that labels need no second search for landmarks.
KEPT_BYTES, BYTES_PER_WEIGHT = 128 * 2**20, 12
#: Relative accuracy of the eigenvalues that are iterated.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class LandmarkSums:
    """Sums over the points of one or many chunks.

    Attributes
    ----------
    data, indices, indptr : arrays
        ``S``, a sparse matrix of shape (R, R).
    n_outliers : int
        Points far from all landmarks.
    outlier_weight : float
        Their sample weight.
    """

    data: Floats
    indices: Integers
    indptr: Integers
    n_outliers: int
    outlier_weight: float

    @classmethod
    def of_matrix(cls, S: Any, n_outliers: int, outlier_weight: float) -> LandmarkSums:
        """Keep the arrays of a sparse matrix, in one order."""
        S.sort_indices()
        indices, indptr = (part.astype(np.int64) for part in (S.indices, S.indptr))
        return cls(S.data, indices, indptr, n_outliers, outlier_weight)

    @classmethod
    def of_rows(
        cls, kernel: Landmarks, P: Array, floor: float, X: Array, weights: Floats
    ) -> tuple[LandmarkSums, Any]:
        """Take the sums over one chunk of rows; return its features, too."""
        Z, closeness = kernel.features_and_degrees(X, P)
        far = (closeness <= floor) & (weights > 0.0)
        S = (Z.multiply(weights[:, None]).T.tocsr() @ Z).tocsr()
        return cls.of_matrix(S, int(np.count_nonzero(far)), float(weights[far].sum())), Z

    @property
    def matrix(self) -> Any:
        """``S``."""
        R = len(self.indptr) - 1
        return sp.csr_array((self.data, self.indices, self.indptr), shape=(R, R))

    def merge(self, other: LandmarkSums) -> LandmarkSums:
        """Return the sums over the points of both."""
        return LandmarkSums.of_matrix(
            self.matrix + other.matrix,
            self.n_outliers + other.n_outliers,
            self.outlier_weight + other.outlier_weight,
        )

    def faded(self, factor: float) -> LandmarkSums:
        """Return the sums with all weights multiplied."""
        weight = factor * self.outlier_weight
        return LandmarkSums(factor * self.data, self.indices, self.indptr, self.n_outliers, weight)


def choose_landmarks(sample: Sample, recipe: Recipe) -> ReducedSet:
    """Take the centres of k-means on a sample for landmarks.

    Lloyd's algorithm starts from rows of the sample, drawn by their weights; centres that no row is
    nearest to are dropped.
    """
    kernel = recipe.kernel
    assert isinstance(kernel, Landmarks)
    sample = distinct_sample(sample.first(ROWS_PER_LANDMARK * recipe.max_rank, recipe.seed))
    n = len(sample.rows)
    R = most_landmarks(recipe, n)
    metric = METRICS[kernel.metric]
    rows = metric.embedded(sample.X)
    points = metric.embedded(sample.first(R, recipe.seed).X)

    def nearest(chunk: Array) -> Floats:
        return np.column_stack(metric.nearest(chunk, points, 1))

    numbers = np.full(n, -1)
    for _ in range(LLOYD_STEPS):
        found, before = map_rows(nearest, rows, 1, recipe.n_jobs), numbers
        numbers, distances = found[:, 0].astype(np.intp), found[:, 1]
        means = _means(rows, numbers, sample.weights, points.shape[0])
        kept = metric.kept(means).astype(sample.X.dtype, copy=False)
        points = metric.landmarks(kept)
        if np.count_nonzero(numbers != before) <= SETTLED * n:
            break
    # To the centres before the last step, which is near enough.
    left = _root_mean_square(distances, sample.weights)
    residual, R = _relative(left, metric, rows, sample.weights), points.shape[0]
    if left == 0.0 and R > 1:  # every row is a landmark
        left = _root_mean_square(metric.nearest(points, points, 2)[1][:, 1], np.ones(R))
    return ReducedSet(
        points=kept,
        indices=np.empty(0, np.intp),
        factor=np.empty((0, 0)),
        path=np.array([residual]),
        constant_diagonal=True,
        reach=FAR * max(left, LEAST_DISTANCE),
    )


def most_landmarks(recipe: Recipe, n: int) -> int:
    """Most landmarks that a recipe takes from so many distinct rows."""
    kernel = recipe.kernel
    assert isinstance(kernel, Landmarks)
    return min(
        recipe.max_rank, max(n // LEAST_ROWS_PER_LANDMARK, min(n, 2 * kernel.n_neighbors + 2))
    )


def check_neighbors(kernel: Landmarks, R: int, n_points: int) -> None:
    """Refuse as many neighbours as there are landmarks, and say where fewer are taken."""
    asked, taken = kernel.n_neighbors, kernel.neighbors_among(R)
    if R <= asked:
        raise ValueError(
            f"n_neighbors must be less than the number of landmarks, got {asked}, and {n_points} "
            f"points give {R} of them."
        )
    if taken < asked:
        warn(
            f"n_neighbors={asked} is lowered to {taken}, half of the {R} landmarks that "
            f"{n_points} points give: with more neighbours, the farthest would tell points apart. "
            "Ask for fewer.",
            UserWarning,
        )


def _means(rows: Any, numbers: Integers, weights: Floats, R: int) -> Any:
    """Weighted mean of the rows of each number, in their precision; of those that have rows."""
    mass = np.bincount(numbers, weights, minlength=R)
    shares = weights / np.where(mass > 0.0, mass, 1.0)[numbers]
    places = (shares, numbers, np.arange(len(numbers) + 1))
    averages: Any = sp.csr_array(places, shape=(len(numbers), R))
    means = (averages.T.tocsr()[mass > 0.0] @ rows).astype(rows.dtype)
    return means if sp.issparse(rows) else np.ascontiguousarray(means)


def _root_mean_square(distances: Floats, weights: Floats) -> float:
    """Take the largest out first, whose square may not be a number."""
    largest = float(distances.max())
    if largest == 0.0:
        return 0.0
    return largest * float(np.sqrt(np.average((distances / largest) ** 2, weights=weights)))


def distortion(kernel: Landmarks, sample: Sample, points: Array) -> float:
    """Root of the mean squared distance of rows to their landmarks."""
    return _root_mean_square(-kernel.degrees(sample.X, points, sample.weights), sample.weights)


def relative_distortion(kernel: Landmarks, sample: Sample, points: Array) -> float:
    """Mean squared distance of rows to their landmarks, relative to that to their mean."""
    left, metric = distortion(kernel, sample, points), METRICS[kernel.metric]
    return _relative(left, metric, metric.embedded(sample.X), sample.weights)


def _relative(left: float, metric: Metric, rows: Any, weights: Floats) -> float:
    """Squared ratio of a distance to the root mean square of those between rows and their mean."""
    rows, unit = in_ordinary_unit(rows)
    shares = weights / weights.sum()
    mean: Any = sp.csr_array(shares[None]) @ rows
    mean = sp.csr_array(mean) if sp.issparse(rows) else mean.astype(rows.dtype)
    spread = _root_mean_square(metric.nearest(rows, mean, 1)[1][:, 0], weights)
    return (unit * left / spread) ** 2 if spread > 0.0 else 0.0


def collect_sums(
    kernel: Landmarks, landmarks: ReducedSet, source: Source, n_jobs: int | None
) -> tuple[LandmarkSums, list[Any] | None]:
    """Sum over all rows, in one pass; the features of some rows in memory are kept for labels."""
    points, floor, in_memory = landmarks.points, -landmarks.reach, source.in_memory

    def sums(rows: Array, weights: Floats) -> tuple[LandmarkSums, Any]:
        if not in_memory:
            kernel.check(rows)
        return LandmarkSums.of_rows(kernel, points, floor, rows, weights)

    width, merge = kernel.written(points), LandmarkSums.merge
    if in_memory and BYTES_PER_WEIGHT * kernel.n_neighbors * int(source.n_rows or 0) <= KEPT_BYTES:
        return source.sum_and_keep(sums, merge, width, n_jobs)
    return source.sum(lambda rows, weights: sums(rows, weights)[0], merge, width, n_jobs), None


def solve_landmarks(
    sums: LandmarkSums, n_components: int, regularised: bool = False
) -> tuple[Spectrum, Floats]:
    """Leading eigenvectors, with the map from weights to scores, and ``lam``.

    ``regularised``: all landmarks share some of the weights.
    """
    S = sums.matrix
    lam = np.asarray(S.sum(axis=1)).ravel()
    spectrum = _solve(S, lam, n_components, 0.0)
    if regularised and len(spectrum.eigenvalues) > 0:
        share = 1.0 - float(spectrum.eigenvalues[-1])
        if share > LEAST_EIGENVALUE:
            spectrum = _solve(S, lam, n_components, share)
    return spectrum, lam


def _solve(S: Any, lam: Floats, n_components: int, share: float) -> Spectrum:
    """Leading eigenvectors with a share ``eta`` of the weights for all landmarks."""
    R, total = len(lam), float(lam.sum())
    root = np.sqrt((1.0 - share) * lam + share * total / R)
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0.0)
    count = min(n_components, R - 1)
    scaled = (sp.diags_array(inverse) @ S @ sp.diags_array(inverse)).tocsr()
    if share > 0.0:
        B, known = (inverse * lam / np.sqrt(total))[:, None], np.empty((R, 0))
    else:
        B, known = _connected_parts(scaled, root, count)
    values, V = _leading(scaled, B, known, count)
    values = values[values > LEAST_EIGENVALUE]
    center = root / total
    V = with_fixed_signs(V[:, : len(values)], center)
    coef = np.ascontiguousarray(inverse[:, None] * V * np.sqrt(values))
    return Spectrum(
        eigenvalues=values,
        eigenvectors=V,
        coef=coef,
        bias=-(lam / total) @ coef if share > 0.0 else np.zeros(len(values)),
        center=center,
        omega=total,
    )


def _connected_parts(A: Any, root: Floats, count: int) -> tuple[Any, Floats]:
    """Eigenvectors of ``A`` for the eigenvalue 1, sparse, and ``count`` beside the trivial one.

    ``root`` is the square root of ``lam``, and the trivial one. Each connected part of the
    landmarks has one of its own, which iterations would not tell apart; there may be thousands.
    """
    R = len(root)
    _, part = connected_components(A, directed=False)
    lengths = np.sqrt(np.bincount(part, root**2))
    order = np.flatnonzero(lengths)
    place = np.full(len(lengths), -1)
    place[order] = np.arange(len(order))
    filled = np.flatnonzero(root > 0.0)
    entries = root[filled] / lengths[part[filled]]
    B: Any = sp.csr_array((entries, (filled, place[part[filled]])), shape=(R, len(order)))
    return B, B @ _complement(lengths[order], count)


def _complement(x: Floats, count: int) -> Floats:
    """Orthonormal vectors, at most ``count``, that are orthogonal to one with positive entries.

    They are columns of the reflection that takes the first axis to minus its direction.
    """
    u = x / np.linalg.norm(x)
    v = u + (np.arange(len(u)) == 0)
    width = min(count, len(u) - 1)
    return np.eye(len(u), width, k=-1) - np.outer(v, u[1 : width + 1] / v[0])


def _inverse(A: Any, part: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    """Multiplication by the inverse of ``SHIFT - A``, without the part in some eigenvectors.

    Where landmarks form chains, many eigenvalues are close to 1, and those of the inverse are far
    from each other. No eigenvalue of ``A`` is above 1: no pivoting is needed.
    """
    shifted = SHIFT * sp.eye_array(A.shape[0], format="csc") - A.tocsc()
    factors = splu(
        shifted,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )

    def multiply(x: Floats) -> Floats:
        solved = factors.solve(x - part(x))
        inside: Floats = solved - part(solved)
        return inside

    return multiply


def _leading(A: Any, B: Any, known: Floats, count: int) -> tuple[Floats, Floats]:
    """Leading eigenpairs of ``A - B B^T``, descending, after the ``known`` ones."""
    R = A.shape[0]
    count = min(count - known.shape[1], R - B.shape[1])
    values, V = np.empty(0), np.empty((R, 0))
    if count > 0 and (R <= DENSE_RANK or 4 * count >= R):
        dense = B if isinstance(B, np.ndarray) else B.toarray()
        C = A.toarray() - dense @ dense.T
        values, V = eigh((C + C.T) / 2, driver="evd", check_finite=False)
    elif count > 0:
        inverted = sp.issparse(B) and R <= INVERTED_RANK and A.nnz <= INVERTED_ENTRIES * R
        # Once, and not in every step.
        transposed: Any = B.T if isinstance(B, np.ndarray) else B.T.tocsr()

        def part(x: Floats) -> Floats:
            known_part: Floats = B @ (transposed @ x)
            return known_part

        multiply = _inverse(A, part) if inverted else lambda x: A @ x - part(x)
        operator = LinearOperator((R, R), multiply, dtype=np.float64)
        start = np.random.default_rng(0).normal(size=R)
        vectors = min(R, 2 * count + 40)
        values, V = eigsh(operator, count, which="LA", v0=start, ncv=vectors, tol=TOLERANCE)
        values = SHIFT - 1.0 / values if inverted else values
    order = np.argsort(-values, kind="stable")[:count]
    values = np.append(np.ones(known.shape[1]), values[order])
    return values, np.hstack([known, V[:, order]])
