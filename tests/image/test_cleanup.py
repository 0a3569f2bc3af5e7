"""Specks and strips join their neighbours."""

import numpy as np

from sparseksc.image import (
    remove_specks,
)


def test_specks_and_strips_go_to_their_neighbours():
    labels = np.zeros((30, 40), dtype=int)
    labels[:, 20:] = 1
    truth = labels.copy()
    labels[:, 18:21] = 2  # a strip along the boundary, three pixels wide
    labels[5, 5] = 1
    cleaned = remove_specks(labels, 4, 5)
    assert 2 not in cleaned
    assert (cleaned != truth).mean() < 0.05
    np.testing.assert_array_equal(remove_specks(labels, 4, 3)[:, 19], 2)
    np.testing.assert_array_equal(remove_specks(labels, 0), labels)
    np.testing.assert_array_equal(remove_specks(labels, 10**6), labels)
