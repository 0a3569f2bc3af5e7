"""The number of segments is one of those asked for."""

import numpy as np
import pytest

from sparseksc.image import (
    segment,
)


@pytest.mark.parametrize("n_segments", [1, 2, 4, [3, 4], range(2, 4), np.array([2])])
def test_numbers_of_segments(scene, n_segments):
    result = segment(
        scene[0][::2, ::2], n_segments, features="histogram", clean_up=0, random_state=0
    )
    assert result.n_segments in np.atleast_1d(n_segments)
