"""Pairs of rows that belong together or apart: the definition, over all rows."""

import numpy as np
from scipy.linalg import eigh, null_space


def constrained_scores(Z, eigenvalues, shares, must, cannot, n_components, pair_weight):
    """Scores of all rows (n, m), up to a rotation: orthonormal functions of the components ``Z``.

    The functions are made orthonormal under the shares w_i / d_i of the rows, numerically; the sums
    over pairs are taken one by one.
    """
    mean = shares @ Z / shares.sum()
    centred = Z - mean
    gram = (centred * shares[:, None]).T @ centred / shares.sum()
    u = centred / np.sqrt(np.diag(gram))
    smooth, rough = np.eye(len(eigenvalues)), np.diag(1.0 - 0.999 * np.minimum(eigenvalues, 1.0))
    for i, j in cannot:
        smooth += pair_weight * np.outer(u[i] - u[j], u[i] - u[j])
    for i, j in must:
        rough += pair_weight * np.outer(u[i] - u[j], u[i] - u[j])
    values, vectors = eigh(smooth, rough)
    chosen = vectors[:, np.argsort(-values)[:n_components]]
    basis = null_space(null_space(chosen.T).T)  # orthonormal, of the same span
    return u @ basis
