"""The routes that are compared on the two spirals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

from sparseksc import KernelSpectralClustering
from sparseksc.datasets import make_spirals
from sparseksc.kernels import make_kernel
from sparseksc.reference import (
    IncompleteCholesky,
    ReferenceModel,
    incomplete_cholesky,
    original_ksc,
    paper_ksc,
    reduced_set_bias,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Kernel = Callable[[Floats, Floats], Floats]

#: Points among which our route looks for pivots.
SELECTION_SIZE = 5_000
REFERENCE_ROUTES = {"paper": paper_ksc, "original": original_ksc}


def plain_kernel(bandwidth: float) -> Kernel:
    """scikit-learn's Gaussian kernel, which a rendering of the paper in NumPy would use."""
    return partial(rbf_kernel, gamma=1.0 / bandwidth)


def compiled_kernel(bandwidth: float) -> Kernel:
    """The Gaussian kernel of this library."""
    return make_kernel("rbf", bandwidth).tile


def train_reference(
    route: str,
    X: Floats,
    rank: int,
    bandwidth: float,
    kernel: Callable[[float], Kernel],
    factor: IncompleteCholesky | None = None,
) -> ReferenceModel:
    """Train a published route: all training points are candidates for the pivots."""
    return REFERENCE_ROUTES[route](X, 2, kernel(bandwidth), max_rank=rank, factor=factor)


def label_reference(model: ReferenceModel, X: Floats) -> Integers:
    """Two clusters are told apart by the sign of the score."""
    return (model.transform(X)[:, 0] > 0).astype(np.int64)


def train_ours(X: Floats, rank: int, bandwidth: float, seed: int) -> KernelSpectralClustering:
    """Train the library: pivots in a sample, statistics on everything."""
    return KernelSpectralClustering(
        n_clusters=2,
        bandwidth=bandwidth,
        max_rank=rank,
        tol=0.0,
        selection_size=SELECTION_SIZE,
        random_state=seed,
        n_jobs=1,
    ).fit(X)


class Problem(NamedTuple):
    """A data set with the spiral that each point belongs to, and the training points among it.

    As in the paper, the training points are drawn from the data set, and all of it is labelled.
    """

    X: Floats
    points: Floats
    truth: Integers

    @classmethod
    def make(cls, n_train: int, n_points: int, seed: int) -> Problem:
        points, truth = make_spirals(n_points, random_state=seed)
        if n_train == n_points:
            return cls(points, points, truth)
        chosen = np.random.default_rng(seed).choice(n_points, n_train, replace=False)
        return cls(points[chosen], points, truth)

    def ari(self, labels: NDArray[Any]) -> float:
        """Adjusted Rand index of all points."""
        return float(adjusted_rand_score(self.truth, labels))

    def perfect(self, positive: NDArray[np.bool_]) -> bool:
        """Whether the sign separates the spirals without one mistake, that is with an ARI of 1."""
        right = positive == (self.truth == 1)
        return bool(right.all() or not right.any())


def published_scores(
    problem: Problem, bandwidth: float, ranks: Sequence[int]
) -> Iterator[tuple[int, dict[str, Floats]]]:
    """Scores of all points at several ranks, with the original and the proposed bias.

    One decomposition serves all ranks, as the pivots of a smaller one come first in a larger one.
    The eigenvector comes from the R × R matrix (D^(-1/2) M_D G)ᵀ(D^(-1/2) M_D G) instead of a QR
    decomposition of its factor: the same numbers for a tenth of the time. The two biases belong to
    the same coefficients.
    """
    kernel = compiled_kernel(bandwidth)
    factor = incomplete_cholesky(problem.X, kernel, max_rank=max(ranks))
    reduced_set = problem.X[factor.pivots]
    omega_pp = kernel(reduced_set, reduced_set)
    L = linalg.cholesky(omega_pp, lower=True)
    new = linalg.solve_triangular(L, kernel(problem.points, reduced_set).T, lower=True)
    for R in ranks:
        v, bias = leading_direction(factor.G[:, :R])
        L_R = L[: len(v), : len(v)]
        coef = linalg.solve_triangular(L_R, v[:, None], lower=True, trans=1)
        original = reduced_set_bias(omega_pp[: len(v), : len(v)], coef)[0]
        scores = v @ new[: len(v)]
        yield R, {"original": scores + original, "proposed": scores + bias}


def perfect_ranks(
    problem: Problem, bandwidth: float, ranks: Sequence[int]
) -> dict[tuple[str, int], bool]:
    """Whether the published routes have an ARI of 1, by (bias, rank)."""
    return {
        (bias, R): problem.perfect(scores > 0)
        for R, both in published_scores(problem, bandwidth, ranks)
        for bias, scores in both.items()
    }


class Stages(NamedTuple):
    """Labels of all points, and CPU seconds of the decomposition, the training and the labels.

    As in the paper, the training of a published route begins where the decomposition ends. Ours
    has no such stage of its own.
    """

    labels: NDArray[Any]
    icd_s: float
    training_s: float
    test_s: float

    @property
    def seconds(self) -> float:
        return self.icd_s + self.training_s + self.test_s


def clocked_reference(
    route: str, problem: Problem, rank: int, bandwidth: float, kernel: Callable[[float], Kernel]
) -> Stages:
    """Train a published route and label all points, with the time of each stage."""
    start = process_time()
    factor = incomplete_cholesky(problem.X, kernel(bandwidth), max_rank=rank)
    decomposed = process_time()
    model = train_reference(route, problem.X, rank, bandwidth, kernel, factor)
    trained = process_time()
    labels = label_reference(model, problem.points)
    return Stages(labels, decomposed - start, trained - decomposed, process_time() - trained)


def clocked_ours(problem: Problem, rank: int, bandwidth: float, seed: int) -> Stages:
    """Train the library and label all points, with the time of both."""
    start = process_time()
    model = train_ours(problem.X, rank, bandwidth, seed)
    trained = process_time()
    labels = model.predict(problem.points)
    return Stages(labels, 0.0, trained - start, process_time() - trained)


def leading_direction(G: Floats) -> tuple[Floats, float]:
    """Leading eigenvector v of GᵀD⁻¹M_D G and the bias, such that the scores are G v + b."""
    degrees = G @ G.sum(axis=0)
    weights = np.where(degrees > 0, 1.0 / np.where(degrees > 0, degrees, 1.0), 0.0)
    mean = weights @ G / weights.sum()
    C = (G * weights[:, None]).T @ G - weights.sum() * np.outer(mean, mean)
    last = len(C) - 1
    v = linalg.eigh(C, subset_by_index=[last, last])[1][:, 0]
    return v, float(-v @ mean)
