"""The quality of a clustering from the similarities of all pairs of rows: slow and obvious."""

import numpy as np


def quality_over_pairs(Z, labels, least):
    """Half the mean and half the minimum over the clusters of log(phi_in / phi_out).

    ``Z`` are the shares of the landmarks in the rows, shape (n, R); all rows weigh one. The
    similarity of two rows is ``z^T diag(lam)^-1 z'``, so that every row has the degree one.
    """
    lam = Z.sum(axis=0)
    present = lam > 0.0
    W = (Z[:, present] / lam[present]) @ Z[:, present].T
    ratios, sizes = [], []
    for cluster in np.unique(labels):
        mine = labels == cluster
        leaving = W[mine][:, ~mine].sum()
        outside = leaving / min(mine.sum(), (~mine).sum())
        inside = _least_conductance(Z[mine].T @ Z[mine])
        ratios.append(np.log((inside + least) / (outside + least)))
        sizes.append(mine.sum())
    return (np.average(ratios, weights=sizes) + min(ratios)) / 2


def _least_conductance(S):
    """Least conductance of the cuts along the second eigenvector of a graph."""
    S = S[S.sum(axis=1) > 0.0][:, S.sum(axis=1) > 0.0]
    d = S.sum(axis=1)
    _, vectors = np.linalg.eigh(S / np.sqrt(np.outer(d, d)))
    order = np.argsort(vectors[:, -2] / np.sqrt(d))
    found = []
    for count in range(1, len(order)):
        one, other = order[:count], order[count:]
        found.append(S[np.ix_(one, other)].sum() / min(d[one].sum(), d[other].sum()))
    return min(found)
