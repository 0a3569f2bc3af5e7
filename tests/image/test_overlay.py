"""Segments drawn on their image."""

import numpy as np
import pytest


def test_overlay_draws_boundaries_and_mean_colours(scene):
    image, _, result = scene
    plain = result.overlay(fill=0.0, boundaries=False)
    np.testing.assert_array_equal(plain, image)
    assert not np.shares_memory(plain, result.image)
    flat = result.overlay(fill=1.0, boundaries=False)
    for label in range(result.n_segments):
        mine = result.labels == label
        assert len(np.unique(flat[mine], axis=0)) == 1
        np.testing.assert_allclose(flat[mine][0], image[mine].mean(axis=0), atol=0.51)
    drawn = (result.overlay(colour=(1, 2, 3), thickness=1) == (1, 2, 3)).all(axis=2)
    thick = (result.overlay(colour=(1, 2, 3), thickness=3) == (1, 2, 3)).all(axis=2)
    assert 0 < drawn.sum() < thick.sum()


@pytest.mark.parametrize("colour", [(300, 0, 0), (-1, 0, 0), (1, 2)])
def test_a_colour_has_three_bytes(scene, colour):
    with pytest.raises(ValueError, match="colour must be three integers from 0 to 255"):
        scene[2].overlay(colour=colour)
