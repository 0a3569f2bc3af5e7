"""The least cut through a graph, in NumPy: a sweep along its slowest mode."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from sparseksc._typing import Floats


def least_conductance(S: NDArray[Any], volumes: Floats, resolution: float) -> float:
    r"""Return the least conductance of a cut through a graph.

    One in several parts falls apart for nothing: the largest part from the rest, which is at most
    half. Otherwise its largest part is divided along the second eigenvector of
    :math:`D^{-1/2} S D^{-1/2}`, wherever that takes least.

    Parameters
    ----------
    S : array of shape (R, R)
        Weights of the edges, with those from a node to itself.
    volumes : array of shape (R,)
        Their sums :math:`D`.
    resolution : float
        Added to every cut.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc._native.least_cut import least_conductance
    >>> S = np.array([[4.0, 2.0, 0.0], [2.0, 4.0, 1.0], [0.0, 1.0, 5.0]])
    >>> round(least_conductance(S, S.sum(axis=1), 0.0), 6)
    0.166667
    """
    n_parts, part = connected_components(S, directed=False)
    least, sums = 1.0, np.bincount(part, volumes)
    if n_parts > 1:
        least = min(1.0, resolution / min(sums.sum() - sums.max(), sums.sum() / 2.0))
    core = part == np.argmax(sums)
    S, root = S[np.ix_(core, core)], np.sqrt(volumes[core])
    if len(S) > 1:
        order = np.argsort(np.linalg.eigh(S / np.outer(root, root))[1][:, -2] / root)
        S, volume = S[np.ix_(order, order)], np.cumsum(root[order] ** 2)
        cut = np.cumsum(S.sum(axis=1) - 2.0 * np.tril(S, -1).sum(axis=1) - np.diagonal(S))
        cut = np.maximum(cut, 0.0) + resolution
        side = np.minimum(volume, volume[-1] - volume)
        least = min(least, float((cut[:-1] / side[:-1]).min()))
    return least
