import numpy as np
import pytest

from sparseksc.plotting import ComparisonDisplay


def test_a_square_is_as_dark_as_the_part_of_the_old_cluster_in_it():
    pytest.importorskip("matplotlib").use("Agg")
    display = ComparisonDisplay(np.array([[3.0, 1.0], [0.0, 0.0]]), ["a", "b"], [0, 1]).plot()
    np.testing.assert_array_equal(display.image_.get_array(), [[0.75, 0.25], [0.0, 0.0]])
    assert [text.get_text() for text in display.ax_.texts] == ["3", "1"]
