r"""Classes from labels of some rows: semi-supervised kernel spectral clustering.

In the basis of the leading eigenvectors,
:math:`\psi_j(x) = \sqrt{\omega}\, v_j^\top (g(x) - m)` and :math:`\psi_0 = 1`, functions that vary
little where points are dense have small coefficients on all but the first. With the features
:math:`\Psi_L` of the labelled rows and targets :math:`T`,

.. math::

    a = \bigl(\mathrm{diag}(10^{-6}, 1 - 0.999 \lambda_1, \dots) + \gamma \Psi_L^\top \Psi_L
        \bigr)^{-1} \gamma \Psi_L^\top T, \qquad e(x) = a^\top \psi(x).

The targets of C classes are the corners of a regular simplex in C - 1 dimensions, and the class of
a point is the corner in whose direction :math:`e(x)` lies: the same as one class against the rest,
as all targets are linear functions of each other. So a model of classes is a model of clusters
with other coefficients, linear in the kernel values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve

from sparseksc._typing import Array, Floats, Integers
from sparseksc.core.encoding import Directions
from sparseksc.core.model import Projection, SparseModel
from sparseksc.core.spectrum import Spectrum
from sparseksc.data.sampling import Sample
from sparseksc.data.sparse import stacked

#: Eigenvectors that classes are expressed in. With 40, 60 and 100 the accuracy on digits and
#: PenDigits differs by less than 0.005.
COMPONENTS = 60
#: Penalties of the constant, and of a component with the eigenvalue 1; what a label counts against
#: them. Labels that count 0.1 instead of 0.01 cost an accuracy of 0.01 on digits and PenDigits.
CONSTANT_PENALTY, SHRINKAGE, LABEL_WEIGHT = 1e-6, 0.999, 0.01
#: A cluster without labels is a class of its own where labels that were drawn at random would have
#: missed it with this probability at most.
MISSED = 0.01
#: Share of the labels of a class that may lie in the clusters of others. Set after 0.1 had called
#: a cluster of the digits 0 to 3 labelled that was not; nothing else was compared.
STRAY = 0.25


@dataclass(frozen=True)
class LabelledRows:
    """Rows whose class is known, numbered from 0 to ``n_classes`` - 1."""

    X: Array
    codes: Integers
    n_classes: int

    def with_class(self, X: Array) -> LabelledRows:
        """Add rows of one more class."""
        codes = np.append(self.codes, np.full(X.shape[0], self.n_classes))
        return LabelledRows(stacked(self.X, X), codes, self.n_classes + 1)


def simplex_corners(count: int) -> Floats:
    """Corners of a regular simplex around 0, at the distance 1, shape (count, count - 1).

    Examples
    --------
    >>> from sparseksc.core.clusters.classes import simplex_corners
    >>> (simplex_corners(3) @ simplex_corners(3).T).round(3)
    array([[ 1. , -0.5, -0.5],
           [-0.5,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    corners = np.zeros((count, count - 1))
    for column in range(count - 1):
        left = count - 1 - column
        corners[column, column] = 1.0
        corners[column + 1 :, column] = -1.0 / left
        corners[:, column] *= np.sqrt(left * count / ((left + 1) * (count - 1)))
    return corners


def fit_classes(
    projection: Projection,
    spectrum: Spectrum,
    floor: float,
    labelled: LabelledRows,
    n_jobs: int | None = None,
) -> SparseModel:
    """Return the model whose clusters are the classes of some labelled rows."""
    C = labelled.n_classes
    corners = simplex_corners(C)
    scale = np.sqrt(spectrum.omega / spectrum.eigenvalues)
    scores = projection.scores(labelled.X, n_jobs)
    features = np.column_stack([np.ones(len(scores)), scores * scale])
    roughness = 1.0 - SHRINKAGE * np.minimum(spectrum.eigenvalues, 1.0)
    system = LABEL_WEIGHT * features.T @ features
    system[np.diag_indices_from(system)] += np.append(CONSTANT_PENALTY, roughness)
    targets = LABEL_WEIGHT * features.T @ corners[labelled.codes]
    a = solve(system, targets, assume_a="pos")
    weights = scale[:, None] * a[1:]
    classes = replace(
        projection,
        coef=np.ascontiguousarray(projection.coef @ weights),
        bias=a[0] + projection.bias @ weights,
    )
    eigenvalues = np.zeros(C - 1)
    known = spectrum.eigenvalues[: C - 1]
    eigenvalues[: len(known)] = known
    return SparseModel(classes, eigenvalues, Directions(corners), floor)


def with_unlabelled_clusters(
    labelled: LabelledRows, clusters: SparseModel, sample: Sample, most: int | None
) -> LabelledRows:
    """Make clusters without labels classes of their own.

    Parameters
    ----------
    labelled : LabelledRows
    clusters : SparseModel
        Found without the labels.
    sample : Sample
        Of all rows.
    most : int or None
        As many clusters as this are added, those with the fewest labels first; None for those
        without, which labels drawn at random would hardly have missed.
    """
    K = clusters.encoding.n_clusters
    found = clusters.labels(sample.X)
    shares = np.bincount(found, sample.weights, minlength=K) / sample.weights.sum()
    n_labels = len(labelled.codes)
    held = np.zeros((labelled.n_classes, K))
    np.add.at(held, (labelled.codes, clusters.labels(labelled.X)), 1.0)
    # The largest share of a class that a cluster has.
    claims = (held / held.sum(axis=1, keepdims=True)).max(axis=0)
    added = np.lexsort((-shares, np.floor(claims / STRAY)))
    added = added[shares[added] > 0.0]
    if most is None:
        missed = (1.0 - shares[added]) ** n_labels
        added = added[(claims[added] < STRAY) & (missed <= MISSED)]
    per_class = max(1, round(n_labels / labelled.n_classes))
    membership = clusters.membership(sample.X)
    for number in added[:most]:
        rows = np.flatnonzero((found == number) & (sample.weights > 0.0))
        typical = rows[np.argsort(-membership[rows, number], kind="stable")[:per_class]]
        labelled = labelled.with_class(sample.X[np.sort(typical)])
    return labelled
