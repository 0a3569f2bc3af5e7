"""Removal of specks, pieces of a segment that are too small to be meant, and new numbers."""

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
    labels : array of shape (height, width) or (depth, height, width)
        Integers from 0; -1 for pixels that are not to be segmented, which stay what they are.
    least : int
        Pieces of fewer pixels go; 0 and 1 keep all.
    width : int, default=1
        Pieces that do not hold a square of this odd width anywhere go. At the border the square
        may reach out of the image.

    Returns
    -------
    array of the shape of ``labels``
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
    outside, specks = labels < 0, find_specks(labels, least, width)[1]
    if not specks.any() or (specks | outside).all():
        return labels
    nearest = ndimage.distance_transform_edt(
        specks | outside, return_distances=False, return_indices=True
    )
    return np.where(outside, labels, labels[tuple(nearest)])


def find_specks(
    labels: NDArray[Any], least: int, width: int
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Pieces, numbered from 1, and whether a pixel is of one that goes; see `remove_specks`."""
    from skimage.measure import label

    least, width = check_integer("least", least, 0), check_integer("width", width, 1)
    pieces = label(labels, background=-1, connectivity=1)
    sizes = np.bincount(pieces.ravel())
    gone = sizes < least
    if width > 1:
        # A square within one segment is connected, and so within one piece.
        same = ndimage.maximum_filter(pieces, width, mode="nearest") == ndimage.minimum_filter(
            pieces, width, mode="nearest"
        )
        gone |= np.bincount(pieces[same], minlength=len(sizes)) == 0
    gone[0] = False
    return pieces, gone[pieces]


def numbered_by_size(labels: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """Renumber the segments, the largest first, and return their old numbers too; -1 stays.

    Examples
    --------
    >>> import numpy as np
    >>> from sparseksc.image.cleanup import numbered_by_size
    >>> labels, old = numbered_by_size(np.array([[2, 2, 0, -1]]))
    >>> labels.tolist(), old.tolist()
    ([[0, 0, 1, -1]], [2, 0])
    """
    sizes = np.bincount(labels[labels >= 0])
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    numbers = np.full(len(sizes) + 1, -1, np.int32)
    numbers[order] = np.arange(len(order))
    return numbers[labels], order
