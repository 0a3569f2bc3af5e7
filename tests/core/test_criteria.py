"""Criteria: BLF, AMS and BAS are the written formulas, also for degenerate clusters."""

import numpy as np
import pytest

from sparseksc._native.clusters import assign
from sparseksc.core.criteria import CRITERIA, Objective, balance, line_fit, mean_strength
from sparseksc.core.encoding import Directions, Means, Sides
from tests.reference import encoding as twin


@pytest.fixture(scope="module")
def clustered():
    """Scores of three clusters near three directions, and their encoding."""
    rng = np.random.default_rng(0)
    directions = np.array([[1.0, 0.1], [-0.6, 0.8], [-0.5, -0.9]])
    y = np.repeat([0, 1, 2], [50, 30, 20])
    scores = directions[y] * rng.uniform(0.5, 2.0, (100, 1)) + 0.1 * rng.standard_normal((100, 2))
    units = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return Directions(units), scores


@pytest.mark.parametrize("eta", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("threshold", [0, 1, 25])
def test_ams_is_the_mean_membership_of_the_clusters(clustered, eta, threshold):
    encoding, scores = clustered
    labels = encoding.labels(scores)
    fit = twin.average_membership_strength(encoding.distances(scores), labels, threshold)
    expected = (1 - eta) * fit + eta * twin.balance(labels, 3)
    assert Objective("ams", eta, threshold).value(encoding, scores) == pytest.approx(expected)


@pytest.mark.parametrize("eta", [0.0, 0.3])
@pytest.mark.parametrize("threshold", [0, 25])
def test_bas_is_the_mean_angular_similarity_of_the_clusters(clustered, eta, threshold):
    encoding, scores = clustered
    labels = encoding.labels(scores)
    fit = twin.balanced_angular_similarity(encoding.distances(scores), labels, threshold)
    expected = (1 - eta) * fit + eta * twin.balance(labels, 3)
    assert Objective("bas", eta, threshold).value(encoding, scores) == pytest.approx(expected)


@pytest.mark.parametrize("eta", [0.0, 0.3])
@pytest.mark.parametrize("threshold", [0, 1, 25])
def test_blf_of_more_than_two_clusters_is_the_published_line_fit(clustered, eta, threshold):
    encoding, scores = clustered
    labels = encoding.labels(scores)
    fit = twin.balanced_line_fit(scores, labels, 3, threshold)
    expected = (1 - eta) * fit + eta * twin.balance(labels, 3)
    assert Objective("blf", eta, threshold).value(encoding, scores) == pytest.approx(expected)


def test_blf_of_two_clusters_uses_the_kernel_sums_as_second_coordinate():
    rng = np.random.default_rng(1)
    scores = np.concatenate([rng.uniform(1, 2, 30), rng.uniform(-3, -1, 20)])[:, None]
    kernel_sums = rng.uniform(0, 1, 50) + 0.5 * scores[:, 0]
    encoding = Sides(np.array([[1.5], [-2.0]]))
    expected = twin.line_fit_of_two(scores, kernel_sums, encoding.labels(scores))
    value = Objective("blf").value(encoding, scores, kernel_sums)
    assert value == pytest.approx(expected)
    with pytest.raises(ValueError, match="needs kernel_sums"):
        Objective("blf").value(encoding, scores)


def test_clusters_on_lines_have_a_line_fit_of_one_and_round_clouds_of_zero():
    steps = np.linspace(1, 2, 40)[:, None]
    lines = np.concatenate([steps * [1.0, 0.0], steps * [-1.0, 1.0], steps * [0.0, -1.0]])
    labels = np.repeat([0, 1, 2], 40)
    assert line_fit(lines, labels, np.bincount(labels)) == pytest.approx(1.0)
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    circles = np.concatenate([circle + 10, circle - 10, circle])
    assert line_fit(circles, labels, np.bincount(labels)) == pytest.approx(0.0, abs=1e-12)


def test_outlier_clusters_add_nothing_to_the_fit_but_still_divide():
    labels = np.array([0, 0, 0, 1, 1, 1, 2])
    strengths = np.ones(7)
    sizes = np.bincount(labels)
    assert mean_strength(strengths, labels, sizes, 0) == pytest.approx(1.0)
    assert mean_strength(strengths, labels, sizes, 1) == pytest.approx(2 / 3)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_singleton_clusters_do_not_win(clustered, criterion):
    encoding, _ = clustered
    singletons = encoding.prototypes * 2.0
    assert Objective(criterion, 0.0, 1).value(encoding, singletons) == 0.0


def test_balance_is_the_smallest_cluster_over_the_largest():
    assert balance(np.array([10, 5, 20])) == 0.25
    assert balance(np.array([10, 0])) == 0.0
    assert balance(np.array([0, 0])) == 0.0


@pytest.mark.parametrize("criterion", CRITERIA)
def test_values_are_at_most_one_and_finite_with_an_empty_cluster(clustered, criterion, no_warnings):
    encoding, scores = clustered
    for rows in (scores, scores[:50], scores[:1]):
        value = Objective(criterion, 0.5, 0).value(encoding, rows)
        assert np.isfinite(value)
        assert value <= 1.0 + 1e-12


@pytest.mark.parametrize("criterion", CRITERIA)
def test_points_that_coincide_have_a_finite_value(clustered, criterion, no_warnings):
    encoding, _ = clustered
    scores = np.repeat(encoding.prototypes, [5, 4, 3], axis=0)
    assert 0.99 <= Objective(criterion).value(encoding, scores) <= 1.0 + 1e-12


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_single_cluster_has_the_value_zero(criterion):
    assert Objective(criterion).value(Means(np.empty((1, 0))), np.empty((5, 0))) == 0.0


def test_angular_similarity_needs_a_third_cluster():
    with pytest.raises(ValueError, match="more than two clusters"):
        Objective("bas").value(Sides(np.array([[1.0], [-1.0]])), np.ones((4, 1)))


def test_angular_strength_of_a_point_on_two_prototypes_is_zero():
    distances = np.array([[0.0, 0.0, 1.0], [0.0, 0.5, 1.0], [0.25, 0.5, 0.5]])
    np.testing.assert_allclose(assign(distances).angular, [0.0, 1.0, 0.5])


def test_value_does_not_depend_on_the_order_of_the_points(clustered):
    encoding, scores = clustered
    order = np.random.default_rng(0).permutation(len(scores))
    for criterion in CRITERIA:
        objective = Objective(criterion, 0.2, 1)
        assert objective.value(encoding, scores[order]) == pytest.approx(
            objective.value(encoding, scores), rel=1e-12
        )
