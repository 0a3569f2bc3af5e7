"""Features of pixels, and the distinct ones among them."""

import numpy as np
import pytest

from sparseksc.image import (
    features,
)
from sparseksc.image.features import PixelFeatures, distinct_rows
from sparseksc.image.histograms import index_histograms


def test_bands_have_the_features_of_the_whole():
    indices = np.random.default_rng(0).integers(0, 4, (23, 11)).astype(np.uint8)
    pixels = PixelFeatures(indices, 4, (3, 7))
    whole = pixels.band(0, 23)
    parts = [pixels.band(first, min(first + 5, 23)) for first in range(0, 23, 5)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    expected = index_histograms(indices, 4, 7) / 2
    np.testing.assert_array_equal(whole[:, 4:], expected.reshape(-1, 4))


@pytest.mark.parametrize("shape", [(200, 3), (200, 4), (1, 1), (5, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distinct_rows_stand_for_all(shape, dtype):
    rows = (np.random.default_rng(0).integers(0, 3, shape) / 3).astype(dtype)
    found = distinct_rows(rows)
    np.testing.assert_array_equal(found.rows[found.inverse], rows)
    expected, counts = np.unique(rows, axis=0, return_counts=True)
    order = np.lexsort(found.rows.T[::-1])
    np.testing.assert_array_equal(found.rows[order], expected)
    np.testing.assert_array_equal(found.weights[order], counts)


def test_powers_of_two_do_not_share_their_hashes():
    rows = 2.0 ** -np.random.default_rng(0).integers(0, 8, (20_000, 6))
    words = features._words(rows)
    first, _, _ = features._equal_numbers(features._hashes(words))
    assert len(first) == len(np.unique(rows, axis=0))


def test_different_rows_with_the_same_hash_stay_different(monkeypatch):
    monkeypatch.setattr(features, "_hashes", lambda words: words[:, 0].astype(np.uint64))
    rows = np.random.default_rng(0).integers(0, 3, (200, 3)) / 3
    found = distinct_rows(rows)
    np.testing.assert_array_equal(found.rows[found.inverse], rows)
    assert len(found.rows) == len(np.unique(rows, axis=0))
