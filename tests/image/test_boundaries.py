"""Boundaries of segments, one pixel wide."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from skimage.morphology import thin as skimage_thin

from sparseksc.image import boundaries
from sparseksc.image.boundaries import differences, thin
from tests.conftest import BSDS
from tests.reference import image as slow

masks = arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 12)))


@given(arrays(np.int8, st.tuples(st.integers(1, 7), st.integers(1, 7)), elements=st.integers(0, 2)))
def test_boundary_pixels_differ_from_the_next_ones(labels):
    np.testing.assert_array_equal(differences(labels), slow.differences(labels))


@given(masks)
def test_thinning_keeps_the_pieces_and_is_done_when_it_is_done(mask):
    thinned = thin(mask)
    assert not (thinned & ~mask).any()
    assert slow.n_pieces(thinned) == slow.n_pieces(mask)
    np.testing.assert_array_equal(thin(thinned), thinned)


@given(masks)
def test_thinning_is_that_of_scikit_image(mask):
    np.testing.assert_array_equal(thin(mask), skimage_thin(mask))


def test_thinning_leaves_a_thick_line_one_pixel_wide():
    mask = np.zeros((30, 40), dtype=bool)
    mask[10:15, 5:35] = True
    assert (thin(mask).sum(axis=0) <= 1).all()
    assert thin(mask).sum() >= 25


def test_thinning_does_not_change_what_it_was_given():
    mask = np.ones((5, 5), dtype=bool)
    mask.setflags(write=False)
    thin(mask)
    assert mask.all()


@pytest.mark.data
def test_boundaries_are_those_of_the_berkeley_data():
    loadmat = pytest.importorskip("scipy.io").loadmat
    if not BSDS.is_dir():
        pytest.skip("needs ../shared/data/bsds500")
    for path in sorted(BSDS.glob("groundTruth/*.mat")):
        for human in loadmat(path)["groundTruth"][0]:
            drawn = human["Boundaries"][0, 0].astype(bool)
            np.testing.assert_array_equal(boundaries(human["Segmentation"][0, 0]), drawn)
