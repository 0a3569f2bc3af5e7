"""Segments of pictures."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sparseksc.image import (
    boundaries,
    boundary_f_measure,
    features,
    quantise,
    remove_specks,
    segment,
)
from sparseksc.image.evaluation import Edges
from sparseksc.image.features import PixelFeatures, distinct_rows
from sparseksc.image.histograms import index_histograms

BSDS = Path(__file__).resolve().parents[2] / "shared" / "data" / "bsds500"


def landscape(height=90, width=120, noise=12, seed=0):
    """A sky, a hill and a house, with noise: (picture, truth)."""
    y, x = np.mgrid[0:height, 0:width]
    truth = (y > 0.6 * height + 0.1 * height * np.sin(6.3 * x / width)).astype(int)
    truth[int(0.3 * height) : int(0.7 * height), int(0.4 * width) : int(0.6 * width)] = 2
    colours = np.array([[120, 170, 230], [60, 140, 50], [180, 60, 40]])
    rng = np.random.default_rng(seed)
    picture = colours[truth] + rng.normal(0, noise, (height, width, 3))
    return np.clip(picture, 0, 255).astype(np.uint8), truth


@pytest.fixture(scope="module")
def scene():
    picture, truth = landscape()
    return picture, truth, segment(picture, random_state=0)


def test_unattended_segments_are_those_of_the_scene(scene):
    _, truth, result = scene
    assert result.n_segments == 3
    assert boundary_f_measure(result.labels, [truth]).f > 0.95
    assert adjusted_rand_score(truth.ravel(), result.labels.ravel()) > 0.95


def test_result_depends_on_neither_threads_nor_layout(scene):
    picture, _, result = scene
    other = segment(np.asfortranarray(picture), random_state=0, n_jobs=1)
    np.testing.assert_array_equal(result.labels, other.labels)


def test_model_labels_new_histograms(scene):
    picture, _, result = scene
    raw = segment(picture, result.model.n_clusters_, bandwidth=result.model.bandwidth_,
                  clean_up=0, random_state=0)  # fmt: skip
    features = PixelFeatures(quantise(picture, result.palette), 8, (3, 5))
    rows = features.band(0, len(picture))
    np.testing.assert_array_equal(raw.model.predict(rows), raw.labels.ravel())


def test_segments_are_numbered_by_their_size_without_gaps():
    grey = np.repeat([0.2, 0.5, 0.8], [25, 30, 25])[None, :].repeat(60, axis=0)
    grey = np.clip(grey + np.random.default_rng(0).normal(0, 0.03, grey.shape), 0.0, 1.0)
    with pytest.warns(UserWarning, match="5 segments asked for, but the picture has 3 that are"):
        result = segment(grey, 5, random_state=0)
    assert result.model.n_clusters_ == 5
    sizes = np.bincount(result.labels.ravel())
    assert (result.n_segments, len(sizes)) == (3, 3)
    assert sizes.tolist() == sorted(sizes, reverse=True)
    raw = segment(grey, 5, clean_up=0, random_state=0)
    assert raw.clusters.tolist() == [0, 1, 2, 3, 4]
    for number, cluster in enumerate(result.clusters):
        assert np.bincount(raw.labels[result.labels == number]).argmax() == cluster


@pytest.mark.parametrize("n_segments", [1, 2, 4, [3, 4], range(2, 4), np.array([2])])
def test_numbers_of_segments(scene, n_segments):
    result = segment(scene[0][::2, ::2], n_segments, clean_up=0, random_state=0)
    assert result.n_segments in np.atleast_1d(n_segments)


def test_large_pictures_get_the_segments_of_small_ones(monkeypatch):
    from sparseksc.image import segmentation

    picture, truth = landscape(240, 320)
    monkeypatch.setattr(segmentation, "TRAINING_PIXELS", 240 * 320 // 9)
    monkeypatch.setattr(segmentation, "BAND_PIXELS", 5000)
    result = segment(picture, random_state=0)
    assert result.labels.shape == truth.shape
    assert boundary_f_measure(result.labels, [truth]).f > 0.95


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (3, 3), (2, 5)])
@pytest.mark.parametrize("noisy", [False, True])
def test_tiny_pictures(shape, noisy):
    picture = np.full((*shape, 3), 90, dtype=np.uint8)
    if noisy:
        picture[:] = np.random.default_rng(1).integers(0, 256, picture.shape)
    result = segment(picture, random_state=0)
    assert result.labels.shape == shape
    assert result.overlay().shape == picture.shape
    assert noisy or result.n_segments == 1


@pytest.mark.parametrize("value", [0, 90, 255])
def test_a_picture_of_one_colour_is_one_segment(value):
    result = segment(np.full((30, 50), value, dtype=np.uint8))
    assert not result.labels.any()


def test_overlay_draws_boundaries_and_mean_colours(scene):
    picture, _, result = scene
    plain = result.overlay(fill=0.0, boundaries=False)
    np.testing.assert_array_equal(plain, picture)
    assert not np.shares_memory(plain, result.image)
    flat = result.overlay(fill=1.0, boundaries=False)
    for label in range(result.n_segments):
        mine = result.labels == label
        assert len(np.unique(flat[mine], axis=0)) == 1
        np.testing.assert_allclose(flat[mine][0], picture[mine].mean(axis=0), atol=0.51)
    drawn = (result.overlay(colour=(1, 2, 3), thickness=1) == (1, 2, 3)).all(axis=2)
    thick = (result.overlay(colour=(1, 2, 3), thickness=3) == (1, 2, 3)).all(axis=2)
    assert 0 < drawn.sum() < thick.sum()


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
    with pytest.raises(ValueError, match="5 segments asked for, but the picture has 1"):
        segment(np.zeros((20, 20)), 5)


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


def test_boundaries_along_edges_have_more_support():
    picture, truth = landscape(noise=5)
    edges = Edges(picture)
    right = boundaries(truth)
    assert edges.support(right) > 2 * edges.support(np.roll(right, 15, axis=1))
    assert edges.support(right) > edges.support(boundaries(truth == 2))
    noise = np.random.default_rng(0).random(truth.shape) < 0.3
    assert edges.support(right) > edges.support(right | noise)
    assert edges.support(np.zeros_like(right)) == 0.0


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
