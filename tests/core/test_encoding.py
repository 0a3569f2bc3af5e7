"""Encodings: prototypes and distances as their formulas say, and steady where signs are not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from sparseksc import KernelSpectralClustering
from sparseksc.core import encoding
from sparseksc.core.encoding import (
    ENCODINGS,
    ClusterSizes,
    Sides,
    TooFewCodeWords,
    fit_best_directions,
    membership_from_distances,
)
from sparseksc.core.spectrum import Spectrum, solve_spectrum
from sparseksc.core.statistics import FeatureMap, collect_degrees, collect_statistics
from sparseksc.data.source import ArraySource
from tests.conftest import pivots_of
from tests.reference import encoding as twin


def spectrum_with(eigenvalues, coef=None, bias=None, omega=1.0):
    m = len(eigenvalues)
    return Spectrum(
        eigenvalues=np.array(eigenvalues, dtype=float),
        eigenvectors=np.eye(max(m, 2))[:, :m],
        coef=np.eye(max(m, 2))[:, :m] if coef is None else coef,
        bias=np.zeros(m) if bias is None else bias,
        center=np.zeros(max(m, 2)),
        omega=omega,
    )


@pytest.fixture(scope="module")
def trained():
    """Spectrum and training scores of four clusters of 100, 80, 60 and 40 points."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]])
    y = np.repeat(np.arange(4), [100, 80, 60, 40])
    X = centres[y] + rng.standard_normal((280, 2))
    kernel, chosen = pivots_of("rbf", X, bandwidth=6.0, max_rank=40, tol=1e-3)
    features = FeatureMap.choose(kernel, chosen)
    degrees = collect_degrees(features, ArraySource(X))
    spectrum = solve_spectrum(features, collect_statistics(features, ArraySource(X), degrees), 3)
    scores = kernel.tile(X, chosen.points) @ spectrum.coef + spectrum.bias
    return spectrum, scores, y, degrees.shares(features(X), np.ones(280))


def fit(name, trained, weights=None):
    spectrum, scores, _, shares = trained
    weights = np.ones(len(scores)) if weights is None else weights
    return numbered(name, spectrum, scores, weights, shares * weights)


def numbered(name, spectrum, scores, weights, shares):
    """Prototypes in the order of the sizes of their clusters."""
    encoding = ENCODINGS[name](spectrum, scores, weights, shares)
    before = encoding.labels(scores)
    order = ClusterSizes.of_labels(before, weights, encoding.n_clusters).order
    encoding, labels = encoding.reordered(order), np.argsort(order)[before]
    np.testing.assert_array_equal(encoding.labels(scores), labels)
    return encoding


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_finds_well_separated_clusters(trained, name):
    _, scores, y, _ = trained
    labels = fit(name, trained).labels(scores)
    assert adjusted_rand_score(y, labels) == 1.0


@pytest.mark.parametrize("name", ENCODINGS)
def test_clusters_are_numbered_by_size(trained, name):
    labels = fit(name, trained).labels(trained[1])
    assert np.bincount(labels).tolist() == [100, 80, 60, 40]


@pytest.mark.parametrize("name", ENCODINGS)
def test_clusters_are_numbered_by_weight_where_points_have_weights(trained, name):
    weights = np.where(trained[2] == 3, 10.0, 1.0)
    labels = fit(name, trained, weights).labels(trained[1])
    assert np.bincount(labels).tolist() == [40, 100, 80, 60]


def test_sign_labels_are_those_of_the_nearest_of_the_most_frequent_code_words(trained):
    scores = trained[1] + 0.4 * np.random.default_rng(1).standard_normal(trained[1].shape)
    encoding = ENCODINGS["sign"](trained[0], scores, np.ones(len(scores)), np.ones(len(scores)))
    book = twin.code_book(scores, 4)
    assert {tuple(word) for word in encoding.prototypes.astype(int)} == set(book)
    ours = [tuple(word) for word in encoding.prototypes.astype(int)]
    np.testing.assert_array_equal(encoding.labels(scores), twin.sign_labels(scores, ours))
    expected = [[twin.hamming(word, own) for own in ours] for word in twin.code_words(scores)]
    np.testing.assert_array_equal(encoding.distances(scores), expected)


def test_a_code_book_of_many_scores_has_the_most_frequent_words():
    rng = np.random.default_rng(0)
    words = np.where(rng.random((12, 11)) < 0.5, -1.0, 1.0)
    scores = np.repeat(words, np.arange(30, 6, -2), axis=0)
    scores = np.concatenate([scores, np.where(rng.random((20, 11)) < 0.5, -1.0, 1.0)])
    encoding = ENCODINGS["sign"](
        spectrum_with(np.ones(11)), scores, np.ones(len(scores)), np.ones(len(scores))
    )
    np.testing.assert_array_equal(encoding.prototypes, words)


def test_direction_prototypes_are_the_normalised_mean_scores_of_the_code_words(trained):
    scores = trained[1]
    encoding = fit("direction", trained)
    means = [twin.unit(twin.mean_of_word(scores, word)) for word in twin.code_book(scores, 4)]
    np.testing.assert_allclose(encoding.prototypes, means, atol=1e-12)
    np.testing.assert_allclose(
        encoding.distances(scores), twin.cosine_distances(scores, means), atol=1e-12
    )


def test_the_direction_of_two_clusters_is_the_nearer_mean():
    scores = np.array([[3.0], [1.0], [2.0], [-1.0], [-3.0]])
    encoding = ENCODINGS["direction"](spectrum_with([0.9]), scores, np.ones(5), np.ones(5))
    np.testing.assert_allclose(encoding.prototypes, [[2.0], [-2.0]])
    np.testing.assert_allclose(encoding.distances(scores)[1], [1.0, 3.0])


def test_angular_prototypes_come_from_the_coefficients_and_scores_lose_their_bias(trained):
    spectrum, scores, _, _ = trained
    encoding = fit("angular", trained)
    rows = np.array([twin.unit(row) for row in spectrum.coef])
    moved = np.array([twin.unit(twin.mean_of_word(rows, w)) for w in twin.code_book(rows, 4)])
    for _ in range(100):
        nearest = np.argmin(twin.chord_distances(rows, moved), axis=1)
        moved = np.array([twin.unit(rows[nearest == k].mean(axis=0)) for k in range(4)])
    distances = twin.chord_distances(scores - spectrum.bias, encoding.prototypes)
    np.testing.assert_allclose(encoding.distances(scores), distances, atol=1e-7)
    for prototype in encoding.prototypes:
        assert np.min(np.linalg.norm(moved - prototype, axis=1)) < 1e-8


@pytest.mark.parametrize("name", ENCODINGS)
def test_memberships_sum_to_one_and_are_largest_for_the_label(trained, name):
    encoding = fit(name, trained)
    scores = trained[1]
    membership = encoding.membership(scores)
    assert membership.shape == (len(scores), 4)
    np.testing.assert_allclose(membership.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(np.argmax(membership, axis=1), encoding.labels(scores))


@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 5), st.integers(2, 6)), elements=st.floats(1e-3, 1e3)
    )
)
@settings(max_examples=60, deadline=None)
def test_membership_is_the_product_formula(distances):
    expected = np.array([twin.membership(row) for row in distances])
    np.testing.assert_allclose(membership_from_distances(distances), expected, rtol=1e-9)


def test_a_prototype_is_its_own_cluster_entirely():
    distances = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 1.0], [1e-320, 1.0, 1.0]])
    np.testing.assert_allclose(
        membership_from_distances(distances), [[1, 0, 0], [0.5, 0.5, 0], [1, 0, 0]], atol=1e-15
    )


@pytest.mark.parametrize("name", ENCODINGS)
def test_zero_scores_get_a_label_and_a_membership(trained, name, no_warnings):
    encoding = fit(name, trained)
    zeros = np.zeros((2, 3))
    for scores in (zeros, zeros + trained[0].bias, np.full((2, 3), 1e-320)):
        assert np.isfinite(encoding.distances(scores)).all()
        np.testing.assert_allclose(encoding.membership(scores).sum(axis=1), 1.0)


def test_a_zero_score_is_equally_far_from_every_direction(trained):
    for name in ("direction", "angular", "qr"):
        encoding = fit(name, trained)
        origin = getattr(encoding, "bias", np.zeros(3))[None]
        np.testing.assert_allclose(encoding.membership(origin), 0.25)


# Two clusters in the default encoding


def test_two_clusters_are_cut_at_zero_however_far_out_one_of_them_is():
    scores = np.concatenate([np.full(30, 10.0), np.full(10, -0.1), [0.5, -0.01]])[:, None]
    encoding = numbered("qr", spectrum_with([0.9]), scores, np.ones(42), np.ones(42))
    assert isinstance(encoding, Sides)
    np.testing.assert_array_equal(encoding.labels(scores), np.r_[np.zeros(30), np.ones(10), 0, 1])


def test_the_membership_of_two_clusters_is_even_at_the_cut_and_full_at_the_means():
    encoding = Sides(np.array([[4.0], [-1.0]]))
    membership = encoding.membership(np.array([[0.0], [4.0], [-1.0], [2.0], [-0.5]]))
    np.testing.assert_allclose(membership, [[0.5, 0.5], [1, 0], [0, 1], [0.75, 0.25], [0.25, 0.75]])


# Degenerate eigenvalues


def test_qr_labels_do_not_change_when_a_degenerate_eigenspace_is_rotated():
    rng = np.random.default_rng(3)
    y = np.repeat(np.arange(6), [60, 50, 40, 30, 20, 10])
    indicator = np.eye(6)[y] / np.sqrt(np.bincount(y))[y][:, None]
    constant = np.ones(len(y)) / np.sqrt(len(y))
    basis = np.linalg.qr(np.column_stack([constant, indicator[:, :5]]))[0][:, 1:]
    for _ in range(20):
        rotation = np.linalg.qr(rng.standard_normal((5, 5)))[0]
        scores = basis @ rotation + 1e-3 * rng.standard_normal((len(y), 5)) / np.sqrt(len(y))
        spectrum = spectrum_with(np.ones(5), omega=float(len(y)))
        encoding = numbered("qr", spectrum, scores, np.ones(len(y)), np.ones(len(y)))
        np.testing.assert_array_equal(encoding.labels(scores), y)


# Too few code words


@pytest.mark.parametrize("rows", [2000, 50])
def test_several_starts_find_the_clusters_on_all_rows_and_on_some(trained, rows, monkeypatch):
    monkeypatch.setattr(encoding, "START_ROWS", rows)
    monkeypatch.setattr(encoding, "START_ROWS_PER_CLUSTER", 1)
    spectrum, scores, y, shares = trained
    shares = shares * (np.arange(len(y)) % 7 > 0)  # some are not represented
    found = fit_best_directions(spectrum, scores, np.ones(len(y)), shares)
    again = fit_best_directions(spectrum, scores, np.ones(len(y)), shares)
    assert adjusted_rand_score(y, found.labels(scores)) == 1.0
    assert np.array_equal(found.prototypes, again.prototypes)


def test_the_best_start_is_no_worse_than_the_pivoted_one():
    rng = np.random.default_rng(0)
    scores, weights = rng.normal(size=(300, 5)), rng.uniform(0.5, 2.0, 300)
    spectrum = spectrum_with(np.ones(5), omega=weights.sum())

    def agreement(found):
        return encoding._agreement(encoding._unit_rows(scores), weights, found.prototypes)

    pivoted = ENCODINGS["qr"](spectrum, scores, weights, weights)
    assert agreement(fit_best_directions(spectrum, scores, weights, weights)) >= agreement(pivoted)


@pytest.mark.parametrize("name", ["sign", "direction", "qr"])
def test_a_single_cluster_is_always_available(name):
    encoding = numbered(name, spectrum_with([]), np.empty((5, 0)), np.ones(5), np.ones(5))
    np.testing.assert_array_equal(encoding.labels(np.empty((3, 0))), [0, 0, 0])
    np.testing.assert_array_equal(encoding.membership(np.empty((3, 0))), np.ones((3, 1)))


def test_fewer_sign_patterns_than_clusters_are_reported():
    scores = np.array([[1.0, 1.0], [2.0, 2.0], [-1.0, -1.0]])
    for name in ("sign", "direction"):
        with pytest.raises(TooFewCodeWords, match="2 sign patterns, not 3"):
            ENCODINGS[name](spectrum_with([1.0, 1.0]), scores, np.ones(3), np.ones(3))


def test_fewer_directions_than_clusters_are_reported():
    scores = np.zeros((4, 2))
    with pytest.raises(TooFewCodeWords, match=r"1 directions?, not 3"):
        ENCODINGS["qr"](spectrum_with([1.0, 1.0]), scores, np.ones(4), np.ones(4))


def test_code_words_of_weight_zero_do_not_count():
    scores = np.array([[1.0, 1.0], [2.0, 2.0], [-1.0, -1.0], [1.0, -1.0]])
    with pytest.raises(TooFewCodeWords):
        ENCODINGS["sign"](spectrum_with([1.0, 1.0]), scores, np.array([1.0, 1, 1, 0]), np.ones(4))


@pytest.mark.parametrize("name", ["sign", "direction", "qr"])
def test_points_of_weight_zero_do_not_number_the_clusters(name):
    scores = np.array([[-1.0], [1.0], [1.0], [-1.0], [-1.0]])
    whole = numbered(name, spectrum_with([0.9]), scores[1:], np.ones(4), np.ones(4))
    weights = np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    weighted = numbered(name, spectrum_with([0.9]), scores, weights, weights)
    np.testing.assert_array_equal(weighted.labels(scores)[1:], whole.labels(scores[1:]))


def test_the_angular_encoding_of_what_turns_out_to_be_two_clusters_is_their_side():
    scores = np.array([[1.0], [-1.0], [2.0]])
    encoding = ENCODINGS["angular"](spectrum_with([0.9]), scores, np.ones(3), np.ones(3))
    labels = encoding.labels(scores)
    assert labels[0] == labels[2] != labels[1]

    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 0.1, (50, 2)), rng.normal(5, 0.1, (50, 2))])
    with pytest.warns(ConvergenceWarning, match="3 clusters are not available"):
        ksc = KernelSpectralClustering(3, bandwidth=100.0, encoding="angular").fit(X)
    assert ksc.n_clusters_ == 2
    assert adjusted_rand_score(ksc.labels_, np.repeat([0, 1], 50)) == 1.0


def test_outliers_do_not_become_prototypes_of_the_default_encoding(trained):
    spectrum, scores, y, shares = trained
    far = np.concatenate([scores, [[1e6, -1e6, 1e6]]])
    encoding = ENCODINGS["qr"](spectrum, far, np.ones(281), np.append(shares, 0.0))
    assert adjusted_rand_score(y, encoding.labels(scores)) == 1.0


@given(st.lists(st.integers(0, 3), max_size=1500), st.integers(0, 2**32 - 1))
def test_the_first_point_of_a_cluster_is_found_wherever_it_is(tail, seed):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.zeros(rng.integers(0, 1500), np.intp), np.array(tail, np.intp)])
    weights = rng.integers(0, 2, len(labels)).astype(np.float64)
    counted = ClusterSizes.of_labels(labels, weights, 4)
    for cluster in range(4):
        members = np.flatnonzero((labels == cluster) & (weights > 0.0))
        assert counted.first[cluster] == (members[0] if len(members) else len(labels))
        assert counted.sizes[cluster] == len(members)
