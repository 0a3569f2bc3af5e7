"""Normalised cuts from the whole kernel matrix, and merges that look at all pairs each time."""

import numpy as np


def cuts(omega, memberships):
    """Similarity between clusters, from an N x N kernel matrix and N x K memberships."""
    return memberships.T @ omega @ memberships


def merge_tree(omega, memberships):
    """Merge the two clusters of the largest normalised cut, computed anew each time."""
    columns = {k: memberships[:, k].astype(float) for k in range(memberships.shape[1])}
    leaves = dict.fromkeys(columns, 1)
    degrees = omega @ memberships.sum(axis=1)
    total = memberships.sum(axis=1) @ degrees
    tree = []
    while len(columns) > 1:
        names = sorted(columns)
        best = None
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                x, y = columns[a], columns[b]
                rho = (x @ omega @ y) * total / ((x @ degrees) * (y @ degrees))
                if best is None or rho > best[0]:
                    best = rho, a, b
        rho, a, b = best
        new = memberships.shape[1] + len(tree)
        leaves[new] = leaves[a] + leaves[b]
        tree.append([a, b, np.log1p(1.0 / max(rho, 1e-12)), leaves[new]])
        columns[new] = columns.pop(a) + columns.pop(b)
    return np.array(tree).reshape(-1, 4)
