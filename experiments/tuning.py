"""Model selection as the paper does it: a criterion on validation points over K and bandwidth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from experiments.spirals import Floats, Integers, Kernel
from sparseksc.core.criteria import Objective
from sparseksc.core.encoding import ENCODINGS, Encoding, TooFewCodeWords
from sparseksc.core.spectrum import Spectrum
from sparseksc.reference import (
    Eigenvectors,
    IncompleteCholesky,
    paper_bias,
    qr_eigenvectors,
    reduced_set_coefficients,
)

#: The encoding that belongs to each criterion.
ENCODING_OF = {"bas": "angular", "ams": "direction", "blf": "sign"}
#: Weight of the balance in the criteria of images: the default of the authors' program.
ETA = 0.2


class Scores(NamedTuple):
    """A published model at one bandwidth, for all numbers of clusters up to the largest."""

    eigenvalues: Floats
    coef: Floats
    bias: Floats
    training: Floats
    reduced_set: Floats
    kernel: Kernel

    def encoding(self, name: str, n_clusters: int) -> Encoding:
        """Prototypes of the first K − 1 scores; raises TooFewCodeWords where there are fewer."""
        first = np.s_[: n_clusters - 1]
        ones = np.ones(len(self.training))
        spectrum = as_spectrum(self.eigenvalues[first], self.coef[:, first], self.bias[first])
        return ENCODINGS[name](spectrum, self.training[:, first], ones, ones)

    def labels(self, name: str, n_clusters: int, X: Floats) -> Integers:
        """Label points."""
        scores = self.kernel(X, self.reduced_set) @ self.coef + self.bias
        return self.encoding(name, n_clusters).labels(scores[:, : n_clusters - 1])


def as_spectrum(eigenvalues: Floats, coef: Floats, bias: Floats) -> Spectrum:
    """What the encodings need of a published model."""
    return Spectrum(
        eigenvalues=eigenvalues,
        eigenvectors=coef,
        coef=coef,
        bias=bias,
        center=np.zeros(len(coef)),
        omega=1.0,
    )


class Tuning:
    """The published route on one decomposition, for many bandwidths of the scores.

    Parameters
    ----------
    X : array of shape (n, d)
        Training points.
    factor : IncompleteCholesky
        Decomposition of their kernel matrix.
    kernel : callable
        Kernel of a bandwidth.
    most_clusters : int
        Largest number of clusters.
    """

    def __init__(
        self,
        X: Floats,
        factor: IncompleteCholesky,
        kernel: Callable[[float], Kernel],
        most_clusters: int,
    ) -> None:
        self.X, self.pivots, self.kernel = X, factor.pivots, kernel
        self.eigenvectors: Eigenvectors = qr_eigenvectors(
            factor.G, min(most_clusters - 1, len(factor.pivots))
        )

    def at(self, bandwidth: float) -> Scores:
        """Return the model of one bandwidth."""
        kernel = self.kernel(bandwidth)
        coef = reduced_set_coefficients(self.X, kernel, self.pivots, self.eigenvectors.beta)
        bias = paper_bias(self.eigenvectors)
        reduced_set = self.X[self.pivots]
        training = kernel(self.X, reduced_set) @ coef + bias
        return Scores(self.eigenvectors.eigenvalues, coef, bias, training, reduced_set, kernel)

    def criteria(
        self,
        V: Floats,
        bandwidth: float,
        clusters: dict[str, Sequence[int]],
        eta: float,
        outlier_threshold: int = 0,
    ) -> dict[tuple[str, int], float]:
        """Criteria on the points V by (name, K); NaN where the scores show fewer clusters."""
        model = self.at(bandwidth)
        values = model.kernel(V, model.reduced_set)
        scores, sums = values @ model.coef + model.bias, values.sum(axis=1) + model.bias[0]
        found = {}
        for name, numbers in clusters.items():
            objective = Objective(name, eta, outlier_threshold)
            for K in numbers:
                try:
                    codes = model.encoding(ENCODING_OF[name], K)
                    found[name, K] = objective.value(codes, scores[:, : K - 1], sums)
                except TooFewCodeWords:
                    found[name, K] = np.nan
        return found
