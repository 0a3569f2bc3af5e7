"""Bandwidths that follow from the distances in the data."""

import numpy as np
import pytest

from sparseksc.kernels import RBF, Chi2, Laplacian, Polynomial
from sparseksc.search.candidates import automatic_bandwidths, weighted_median


class TestBandwidths:
    @pytest.mark.parametrize(("kind", "power"), [(RBF, 2), (Laplacian, 1), (Chi2, 1)])
    def test_they_move_with_the_scale_of_the_data(self, kind, power):
        X = np.random.default_rng(0).uniform(1, 2, size=(100, 3))
        grid = np.array(automatic_bandwidths(kind, X, 0))
        np.testing.assert_allclose(automatic_bandwidths(kind, 1000 * X, 0), 1000.0**power * grid)

    @pytest.mark.parametrize("kind", [RBF, Laplacian])
    @pytest.mark.parametrize("far", [1e3, 1e6, 1e9, 1e100, 1e200])
    def test_a_row_far_away_does_not_move_them(self, kind, far):
        X = np.random.default_rng(0).normal(size=(400, 2))
        grid = automatic_bandwidths(kind, X, 0)
        moved = automatic_bandwidths(kind, np.r_[X, [[far, 4.0]]], 0)
        np.testing.assert_allclose([moved[0], moved[-1]], [grid[0], grid[-1]], rtol=0.1)

    def test_equal_rows_far_from_the_origin_are_no_neighbours(self):
        X = np.random.default_rng(0).normal(size=(100, 2)).repeat(3, axis=0)
        grid = automatic_bandwidths(RBF, X, 0)
        np.testing.assert_allclose(automatic_bandwidths(RBF, X + 1e6, 0), grid, rtol=1e-3)

    def test_distances_that_are_no_numbers_are_refused(self):
        X = np.random.default_rng(0).normal(size=(100, 2))
        for size, factor in (("small", 1e-300), ("small", 1e-160), ("large", 1e160)):
            with pytest.raises(ValueError, match=f"too {size}: rescale X"):
                automatic_bandwidths(RBF, factor * X, 0)
        assert automatic_bandwidths(RBF, np.full((50, 2), 1e-300), 0) == [1.0]

    def test_they_reach_from_the_neighbours_to_beyond_the_spread(self):
        X = np.arange(100.0)[:, None]
        grid = automatic_bandwidths(RBF, X, 0)
        assert grid[0] == pytest.approx(1.0)
        assert grid[-1] > 50.0**2
        assert grid == sorted(grid)

    def test_weights_count_like_copies(self):
        rng = np.random.default_rng(0)
        X, weights = rng.normal(size=(40, 2)), rng.integers(0, 4, size=40)
        copies = np.repeat(X, weights, axis=0)
        weighted = automatic_bandwidths(RBF, X, 0, weights.astype(float))
        np.testing.assert_allclose(weighted, automatic_bandwidths(RBF, copies, 0))

    def test_constant_data_has_one(self):
        assert automatic_bandwidths(RBF, np.ones((5, 2)), 0) == [1.0]

    def test_the_polynomial_kernel_has_its_scale(self):
        assert automatic_bandwidths(Polynomial, np.full((4, 3), 2.0), 0) == [12.0]

    def test_weighted_median(self):
        assert weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 5.0])) == 2.0
        assert weighted_median(np.ones(2), np.zeros(2)) == np.inf
        assert weighted_median(np.array([4.0, 1.0, 3.0, 2.0]), np.full(4, 0.1)) == 2.0
        assert weighted_median(np.array([4.0, 1.0, 3.0]), np.array([0.5, 0.5, 0.0])) == 1.0
