"""Removal of specks: pieces of a segment that are too small to be meant."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from sparseksc.config.domains import check_integer


def remove_specks(labels: NDArray[Any], least: int, width: int = 1) -> NDArray[Any]:
    """Give small and thin pieces the label of the nearest other piece.

    Pieces are the connected parts of the segments, pixels that share a side. Where a window
    lies across the boundary of two segments, its histogram is a mixture that may well look like
    a segment of its own: a strip along the boundary, as wide as the window.

    Parameters
    ----------
    labels : array of shape (height, width)
        Integers from 0.
    least : int
        Pieces of fewer pixels go; 0 and 1 keep all.
    width : int, default=1
        Pieces that do not hold a square of this odd width anywhere go. At the border the square
        may reach out of the image.

    Returns
    -------
    array of shape (height, width)
        As it was where every piece would go.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image import remove_specks
    >>> labels = np.zeros((3, 6), dtype=int)
    >>> labels[1, 1], labels[:, 4:] = 1, 1
    >>> remove_specks(labels, 3)
    array([[0, 0, 0, 0, 1, 1],
           [0, 0, 0, 0, 1, 1],
           [0, 0, 0, 0, 1, 1]])
    """
    least, width = check_integer("least", least, 0), check_integer("width", width, 1)
    specks = np.zeros(labels.shape, dtype=bool)
    for label in np.flatnonzero(np.bincount(labels.ravel())):
        mine = labels == label
        pieces, count = ndimage.label(mine)
        gone = np.bincount(pieces.ravel(), minlength=count + 1) < least
        if width > 1:
            cores = pieces[ndimage.minimum_filter(mine, width, mode="nearest")]
            gone |= np.bincount(cores, minlength=count + 1) == 0
        gone[0] = False
        specks |= gone[pieces]
    if not specks.any() or specks.all():
        return labels
    nearest = ndimage.distance_transform_edt(specks, return_distances=False, return_indices=True)
    return labels[tuple(nearest)]
