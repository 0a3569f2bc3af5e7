"""Streams whose number of clusters is open: births, deaths, and the same numbers throughout."""

import pickle

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering
from sparseksc.config.streaming import Absence, extended_history
from sparseksc.plotting import DriftDisplay

PLACES = np.array([(0.0, 0.0), (12.0, 0.0), (0.0, 12.0), (12.0, 12.0)])
KERNELS = [
    {"bandwidth": 4.0, "max_rank": 60, "n_jobs": 1},
    {"kernel": "landmarks", "max_rank": 200, "n_jobs": 1},
]


def rows_of(rng, which, step=0):
    return PLACES[which] + 0.02 * step + rng.normal(size=(len(which), 2))


def streamed(alive, n_clusters="auto", forgetting=0.9, rows=150, **settings):
    """Chunks of clusters, of which ``alive`` names those of each; sizes are drawn anew."""
    rng = np.random.default_rng(0)
    model = KernelSpectralClustering(n_clusters, random_state=0, **settings)
    numbers = {}
    for step, clusters in enumerate(alive):
        shares = 0.2 + rng.dirichlet(np.full(len(clusters), 2.0))
        which = rng.choice(clusters, rows, p=shares / shares.sum())
        model.partial_fit(rows_of(rng, which, step), forgetting=forgetting)
        found = model.predict(PLACES[clusters] + 0.02 * step).tolist()
        for cluster, number in zip(clusters, found, strict=True):
            assert numbers.setdefault(cluster, number) == number
        assert len(set(found)) == len(found)
    return model, numbers


def events(model):
    return [
        (chunk, kind, name)
        for chunk, record in enumerate(model.history_)
        for kind in ("born", "died")
        for name in record[kind]
    ]


@pytest.mark.parametrize("settings", KERNELS)
def test_a_cluster_is_born_and_one_dies(settings):
    """Two, then three, of which the first is seen no more."""
    alive = [[0, 1]] * 4 + [[0, 1, 2]] * 4 + [[1, 2]] * 5
    model, numbers = streamed(alive, forgetting=0.7, **settings)
    assert events(model) == [(4, "born", 2), (8, "died", numbers[0])]
    assert numbers[2] == 2
    assert model.n_clusters_ == 2
    assert sorted(model.classes_.tolist()) == sorted([numbers[1], 2])
    assert model.history_[-1]["clusters"] == model.classes_.tolist()
    assert model.cut(1).tolist() == [0, 0]
    # What comes after has a number of its own.
    rng = np.random.default_rng(1)
    pickle.loads(pickle.dumps(model)).partial_fit(rows_of(rng, np.repeat([1, 2, 3], 50)))
    model.partial_fit(rows_of(rng, np.repeat([1, 2, 3], 50)))
    assert model.history_[-1]["born"] == [3]
    pytest.importorskip("matplotlib").use("Agg")
    display = DriftDisplay.from_estimator(model)
    assert len(display.bands_) == 4
    assert len(display.events_) == 3


@pytest.mark.parametrize("settings", KERNELS)
def test_nothing_dies_where_nothing_is_forgotten(settings):
    model, _ = streamed([[0, 1, 2]] * 2 + [[0]] * 6, forgetting=1.0, **settings)
    assert events(model) == []
    assert model.n_clusters_ == 3


@pytest.mark.parametrize("settings", [*KERNELS, {"bandwidth": 4.0, "n_clusters": [2, 3]}])
def test_the_number_stays_where_it_is_given(settings):
    rng = np.random.default_rng(0)
    settings = {"n_clusters": 2, **settings}
    model = KernelSpectralClustering(random_state=0, **settings)
    for step in range(6):
        model.partial_fit(rows_of(rng, rng.choice(2 if step < 3 else 3, 200)))
    most = np.max(settings["n_clusters"])
    assert model.n_clusters_ == most
    assert [name for _, _, name in events(model)] == list(range(2, most))


def test_a_second_cluster_after_a_single_cloud():
    rng = np.random.default_rng(0)
    model = KernelSpectralClustering(kernel="landmarks", max_rank=200, random_state=0)
    with pytest.warns(UserWarning, match="one cluster"):
        model.partial_fit(rows_of(rng, np.zeros(300, int)))
    assert model.n_clusters_ == 1
    model.partial_fit(rows_of(rng, np.repeat([0, 3], 150)))
    assert model.n_clusters_ == 2
    assert events(model) == [(1, "born", 1)]


def test_an_absence_is_a_death_only_where_rows_were_to_be_expected():
    certain = np.log(1e-9)
    assert Absence(5, 0.5, certain).is_death
    assert not Absence(5, 0.51, certain).is_death
    assert not Absence(5, 0.1, np.log(0.02)).is_death


def test_a_death_is_entered_at_its_chunk():
    record = {"residual": 0.0}
    history = extended_history([], record, [])
    history = extended_history(history, record, [("died", 1, 0), ("born", 2, 1)])
    assert [one["died"] for one in history] == [[1], []]
    assert [one["born"] for one in history] == [[], [2]]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sparseksc.tuning.DoubtWarning")
@pytest.mark.parametrize("settings", [*KERNELS, {"n_jobs": 1}])
def test_a_hundred_chunks_whose_sizes_swap_and_whose_clusters_drift(settings):
    alive = [[0, 1, 2]] * 40 + [[0, 1, 2, 3]] * 30 + [[0, 2, 3]] * 30
    model, numbers = streamed(alive, **settings)
    assert events(model) == [(40, "born", 3), (70, "died", numbers[1])]
    assert sorted(numbers.values()) == [0, 1, 2, 3]
