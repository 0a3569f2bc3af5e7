"""Segments of images with one call."""

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


def test_unattended_segments_are_those_of_the_scene(scene):
    _, truth, result = scene
    assert result.n_segments == 3
    assert boundary_f_measure(result.labels, [truth]).f > 0.95
    assert adjusted_rand_score(truth.ravel(), result.labels.ravel()) > 0.95


def test_result_depends_on_neither_threads_nor_layout(scene):
    image, _, result = scene
    other = segment(np.asfortranarray(image), random_state=0, n_jobs=1)
    np.testing.assert_array_equal(result.labels, other.labels)


def test_model_labels_new_histograms(scene):
    image, _, result = scene
    raw = segment(image, result.model.n_clusters_, bandwidth=result.model.bandwidth_,
                  clean_up=0, random_state=0)  # fmt: skip
    features = PixelFeatures(quantise(image, result.palette), 8, (3, 5))
    rows = features.band(0, len(image))
    np.testing.assert_array_equal(raw.model.predict(rows), raw.labels.ravel())


def test_segments_are_numbered_by_their_size_without_gaps():
    grey = np.repeat([0.2, 0.5, 0.8], [25, 30, 25])[None, :].repeat(60, axis=0)
    grey = np.clip(grey + np.random.default_rng(0).normal(0, 0.03, grey.shape), 0.0, 1.0)
    with pytest.warns(UserWarning, match="5 segments asked for, but the image has 3 that are"):
        result = segment(grey, 5, random_state=0)
    assert result.model.n_clusters_ == 5
    sizes = np.bincount(result.labels.ravel())
    assert (result.n_segments, len(sizes)) == (3, 3)
    assert sizes.tolist() == sorted(sizes, reverse=True)
    raw = segment(grey, 5, clean_up=0, random_state=0)
    assert raw.clusters.tolist() == [0, 1, 2, 3, 4]
    for number, cluster in enumerate(result.clusters):
        assert np.bincount(raw.labels[result.labels == number]).argmax() == cluster


def test_large_images_get_the_segments_of_small_ones(monkeypatch):
    from sparseksc.image import segmentation

    image, truth = landscape(240, 320)
    monkeypatch.setattr(segmentation, "TRAINING_PIXELS", 240 * 320 // 9)
    monkeypatch.setattr(segmentation, "BAND_PIXELS", 5000)
    result = segment(image, random_state=0)
    assert result.labels.shape == truth.shape
    assert boundary_f_measure(result.labels, [truth]).f > 0.95


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
        ({"bandwidth": -1.0}, "bandwidth must be positive"),
        ({"bandwidth": "wide"}, "bandwidth must be"),
        ({"bandwidth": []}, "empty list"),
        ({"levels": 0}, "levels"),
        ({"windows": 4}, "window must be odd"),
        ({"windows": ()}, "at least one window"),
        ({"clean_up": -1}, "clean_up"),
        ({"clean_up": "yes"}, "clean_up"),
        ({"max_rank": 0}, "max_rank"),
        ({"random_state": "seed"}, "random_state"),
    ],
)
def test_errors_come_before_any_work(arguments, message):
    with pytest.raises(ValueError, match=message):
        segment("there-is-no-such-file.png", **arguments)


def test_more_segments_than_neighbourhoods():
    with pytest.raises(ValueError, match="5 segments asked for, but the image has 1"):
        segment(np.zeros((20, 20)), 5)


@pytest.mark.data
@pytest.mark.slow
def test_berkeley_images_unattended():
    """A few of the ten images, whose mean is in docs/images.md."""
    pytest.importorskip("PIL")
    from scipy.io import loadmat

    if not BSDS.is_dir():
        pytest.skip("needs ../shared/data/bsds500")
    for name, least in (("3096", 0.65), ("42049", 0.8), ("167062", 0.7)):
        humans = loadmat(BSDS / f"groundTruth/{name}.mat")["groundTruth"][0]
        maps = [human["Segmentation"][0, 0] for human in humans]
        result = segment(BSDS / f"images/{name}.jpg", random_state=1)
        assert boundary_f_measure(result.labels, maps).f > least
