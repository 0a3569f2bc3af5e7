"""Palettes and dithering: few colours with little error."""

import numpy as np
import pytest

from sparseksc.image import (
    minimum_variance_palette,
    quantise,
)
from sparseksc.image.palette import _dithered
from tests.reference import image as slow


def noise_image(shape, seed=0, n_colours=None):
    rng = np.random.default_rng(seed)
    if n_colours is None:
        return rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
    colours = rng.integers(0, 256, (n_colours, 3), dtype=np.uint8)
    return colours[rng.integers(0, n_colours, shape)]


def smooth(height, width):
    """An image of slow gradients."""
    y, x = np.mgrid[0:height, 0:width]
    red, green = 255 * x // width, 255 * y // height
    return np.stack([red, green, (red + green) // 2], axis=2).astype(np.uint8)


def slow_error(first, second):
    return ((first.astype(float) - second) ** 2).sum()


@pytest.mark.parametrize("levels", [1, 2, 3, 8, 13])
@pytest.mark.parametrize("make", [lambda: noise_image((13, 11), 1), lambda: smooth(17, 14)])
def test_palette_agrees_with_variances_computed_directly(make, levels):
    rgb = make()
    np.testing.assert_array_equal(minimum_variance_palette(rgb, levels), slow.palette(rgb, levels))


def test_palette_of_few_colours_is_exact():
    rgb = np.array([[[0, 0, 0], [0, 0, 0], [255, 10, 10], [10, 200, 30]]], dtype=np.uint8)
    found = minimum_variance_palette(rgb, 8)
    assert sorted(found.tolist()) == [[0, 0, 0], [10, 200, 30], [255, 10, 10]]
    assert (found[quantise(rgb, found)] == rgb).all()


def test_palette_has_less_error_than_median_cut():
    Image = pytest.importorskip("PIL.Image")
    rgb = smooth(60, 80) ** 2 // 2  # wraps around, so that there are steps
    ours = minimum_variance_palette(rgb, 8)[quantise(rgb, minimum_variance_palette(rgb, 8))]
    theirs = np.asarray(Image.fromarray(rgb).quantize(8, method=0).convert("RGB"))
    assert slow_error(rgb, ours) < slow_error(rgb, theirs)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 2), (3, 2), (15, 22), (31, 7)])
def test_dithering_has_the_bits_of_the_plain_loop(shape):
    rgb = noise_image(shape, 3)
    colours = minimum_variance_palette(rgb, 5)
    np.testing.assert_array_equal(quantise(rgb, colours, dither=True), slow.dithered(rgb, colours))


def test_dithering_keeps_the_mean_colour():
    rgb = np.full((64, 64, 3), 90, dtype=np.uint8)
    share = quantise(rgb, [[0, 0, 0], [255, 255, 255]], dither=True).mean()
    assert abs(share - 90 / 255) < 0.01


def test_dithering_clips_what_it_carries():
    # Far outside the palette the error would grow without bound, and be carried into the right.
    rgb = np.zeros((4, 60, 3), dtype=np.uint8)
    rgb[:, :50] = 255
    indices = _dithered(rgb, np.array([[0.0, 0, 0], [100, 100, 100]]))
    assert (indices[:, :50] == 1).all()
    assert (indices[:, 53:] == 0).all()


@pytest.mark.parametrize(
    ("palette", "message"),
    [(np.zeros((0, 3)), "palette must have the shape"), ([[0, 0, 300]], "between 0 and 255")],
)
def test_errors_say_what_is_wrong(palette, message):
    with pytest.raises(ValueError, match=message):
        quantise(np.zeros((2, 2)), palette)
