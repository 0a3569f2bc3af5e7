r"""Pairs of rows that belong together, or apart: constrained kernel spectral clustering.

In functions :math:`u_j(x) = \sqrt\omega\, z_j(x) / \lambda_j` of mean square 1, the leading
components of the unconstrained problem, the score variables :math:`c^\top u(x)` without constraints
are those with the largest :math:`c^\top c / c^\top \mathrm{diag}(1 - 0.999 \lambda)\, c`: the
smoothest. With the differences :math:`\delta = u(x_i) - u(x_j)` of pairs they become the leading
solutions of

.. math::

    \Bigl(I + \gamma \sum_{\text{cannot}} \delta \delta^\top\Bigr) c = \theta \Bigl(
        \mathrm{diag}(1 - 0.999 \lambda) + \gamma \sum_{\text{must}} \delta \delta^\top\Bigr) c,

which differ on pairs that must not be linked and hardly on those that must be. The space that they
span is turned to components that have eigenvalues :math:`B^\top \Lambda B` again. So a constrained
model is a model with other coefficients, linear in the kernel values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh, qr

from sparseksc._typing import Array, Integers
from sparseksc.core.clusters.classes import SHRINKAGE
from sparseksc.core.model import Projection, SparseModel
from sparseksc.core.spectrum import Spectrum
from sparseksc.execution.notices import warn

#: What a pair counts against the roughness of a component.
PAIR_WEIGHT = 1.0
#: Components with smaller eigenvalues are too rough to be of use.
LEAST_USABLE = 1e-6


class ConstraintWarning(UserWarning):
    """Some pairs of rows are in one cluster that should not be, or in two that should."""


@dataclass(frozen=True)
class PairedRows:
    """Rows of pairs that belong to one cluster (``must``) or to two.

    Attributes
    ----------
    X : array of shape (m, d)
        Rows of which each is in a pair.
    must, cannot : arrays of shape (p, 2)
        Places in ``X``.
    """

    X: Array
    must: Integers
    cannot: Integers

    def check(self, model: SparseModel, n_jobs: int | None = None) -> None:
        """Warn where a model does not keep to them."""
        labels = model.labels(self.X, n_jobs)
        apart = np.count_nonzero(labels[self.must[:, 0]] != labels[self.must[:, 1]])
        together = np.count_nonzero(labels[self.cannot[:, 0]] == labels[self.cannot[:, 1]])
        if apart + together > 0:
            warn(
                f"{apart} of {len(self.must)} pairs that must be linked are in two clusters, and "
                f"{together} of {len(self.cannot)} that cannot be are in one: the data does not "
                "show such clusters, or there are too few or too many of them.",
                ConstraintWarning,
            )


def constrain(
    projection: Projection,
    spectrum: Spectrum,
    n_components: int,
    pairs: PairedRows,
    n_jobs: int | None = None,
) -> tuple[Projection, Spectrum]:
    """Turn leading components to so many that keep to pairs of rows."""
    values = spectrum.eigenvalues
    usable = np.flatnonzero(values > LEAST_USABLE)
    q, m = len(usable), min(n_components, len(usable))
    u = projection.scores(pairs.X, n_jobs)[:, usable] * np.sqrt(spectrum.omega) / values[usable]
    smoothness, roughness = np.eye(q), np.diag(1.0 - SHRINKAGE * np.minimum(values[usable], 1.0))
    for matrix, some in ((roughness, pairs.must), (smoothness, pairs.cannot)):
        delta = u[some[:, 0]] - u[some[:, 1]]
        matrix += PAIR_WEIGHT * delta.T @ delta
    _, solutions = eigh(smoothness, roughness, subset_by_index=[q - m, q - 1])
    basis, _ = qr(solutions[:, ::-1], mode="economic")
    eigenvalues, turned = eigh((basis.T * values[usable]) @ basis)
    eigenvalues, basis = np.maximum(eigenvalues[::-1], LEAST_USABLE), basis @ turned[:, ::-1]
    basis *= np.where(basis[np.argmax(np.abs(basis), axis=0), np.arange(m)] < 0.0, -1.0, 1.0)
    turn = np.zeros((len(values), m))
    turn[usable] = basis / values[usable, None] * eigenvalues
    coef, bias = np.ascontiguousarray(projection.coef @ turn), projection.bias @ turn
    V = (spectrum.eigenvectors * np.sqrt(values)) @ turn / np.sqrt(eigenvalues)
    return replace(projection, coef=coef, bias=bias), Spectrum(
        eigenvalues, V, coef, bias, spectrum.center, spectrum.omega
    )
