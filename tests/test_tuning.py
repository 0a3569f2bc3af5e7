"""The search over numbers of clusters and bandwidths."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

from sparseksc import DoubtWarning, KernelSpectralClustering, load, open_dataset, tune
from sparseksc.data.sampling import Sample
from sparseksc.datasets import make_rings, make_spirals
from sparseksc.kernels import RBF, Chi2, Laplacian, Polynomial, make_kernel
from sparseksc.search.candidates import automatic_bandwidths, weighted_median
from sparseksc.search.graph import neighbour_graph
from sparseksc.search.isolation import isolated_points
from sparseksc.search.ranking import Surfaces, rank_by_criterion, rank_by_separation
from sparseksc.search.samples import weighted_sample

CENTRES = [[0, 0], [6, 0], [0, 6]]


@pytest.fixture(scope="module")
def three():
    """Three blobs: (X, y)."""
    return make_blobs(240, centers=CENTRES, cluster_std=0.8, random_state=0)


@pytest.fixture(scope="module")
def found(three):
    """A search among them."""
    return tune(three[0], n_clusters=range(2, 6), random_state=0)


def surfaces_of(**values):
    """Surfaces of two bandwidths and the numbers of clusters 2, 3, 4."""
    usual = {
        name: np.full((2, 3), 0.5) for name in ("ams", "blf", "bas", "strength", "conductance")
    }
    usual |= {"cut": np.full((2, 3), 0.1), "cohesion": np.ones((2, 3)), "smallest": np.ones((2, 3))}
    usual |= {name: np.array(value, dtype=float) for name, value in values.items()}
    return Surfaces([1.0, 2.0], [2, 3, 4], usual, 1e-4)


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


class TestNeighbours:
    def test_weights_count_like_copies(self):
        rng = np.random.default_rng(1)
        X, weights = rng.normal(size=(60, 2)), rng.integers(1, 4, size=60)
        kernel = make_kernel("rbf")
        one = neighbour_graph(kernel, X, weights.astype(float))
        copies = np.repeat(np.arange(60), weights)
        two = neighbour_graph(kernel, X[copies], np.ones(len(copies)))
        np.testing.assert_array_equal(X[one.rows], X[copies][two.rows])
        np.testing.assert_allclose(one.symmetric.toarray(), two.symmetric.toarray())

    @pytest.mark.parametrize("name", ["rbf", "laplacian", "chi2", "cosine", "linear"])
    def test_separate_clusters_have_no_conductance(self, name):
        rng = np.random.default_rng(2)
        X = np.abs(np.vstack([rng.normal([9, 1], 0.1, (50, 2)), rng.normal([1, 9], 0.1, (50, 2))]))
        graph = neighbour_graph(make_kernel(name), X, np.ones(100))
        conductance, _, cohesion = graph.evaluate(np.repeat([0, 1], 50)[graph.rows])
        assert (conductance, cohesion) == (0.0, 1.0)

    def test_sparse_and_dense_data_have_the_same_graph(self):
        X = np.random.default_rng(3).integers(0, 3, size=(50, 4)).astype(float)
        kernel = make_kernel("rbf")
        dense = neighbour_graph(kernel, X, np.ones(50))
        sparse = neighbour_graph(kernel, sp.csr_array(X), np.ones(50))
        np.testing.assert_array_equal(dense.rows, sparse.rows)
        assert len(dense.rows) < 50

    def test_a_slice_of_a_cluster_does_not_hold_together(self):
        X = np.random.default_rng(4).normal(size=(100, 2))
        graph = neighbour_graph(make_kernel("rbf"), X, np.ones(100))
        labels = np.zeros(100, dtype=int)
        labels[:2] = 1
        assert graph.evaluate(labels)[2] < 0.5


def none_separate(row, column):
    """No cluster is easier to leave than to cross."""
    return 0.0


class TestChoice:
    def test_the_criteria_of_the_literature_are_maximised_as_they_are(self):
        surfaces = surfaces_of(ams=[[0.1, 0.9, np.nan], [0.4, 0.2, np.nan]])
        ranking = rank_by_criterion(surfaces, "ams", [2, 3, 4])
        assert [(c.n_clusters, c.bandwidth, c.value) for c in ranking] == [
            (3, 1.0, 0.9),
            (2, 2.0, 0.4),
        ]

    def test_auto_takes_the_number_after_which_the_conductance_rises(self):
        surfaces = surfaces_of(conductance=[[0.01, 0.012, 0.2], [0.01, 0.012, 0.2]])
        assert rank_by_separation(surfaces, [2, 3], none_separate)[0].n_clusters == 3

    def test_auto_takes_the_number_with_more_separate_clusters(self):
        # Two groups of clusters that nothing joins: the rise after two is as large as one likes.
        surfaces = surfaces_of(conductance=[[0.0, 0.012, 0.1], [0.0, 0.012, 0.1]])
        by_rise = rank_by_separation(surfaces, [2, 3], none_separate)
        assert by_rise[0].n_clusters == 2
        both = rank_by_separation(surfaces, [2, 3], lambda row, column: 3.0 * column)
        assert both[0].n_clusters == 3
        assert {choice.n_clusters: choice.conductance_ratio for choice in both} == {
            choice.n_clusters: choice.conductance_ratio for choice in by_rise
        }

    def test_auto_avoids_the_end_of_the_range_that_works(self):
        strength = np.tile([[0.80], [0.81], [0.82], [0.5]], 3)
        cut = np.tile([[1e-4], [1e-4], [1e-4], [0.1]], 3)
        values = {name: np.full((4, 3), 0.5) for name in ("ams", "blf", "bas", "conductance")}
        values |= {name: np.ones((4, 3)) for name in ("cohesion", "smallest")}
        values |= {"strength": strength, "cut": cut}
        surfaces = Surfaces([1.0, 1.25, 1.5, 1.75], [2, 3, 4], values, 1e-4)
        chosen = rank_by_separation(surfaces, [2, 3], none_separate)
        assert {choice.bandwidth for choice in chosen} == {1.25}
        apart = replace(surfaces, bandwidths=[1.0, 2.0, 4.0, 8.0])
        chosen = rank_by_separation(apart, [2, 3], none_separate)
        assert {choice.bandwidth for choice in chosen} == {4.0}

    def test_auto_takes_the_bandwidth_of_the_lowest_cut(self):
        surfaces = surfaces_of(cut=[[0.3, 0.3, 0.3], [0.2, 0.2, 0.2]])
        assert {
            choice.bandwidth for choice in rank_by_separation(surfaces, [2, 3], none_separate)
        } == {2.0}

    @pytest.mark.parametrize("guard", ["cohesion", "smallest"])
    def test_auto_refuses_clusters_of_outliers(self, guard):
        surfaces = surfaces_of(
            cut=[[0.3, 0.3, 0.3], [0.2, 0.2, 0.2]], **{guard: [[1, 1, 1], [0, 0, 0]]}
        )
        assert {
            choice.bandwidth for choice in rank_by_separation(surfaces, [2, 3], none_separate)
        } == {1.0}
        insisting = rank_by_separation(surfaces, [2, 3], none_separate, any_size=True)
        assert {choice.bandwidth for choice in insisting} == {2.0}

    def test_a_closer_look_takes_the_widest_of_nearly_equal_bandwidths(self):
        surfaces = surfaces_of(strength=[[0.95, 0.9, 0.9], [0.9, 0.6, 0.6]])
        for near_best, expected in ((None, {2: 1.0, 3: 1.0}), (0.8, {2: 2.0, 3: 1.0})):
            ranking = rank_by_separation(surfaces, [2, 3], none_separate, near_best=near_best)
            assert {choice.n_clusters: choice.bandwidth for choice in ranking} == expected


@pytest.fixture(scope="module")
def arms():
    """Four long spirals, which 200 pivots cannot cover: (X, y)."""
    return make_spirals(40_000, n_arms=4, random_state=0)


@pytest.fixture(scope="module")
def found_arms(arms):
    """A fit that has to find everything by itself."""
    return KernelSpectralClustering(random_state=0).fit(arms[0])


def test_the_model_has_the_pivots_that_were_judged():
    X, y = make_blobs(20_000, centers=CENTRES, cluster_std=[0.2, 0.6, 1.2], random_state=0)
    ksc = KernelSpectralClustering(random_state=0).fit(X)
    found = tune(X, "auto", random_state=0)
    assert ksc.bandwidth_ == found.best_bandwidth
    np.testing.assert_array_equal(X[ksc.reduced_set_indices_], ksc.reduced_set_)
    assert adjusted_rand_score(y, ksc.labels_) > 0.99


def test_an_array_and_a_stream_give_the_same_model():
    X, _ = make_blobs(70_000, centers=CENTRES, cluster_std=0.8, random_state=0)
    fitted = [
        KernelSpectralClustering([2, 3, 4], random_state=0).fit(data)
        for data in (X, open_dataset([X[:65_536], X[65_536:]]))
    ]
    assert fitted[0].bandwidth_ == fitted[1].bandwidth_
    np.testing.assert_array_equal(*(ksc.reduced_set_indices_ for ksc in fitted))
    np.testing.assert_array_equal(*(ksc.coef_ for ksc in fitted))


@pytest.mark.filterwarnings("ignore::sparseksc.DoubtWarning")
def test_all_rows_are_looked_at_for_pivots_where_that_is_asked_for():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(14_000, 2)), 100.0 * np.arange(1, 15)[:, None] * [[1.0, -1.0]]])
    parameters = {"bandwidth": 1.0, "max_rank": 60, "tol": 0.0, "selection_size": None}
    for K in (2, [2, 3]):
        ksc = KernelSpectralClustering(K, random_state=0, **parameters).fit(X)
        assert set(range(14_000, 14_014)) <= set(ksc.reduced_set_indices_)


def test_the_second_bandwidth_stays_where_it_is_also_a_candidate():
    X, _ = make_blobs(300, centers=CENTRES, cluster_std=0.8, random_state=0)
    ksc = KernelSpectralClustering(3, bandwidth=[4.0, 8.0], icd_bandwidth=4.0, random_state=0)
    assert ksc.fit(X).model_.projection.degree_kernel.bandwidth == 4.0


@pytest.mark.filterwarnings("ignore:.*has no points:sklearn.exceptions.ConvergenceWarning")
def test_more_clusters_than_the_usual_pivots():
    X = np.random.default_rng(0).uniform(size=(1000, 2))
    ksc = KernelSpectralClustering(250, bandwidth=1e-4, random_state=0)
    assert len(ksc.fit(X).reduced_set_) == 250


class TestCloserLook:
    def test_it_finds_long_thin_shapes(self, arms, found_arms):
        assert found_arms.n_clusters_ == 4
        assert adjusted_rand_score(arms[1], found_arms.labels_) == 1.0
        assert found_arms.tuning_.doubt is None

    def test_the_models_of_both_looks_are_kept(self, found_arms):
        tuning = found_arms.tuning_
        assert tuning.n_models >= 200
        assert tuning.max_rank == len(found_arms.reduced_set_) == 1000
        assert tuning.surfaces.bandwidths == sorted(tuning.surfaces.bandwidths)
        # The narrow bandwidths are those of the closer look alone.
        chosen = tuning.surfaces.bandwidths.index(tuning.best_bandwidth)
        assert chosen < 4
        assert np.diff(np.log(tuning.surfaces.bandwidths[:4])) == pytest.approx(
            np.log(tuning.surfaces.bandwidths[1] / tuning.surfaces.bandwidths[0])
        )
        assert tuning.to_frame()["chosen"].sum() == 1

    def test_it_helps_with_a_given_number_of_clusters(self, arms):
        ksc = KernelSpectralClustering(4, random_state=0).fit(arms[0])
        assert adjusted_rand_score(arms[1], ksc.labels_) == 1.0

    def test_it_is_kept_in_a_file(self, found_arms, tmp_path):
        found_arms.save(tmp_path / "arms.ksc")
        assert load(tmp_path / "arms.ksc").tuning_.max_rank == 1000

    @pytest.mark.filterwarnings("ignore::sparseksc.DoubtWarning")
    def test_a_given_number_of_pivots_is_not_exceeded(self, arms):
        result = tune(arms[0], [3, 4], max_rank=60, random_state=0)
        assert result.max_rank == 60

    @pytest.mark.filterwarnings("ignore::sparseksc.DoubtWarning")
    def test_it_is_left_out_where_it_does_not_fit_into_memory(self, arms):
        ksc = KernelSpectralClustering(memory_limit="60MB", n_jobs=1, random_state=0).fit(arms[0])
        assert ksc.tuning_.max_rank == 200
        assert len(ksc.reduced_set_) <= 200

    def test_it_finds_nothing_in_noise(self):
        X = np.random.default_rng(0).uniform(size=(30_000, 2))
        with pytest.warns(DoubtWarning, match="may well be one cluster"):
            result = tune(X, "auto", random_state=0)
        assert (result.best_n_clusters, result.max_rank) == (1, 200)


class TestTune:
    @pytest.mark.parametrize("factor", [1e-150, 1e-60, 1e60, 1e150])
    def test_units_do_not_matter(self, three, found, factor):
        result = tune(factor * three[0], n_clusters=range(2, 6), random_state=0)
        assert result.best_n_clusters == 3
        assert result.best_bandwidth == pytest.approx(factor**2 * found.best_bandwidth, rel=0.5)

    @pytest.mark.parametrize("n_clusters", ["auto", 3])
    @pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
    @pytest.mark.parametrize("far", [[[30.0, 30.0]], [[999_999.0, 4.0]], [[-40, 40], [50, 0]]])
    def test_rows_far_away_do_not_matter(self, three, n_clusters, kernel, far):
        ksc = KernelSpectralClustering(n_clusters, kernel=kernel, random_state=0)
        alone = ksc.fit(three[0]).labels_
        together = ksc.fit(np.r_[three[0], far])
        assert together.n_clusters_ == 3
        assert adjusted_rand_score(alone, together.labels_[: len(alone)]) == 1.0
        assert together.outliers(np.array(far)).all()

    def test_rows_far_away_are_the_same_from_a_stream(self, three):
        X = np.r_[three[0], [[30.0, 30.0]]]
        ksc = KernelSpectralClustering(random_state=0)
        np.testing.assert_array_equal(
            ksc.fit(open_dataset([X])).predict(X),
            KernelSpectralClustering(random_state=0).fit_predict(X),
        )

    @pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
    def test_a_few_different_rows_are_clusters(self, kernel):
        rows = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
        X = rows.repeat([30, 20, 25, 10], axis=0)
        with pytest.warns(DoubtWarning, match="only 4 distinct rows"):
            ksc = KernelSpectralClustering(kernel=kernel, random_state=0).fit(X)
        assert ksc.cluster_sizes_.tolist() == [30, 25, 20, 10]
        assert ksc.tuning_.best_n_clusters == 4
        with pytest.warns(DoubtWarning, match="only 4 distinct rows"):
            ksc.fit(rows.repeat(20, axis=0), sample_weight=np.repeat([3.0, 2.0, 2.5, 1.0], 20))
        assert ksc.labels_.tolist() == np.repeat([0, 2, 1, 3], 20).tolist()
        # Only relative weights have a meaning: four rows stay four rows in any unit.
        with pytest.warns(DoubtWarning, match="No bandwidth shows two clusters"):
            ksc.fit(rows, sample_weight=[30, 20, 25, 10])
        assert ksc.n_clusters_ == 1

    @pytest.mark.filterwarnings("ignore")
    @pytest.mark.parametrize(
        "given",
        [
            {"kernel": "linear"},
            {"bandwidth": 1000.0},
            {"bandwidth": [100.0, 1000.0]},
            {"max_rank": 2},
        ],
    )
    def test_a_few_different_rows_that_cannot_be_told_apart(self, given):
        X = np.arange(4.0)[:, None].repeat(20, axis=0)
        assert KernelSpectralClustering(random_state=0, **given).fit(X).n_clusters_ <= 4

    @pytest.mark.filterwarnings("ignore")
    def test_a_rare_row_is_no_cluster(self):
        rows = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 5.0]])
        X = rows.repeat([15_000, 14_985, 15], axis=0)
        X = X[np.random.default_rng(0).permutation(len(X))]
        ksc = KernelSpectralClustering(random_state=0)
        found = ksc.fit(X).n_clusters_
        assert found < 3
        assert ksc.fit(open_dataset([X])).n_clusters_ == found

    @pytest.mark.filterwarnings("ignore::sparseksc.DoubtWarning")
    def test_rows_that_are_not_repeated_are_no_clusters(self):
        X = np.random.default_rng(0).normal(size=(6, 2))
        assert tune(X, "auto", random_state=0).best_n_clusters < 6

    def test_it_finds_the_clusters(self, found):
        assert found.best_n_clusters == 3
        assert found.doubt is None
        assert found.ranking[0].bandwidth == found.best_bandwidth

    def test_the_surfaces_have_every_model_and_criterion(self, found):
        shape = (len(found.surfaces.bandwidths), len(found.surfaces.n_clusters))
        assert {values.shape for values in found.surfaces.values.values()} == {shape}
        assert found.surface.shape == shape
        assert found.surfaces.bandwidths == sorted(found.surfaces.bandwidths)
        assert len(found.eigenvalues) == shape[0]
        assert np.isnan(found.surfaces["bas"][:, 0]).all()  # two clusters

    def test_the_frame_has_a_row_per_model(self, found):
        frame = found.to_frame()
        assert len(frame) == found.surface.size
        assert frame["chosen"].sum() == 1
        chosen = frame[frame["chosen"]].iloc[0]
        assert chosen["n_clusters"] == 3
        assert chosen["ams"] == found.ranking[0].ams

    def test_the_summary_says_what_and_why(self, found):
        text = found.summary()
        assert text.startswith("3 clusters at bandwidth")
        assert "edges to nearest neighbours" in text
        assert "next best numbers" in text

    def test_the_runners_up_are_the_others(self, found):
        assert {choice.n_clusters for choice in found.runners_up} == {2, 4, 5}
        values = [choice.value for choice in found.ranking]
        assert values == sorted(values, reverse=True)

    @pytest.mark.parametrize("criterion", ["ams", "blf", "bas"])
    def test_the_paper_criteria_choose_their_maximum(self, three, criterion):
        result = tune(three[0], [2, 3, 4], [0.5, 2.0, 8.0], criterion=criterion, random_state=0)
        best = np.unravel_index(np.nanargmax(result.surface), result.surface.shape)
        assert result.best_bandwidth == result.surfaces.bandwidths[best[0]]
        assert result.best_n_clusters == result.surfaces.n_clusters[best[1]]
        assert result.criterion in result.summary()

    @pytest.mark.parametrize("criterion", ["ams", "blf", "bas"])
    def test_the_surface_is_the_score_of_the_fitted_model(self, three, criterion):
        X = three[0]
        result = tune(X, [3], [1.0, 2.0], criterion=criterion, random_state=0)
        model = KernelSpectralClustering(3, bandwidth=1.0, criterion=criterion, random_state=0)
        assert result.surface[0, 0] == pytest.approx(model.fit(X).score(X))

    def test_the_same_for_any_number_of_threads(self, three):
        X = np.vstack([three[0] + 0.01 * k for k in range(5)])
        one, two = (
            tune(X, [2, 3], [0.5, 1.0, 2.0], random_state=0, max_rank=40, n_jobs=jobs)
            for jobs in (1, 2)
        )
        assert one.best_bandwidth == two.best_bandwidth
        for name, values in one.surfaces.values.items():
            np.testing.assert_array_equal(values, two.surfaces[name])

    def test_given_candidates_are_not_refined(self, three):
        result = tune(three[0], [2, 3], [4.0, 1.0], random_state=0)
        assert result.surfaces.bandwidths == [4.0, 1.0]

    def test_points_to_judge_on_can_be_given(self, three):
        X, _ = three
        result = tune(X[::2], [2, 3, 4], validation=X[1::2], random_state=0)
        assert result.best_n_clusters == 3

    def test_large_data_is_judged_on_other_points(self):
        X, _ = make_blobs(20_000, centers=CENTRES, cluster_std=0.8, random_state=1)
        result = tune(X, [2, 3], [1.0, 4.0], validation=6000, max_rank=20, random_state=0)
        assert result.best_n_clusters == 3

    def test_what_cannot_be_validation_is_refused(self, three):
        X, _ = three
        with pytest.raises(ValueError, match="with 2 columns"):
            tune(X, validation=np.ones((5, 3)))
        with pytest.raises(ValueError, match="number of points for a precomputed"):
            tune(rbf_kernel(X), kernel="precomputed", validation=X)
        with pytest.raises(ValueError, match="integer of at least 1"):
            tune(X, validation=0)

    def test_an_unknown_criterion_is_refused(self, three):
        with pytest.raises(ValueError, match="criterion must be one of 'auto'"):
            tune(three[0], criterion="amms")

    def test_two_bandwidths(self, three):
        result = tune(three[0], [2, 3, 4], icd_bandwidth=1.0, random_state=0)
        assert result.best_n_clusters == 3

    def test_no_available_model_is_an_error(self):
        X = np.arange(20.0)[:, None]
        with pytest.raises(ValueError, match="widen the range"):
            tune(X, [6, 7], [1e9, 2e9])

    def test_what_fit_refuses_tune_refuses_with_the_same_words(self):
        X = np.repeat([[0.0], [1.0], [5.0]], 5, axis=0)
        for given, words in (
            ({"n_clusters": [6, 7]}, "6 clusters asked for, but the data has 3 distinct rows"),
            ({"memory_limit": "10kB"}, "memory_limit is 0 MB"),
        ):
            for call in (tune, lambda X, **given: KernelSpectralClustering(**given).fit(X)):
                with pytest.raises((ValueError, MemoryError), match=words):
                    call(X, bandwidth=[1.0, 2.0], **given)


class TestFit:
    @pytest.mark.parametrize("scale", [1e-3, 1e3])
    def test_the_scale_of_the_data_does_not_matter(self, scale):
        X, y = make_moons(200, noise=0.05, random_state=0)
        plain = KernelSpectralClustering([2, 3, 4], random_state=0).fit(X)
        scaled = KernelSpectralClustering([2, 3, 4], random_state=0).fit(scale * X)
        assert adjusted_rand_score(y, plain.labels_) == 1.0
        np.testing.assert_array_equal(plain.labels_, scaled.labels_)

    def test_rings(self):
        X, y = make_rings(600, random_state=0)
        model = KernelSpectralClustering(random_state=0).fit(X)
        assert adjusted_rand_score(y, model.labels_) == 1.0
        assert model.bandwidth_ == model.tuning_.best_bandwidth

    def test_blobs_of_very_different_width(self):
        X, y = make_blobs(
            600, centers=[[-6, 0], [3, 0], [7, 4]], cluster_std=[2.0, 0.3, 0.6], random_state=0
        )
        model = KernelSpectralClustering(random_state=0).fit(X)
        assert model.n_clusters_ == 3
        assert adjusted_rand_score(y, model.labels_) > 0.98

    def test_known_clusters_need_only_a_bandwidth(self, three):
        X, y = three
        model = KernelSpectralClustering(3, random_state=0).fit(X)
        assert adjusted_rand_score(y, model.labels_) == 1.0

    @pytest.mark.parametrize("dimension", [2, 5])
    def test_one_blob_is_one_cluster(self, dimension):
        X = np.random.default_rng(0).normal(size=(400, dimension))
        with pytest.warns(DoubtWarning, match="one cluster"):
            model = KernelSpectralClustering(random_state=0).fit(X)
        assert model.n_clusters_ == 1
        assert not model.labels_.any()
        assert "single cluster" in model.tuning_.summary()
        assert model.transform(X).shape == (400, 0)

    @pytest.mark.parametrize("dimension", [2, 8])
    def test_a_normal_cloud_is_one_cluster(self, dimension):
        # Its outliers make the conductance rise as if two halves of it were clusters.
        X = np.random.default_rng(7).standard_t(8, size=(2000, dimension))
        with pytest.warns(DoubtWarning, match="one cluster"):
            assert KernelSpectralClustering(random_state=0).fit(X).n_clusters_ == 1

    def test_clusters_in_groups_are_found(self):
        centres = [[0, 0], [5, 0], [100, 0], [100, 5]]
        X, y = make_blobs([150] * 4, centers=centres, random_state=0)
        assert (
            adjusted_rand_score(y, KernelSpectralClustering(random_state=0).fit(X).labels_) > 0.95
        )

    def test_uniform_noise_raises_doubt(self):
        X = np.random.default_rng(1).uniform(size=(500, 2))
        with pytest.warns(DoubtWarning):
            KernelSpectralClustering(random_state=0).fit(X)

    @pytest.mark.filterwarnings("ignore::sparseksc.BandwidthWarning")
    @pytest.mark.parametrize("seed", range(3))
    def test_parts_of_a_ring_raise_doubt_and_two_rings_do_not(self, seed):
        rng = np.random.default_rng(seed)
        angle = rng.uniform(0.0, 2.0 * np.pi, 3000)
        ring = np.column_stack([np.cos(angle), np.sin(angle)])
        ring += 0.02 * rng.standard_normal(ring.shape)
        with pytest.warns(DoubtWarning, match="parts of a longer shape|No number"):
            KernelSpectralClustering(random_state=0).fit(ring)
        ring[1500:] *= 0.5
        model = KernelSpectralClustering(random_state=0).fit(ring)
        assert model.n_clusters_ == 2
        assert model.tuning_.doubt is None

    def test_equal_rows_are_one_cluster(self):
        with pytest.warns(DoubtWarning):
            model = KernelSpectralClustering(random_state=0).fit(np.ones((20, 2)))
        assert model.n_clusters_ == 1

    def test_an_outlier_is_not_a_cluster(self, three):
        X, y = three
        far = np.vstack([X, [[60.0, 60.0]]])
        model = KernelSpectralClustering(random_state=0).fit(far)
        assert adjusted_rand_score(y, model.labels_[:-1]) == 1.0

    @pytest.mark.parametrize("kernel", ["laplacian", "cosine", "linear", "polynomial"])
    def test_other_kernels(self, kernel):
        rng = np.random.default_rng(0)
        X = np.vstack([rng.normal(centre, 0.3, (60, 2)) for centre in ([5, 0], [0, 5], [-4, -4])])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtWarning)
            model = KernelSpectralClustering(kernel=kernel, random_state=0).fit(X)
        assert model.n_clusters_ == 3

    def test_histograms_with_chi2(self):
        rng = np.random.default_rng(0)
        X = np.vstack([rng.dirichlet(50 * np.roll([0.6, 0.2, 0.1, 0.1], k), 60) for k in range(4)])
        model = KernelSpectralClustering(kernel="chi2", random_state=0).fit(X)
        assert adjusted_rand_score(np.repeat(range(4), 60), model.labels_) > 0.95

    def test_a_precomputed_kernel_and_a_function(self, three):
        X, y = three
        gram = rbf_kernel(X, gamma=0.5)
        for model, data in (
            (KernelSpectralClustering(kernel="precomputed", random_state=0), gram),
            (KernelSpectralClustering(kernel=rbf_kernel, random_state=0), X),
        ):
            assert adjusted_rand_score(y, model.fit(data).labels_) == 1.0

    def test_weights_count_like_copies(self):
        rng = np.random.default_rng(5)
        X, _ = make_blobs(60, centers=CENTRES, random_state=2)
        weights = rng.integers(0, 3, size=60)
        copies = np.repeat(X, weights, axis=0)
        weighted = KernelSpectralClustering(random_state=0).fit(X, sample_weight=weights)
        repeated = KernelSpectralClustering(random_state=0).fit(copies)
        assert weighted.bandwidth_ == pytest.approx(repeated.bandwidth_)
        np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))

    def test_auto_scores_by_the_membership(self, three):
        X, _ = three
        auto = KernelSpectralClustering(3, bandwidth=2.0, random_state=0).fit(X)
        ams = KernelSpectralClustering(3, bandwidth=2.0, criterion="ams", random_state=0).fit(X)
        assert auto.score(X) == ams.score(X)


class TestLonelyRows:
    @staticmethod
    def lonely(X, kernel=None, weights=None):
        weights = np.ones(X.shape[0]) if weights is None else weights
        return isolated_points(kernel or make_kernel("rbf"), X, weights, 0)

    @staticmethod
    def ari(X, y, n_clusters):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtWarning)
            ksc = KernelSpectralClustering(n_clusters, random_state=0).fit(X)
        return adjusted_rand_score(y, ksc.labels_)

    def test_a_loose_cluster_beside_tight_ones_is_kept(self):
        rng = np.random.default_rng(0)
        y = np.repeat([0, 1, 2], [500, 460, 40])
        X = np.array([[0.0, 0], [3, 3], [10, 10]])[y]
        X += np.array([0.01, 0.01, 1.0])[y, None] * rng.normal(size=X.shape)
        assert not self.lonely(X).any()
        assert self.ari(X, y, 3) == self.ari(X, y, "auto") == 1.0

    @pytest.mark.parametrize("weighted", [False, True])
    def test_a_row_that_is_there_often_is_not_lonely(self, weighted):
        X = np.r_[np.random.default_rng(0).normal(10.0, 1.0, size=(500, 2)), np.zeros((1, 2))]
        copies = np.r_[np.ones(500, int), 500]
        assert self.lonely(X)[-1]
        if weighted:
            assert not self.lonely(X, weights=copies).any()
        else:
            assert not self.lonely(X.repeat(copies, axis=0)).any()
            assert self.ari(X.repeat(copies, axis=0), np.repeat([0, 1], 500), 2) == 1.0

    def test_a_cloud_has_hardly_any(self):
        for d in (1, 2, 10, 40):
            X = np.random.default_rng(d).normal(size=(3000, d))
            assert self.lonely(X).sum() <= 2

    @pytest.mark.parametrize("d", [2, 40])
    def test_rows_far_from_all_are(self, d):
        X = np.random.default_rng(0).normal(size=(3000, d))
        X[7], X[70] = 100.0, -100.0
        X[[8, 9]] = 200.0  # equal rows are one
        for kernel in (make_kernel("rbf"), make_kernel("laplacian")):
            assert np.flatnonzero(self.lonely(X, kernel)).tolist() == [7, 8, 9, 70]

    def test_small_clusters_are_not_and_units_are_those_of_the_bandwidths(self):
        X = np.random.default_rng(0).normal(size=(300, 2))
        X[:5] += 50.0
        assert not self.lonely(X).any()
        X[10] = 0.0, 40.0
        assert np.flatnonzero(self.lonely(X)).tolist() == [10]
        wide = make_kernel("rbf", (1.0, 1e6))
        assert np.flatnonzero(self.lonely(X * (1.0, 1e3), wide)).tolist() == [10]

    def test_where_hardly_anybody_is_or_nothing_is_known_none_are(self):
        X = np.r_[np.arange(10.0), 1e6][:, None]
        assert not self.lonely(X).any()
        far = np.r_[np.arange(100.0), 1e6][:, None]
        assert self.lonely(far).sum() == 1
        assert not self.lonely(far, make_kernel("chi2")).any()
        assert not self.lonely(sp.csr_array(far)).any()


def test_sampled_weights_stand_for_all():
    weights = np.random.default_rng(0).exponential(size=50_000)
    weights[:10] = 1000.0
    sample = Sample(np.arange(50_000), np.empty((50_000, 0)), weights)
    rows, mass = weighted_sample(sample, 5_000, 0)
    assert set(range(10)) <= set(rows)
    assert mass.sum() == pytest.approx(weights.sum(), rel=0.03)
    assert mass[:10] == pytest.approx(weights[:10])


def test_four_spirals_of_one_turn_are_found():
    rng = np.random.default_rng(0)
    arm, t = rng.integers(0, 4, 4000), rng.uniform(size=4000)
    angle, radius = 2.0 * np.pi * (arm / 4 + t), 0.1 + 0.9 * t
    X = np.column_stack([radius * np.sin(angle), radius * np.cos(angle)])
    X += 0.01 * rng.standard_normal(X.shape)
    ksc = KernelSpectralClustering(random_state=0).fit(X)
    assert ksc.n_clusters_ == 4
    assert adjusted_rand_score(arm, ksc.labels_) == 1.0
