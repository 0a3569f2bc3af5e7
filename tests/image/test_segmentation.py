"""Segments of images with one call."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sparseksc.image import (
    boundary_f_measure,
    quantise,
    segment,
)
from sparseksc.image.features import PixelFeatures
from tests.conftest import BSDS
from tests.image.conftest import landscape
from tests.reference import image as slow


def test_unattended_segments_are_those_of_the_scene(scene):
    _, truth, result = scene
    assert result.n_segments == 3
    assert boundary_f_measure(result.labels, [truth]).f > 0.95
    assert adjusted_rand_score(truth.ravel(), result.labels.ravel()) > 0.98


@pytest.mark.parametrize("noise", [0, 3, 25])
def test_edges_without_texture_make_no_strips(noise):
    image, truth = landscape(noise=noise)
    result = segment(image, random_state=0)
    assert result.n_segments == 3
    assert boundary_f_measure(result.labels, [truth]).f > 0.95


def test_result_depends_on_neither_threads_nor_layout_nor_seed(scene):
    image, _, result = scene
    other = segment(np.asfortranarray(image), random_state=1, n_jobs=1)
    np.testing.assert_array_equal(result.labels, other.labels)


def test_model_labels_new_histograms(scene):
    image = scene[0]
    raw = segment(image, 3, features="histogram", bandwidth=0.07, clean_up=0, random_state=0)
    features = PixelFeatures(quantise(image, raw.palette), 8, (3, 5))
    rows = features.band(0, len(image))
    np.testing.assert_array_equal(raw.model.predict(rows), raw.labels.ravel())
    with pytest.raises(ValueError, match="histograms have one level"):
        raw.at(2)


def stripes():
    grey = np.repeat([0.2, 0.5, 0.8], [25, 30, 25])[None, :].repeat(60, axis=0)
    return np.clip(grey + np.random.default_rng(0).normal(0, 0.03, grey.shape), 0.0, 1.0)


def test_segments_of_histograms_are_numbered_by_their_size_without_gaps():
    grey = stripes()
    with pytest.warns(UserWarning, match="5 segments asked for, but the image has 3 that are"):
        result = segment(grey, 5, features="histogram", random_state=0)
    assert result.model.n_clusters_ == 5
    sizes = np.bincount(result.labels.ravel())
    assert (result.n_segments, len(sizes)) == (3, 3)
    assert sizes.tolist() == sorted(sizes, reverse=True)
    raw = segment(grey, 5, features="histogram", clean_up=0, random_state=0)
    assert raw.clusters.tolist() == [0, 1, 2, 3, 4]
    for number, cluster in enumerate(result.clusters):
        assert np.bincount(raw.labels[result.labels == number]).argmax() == cluster


def test_large_images_of_histograms_get_the_segments_of_small_ones(monkeypatch):
    from sparseksc.image import selection

    image, truth = landscape(240, 320)
    monkeypatch.setattr(selection, "TRAINING_PIXELS", 240 * 320 // 9)
    monkeypatch.setattr(selection, "BAND_PIXELS", 5000)
    result = segment(image, features="histogram", random_state=0)
    assert result.labels.shape == truth.shape
    assert boundary_f_measure(result.labels, [truth]).f > 0.95


def test_large_images_get_the_segments_of_small_ones(monkeypatch):
    from sparseksc.image import pixels

    image, truth = landscape(241, 322)
    monkeypatch.setattr(pixels, "ANALYSED_PIXELS", 240 * 320 // 4)
    result = segment(image, random_state=0)
    assert result.levels.scale == 2
    assert result.labels.shape == truth.shape
    assert boundary_f_measure(result.labels, [truth]).f > 0.95


def test_levels_are_nested_and_numbered_by_size(scene):
    result = scene[2]
    finer = result.at(5)
    for n in (4, 3, 2, 1):
        coarser = result.at(n)
        assert coarser.n_segments == n
        sizes = np.bincount(coarser.labels.ravel())
        assert sizes.tolist() == sorted(sizes, reverse=True)
        pairs = {*zip(finer.labels.ravel().tolist(), coarser.labels.ravel().tolist(), strict=True)}
        assert len(pairs) == n + 1
        finer = coarser
    np.testing.assert_array_equal(result.at(result.n_segments).labels, result.labels)
    with pytest.raises(ValueError, match=r"999 segments asked for, but the image has from 1 to"):
        result.at(999)


@pytest.mark.parametrize("n_segments", [1, 2, 4, [3, 4], range(2, 4), np.array([2])])
def test_numbers_of_segments(scene, n_segments):
    result = segment(scene[0], n_segments, random_state=0)
    assert result.n_segments in np.atleast_1d(n_segments)


def test_connected_segments_are_in_one_piece_and_others_need_not_be():
    image = np.full((90, 150, 3), (60, 140, 50), dtype=np.uint8)
    for left in (15, 95):
        image[30:60, left : left + 40] = (200, 60, 40)
    image = np.clip(image + np.random.default_rng(0).normal(0, 5, image.shape), 0, 255)
    image = image.astype(np.uint8)
    apart = segment(image, random_state=0)
    assert apart.n_segments == 3
    assert all(slow.n_pieces(apart.labels == one) == 1 for one in range(3))
    together = segment(image, 2, connected=False, random_state=0)
    assert together.labels[45, 30] == together.labels[45, 120]


@pytest.mark.parametrize("noise", [12, 25])
def test_specks_of_unconnected_segments_go_after_the_merges(noise):
    # Noise scatters the clusters of one area, so that hardly any has a piece that is no speck.
    image, truth = landscape(noise=noise)
    result = segment(image, 3, connected=False, random_state=0)
    assert result.n_segments == 3
    assert adjusted_rand_score(truth.ravel(), result.labels.ravel()) > 0.95
    assert result.level > 3
    assert (result.transform(image) == result.labels).mean() > 0.97
    coarse = result.at(2)
    assert coarse.n_segments == 2
    assert (coarse.transform(image) == coarse.labels).mean() > 0.97


def test_segments_of_two_flat_colours_need_not_be_connected():
    truth = np.repeat([0, 1, 0], 20)[None].repeat(40, axis=0)
    for n_segments in ("auto", 2):
        labels = segment(truth.astype(float), n_segments, connected=False).labels
        assert (labels == truth).mean() > 0.9


def test_pixels_outside_the_mask_change_nothing(scene):
    image, truth, _ = scene
    mask = np.zeros(truth.shape, dtype=bool)
    mask[5:80, 20:110] = True
    result = segment(image, mask=mask, random_state=0)
    assert (result.labels[~mask] == -1).all()
    assert adjusted_rand_score(truth[mask], result.labels[mask]) > 0.98
    other = image.copy()
    other[~mask] = 255 - other[~mask]
    again = segment(other, mask=mask, random_state=0)
    np.testing.assert_array_equal(again.labels, result.labels)
    np.testing.assert_array_equal(result.overlay(boundaries=False)[~mask], image[~mask])


@pytest.mark.parametrize("value", [-9999.0, 1e30, np.nan])
@pytest.mark.parametrize("size", [1, 2])
def test_channels_outside_the_mask_change_nothing(value, size, monkeypatch):
    from sparseksc.image import pixels

    _, truth = landscape()
    rng = np.random.default_rng(0)
    cube = rng.normal(0, 1, (3, 5))[truth] + rng.normal(0, 0.3, (*truth.shape, 5))
    mask = np.zeros(truth.shape, dtype=bool)
    mask[5:80, 21:110] = True
    cube, mask, truth = (one.repeat(size, 0).repeat(size, 1) for one in (cube, mask, truth))
    mask[-22 * size + 1 :] = False  # cuts through the pixels of the reduced copy
    monkeypatch.setattr(pixels, "ANALYSED_PIXELS", truth.size // size**2)
    expected = segment(cube, channel_axis=-1, mask=mask)
    assert adjusted_rand_score(truth[mask], expected.labels[mask]) > 0.98
    cube[~mask] = value
    found = segment(cube, channel_axis=-1, mask=mask)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_array_equal(found.image[mask], expected.image[mask])
    with pytest.raises(ValueError, match="NaN or infinite values: say with mask="):
        segment(np.where(mask[..., None], np.nan, cube), channel_axis=-1, mask=mask)


def test_pieces_smaller_than_the_least_are_none_however_large_that_is(scene):
    image = scene[0]
    counts = [segment(image, clean_up=least).n_segments for least in (1, 500, 5000, 10**6)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 1
    for connected in (True, False):
        assert segment(image, clean_up=10**6, connected=connected).n_segments == 1


def test_other_numbers_of_segments_than_asked_for_are_told(scene):
    image, truth, _ = scene
    scattered = segment(painted_blocks(), connected=False)
    assert scattered.n_segments == 3
    with pytest.warns(UserWarning, match="9 segments asked for, but the image has [3-8] that are"):
        nine = scattered.at(9)
    with warnings.catch_warnings(action="ignore"):
        most = max(scattered.at(n).n_segments for n in range(3, 10))
    assert nine.n_segments == most
    mask = (truth == 0) | (truth == 1)
    mask[:, 55:65] = False
    with pytest.warns(UserWarning, match="1 segment asked for, but the mask is in 2 pieces"):
        assert segment(image, 1, mask=mask).n_segments == 2


def painted_blocks():
    return np.repeat([40, 200, 120], 30)[None].repeat(60, axis=0).astype(np.uint8)


def test_the_repr_says_what_was_found(scene):
    assert repr(scene[2]) == "<Segmentation: 3 segments, 90 x 120 pixels>"


def test_many_channels_are_segmented_together():
    _, truth = landscape()
    rng = np.random.default_rng(0)
    spectra = rng.normal(0, 1, (3, 20))
    cube = spectra[truth] + rng.normal(0, 0.3, (*truth.shape, 20))
    result = segment(cube, channel_axis=-1, random_state=0)
    assert result.n_segments == 3
    assert adjusted_rand_score(truth.ravel(), result.labels.ravel()) > 0.98
    moved = segment(np.moveaxis(cube, -1, 0), channel_axis=0, random_state=0)
    np.testing.assert_array_equal(moved.labels, result.labels)
    assert result.overlay().shape == (*truth.shape, 3)


def test_volumes():
    z, y, x = np.mgrid[0:24, 0:40, 0:40]
    truth = ((z - 12) ** 2 + (y - 20) ** 2 + (x - 20) ** 2 < 9**2).astype(int)
    volume = 10.0 + 4.0 * truth + np.random.default_rng(0).normal(0, 0.5, truth.shape)
    result = segment(volume, channel_axis=None, random_state=0)
    assert result.labels.shape == truth.shape
    assert result.n_segments == 2
    assert adjusted_rand_score(truth.ravel(), result.labels.ravel()) > 0.95
    with pytest.raises(ValueError, match="draw its slices"):
        result.overlay()


def test_a_second_image_gets_the_segments_of_the_first(scene):
    result = scene[2]
    second, _ = landscape(seed=1)
    assert (result.transform(second) == result.labels).mean() > 0.97
    coarse = result.at(2)
    assert (coarse.transform(second) == coarse.labels).mean() > 0.97
    one_channel = segment(stripes(), channel_axis=None)
    with pytest.raises(ValueError, match="has 3 dimensions beside the channels, and the first has"):
        one_channel.transform(np.zeros((2, 9, 9)))
    three_channels = segment(stripes()[..., None].repeat(3, axis=2), channel_axis=-1)
    with pytest.raises(ValueError, match="has 2 channels, and the first has 3"):
        three_channels.transform(np.zeros((9, 9, 2)))


def test_noise_and_one_colour_are_one_segment():
    noise = np.random.default_rng(0).normal(128, 4, (80, 100)).clip(0, 255).astype(np.uint8)
    assert segment(noise, random_state=0).n_segments == 1


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (3, 3), (2, 5)])
@pytest.mark.parametrize("noisy", [False, True])
def test_tiny_images(shape, noisy):
    image = np.full((*shape, 3), 90, dtype=np.uint8)
    if noisy:
        image[:] = np.random.default_rng(1).integers(0, 256, image.shape)
    result = segment(image, random_state=0)
    assert result.labels.shape == shape
    assert result.overlay().shape == image.shape
    assert noisy or result.n_segments == 1


@pytest.mark.parametrize("value", [0, 90, 255])
def test_an_image_of_one_colour_is_one_segment(value):
    result = segment(np.full((30, 50), value, dtype=np.uint8))
    assert not result.labels.any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_segments": 0}, "n_segments must be an integer"),
        ({"n_segments": "many"}, "n_segments must be"),
        ({"n_segments": []}, "empty list"),
        ({"n_segments": 2.5}, "n_segments must be an integer"),
        ({"n_segments": 300}, "at most 255"),
        ({"bandwidth": -1.0, "features": "histogram"}, "bandwidth must be positive"),
        ({"bandwidth": "wide", "features": "histogram"}, "bandwidth must be"),
        ({"bandwidth": [], "features": "histogram"}, "empty list"),
        ({"levels": 0, "features": "histogram"}, "levels"),
        ({"windows": 4, "features": "histogram"}, "window must be odd"),
        ({"windows": (), "features": "histogram"}, "at least one window"),
        ({"clean_up": -1}, "clean_up"),
        ({"clean_up": "yes"}, "clean_up"),
        ({"max_rank": 0, "features": "histogram"}, "max_rank"),
        ({"random_state": "seed"}, "random_state"),
        ({"features": "smell"}, "features must be 'local' or 'histogram'"),
        ({"levels": 8}, "levels needs features='histogram'"),
        ({"features": "histogram", "connected": False}, "need features='local'"),
        ({"channel_axis": "last"}, "channel_axis must be"),
        ({"connected": "no"}, "connected must be True or False"),
        ({"n_jobs": "all"}, "n_jobs must be an integer"),
    ],
)
def test_errors_come_before_any_work(arguments, message):
    with pytest.raises(ValueError, match=message):
        segment("there-is-no-such-file.png", **arguments)


def test_more_segments_than_neighbourhoods():
    with pytest.raises(ValueError, match="5 segments asked for, but the image has 1"):
        segment(np.zeros((20, 20)), 5)
    with pytest.raises(ValueError, match="5 segments asked for, but the image has 1"):
        segment(np.zeros((20, 20)), 5, features="histogram")


@pytest.mark.parametrize(
    ("image", "arguments", "message"),
    [
        (np.zeros((9, 9)), {"mask": np.ones((3, 3), bool)}, "mask must be booleans"),
        (np.zeros((9, 9)), {"mask": np.ones((9, 9))}, "mask must be booleans"),
        (np.zeros((9, 9)), {"mask": np.zeros((9, 9), bool)}, "a pixel to segment"),
        (np.zeros((9, 9, 9)), {"channel_axis": 3}, "must be an axis of the image"),
        (np.zeros((9, 9, 9)), {"channel_axis": 1.0}, "must be an integer, None or 'auto'"),
        (np.zeros((9, 9, 9)), {"channel_axis": True}, "must be an integer, None or 'auto'"),
        (np.ma.masked_equal(np.eye(9, dtype=int), 1), {"channel_axis": None}, "must not be masked"),
        (np.zeros(9), {"channel_axis": None}, "two dimensions and a volume three"),
        (np.full((9, 9), np.nan), {"channel_axis": None}, "say with mask= which pixels"),
        (np.zeros((0, 9)), {"channel_axis": None}, "no pixels"),
        (np.array([["a"]]), {"channel_axis": None}, "must hold numbers"),
    ],
)
def test_errors_say_what_is_wrong(image, arguments, message):
    with pytest.raises(ValueError, match=message):
        segment(image, **arguments)


@pytest.mark.data
@pytest.mark.slow
def test_berkeley_images_unattended():
    """A few of the ten images, whose mean is in docs/images.md."""
    pytest.importorskip("PIL")
    from scipy.io import loadmat

    if not BSDS.is_dir():
        pytest.skip("needs ../shared/data/bsds500")
    for name, least in (("3096", 0.65), ("42049", 0.8), ("167062", 0.55)):
        humans = loadmat(BSDS / f"groundTruth/{name}.mat")["groundTruth"][0]
        maps = [human["Segmentation"][0, 0] for human in humans]
        result = segment(BSDS / f"images/{name}.jpg", random_state=1)
        assert boundary_f_measure(result.labels, maps).f > least
