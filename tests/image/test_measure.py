"""The agreement of boundaries with those that people drew."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparseksc.image import boundary_f_measure, boundary_map_f_measure
from sparseksc.image.measure import match_pixels
from tests.reference import image as slow

masks = arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 12)))


def halves(height=200, width=300, at=150):
    labels = np.zeros((height, width), dtype=int)
    labels[:, at:] = 7
    return labels


@settings(max_examples=40)
@given(masks, st.integers(0, 10**6), st.sampled_from([0.5, 1.0, 1.5, 3.3]))
def test_matching_has_as_many_pairs_as_the_best_assignment(mask, seed, radius):
    pixels = np.argwhere(mask)
    targets = np.argwhere(np.random.default_rng(seed).random(mask.shape) < 0.3)
    matched = match_pixels(pixels, targets, radius)
    expected = 0
    if len(pixels) and len(targets):
        expected = slow.matched_pairs(pixels, targets, radius)
    assert matched.sum() == expected


def test_equal_segmentations_agree_whatever_the_labels():
    score = boundary_f_measure(halves() * -3, [halves(), halves() > 0])
    assert score == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(("shift", "matches"), [(0, True), (2, True), (3, False)])
def test_pixels_match_within_a_share_of_the_diagonal(shift, matches):
    # The diagonal is 360.6 pixels, the matching distance 2.7.
    assert boundary_f_measure(halves(), [halves(at=150 + shift)]).f == float(matches)


def test_precision_counts_any_human_and_recall_all_of_them():
    machine = np.zeros((200, 300), dtype=bool)
    machine[:, 100] = machine[:, 200] = True
    first, second = machine.copy(), machine.copy()
    first[:, 200] = second[:, 100] = False
    second[:, 20] = second[:, 280] = True
    score = boundary_map_f_measure(machine, [first, second])
    assert score.precision == 1.0
    assert score.recall == 0.5
    assert score.f == pytest.approx(2 / 3)


def test_one_pixel_has_one_partner():
    machine, human = np.zeros((2, 200, 300), dtype=bool)
    machine[100, 100:103] = True
    human[101, 101] = True
    score = boundary_map_f_measure(machine, [human])
    assert score.precision == pytest.approx(1 / 3)
    assert score.recall == 1.0


def test_images_without_boundaries():
    plain = np.zeros((20, 30), dtype=int)
    assert boundary_f_measure(plain, [plain]) == (1.0, 1.0, 1.0)
    assert boundary_f_measure(plain, [halves(20, 30, 15)]) == (0.0, 0.0, 0.0)
    assert boundary_f_measure(halves(20, 30, 15), [plain]) == (0.0, 0.0, 0.0)


def test_a_single_human_need_not_be_a_list():
    assert boundary_f_measure(halves(), halves()) == boundary_f_measure(halves(), [halves()])


@pytest.mark.parametrize(
    ("machine", "humans", "message"),
    [
        (halves(), [], "At least one human"),
        (halves(), [halves(10, 10, 5)], "shape of the image"),
        (np.full((3, 3), 0.5), [halves()], "label map"),
        (np.full((3, 3), np.nan), [halves()], "label map"),
        (halves(), [np.zeros(3)], "each of humans"),
    ],
)
def test_errors_say_what_is_wrong(machine, humans, message):
    with pytest.raises(ValueError, match=message):
        boundary_f_measure(machine, humans)
