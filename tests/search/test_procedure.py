"""The steps of a search: candidates, refinement, and data with few distinct rows."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sparseksc import DoubtWarning, KernelSpectralClustering, open_dataset, tune
from sparseksc.search import rounds
from sparseksc.search.constants import FIRST_RANK, N_FULL_RANK

CENTRES = [[0, 0], [6, 0], [0, 6]]


@pytest.fixture(scope="module")
def three():
    """Three blobs: (X, y)."""
    return make_blobs(240, centers=CENTRES, cluster_std=0.8, random_state=0)


@pytest.fixture(scope="module")
def found(three):
    """A search among them."""
    return tune(three[0], n_clusters=range(2, 6), random_state=0)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_a_few_different_rows_are_clusters(kernel):
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


@pytest.mark.parametrize(
    ("given", "sizes", "doubt"),
    [
        # One direction tells the lower two values from the upper two, and no more.
        ({"kernel": "linear"}, [40, 40], "No number of clusters stands out"),
        # Nearly the same similarity for all pairs, or too few pivots: no cut is a good one.
        ({"bandwidth": 1000.0}, [80], "may well be one cluster"),
        ({"bandwidth": [100.0, 1000.0]}, [80], "may well be one cluster"),
        ({"kernel": "rbf", "max_rank": 2}, [80], "may well be one cluster"),
    ],
)
def test_a_few_different_rows_that_cannot_be_told_apart_share_clusters(given, sizes, doubt):
    X = np.arange(4.0)[:, None].repeat(20, axis=0)
    with pytest.warns(DoubtWarning, match=doubt):
        ksc = KernelSpectralClustering(random_state=0, **given).fit(X)
    assert ksc.cluster_sizes_.tolist() == sizes
    np.testing.assert_array_equal(ksc.labels_, np.arange(80) * len(sizes) // 80)


@pytest.mark.filterwarnings("ignore")
def test_a_rare_row_is_no_cluster():
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 5.0]])
    X = rows.repeat([15_000, 14_985, 15], axis=0)
    X = X[np.random.default_rng(0).permutation(len(X))]
    ksc = KernelSpectralClustering(random_state=0)
    found = ksc.fit(X).n_clusters_
    assert found < 3
    assert ksc.fit(open_dataset([X])).n_clusters_ == found


@pytest.mark.filterwarnings("ignore::sparseksc.DoubtWarning")
def test_rows_that_are_not_repeated_are_no_clusters():
    X = np.random.default_rng(0).normal(size=(6, 2))
    assert tune(X, "auto", random_state=0).best_n_clusters < 6


def test_many_pivots_are_for_the_best_bandwidths_only(three, monkeypatch):
    X = np.random.default_rng(0).permutation(np.vstack([three[0]] * 3), axis=0)
    X += 0.3 * np.random.default_rng(1).normal(size=X.shape)
    tried = []

    def noted(samples, n_clusters, recipe, objective):
        evaluate = rounds_evaluator(samples, n_clusters, recipe, objective)

        def evaluate_and_note(bandwidth):
            tried.append((recipe.max_rank, bandwidth))
            return evaluate(bandwidth)

        return evaluate_and_note

    rounds_evaluator = rounds.make_evaluator
    monkeypatch.setattr(rounds, "make_evaluator", noted)
    rank = 2 * FIRST_RANK
    result = tune(X, range(2, 6), max_rank=rank, kernel="rbf", random_state=0, n_jobs=1)
    few, all_pivots = ([h for R, h in tried if R == one] for one in (FIRST_RANK, rank))
    assert len(few) == len(set(few)) == len(result.surfaces.bandwidths)
    assert len(all_pivots) == len(set(all_pivots)) < len(few) / 2
    # Whatever could have won has all its pivots.
    assert {model.bandwidth for model in result.ranking[:N_FULL_RANK]} <= set(all_pivots)
    assert (result.best_n_clusters, result.max_rank) == (3, rank)
    tried.clear()
    tune(X, range(2, 6), max_rank=rank - 1, kernel="rbf", random_state=0, n_jobs=1)
    assert {R for R, _ in tried} == {rank - 1}


def test_given_candidates_are_not_refined(three):
    result = tune(three[0], [2, 3], [4.0, 1.0], random_state=0)
    assert result.surfaces.bandwidths == [4.0, 1.0]


def test_no_available_model_is_an_error():
    X = np.arange(20.0)[:, None]
    with pytest.raises(ValueError, match="widen the range"):
        tune(X, [6, 7], [1e9, 2e9])
