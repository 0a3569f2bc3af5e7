"""Flat drawings come out exactly: no strips along edges, no pieces where boundaries meet."""

import numpy as np
import pytest
from scipy import ndimage
from skimage import data
from skimage.measure import label

from sparseksc.image import segment

BLUE, YELLOW, GREEN = (40, 60, 200), (230, 220, 40), (40, 160, 60)


def two_halves(height, width, *, at=0.5, upright=True):
    y, x = np.mgrid[:height, :width]
    return (x >= at * width if upright else y >= at * height).astype(int)


def stripes(height, width):
    return np.minimum(np.arange(width) * 3 // width, 2)[None].repeat(height, axis=0)


def disc(height, width):
    y, x = np.mgrid[:height, :width]
    return ((y - height / 2) ** 2 + (x - width / 2) ** 2 < (height / 3) ** 2).astype(int)


def checkerboard(height, width):
    y, x = np.mgrid[:height, :width]
    return (y * 4 // height + x * 4 // width) % 2


def painted(truth, *colours):
    return np.array(colours, dtype=np.uint8)[truth]


def same_parts(labels, truth):
    """Whether two label maps have the same segments, whatever their numbers."""
    pairs = np.unique(np.stack([labels.ravel(), truth.ravel()]), axis=1)
    return pairs.shape[1] == len(np.unique(labels)) == len(np.unique(truth))


def pieces(truth):
    return label(truth, background=-1, connectivity=1) - 1


@pytest.mark.parametrize("shape", [(16, 16), (20, 30), (33, 47), (64, 64), (100, 150), (61, 301)])
@pytest.mark.parametrize("greys", [(0, 255), (100, 140), (120, 130)])
def test_two_flat_halves_are_two_segments(shape, greys):
    truth = two_halves(*shape)
    assert same_parts(segment(painted(truth, *greys)).labels, truth)


@pytest.mark.parametrize("at", [0.2, 0.33, 0.9])
@pytest.mark.parametrize("upright", [False, True])
def test_the_edge_may_be_anywhere(at, upright):
    truth = two_halves(99, 150, at=at, upright=upright)
    assert same_parts(segment(painted(truth, 0, 255)).labels, truth)


@pytest.mark.parametrize("drawing", [stripes, disc, checkerboard])
@pytest.mark.parametrize("shape", [(61, 91), (120, 180)])
def test_flat_drawings_come_out_exactly(drawing, shape):
    truth = drawing(*shape)
    for colours in ((BLUE, YELLOW, GREEN), (60, 120, 180)):
        assert same_parts(segment(painted(truth, *colours)).labels, pieces(truth))


@pytest.mark.slow
@pytest.mark.parametrize("drawing", [two_halves, stripes, disc, checkerboard])
def test_flat_drawings_of_the_usual_size_come_out_exactly(drawing):
    truth = drawing(321, 481)
    assert same_parts(segment(painted(truth, BLUE, YELLOW, GREEN)).labels, pieces(truth))


@pytest.mark.slow
@pytest.mark.parametrize("drawing", [two_halves, stripes, disc])
def test_large_flat_drawings_are_as_exact_as_the_reduced_copy(drawing):
    truth = drawing(1000, 1500)
    found = segment(painted(truth, BLUE, YELLOW, GREEN)).labels
    assert found.max() == truth.max()
    votes = [np.bincount(found[truth == one]).max() for one in np.unique(truth)]
    assert sum(votes) / truth.size > 0.99


@pytest.mark.parametrize("noise", [2, 5])
def test_two_noisy_halves_are_two_segments(noise):
    truth = two_halves(120, 180)
    image = painted(truth, 60, 160)[..., None].repeat(3, axis=2)
    image = image + np.random.default_rng(0).normal(0, noise, image.shape)
    assert same_parts(segment(image.round().astype(np.uint8)).labels, truth)


@pytest.mark.parametrize("softness", [1, 2, 3])
def test_a_soft_edge_is_one_boundary(softness):
    truth = two_halves(120, 180)
    image = ndimage.gaussian_filter(np.where(truth, 200.0, 40.0), softness).round()
    found = segment(image.astype(np.uint8)).labels
    assert len(np.unique(found)) == 2
    assert same_parts(found[:, [*range(85), *range(95, 180)]], truth[:, 5:175])


@pytest.mark.parametrize(
    ("shape", "rays", "depth"), [((120, 180), 4, 0.8), ((200, 200), 4, 0.8), ((200, 200), 5, 0.5)]
)
def test_grey_pixels_along_an_edge_make_no_segments_of_its_corners(shape, rays, depth):
    # Drawn four times as large, so that pixels on the edge are mixtures.
    height, width = shape
    y, x = (np.mgrid[: 4 * height, : 4 * width] + 0.5) / 4.0
    y, x = y - height / 2, x - width / 2
    reach = 0.42 * min(shape) * (1.0 - depth * (0.5 + 0.5 * np.cos(rays * np.arctan2(y, x))))
    shares = (np.hypot(y, x) < reach).reshape(height, 4, width, 4).mean(axis=(1, 3))
    found = segment(np.rint(255 * (1 - shares)).astype(np.uint8)).labels
    assert found.max() == 1
    assert (found == (shares > 0.5)).mean() > 0.998


@pytest.mark.parametrize("shape", [(61, 181), (120, 180)])
def test_one_slope_of_grey_is_one_segment(shape):
    slope = np.linspace(0, 255, shape[1]).astype(np.uint8)[None].repeat(shape[0], axis=0)
    assert segment(slope).n_segments == 1


@pytest.mark.parametrize("drawing", [two_halves, stripes, disc, checkerboard])
def test_flat_colours_need_not_be_connected(drawing):
    truth = drawing(120, 180)
    result = segment(painted(truth, 60, 120, 180), connected=False)
    assert result.n_segments == len(np.unique(truth))
    votes = [np.bincount(result.labels[truth == one]).max() for one in np.unique(truth)]
    assert sum(votes) / truth.size > 0.98


def test_kinds_of_images_have_the_same_segments():
    truth = stripes(60, 91)
    grey = painted(truth, 60, 120, 180)
    opaque = np.dstack([grey, grey, grey, np.full_like(grey, 255)])
    kinds = [grey, opaque, grey.astype(np.uint16) * 257, grey / 255.0, (grey / 255.0).astype("f4")]
    for image in kinds:
        assert same_parts(segment(image).labels, truth)


def test_masks_channels_levels_and_second_images_of_drawings():
    truth = stripes(60, 91)
    image = painted(truth, BLUE, YELLOW, GREEN)
    mask = np.zeros(truth.shape, dtype=bool)
    mask[5:50, 8:80] = True
    masked = segment(image, mask=mask).labels
    assert (masked[~mask] == -1).all()
    assert same_parts(masked[mask], truth[mask])
    bands = np.random.default_rng(0).normal(size=(3, 12))[truth]
    assert same_parts(segment(bands, channel_axis=-1).labels, truth)
    result = segment(image)
    assert result.at(2).n_segments == 2
    assert result.at(1).n_segments == 1
    assert same_parts(result.transform(image), truth)


def test_a_small_mask_has_both_halves():
    truth = two_halves(40, 60)
    mask = np.zeros(truth.shape, dtype=bool)
    mask[3:20, 5:50] = True
    masked = segment(painted(truth, 0, 200), mask=mask).labels
    assert same_parts(masked[mask], truth[mask])


@pytest.mark.parametrize("shape", [(30, 40, 4), (2, 2, 2)])
@pytest.mark.parametrize("value", [0.0, -3.0])
def test_channels_of_one_number_are_one_segment(shape, value):
    assert segment(np.full(shape, value), channel_axis=-1).n_segments == 1
    assert segment(np.full(shape, value), channel_axis=None).n_segments == 1


def test_flat_blocks_of_a_volume():
    truth = (np.arange(40) >= 17).astype(int)[:, None, None].repeat(30, axis=1).repeat(20, axis=2)
    assert same_parts(segment(truth * 5.0, channel_axis=None).labels, truth)


def test_pictures_of_scikit_image():
    coins = segment(data.coins())
    assert 24 <= coins.n_segments - 1 <= 30  # there are 24, and one of them is in two parts
    sizes = np.bincount(coins.labels.ravel())
    assert sizes[0] > 0.6 * coins.labels.size  # the ground
    phantom = data.shepp_logan_phantom()
    assert 6 <= segment(phantom).n_segments <= 8
    truth = pieces(data.binary_blobs(128, rng=0, volume_fraction=0.4).astype(int))
    large = np.isin(truth, np.flatnonzero(np.bincount(truth.ravel()) > 100))
    found = segment((truth > 0).astype(float) * large).labels
    assert len(np.unique(found)) <= len(np.unique(truth))
