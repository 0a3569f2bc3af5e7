"""Regions follow the edges of the image."""

import numpy as np
from scipy import ndimage

from sparseksc.image.pixels import Channels, filled, plain_channels
from sparseksc.image.regions import (
    _common_parts,
    _pieces,
    find_regions,
    gradient,
    local_features,
    snapped,
)


def test_features_are_smooth_channels_contrast_and_position():
    values = np.random.default_rng(0).normal(50, 20, (30, 40, 3)).astype(np.float32)
    features = local_features(Channels(values, 1), 35.0, 1)
    assert features.shape == (30, 40, 6)
    np.testing.assert_allclose(
        features[..., 1], ndimage.gaussian_filter(values[..., 1], 2.0), rtol=1e-5
    )
    weights = ndimage.gaussian_filter(np.eye(1, 1200, 615).reshape(30, 40), 3.0)
    light = values[..., 0].astype(float)
    mean = (weights * light).sum()
    contrast = np.sqrt((weights * (light - mean) ** 2).sum())
    np.testing.assert_allclose(features[15, 15, 3], contrast, rtol=1e-3)
    np.testing.assert_allclose(features[-1, -1, 4:], [35 * 29 / 40, 35 * 39 / 40], rtol=1e-6)
    assert local_features(Channels(values, 1), 0.0, 1).shape == (30, 40, 4)


def test_contrast_means_texture_and_hardly_a_single_edge():
    edge, stripes = np.zeros((2, 60, 80, 1), dtype=np.float32)
    edge[:, 40:] = 80.0
    stripes[:, 20:60:2] = 20.0
    of_edge, of_stripes = (
        local_features(Channels(values, 1), 0.0, 1)[30, :, 1] for values in (edge, stripes)
    )
    assert of_edge.max() < 0.3 * 40.0  # what it is on the edge, without the opening
    np.testing.assert_allclose(of_stripes[30:50], 10.0, rtol=0.05)


def test_gradient_of_a_slope_is_its_length():
    y, x = np.mgrid[0:40, 0:40].astype(np.float32)
    slope = np.stack([3 * x, 4 * y], axis=-1)
    np.testing.assert_allclose(gradient(slope, 2.0)[15:25, 15:25], 10.0, rtol=0.02)


def test_boundaries_move_to_the_edge_within_reach():
    edges = np.zeros((30, 40), dtype=np.float32)
    edges[:, 19:21] = 1.0
    labels = (np.arange(40) >= 22).astype(np.int32)[None].repeat(30, axis=0)
    moved = snapped(labels, edges, np.ones(edges.shape, dtype=bool))
    assert (moved[:, :19] == 0).all()
    assert (moved[:, 21:] == 1).all()
    labels[10, 30] = 2  # too thin to have a core
    assert snapped(labels, edges, np.ones(edges.shape, dtype=bool))[10, 30] == 2


def test_strips_between_two_forms_of_a_boundary_go_where_the_edge_is():
    mask, edges = np.ones((30, 60), dtype=bool), np.zeros((30, 60), dtype=np.float32)
    edges[:, 33:35] = 1.0
    labels = np.digitize(np.arange(60), [28, 34])[None].repeat(30, axis=0)
    found = _pieces(labels, 10, edges, mask)
    assert np.unique(found).tolist() == [0, 1]
    assert (found[:, :33] == found[0, 0]).all()
    assert (found[:, 35:] == found[0, -1]).all()


def test_parts_of_the_mask_that_are_all_specks_belong_to_the_nearest_region():
    mask, edges = np.zeros((20, 60), dtype=bool), np.zeros((20, 60), dtype=np.float32)
    mask[:, :25] = mask[:, 30:55] = mask[5:8, 57:] = True
    labels = np.where(mask, (np.arange(60) >= 28).astype(np.int32), -1)
    found = _pieces(labels, 30, edges, mask)
    assert np.unique(found).tolist() == [-1, 0, 1]
    np.testing.assert_array_equal(found, labels)
    tiny = mask & (np.arange(60) > 56)
    np.testing.assert_array_equal(_pieces(np.where(tiny, 5, -1), 30, edges, tiny)[tiny], 0)


def test_common_parts_share_both_labels():
    one, two = np.random.default_rng(0).integers(0, 4, (2, 6, 7))
    mask = np.ones((6, 7), dtype=bool)
    mask[0, :3] = False
    found = _common_parts(np.where(mask, one, -1), np.where(mask, two, -1), mask)
    assert (found[~mask] == -1).all()
    inside, pairs = found[mask], np.stack([one[mask], two[mask]], axis=1)
    same = (pairs[:, None] == pairs[None]).all(axis=2)
    np.testing.assert_array_equal(inside[:, None] == inside[None], same)
    assert sorted(np.unique(inside)) == list(range(inside.max() + 1))


def test_regions_are_the_same_for_any_number_of_threads():
    values = np.random.default_rng(1).normal(0, 1, (40, 50, 1)).cumsum(axis=1)
    mask = np.ones((40, 50), dtype=bool)
    mask[:10, :10] = False
    channels = plain_channels(values)
    one, two = (
        find_regions(channels, mask, n_clusters=8, least=5, connected=True, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.labels, two.labels)
    assert (one.labels[~mask] == -1).all()
    assert sorted(np.unique(one.labels[mask])) == list(range(one.labels.max() + 1))
    assert one.votes.sum() == mask.sum()


def test_pixels_outside_take_the_nearest_value_inside():
    mask = np.array([[True, False, False, True]])
    assert filled(np.array([[1, 0, 0, 2]]), mask).tolist() == [[1, 1, 2, 2]]
