"""Only relative sample weights have a meaning: ``sample_weight * c`` is the same for any c."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from sparseksc import KernelSpectralClustering, tune
from sparseksc.config.checks import rescale_weights
from sparseksc.core.clusters.availability import BandwidthWarning
from sparseksc.core.encoding import ClusterSizes
from sparseksc.data.sampling import in_typical_rows
from sparseksc.search.candidates import weighted_median
from sparseksc.search.result import DoubtWarning

CENTRES = [[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]]
FACTORS = st.floats(-12.0, 12.0).map(lambda power: 10.0**power)


@pytest.fixture(autouse=True)
def only_foreign_warnings():
    """Let doubts about the clusters pass; every other warning stays an error."""
    with warnings.catch_warnings():
        for kind in (DoubtWarning, BandwidthWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", kind)
        yield


def three(n=150):
    return make_blobs(n, centers=CENTRES, random_state=0)


def made(seed, n, n_centres, n_features, kind):
    """Random blobs, with equal weights, small integers (also 0) or any positive numbers."""
    rng = np.random.default_rng(seed)
    X, _ = make_blobs(
        n, n_features, centers=n_centres, cluster_std=rng.uniform(0.3, 3.0), random_state=seed
    )
    if kind == "equal":
        return X, np.ones(n)
    if kind == "integers":
        return X, np.r_[1.0, rng.integers(0, 4, n - 1)]
    return X, rng.exponential(size=n)


def outcome(X, weights, n_clusters, method="fit"):
    model = KernelSpectralClustering(n_clusters, random_state=0, n_jobs=1)
    try:
        if method == "fit":
            model.fit(X, sample_weight=weights)
        else:
            half = len(X) // 2
            model.partial_fit(X[:half], sample_weight=weights[:half])
            model.partial_fit(X[half:], sample_weight=weights[half:])
    except ValueError as error:
        return str(error), None
    return (model.n_clusters_, model.bandwidth_, model.predict(X).tolist()), model.cluster_sizes_


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(30, 200),
    n_centres=st.integers(1, 5),
    n_features=st.integers(1, 3),
    kind=st.sampled_from(["equal", "integers", "any"]),
    n_clusters=st.sampled_from(["auto", 2, 3]),
    method=st.sampled_from(["fit", "partial_fit"]),
    factor=FACTORS,
)
@example(0, 150, 3, 2, "equal", "auto", "fit", 1.0 / 150.0)
@example(1, 150, 3, 2, "integers", "auto", "fit", 1e-12)
@example(2, 150, 3, 2, "any", "auto", "partial_fit", 1e12)
def test_a_factor_changes_no_label_no_number_of_clusters_and_no_bandwidth(
    seed, n, n_centres, n_features, kind, n_clusters, method, factor
):
    X, weights = made(seed, n, n_centres, n_features, kind)
    plain, sizes = outcome(X, weights, n_clusters, method)
    scaled, scaled_sizes = outcome(X, weights * factor, n_clusters, method)
    assert scaled == plain
    if sizes is not None:
        np.testing.assert_allclose(scaled_sizes, sizes * factor, rtol=1e-9)


@pytest.mark.parametrize("criterion", ["auto", "ams", "blf", "bas"])
@pytest.mark.parametrize("factor", [1.0 / 150.0, 1e-12, 1e12])
def test_a_search_finds_the_same_with_every_criterion(criterion, factor):
    X, _ = three()
    found = [
        tune(X, [3, 4], criterion=criterion, sample_weight=weights, random_state=0, progress=False)
        for weights in (None, np.full(150, factor))
    ]
    assert found[0].best_n_clusters == found[1].best_n_clusters
    assert found[0].best_bandwidth == found[1].best_bandwidth


def test_weights_that_sum_to_one_find_the_three_clusters():
    X, y = three()
    for weights in (np.full(150, 1.0 / 150.0), np.full(150, 1e-200), np.full(150, 1e200)):
        model = KernelSpectralClustering(random_state=0).fit(X, sample_weight=weights)
        assert adjusted_rand_score(y, model.labels_) == 1.0
        np.testing.assert_allclose(model.cluster_sizes_, 50.0 * weights[0])


def test_ordinary_weights_keep_their_bits():
    weights = np.random.default_rng(0).exponential(size=20)
    same, unit = rescale_weights(weights)
    assert same.tobytes() == weights.tobytes()
    assert unit == 1.0
    tiny, unit = rescale_weights(weights * 2.0**-700)
    assert (tiny * unit).tobytes() == (weights * 2.0**-700).tobytes()
    ones = np.ones(20)
    assert in_typical_rows(ones, weights) is weights


@pytest.mark.parametrize("n_clusters", [3, "auto"])
@pytest.mark.parametrize("power", [(-200, -200), (200, 200), (-200, 200), (-300, 0), (-323, -323)])
def test_tiny_and_huge_weights_and_mixtures_give_a_model_or_a_sentence(power, n_clusters):
    X, _ = three()
    weights = 10.0 ** np.random.default_rng(0).uniform(*power, size=150)
    model = KernelSpectralClustering(n_clusters, random_state=0)
    for method in (model.fit, model.partial_fit):
        try:
            method(X, sample_weight=weights)
        except ValueError as error:
            assert "clusters asked for" in str(error)
        else:
            np.testing.assert_allclose(model.cluster_sizes_.sum(), weights.sum(), rtol=1e-9)


def test_chunks_of_very_different_weights_join_in_one_unit():
    X, y = three(300)
    model = KernelSpectralClustering(3, bandwidth=4.0, random_state=0)
    for start, weight in ((0, 1e-300), (100, 1.0), (200, 1e300)):
        model.partial_fit(X[start : start + 100], sample_weight=np.full(100, weight))
    assert adjusted_rand_score(y, model.predict(X)) == 1.0
    assert model.cluster_sizes_.sum() == pytest.approx(1e302)
    for _ in range(30):  # rows that are forgotten beyond all digits are dropped
        model.partial_fit(X, forgetting=1e-20)
    assert adjusted_rand_score(y, model.predict(X)) == 1.0


def test_a_sum_that_is_no_number_is_refused():
    X, _ = three()
    with pytest.raises(ValueError, match="sum of sample_weight is too large for float64"):
        KernelSpectralClustering(3).fit(X, sample_weight=np.full(150, 1e308))


@pytest.mark.parametrize("factor", [0.1, 1.0, 0.3, 1e-9])
def test_ties_do_not_depend_on_rounding_errors(factor):
    values, weights = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.0, 1.0, 2.0])
    assert weighted_median(values, weights * factor) == 2.0
    left = np.add.reduce(np.full(30, factor))
    one = ClusterSizes(np.array([left, sum([factor] * 30)]), np.array([5, 0]), 60)
    assert one.order.tolist() == [1, 0]


def test_a_heavy_row_still_counts_like_copies_of_the_others():
    X = np.r_[np.random.default_rng(0).normal(10.0, 1.0, size=(200, 2)), np.zeros((1, 2))]
    weights = np.r_[np.ones(200), 200.0]
    for factor in (1.0, 1e-3):
        model = KernelSpectralClustering(random_state=0).fit(X, sample_weight=weights * factor)
        copies = KernelSpectralClustering(random_state=0).fit(X.repeat(weights.astype(int), axis=0))
        assert model.bandwidth_ == pytest.approx(copies.bandwidth_)
        np.testing.assert_array_equal(model.predict(X), copies.predict(X))
