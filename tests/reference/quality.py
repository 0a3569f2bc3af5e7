"""How well clusters are separated, from the similarities of all pairs: slow and obvious."""

import numpy as np


def landmark_ratios(Z, labels, resolution):
    """Log ratios of internal to external conductance where points share landmarks.

    ``Z`` are the shares of the landmarks in the rows, shape (n, R); all rows weigh one. The
    similarity of two rows is ``z^T diag(lam)^-1 z'``, so that every row has the degree one; a cut
    through a cluster parts its landmarks.
    """
    lam = Z.sum(axis=0)
    present = lam > 0.0
    W = (Z[:, present] / lam[present]) @ Z[:, present].T
    return _ratios(W, labels, resolution, lambda mine: Z[mine].T @ Z[mine])


def mutual_ratios(W, labels, resolution):
    """Log ratios of internal to external conductance in a graph with the weights ``W``."""
    return _ratios(W, labels, resolution, lambda mine: W[np.ix_(mine, mine)])


def separation(ratios, sizes):
    """Half the mean of log ratios over the rows, and half that of the worst tenth of clusters."""
    rows = np.repeat(ratios, sizes)
    tenths = np.sort(np.repeat(ratios, 10))  # ten tenths of each cluster
    return (rows.mean() + tenths[: max(len(ratios), 10)].mean()) / 2


def _ratios(W, labels, resolution, inner):
    degrees, ratios = W.sum(axis=1), []
    for cluster in np.unique(labels):
        mine = labels == cluster
        leaving = W[mine][:, ~mine].sum() + resolution
        outside = leaving / min(degrees[mine].sum(), degrees[~mine].sum())
        ratios.append(np.log(least_conductance(inner(mine), resolution) / outside))
    return np.array(ratios)


def least_conductance(S, resolution):
    """Least conductance of the cuts along the second eigenvector of a connected graph."""
    S = S[S.sum(axis=1) > 0.0][:, S.sum(axis=1) > 0.0]
    d = S.sum(axis=1)
    _, vectors = np.linalg.eigh(S / np.sqrt(np.outer(d, d)))
    order = np.argsort(vectors[:, -2] / np.sqrt(d))
    found = []
    for count in range(1, len(order)):
        one, other = order[:count], order[count:]
        cut = S[np.ix_(one, other)].sum() + resolution
        found.append(cut / min(d[one].sum(), d[other].sum()))
    return min(found)
