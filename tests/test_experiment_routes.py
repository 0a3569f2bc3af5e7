"""Parts of the experiments agree with their plainer forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from experiments import images, rules, shapes, spirals, table3
from experiments.tuning import Tuning
from sparseksc.datasets import make_gaussians
from sparseksc.image.features import distinct_rows
from sparseksc.reference import incomplete_cholesky, paper_ksc


@given(st.lists(st.tuples(*3 * [st.integers(0, 3)]), min_size=1, max_size=12))
def test_a_weight_is_a_number_of_points(rows):
    a, b, extra = np.array(rows).T
    weights = extra + 1
    expected = adjusted_rand_score(np.repeat(a, weights), np.repeat(b, weights))
    assert images.weighted_ari(a, b, weights.astype(float)) == pytest.approx(expected, abs=1e-9)


def test_our_rules_take_the_largest_criterion_and_the_largest_agreement():
    pixels = distinct_rows(np.array([[0.0], [1.0], [2.0], [3.0], [0.0]]))
    alike, other = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    found = images.Candidates(pixels, [alike, 1 - alike, other], [0.1, 0.2, 0.9])
    np.testing.assert_array_equal(found.by_criterion(), other)
    np.testing.assert_array_equal(found.by_agreement(), alike)


def test_a_rule_is_measured_over_its_runs():
    truth = np.zeros((20, 30), dtype=int)
    truth[:, 15:] = 1
    picture = images.Picture("", truth.shape, np.empty((600, 0)), None, [images.boundaries(truth)])
    right, wrong = np.array([0, 1]), np.array([0, 0])
    mean, spread, worst, same = rules.measured(
        picture, truth.ravel(), [right, 1 - right, wrong], np.array([300.0, 300.0])
    )
    assert (mean, worst) == (pytest.approx(2 / 3), 0.0)
    assert spread == pytest.approx(3**-0.5)
    assert same == pytest.approx(1 / 3)


def test_what_is_said_of_the_rules_follows_from_their_differences():
    rows = [
        {f"{rule}_{what}": 0.0 for rule in rules.RULES for what in rules.MEASURES} for _ in range(3)
    ]
    for row, gain in zip(rows, (0.1, 0.2, 0.3), strict=True):
        row["agreement_worst"], row["criterion_mean"] = gain, gain - 0.2
    assert rules.difference(rows, "single", "worst") == pytest.approx((0.2, 0.1 / 3**0.5))
    told = rules.why(rows)
    assert "against one sample, as much spread, a better worst run, labels as alike" in told
    assert told.count("the same mean F") == 2


def test_the_angular_encoding_of_two_clusters_takes_no_bias():
    X = make_gaussians(300, n_clusters=2, random_state=0)[0]
    kernel = spirals.compiled_kernel
    model = paper_ksc(X, 2, kernel(2.0), max_rank=30, reduced_kernel=kernel(8.0))
    scores = model.transform(X)
    plain = kernel(8.0)(X, model.reduced_set) @ model.coef
    for encoding, expected in (("angular", plain), ("sign", scores)):
        labels = images.label(model, scores, 2, encoding)
        np.testing.assert_array_equal(labels, expected[:, 0] > 0)


@pytest.mark.parametrize("tol", [0.9, 0.5, 0.1])
def test_one_decomposition_says_the_rank_of_every_tolerance(tol):
    X = make_gaussians(300, random_state=0)[0]
    kernel = spirals.compiled_kernel(0.5)
    full = incomplete_cholesky(X, kernel, max_rank=200)
    residuals = 1.0 - np.cumsum((full.G**2).mean(axis=0))
    expected = incomplete_cholesky(X, kernel, tol=tol, max_rank=200)
    assert table3.rank_at(tol, residuals) == len(expected.pivots)


def test_a_tuned_model_is_the_published_one():
    X = make_gaussians(400, n_clusters=4, random_state=1)[0]
    kernel = spirals.compiled_kernel
    factor = incomplete_cholesky(X, kernel(2.0), max_rank=40)
    found = Tuning(X, factor, kernel, 6).at(3.0)
    expected = paper_ksc(X, 4, kernel(2.0), factor=factor, reduced_kernel=kernel(3.0))
    np.testing.assert_allclose(found.training[:, :3], expected.scores, atol=1e-8)
    labels = found.labels("direction", 4, X)
    assert len(np.unique(labels)) == 4


def test_the_moons_lie_apart():
    X, y = shapes.four_moons(2_000, random_state=0)
    nearest = np.linalg.norm(X[:, None] - X[None], axis=2)
    nearest[y[:, None] == y] = np.inf
    assert nearest.min() > 0.05
