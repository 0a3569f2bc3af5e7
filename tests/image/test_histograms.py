"""Local histograms count the colours around each pixel."""

import numpy as np
import pytest

from sparseksc.image import (
    index_histograms,
    local_histograms,
    minimum_variance_palette,
    quantise,
)
from tests.reference import image as slow


def smooth(height, width):
    """An image of slow gradients."""
    y, x = np.mgrid[0:height, 0:width]
    red, green = 255 * x // width, 255 * y // height
    return np.stack([red, green, (red + green) // 2], axis=2).astype(np.uint8)


@pytest.mark.parametrize("window", [1, 3, 5, 9, 101])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (1, 12), (14, 9)])
def test_histograms_agree_with_counting(shape, window):
    indices = np.random.default_rng(5).integers(0, 4, shape)
    expected = slow.histograms(indices, 4, window)
    np.testing.assert_allclose(index_histograms(indices, 4, window), expected, rtol=1e-15)


def test_histograms_of_an_image_are_those_of_its_quantisation():
    rgb = smooth(20, 30)
    indices = quantise(rgb, minimum_variance_palette(rgb, 6), dither=True)
    result = local_histograms(rgb, 6, 3, dither=True, dtype=np.float32)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(result, index_histograms(indices, 6, 3, dtype=np.float32))
    np.testing.assert_allclose(result.sum(axis=2), 1.0, rtol=1e-6)


def test_colours_that_are_not_needed_are_columns_of_zeros():
    result = local_histograms(np.zeros((4, 4), np.uint8))
    assert result.shape == (4, 4, 8)
    assert (result == np.eye(8)[0]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: local_histograms(np.zeros((3, 3)), window=4), "window must be odd"),
        (lambda: local_histograms(np.zeros((3, 3)), window=0), "window must be an integer"),
        (lambda: local_histograms(np.zeros((3, 3)), levels=0), "levels must be an integer"),
        (lambda: local_histograms(np.zeros((3, 3)), levels=257), "at most 256"),
        (lambda: local_histograms(np.zeros((3, 3)), dtype=int), "floating point"),
        (lambda: index_histograms([[0, 9]], 8), "between 0 and levels - 1"),
        (lambda: index_histograms([[0.5]], 8), "must be integers"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()
