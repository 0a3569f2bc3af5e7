"""Separated clusters of a neighbour graph, one cluster and one point at a time."""

import numpy as np


def count_separated(graph, labels):
    """How many clusters are separated, from a dense matrix and a queue."""
    A = graph.symmetric.toarray()
    unit = graph.edges.weights.mean()
    total = 0.0
    for k in np.unique(labels):
        members = np.flatnonzero(labels == k)
        inner = A[np.ix_(members, members)]
        leaving = A[members].sum() - inner.sum()
        parts = np.zeros(len(members), dtype=int)
        for i in range(len(members)):
            if parts[i] == 0:
                reached = walk(inner, i)
                parts[reached] = len(reached)
        if parts.max() < 0.9 * len(members):
            continue
        degrees = np.where(parts == parts.max(), inner.sum(axis=1), -1.0)
        start = np.flatnonzero(degrees == degrees.max())[-1]
        order = walk(inner, walk(inner, start)[-1])
        order += [i for i in range(len(members)) if i not in set(order)]
        inner = inner[np.ix_(order, order)]
        passed = [inner[:m, m:].sum() for m in range(1, len(members))]
        middle = passed[int(0.1 * len(members)) : int(0.9 * len(members))]
        divided = np.sqrt(min(middle) * np.median(middle))
        total += np.clip(np.log((divided + unit) / (leaving + unit)), 0.0, 1.0)
    return total


def walk(A, start):
    """Return the points that are reached breadth first, in order."""
    order = [start]
    for i in order:
        order += [j for j in np.flatnonzero(A[i]) if j not in order]
    return order
