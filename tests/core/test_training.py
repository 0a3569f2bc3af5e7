"""Training: thresholds of the spirals, weights, outliers, and bandwidths that see nothing."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from sparseksc import BandwidthWarning, KernelSpectralClustering
from sparseksc.core import training
from sparseksc.core.pivoting import RULES
from sparseksc.core.recipe import Recipe
from sparseksc.core.training import train
from sparseksc.data.sampling import selection_sample
from sparseksc.data.source import ArraySource
from sparseksc.datasets import make_gaussians, make_spirals
from sparseksc.kernels import make_kernel
from sparseksc.reference import original_ksc, sign_labels


def recipe(**changes):
    kernel = changes.pop("kernel", make_kernel("rbf", 2.0))
    settings = {
        "kernel": kernel,
        "icd_kernel": kernel,
        "max_rank": 50,
        "tol": 1e-3,
        "pivoting": "greedy",
        "selection_size": None,
        "encoding": "qr",
        "seed": 0,
        "n_jobs": 1,
    }
    return Recipe(**{**settings, **changes})


# The spirals


def spirals_ari(seed, selection_size, **settings):
    X, y = make_spirals(100_000, random_state=seed)
    ksc = KernelSpectralClustering(
        2, bandwidth=0.006, max_rank=115, selection_size=selection_size, random_state=seed
    ).set_params(**settings)
    return adjusted_rand_score(y, ksc.fit_predict(X))


@pytest.mark.parametrize("seed", [0, 1])
def test_115_pivots_cluster_100_000_points_on_spirals_perfectly(seed):
    assert spirals_ari(seed, "auto") == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("selection_size", ["auto", None])
@pytest.mark.parametrize("seed", range(10))
def test_115_pivots_cluster_the_spirals_perfectly_for_every_seed(seed, selection_size):
    assert spirals_ari(seed, selection_size) == 1.0


def test_the_original_bias_needs_clearly_more_pivots_on_the_spirals():
    X, y = make_spirals(5000, random_state=0)
    kernel = make_kernel("rbf", 0.0102)

    def original_ari(rank):
        scores = original_ksc(X, 2, kernel.tile, max_rank=rank).scores
        return adjusted_rand_score(y, sign_labels(scores, 2))

    for rank in (130, 150):
        ksc = KernelSpectralClustering(2, bandwidth=0.0102, max_rank=rank, selection_size=None)
        assert adjusted_rand_score(y, ksc.fit_predict(X)) == 1.0
        assert original_ari(rank) < 1.0
    assert original_ari(190) == 1.0


@pytest.mark.parametrize("pivoting", RULES)
def test_every_rule_finds_the_blobs(blobs, pivoting):
    X, y = blobs
    trained = train(ArraySource(X), 3, recipe(pivoting=pivoting))
    np.testing.assert_array_equal(trained.labels, y)


# Weights


@pytest.mark.parametrize("encoding", ["sign", "direction", "angular", "qr"])
def test_a_weight_counts_like_that_many_copies(shape, encoding):
    if shape.n_clusters == 2 and encoding == "angular":
        pytest.skip("the angular encoding needs three clusters")
    X = shape.X
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    copies = np.repeat(np.arange(len(X)), weights)
    settings = recipe(
        kernel=make_kernel("rbf", 4 * shape.bandwidth), encoding=encoding, max_rank=40
    )
    weighted = train(ArraySource(X, weights.astype(float)), shape.n_clusters, settings)
    copied = train(ArraySource(X[copies], np.ones(len(copies))), shape.n_clusters, settings)
    np.testing.assert_array_equal(copied.labels, weighted.labels[copies])
    np.testing.assert_array_equal(copied.model.projection.points, weighted.model.projection.points)
    scores = weighted.model.scores(X)
    np.testing.assert_allclose(copied.model.scores(X), scores, atol=1e-8 * np.abs(scores).max())
    assert copied.residual == pytest.approx(weighted.residual, abs=1e-12)


@pytest.mark.parametrize("pivoting", RULES)
def test_weight_zero_counts_like_no_row(gaussians, pivoting):
    X = gaussians.X
    kept = np.random.default_rng(0).random(len(X)) < 0.7
    settings = recipe(kernel=make_kernel("rbf", 8.0), pivoting=pivoting)
    weighted = train(ArraySource(X, kept.astype(float)), 4, settings)
    removed = train(ArraySource(X[kept], np.ones(kept.sum())), 4, settings)
    np.testing.assert_array_equal(weighted.labels[kept], removed.labels)
    scores = removed.model.scores(X)
    np.testing.assert_allclose(weighted.model.scores(X), scores, atol=1e-8 * np.abs(scores).max())
    assert set(weighted.indices) <= set(np.flatnonzero(kept))


def test_weights_count_once_where_prototypes_come_from_a_sample(monkeypatch):
    # The score of a point grows with its distance from the middle; heavy points are far out.
    rng = np.random.default_rng(0)
    X = np.r_[rng.uniform(-3, -1, 10_000), rng.uniform(1, 3, 10_000)][:, None]
    weights = np.where(np.abs(X[:, 0]) > 2, 4.0, 1.0)
    kernel = make_kernel("rbf", 8.0)
    settings = recipe(kernel=kernel, max_rank=8, selection_size=500)

    def prototypes(size):
        monkeypatch.setattr(training, "ENCODING_SIZE", size)
        return train(ArraySource(X, weights), 2, settings).model.encoding.prototypes

    np.testing.assert_allclose(prototypes(5000), prototypes(20_000), rtol=0.01)


def test_equal_weights_change_no_bit(gaussians):
    X = gaussians.X
    settings = recipe(kernel=make_kernel("rbf", 8.0))
    ones = train(ArraySource(X), 4, settings)
    fours = train(ArraySource(X, np.full(len(X), 4.0)), 4, settings)
    assert fours.model.projection.coef.tobytes() == ones.model.projection.coef.tobytes()
    np.testing.assert_array_equal(fours.labels, ones.labels)


@pytest.mark.parametrize("heavy", [2.0, 10.0])
def test_heavier_points_push_the_cut_away_from_them(heavy):
    X = np.linspace(-3.0, 3.0, 601)[:, None]

    def cut(weights):
        """Place between the two clusters."""
        labels = train(ArraySource(X, weights), 2, recipe()).labels
        (last,) = np.flatnonzero(np.diff(labels))
        return X[last : last + 2].mean()

    spacing = X[1, 0] - X[0, 0]
    right, left = (cut(np.where(side * X[:, 0] > 0.0, heavy, 1.0)) for side in (1, -1))
    assert abs(cut(np.ones(len(X)))) <= spacing
    assert right < -2.0 * spacing
    assert left == pytest.approx(-right, abs=2.0 * spacing)


# Outliers


def test_points_out_of_reach_are_counted_and_do_not_move_the_clusters(blobs):
    X, y = blobs
    data = np.concatenate([X, [[500.0, 500.0], [-800.0, 40.0]]])
    # A seed whose selection sample leaves the far points out.
    seed = next(s for s in range(99) if selection_sample(152, 100, s, np.ones(152))[-1] < 150)
    settings = {"bandwidth": 2.0, "max_rank": 30, "selection_size": 100, "random_state": seed}
    ksc = KernelSpectralClustering(3, **settings).fit(data)
    assert ksc.n_outliers_ == 2
    np.testing.assert_array_equal(np.flatnonzero(ksc.outliers(data)), [150, 151])
    assert adjusted_rand_score(y, ksc.labels_[:-2]) == 1.0
    assert set(ksc.labels_[-2:]) <= {0, 1, 2}


# Bandwidths that see nothing, or everything


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "chi2"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_identity_kernel_is_an_error(blobs, kernel, dtype):
    X = np.abs(blobs[0]).astype(dtype)
    for bandwidth in (1e-300, 1e-12):
        with pytest.raises(ValueError, match=r"No two different points are similar.*too small"):
            KernelSpectralClustering(3, kernel=kernel, bandwidth=bandwidth).fit(X)


@pytest.mark.parametrize("max_rank", [3, 4, 20, 70, 80, 140, 149])
def test_an_identity_kernel_of_low_rank_is_a_warning_and_labels_stay_valid(blobs, max_rank):
    ksc = KernelSpectralClustering(3, bandwidth=1e-300, max_rank=max_rank)
    with pytest.warns(BandwidthWarning, match="bandwidth 1e-300 is too small"):
        labels = ksc.fit_predict(blobs[0])
    assert labels.min() == 0 and labels.max() <= 2


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "chi2", "polynomial"])
def test_a_kernel_of_ones_is_an_error(blobs, kernel):
    X = np.abs(blobs[0])
    for bandwidth in (1e12, 1e300):
        with pytest.raises(ValueError, match=r"3 clusters asked for, .* no more than 1.*smaller"):
            KernelSpectralClustering(3, kernel=kernel, bandwidth=bandwidth).fit(X)


@pytest.mark.parametrize("exponent", range(-12, 13, 2))
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial"])
def test_between_the_extremes_there_are_labels_or_a_sentence(blobs, kernel, exponent):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", BandwidthWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            ksc = KernelSpectralClustering(3, kernel=kernel, bandwidth=10.0**exponent)
            labels = ksc.fit_predict(blobs[0])
        except ValueError as error:
            assert "similar" in str(error) or "clusters asked for" in str(error)
        else:
            assert set(np.unique(labels)) <= {0, 1, 2}
            assert np.isfinite(ksc.transform(blobs[0])).all()


def test_a_number_of_clusters_that_is_not_there_is_a_warning_and_fewer_are_found():
    X = np.random.default_rng(0).standard_normal((6, 1))
    ksc = KernelSpectralClustering(5, bandwidth=0.5, encoding="angular")
    with pytest.warns(ConvergenceWarning, match="5 clusters are not available .* with 4"):
        labels = ksc.fit_predict(X)
    assert ksc.n_clusters_ == 4
    assert labels.max() <= 3
    assert ksc.coef_.shape[1] == ksc.bias_.size == ksc.eigenvalues_.size == 3
    np.testing.assert_array_equal(ksc.predict(X), labels)


def test_clusters_without_points_are_a_warning():
    X, _ = make_blobs(300, centers=3, random_state=1)
    with pytest.warns(ConvergenceWarning, match="1 of the 3 clusters has no points"):
        ksc = KernelSpectralClustering(3, kernel="linear", random_state=0).fit(X)
    assert ksc.cluster_sizes_.tolist() == [200, 100, 0]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"tol": 1.0}, r"tol=1\.0 is reached with 1 pivots, too few .*Use a smaller tol"),
        ({"kernel": "linear", "n_clusters": 9}, "no more than .* Ask for fewer clusters"),
    ],
)
def test_too_few_directions_are_explained(blobs, settings, sentence):
    ksc = KernelSpectralClustering(3, bandwidth=2.0).set_params(**settings)
    with pytest.raises(ValueError, match=sentence):
        ksc.fit(blobs[0])


def test_values_that_overflow_are_an_error(blobs, no_warnings):
    X = blobs[0]
    for data in (X * 1e200, (X * 1e30).astype(np.float32)):
        with pytest.raises(ValueError, match=r"kernel values are too large for .*rescale X"):
            KernelSpectralClustering(2, kernel="linear").fit(data)
    with pytest.raises(ValueError, match="rescale X or use a larger bandwidth"):
        KernelSpectralClustering(2, kernel="polynomial", bandwidth=1e-300).fit(X)


def test_a_function_that_is_no_kernel_is_an_error(blobs):
    with pytest.raises(ValueError, match="must be positive semi-definite"):
        KernelSpectralClustering(2, kernel=lambda X, Y: -np.ones((len(X), len(Y)))).fit(blobs[0])
    with pytest.raises(ValueError, match="kernel is zero on all the data"):
        KernelSpectralClustering(2, kernel=lambda X, Y: np.zeros((len(X), len(Y)))).fit(blobs[0])


@pytest.mark.parametrize("order", ["C", "F"])
def test_many_chunks_are_labelled_and_counted_with_their_own_weights(order):
    rng = np.random.default_rng(0)
    X = np.asarray(
        rng.normal(size=(40_000, 2)) + np.repeat([[0.0], [9.0]], 20_000, axis=0), order=order
    )
    weights = rng.uniform(0.5, 1.5, len(X)) * np.linspace(1.0, 3.0, len(X))
    model = KernelSpectralClustering(2, bandwidth=4.0, max_rank=30, random_state=0)
    model.fit(X, sample_weight=weights)
    np.testing.assert_allclose(model.cluster_sizes_, np.bincount(model.labels_, weights))
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    plain = KernelSpectralClustering(2, bandwidth=4.0, max_rank=30, random_state=0, n_jobs=1)
    plain.fit(np.ascontiguousarray(X), sample_weight=weights)
    np.testing.assert_array_equal(model.coef_, plain.coef_)


@pytest.mark.parametrize("seed", range(4))
def test_points_out_of_reach_have_the_labels_that_are_predicted(seed):
    X, _ = make_gaussians(3000, n_clusters=4, random_state=seed)
    X = np.vstack([X, [[1e3, 1e3]] * 5, [[-1e3, 0.0]] * 4])
    model = KernelSpectralClustering(
        4, bandwidth=3.0, max_rank=40, pivoting="uniform", random_state=0
    ).fit(X)
    assert model.n_outliers_ > 0
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    np.testing.assert_array_equal(model.cluster_sizes_, np.bincount(model.predict(X)))
