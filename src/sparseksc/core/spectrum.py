r"""The R x R eigenproblem and the score variables that follow from it.

With the sums of :mod:`sparseksc.core.statistics`,

.. math::

    C = A - u u^\top / \omega = V \Lambda V^\top, \quad H = V \Lambda^{1/2}, \quad
    \xi = L^{-\top} H, \quad b = -H^\top u / \omega,

and the score variables of any point are
:math:`z(x) = H^\top (g(x) - u/\omega) = \xi^\top k_P(x) + b`. ``C`` equals
:math:`X^\top X` of the paper's route, so :math:`\Lambda` are its eigenvalues.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh, pinvh

from sparseksc._typing import Array, Floats
from sparseksc.core.statistics import Degrees, FeatureMap, Statistics
from sparseksc.data.source import Source
from sparseksc.kernels import Kernel

#: Eigenvalues at or below this carry no cluster, only rounding errors (they are at most 1).
LEAST_EIGENVALUE = 1e-12
#: Up to this rank all eigenpairs are computed, so that the basis that perfect clusters (equal
#: eigenvalues) get does not depend on how many pairs are asked for.
WHOLE_SPECTRUM = 512


@dataclass(frozen=True)
class Spectrum:
    r"""Leading eigenpairs and the linear map from kernel values to scores.

    Attributes
    ----------
    eigenvalues : array of shape (m,)
        Leading eigenvalues, descending; at most 1 up to rounding.
    eigenvectors : array of shape (R, m)
        ``V``; the sign of each column makes its bias negative.
    coef : array of shape (R, m)
        ``xi``.
    bias : array of shape (m,)
        ``b``.
    center : array of shape (R,)
        ``u / omega``.
    omega : float
        Sum of ``w_i / d_i``.
    """

    eigenvalues: Floats
    eigenvectors: Floats
    coef: Floats
    bias: Floats
    center: Floats
    omega: float

    def leading(self, count: int) -> Spectrum:
        """Only the first ``count`` components."""
        return replace(
            self,
            eigenvalues=self.eigenvalues[:count],
            eigenvectors=self.eigenvectors[:, :count],
            coef=self.coef[:, :count],
            bias=self.bias[:count],
        )


def solve_spectrum(features: FeatureMap, statistics: Statistics, n_components: int) -> Spectrum:
    """Solve the eigenproblem for at most ``n_components`` leading pairs.

    Fewer come back where the data has no more directions (eigenvalues of rounding size).
    """
    A, u = statistics.moment, statistics.mean
    if features.in_kernel_space:
        u = features.whiten(u)
        A = features.whiten(features.whiten(A).T)
    center = u / statistics.omega
    C = A - np.outer(u, center)
    R = len(C)
    count = min(n_components, R)
    if count == 0:
        values, V = np.empty(0), np.empty((R, 0))
    else:
        C = (C + C.T) / 2
        values = np.empty(0)
        if R > WHOLE_SPECTRUM:
            values, V = eigh(C, subset_by_index=[R - count, R - 1], check_finite=False)
        # LAPACK can lose equal eigenvalues when asked for a few; perfect clusters have many.
        if len(values) < count:
            values, V = eigh(C, driver="evd", check_finite=False)
            values, V = values[R - count :], V[:, R - count :]
    values, V = values[::-1], V[:, ::-1]
    values = values[values > LEAST_EIGENVALUE]
    V = with_fixed_signs(V[:, : len(values)], center)
    H = V * np.sqrt(values)
    return Spectrum(
        eigenvalues=values,
        eigenvectors=V,
        coef=np.ascontiguousarray(features.unwhiten(H)),
        bias=-H.T @ center,
        center=center,
        omega=statistics.omega,
    )


def with_fixed_signs(V: Floats, center: Floats) -> Floats:
    """Make the bias negative, which does not depend on the pivots; or, if there is none, a peak."""
    if V.size == 0:
        return V
    along = center @ V
    peaks = V[np.argmax(np.abs(V), axis=0), np.arange(V.shape[1])]
    clear = np.abs(along) > 1e-6 * np.linalg.norm(center)
    return V * np.where(np.where(clear, along, peaks) < 0, -1.0, 1.0)


def change_kernel(
    spectrum: Spectrum,
    features: FeatureMap,
    degrees: Degrees,
    kernel: Kernel,
    source: Source,
    n_jobs: int | None = None,
) -> Spectrum:
    r"""Express the eigenvectors of one kernel in another: the paper's two bandwidths.

    The dual variables :math:`\beta_i = (g_i - u/\omega)^\top v / (d_i \sqrt\lambda)` come from
    the kernel of the decomposition; the coefficients solve
    :math:`\tilde\Omega_{PP}\, \xi = \sum_i w_i \tilde k_P(x_i) \beta_i` in the new one.
    The bias stays that of the decomposition.
    """
    P = features.reduced_set.points
    directions = spectrum.eigenvectors / np.sqrt(spectrum.eigenvalues)
    shift = spectrum.center @ directions
    if features.in_kernel_space:
        directions = features.unwhiten(directions)
    both = np.ascontiguousarray(np.column_stack([directions, degrees.q]))
    origin = np.append(-shift, 0.0)

    def right_hand_side(rows: Array, weights: Floats) -> Floats:
        if features.in_kernel_space:
            columns = features.kernel.scores(rows, P, both, origin)
        else:
            columns = features(rows) @ both + origin
        beta = columns[:, :-1] * degrees.shares_of(columns[:, -1], weights)[:, None]
        return kernel.tile(rows, P).astype(np.float64, copy=False).T @ beta

    total = source.sum(right_hand_side, np.add, P.shape[0], n_jobs)
    # The pivots were chosen with the other kernel: in this one they may be dependent.
    inverse = pinvh(kernel.tile(P, P).astype(np.float64), rtol=np.finfo(float).eps ** (2 / 3))
    return replace(spectrum, coef=inverse @ total)
