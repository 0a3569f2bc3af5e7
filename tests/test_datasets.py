"""The generators: exact definitions, seeds, class sizes, and sentences for wrong parameters."""

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.stats import norm

from sparseksc.datasets import make_gaussians, make_rings, make_spirals

GENERATORS = [make_spirals, make_rings, make_gaussians]


@pytest.mark.parametrize("make", GENERATORS)
def test_equal_seeds_give_equal_points_and_other_seeds_others(make):
    X, y = make(50, random_state=3)
    same_X, same_y = make(50, random_state=3)
    other_X, _ = make(50, random_state=4)
    np.testing.assert_array_equal(X, same_X)
    np.testing.assert_array_equal(y, same_y)
    assert not np.array_equal(X, other_X)


@pytest.mark.parametrize("make", GENERATORS)
def test_an_integer_seed_is_that_of_a_generator(make):
    X, _ = make(50, random_state=3)
    from_generator, _ = make(50, random_state=np.random.default_rng(3))
    np.testing.assert_array_equal(X, from_generator)


@pytest.mark.parametrize("source", [np.random.default_rng, np.random.RandomState])
def test_a_shared_source_of_randomness_moves_on_from_call_to_call(source):
    shared = source(7)
    first, _ = make_rings(20, random_state=shared)
    second, _ = make_rings(20, random_state=shared)
    again, _ = make_rings(20, random_state=source(7))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("make", GENERATORS)
def test_points_are_float64_and_classes_integers(make):
    X, y = make(30, random_state=0)
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    assert X.shape == (30, 2)
    assert y.shape == (30,)


@pytest.mark.parametrize(
    ("make", "parameter"),
    [(make_spirals, "n_arms"), (make_rings, "n_rings"), (make_gaussians, "n_clusters")],
)
def test_classes_are_balanced_and_the_first_ones_take_the_remainder(make, parameter):
    _, y = make(11, random_state=0, **{parameter: 4})
    assert np.bincount(y).tolist() == [3, 3, 3, 2]


@pytest.mark.parametrize("make", GENERATORS)
def test_points_are_shuffled(make):
    _, y = make(200, random_state=0)
    assert not np.array_equal(y, np.sort(y))


@pytest.mark.parametrize("make", [make_spirals, make_rings])
def test_columns_have_zero_mean_and_unit_variance(make):
    X, _ = make(501, random_state=1)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-14)
    np.testing.assert_allclose(X.std(axis=0), 1.0, rtol=1e-14)


@pytest.mark.parametrize("n_arms", [2, 4])
def test_spirals_follow_their_definition(n_arms):
    n = 4001
    X, y = make_spirals(n, n_arms=n_arms, random_state=5)
    # The same draws, in the order: t, noise, shuffling.
    rng = np.random.default_rng(5)
    arm = np.sort(np.arange(n) % n_arms)
    t = rng.uniform(size=n)
    radius, theta = 0.081 + 0.919 * t, 2 * np.pi * (arm / n_arms + 2.58 * t)
    half_width = 0.0089 * np.sqrt(3)
    raw = np.column_stack([radius * np.sin(theta), radius * np.cos(theta)])
    raw += rng.uniform(-half_width, half_width, size=(n, 2))
    order = rng.permutation(n)
    np.testing.assert_array_equal(y, arm[order])
    expected = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    np.testing.assert_allclose(X, expected[order], atol=1e-12)


@pytest.mark.parametrize("n_arms", [2, 4])
def test_spirals_are_apart_the_nearest_neighbour_is_on_the_same_one(n_arms):
    X, y = make_spirals(4000, n_arms=n_arms, random_state=0)
    _, neighbours = cKDTree(X).query(X, k=2)
    np.testing.assert_array_equal(y[neighbours[:, 1]], y)


def test_rings_have_evenly_spaced_radii():
    X, y = make_rings(6000, n_rings=4, noise=0.0, random_state=0)
    radius = np.linalg.norm(X, axis=1)
    means = np.array([radius[y == c].mean() for c in range(4)])
    np.testing.assert_allclose(means / means[0], [1, 2, 3, 4], rtol=0.02)


def test_noise_of_the_rings_is_relative_to_their_gap():
    X, y = make_rings(60_000, n_rings=3, noise=0.1, random_state=0)
    radius = np.linalg.norm(X, axis=1)
    gap = radius[y == 2].mean() - radius[y == 1].mean()
    assert radius[y == 2].std() / gap == pytest.approx(0.1, rel=0.05)


@pytest.mark.parametrize("overlap", [0.5, 1.0])
def test_two_gaussians_have_the_bayes_error_of_their_overlap(overlap):
    n = 100_000
    X, y = make_gaussians(n, n_clusters=2, n_features=3, overlap=overlap, random_state=2)
    centres = np.array([X[y == c].mean(axis=0) for c in (0, 1)])
    nearest = np.linalg.norm(X[:, None] - centres, axis=2).argmin(axis=1)
    error = norm.cdf(-1 / overlap)
    assert (nearest != y).mean() == pytest.approx(error, abs=5 * np.sqrt(error / n))


@pytest.mark.parametrize("width_ratio", [1.0, 4.0])
def test_the_closest_pair_of_gaussians_has_the_stated_overlap(width_ratio):
    X, y = make_gaussians(
        200_000, n_clusters=5, n_features=2, overlap=0.4, width_ratio=width_ratio, random_state=1
    )
    centres = np.array([X[y == c].mean(axis=0) for c in range(5)])
    widths = np.array([(X[y == c] - centres[c]).std() for c in range(5)])
    first, second = np.triu_indices(5, k=1)
    distances = np.linalg.norm(centres[first] - centres[second], axis=1)
    assert ((widths[first] + widths[second]) / distances).max() == pytest.approx(0.4, rel=0.01)
    assert widths.max() / widths.min() == pytest.approx(width_ratio, rel=0.02)
    assert np.exp(np.log(widths).mean()) == pytest.approx(1.0, rel=0.01)


def test_a_single_gaussian_has_unit_width_and_ignores_the_width_ratio():
    X, y = make_gaussians(20_000, n_clusters=1, width_ratio=9.0, random_state=0)
    assert set(y) == {0}
    np.testing.assert_allclose(X.std(axis=0), 1.0, rtol=0.03)


@pytest.mark.parametrize("make", [make_spirals, make_rings])
def test_one_point_is_standardised_to_the_origin(make):
    parameter = {make_spirals: "n_arms", make_rings: "n_rings"}[make]
    X, y = make(1, random_state=0, **{parameter: 1})
    assert X.tolist() == [[0.0, 0.0]]
    assert y.tolist() == [0]


@pytest.mark.parametrize(
    ("make", "parameters", "sentence"),
    [
        (make_spirals, {"n_samples": -3}, "n_samples must be a positive integer, got -3."),
        (make_spirals, {"n_samples": 2.5}, "n_samples must be a positive integer, got 2.5."),
        (make_spirals, {"n_samples": True}, "n_samples must be a positive integer, got True."),
        (make_spirals, {"n_samples": 1}, "n_samples must be at least 2 "),
        (make_spirals, {"noise": -0.1}, "noise must be zero or positive and finite, got -0.1."),
        (make_rings, {"n_rings": 0}, "n_rings must be a positive integer, got 0."),
        (make_rings, {"noise": np.nan}, "noise must be zero or positive and finite, got nan."),
        (make_rings, {"random_state": "x"}, "random_state must be a non-negative integer,"),
        (make_rings, {"random_state": -1}, "random_state must be a non-negative integer,"),
        (make_gaussians, {"n_features": 0}, "n_features must be a positive integer, got 0."),
        (make_gaussians, {"overlap": 0.0}, "overlap must be positive and finite, got 0.0."),
        (make_gaussians, {"width_ratio": 0.5}, "width_ratio must be at least 1, got 0.5."),
    ],
)
def test_wrong_parameters_are_refused_with_a_sentence(make, parameters, sentence):
    with pytest.raises(ValueError) as error:
        make(**{"n_samples": 10, **parameters})
    assert str(error.value).startswith(sentence)
    assert str(error.value).endswith(".")
