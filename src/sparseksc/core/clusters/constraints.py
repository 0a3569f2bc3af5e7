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
model is a model with other coefficients, linear in the kernel values; without pairs, it is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, qr

from sparseksc._typing import Array, Floats, Integers
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
) -> tuple[Floats, Floats]:
    r"""Turn leading components to so many that keep to pairs of rows.

    Returns
    -------
    turn : array of shape (q, n_components)
        Factor of the score variables: :math:`z' = T^\top z`.
    eigenvalues : array of shape (n_components,)
    """
    values = spectrum.eigenvalues
    # Components that carry nothing but rounding errors are no functions to choose from.
    usable = np.flatnonzero(values > LEAST_USABLE)
    q, m = len(usable), min(n_components, len(usable))
    scale = np.sqrt(spectrum.omega) / values[usable]
    u = projection.scores(pairs.X, n_jobs)[:, usable] * scale
    smoothness, roughness = np.eye(q), np.diag(1.0 - SHRINKAGE * np.minimum(values[usable], 1.0))
    for matrix, some in ((roughness, pairs.must), (smoothness, pairs.cannot)):
        delta = u[some[:, 0]] - u[some[:, 1]]
        matrix += PAIR_WEIGHT * delta.T @ delta
    _, solutions = eigh(smoothness, roughness, subset_by_index=[q - m, q - 1])
    basis, _ = qr(solutions[:, ::-1], mode="economic")
    eigenvalues, turned = eigh((basis.T * values[usable]) @ basis)
    basis = basis @ turned[:, ::-1]
    eigenvalues = np.clip(eigenvalues[::-1], LEAST_USABLE, None)
    basis *= np.where(basis[np.argmax(np.abs(basis), axis=0), np.arange(m)] < 0.0, -1.0, 1.0)
    turn = np.zeros((len(values), m))
    turn[usable] = basis / values[usable, None] * eigenvalues
    return turn, eigenvalues
