"""A round of a search: the same for any number of threads, with doubts where due."""

import gc
import weakref

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sparseksc import DoubtWarning, KernelSpectralClustering, tune
from sparseksc.search import procedure
from sparseksc.search.samples import draw_samples

CENTRES = [[0, 0], [6, 0], [0, 6]]


@pytest.fixture(scope="module")
def three():
    """Three blobs: (X, y)."""
    return make_blobs(240, centers=CENTRES, cluster_std=0.8, random_state=0)


def test_the_same_for_any_number_of_threads(three):
    X = np.vstack([three[0] + 0.01 * k for k in range(5)])
    one, two = (
        tune(X, [2, 3], [0.5, 1.0, 2.0], random_state=0, max_rank=40, n_jobs=jobs)
        for jobs in (1, 2)
    )
    assert one.best_bandwidth == two.best_bandwidth
    for name, values in one.surfaces.values.items():
        np.testing.assert_array_equal(values, two.surfaces[name])


def test_uniform_noise_raises_doubt():
    X = np.random.default_rng(1).uniform(size=(500, 2))
    with pytest.warns(DoubtWarning):
        KernelSpectralClustering(random_state=0).fit(X)


@pytest.mark.filterwarnings("ignore::sparseksc.BandwidthWarning")
@pytest.mark.parametrize("seed", range(3))
def test_parts_of_a_ring_raise_doubt_and_two_rings_do_not(seed):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.0, 2.0 * np.pi, 3000)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    ring += 0.02 * rng.standard_normal(ring.shape)
    with pytest.warns(DoubtWarning, match="one cluster"):
        KernelSpectralClustering(random_state=0).fit(ring)
    ring[1500:] *= 0.5
    model = KernelSpectralClustering(random_state=0).fit(ring)
    assert model.n_clusters_ == 2
    assert model.tuning_.doubt is None


def test_a_search_leaves_nothing_for_the_garbage_collector():
    """Its samples may be as large as the data."""
    kept = []

    def noted(*arguments, **options):
        samples = draw_samples(*arguments, **options)
        kept.append(weakref.ref(samples))
        return samples

    X = np.random.default_rng(0).normal(size=(200, 2))
    X[100:] += 8.0
    gc.collect()
    gc.disable()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(procedure, "draw_samples", noted)
            tune(X, [2, 3], kernel="rbf", random_state=0)
        assert [reference() for reference in kept] == [None]
    finally:
        gc.enable()
