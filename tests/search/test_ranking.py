"""Which model is ranked first, from surfaces that are given."""

from dataclasses import replace

import numpy as np
import pytest

from sparseksc.search.ranking import Surfaces, rank_by_criterion, rank_by_separation


def surfaces_of(**values):
    """Surfaces of two bandwidths and the numbers of clusters 2, 3, 4."""
    usual = {
        name: np.full((2, 3), 0.5) for name in ("ams", "blf", "bas", "strength", "conductance")
    }
    usual |= {"cut": np.full((2, 3), 0.1), "cohesion": np.ones((2, 3)), "smallest": np.ones((2, 3))}
    usual |= {name: np.array(value, dtype=float) for name, value in values.items()}
    return Surfaces([1.0, 2.0], [2, 3, 4], usual, 1e-4)


def none_separated(row, column):
    """No cluster is separated."""
    return 0.0


class TestRanking:
    def test_the_criteria_of_the_literature_are_maximised_as_they_are(self):
        surfaces = surfaces_of(ams=[[0.1, 0.9, np.nan], [0.4, 0.2, np.nan]])
        ranking = rank_by_criterion(surfaces, "ams", [2, 3, 4])
        assert [(c.n_clusters, c.bandwidth, c.value) for c in ranking] == [
            (3, 1.0, 0.9),
            (2, 2.0, 0.4),
        ]

    def test_auto_takes_the_number_with_the_largest_conductance_ratio(self):
        surfaces = surfaces_of(conductance=[[0.01, 0.012, 0.2], [0.01, 0.012, 0.2]])
        assert rank_by_separation(surfaces, [2, 3], none_separated)[0].n_clusters == 3

    def test_auto_takes_the_number_with_more_separated_clusters(self):
        # Nothing joins two groups of clusters: their conductance ratio is as large as one likes.
        surfaces = surfaces_of(conductance=[[0.0, 0.012, 0.1], [0.0, 0.012, 0.1]])
        by_ratio = rank_by_separation(surfaces, [2, 3], none_separated)
        assert by_ratio[0].n_clusters == 2
        both = rank_by_separation(surfaces, [2, 3], lambda row, column: 3.0 * column)
        assert both[0].n_clusters == 3
        assert {model.n_clusters: model.conductance_ratio for model in both} == {
            model.n_clusters: model.conductance_ratio for model in by_ratio
        }

    def test_auto_avoids_the_end_of_the_range_that_works(self):
        strength = np.tile([[0.80], [0.81], [0.82], [0.5]], 3)
        cut = np.tile([[1e-4], [1e-4], [1e-4], [0.1]], 3)
        values = {name: np.full((4, 3), 0.5) for name in ("ams", "blf", "bas", "conductance")}
        values |= {name: np.ones((4, 3)) for name in ("cohesion", "smallest")}
        values |= {"strength": strength, "cut": cut}
        surfaces = Surfaces([1.0, 1.25, 1.5, 1.75], [2, 3, 4], values, 1e-4)
        chosen = rank_by_separation(surfaces, [2, 3], none_separated)
        assert {model.bandwidth for model in chosen} == {1.25}
        apart = replace(surfaces, bandwidths=[1.0, 2.0, 4.0, 8.0])
        chosen = rank_by_separation(apart, [2, 3], none_separated)
        assert {model.bandwidth for model in chosen} == {4.0}

    def test_auto_takes_the_bandwidth_of_the_lowest_cut(self):
        surfaces = surfaces_of(cut=[[0.3, 0.3, 0.3], [0.2, 0.2, 0.2]])
        assert {
            model.bandwidth for model in rank_by_separation(surfaces, [2, 3], none_separated)
        } == {2.0}

    @pytest.mark.parametrize("guard", ["cohesion", "smallest"])
    def test_auto_refuses_clusters_of_outliers(self, guard):
        surfaces = surfaces_of(
            cut=[[0.3, 0.3, 0.3], [0.2, 0.2, 0.2]], **{guard: [[1, 1, 1], [0, 0, 0]]}
        )
        assert {
            model.bandwidth for model in rank_by_separation(surfaces, [2, 3], none_separated)
        } == {1.0}
        insisting = rank_by_separation(surfaces, [2, 3], none_separated, any_size=True)
        assert {model.bandwidth for model in insisting} == {2.0}

    def test_a_refinement_at_a_higher_rank_takes_the_widest_of_nearly_equal_bandwidths(self):
        surfaces = surfaces_of(strength=[[0.95, 0.9, 0.9], [0.9, 0.6, 0.6]])
        for near_best, expected in ((None, {2: 1.0, 3: 1.0}), (0.8, {2: 2.0, 3: 1.0})):
            ranking = rank_by_separation(surfaces, [2, 3], none_separated, near_best=near_best)
            assert {model.n_clusters: model.bandwidth for model in ranking} == expected
