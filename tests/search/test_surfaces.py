"""The table of a search: the best model of each number of clusters."""

import numpy as np

from sparseksc.search.surfaces import Surfaces, rank_by_criterion


def test_the_best_bandwidth_of_each_number_is_ranked():
    values = {name: np.full((2, 3), 0.5) for name in ("ams", "blf", "bas")}
    values["ams"] = np.array([[0.1, 0.9, np.nan], [0.4, 0.2, np.nan]])
    ranking = rank_by_criterion(Surfaces([1.0, 2.0], [2, 3, 4], values), "ams")
    assert [(one.n_clusters, one.bandwidth, one.value) for one in ranking] == [
        (3, 1.0, 0.9),
        (2, 2.0, 0.4),
    ]


def test_each_kernel_has_the_best_of_its_rows():
    quality = np.array([[1.0, np.nan, 0.0], [0.5, np.nan, 2.0], [np.nan, 3.0, np.nan]])
    kernels = ["rbf", "rbf", "landmarks"]
    surfaces = Surfaces([1.0, 2.0, None], [2, 3, 4], {"quality": quality}, kernels, [200, 200, 100])
    lines = surfaces.best_by_kernel("quality")
    assert {name: (K, values.tolist()) for name, (K, values) in lines.items()} == {
        "rbf": ([2, 4], [1.0, 2.0]),
        "landmarks": ([3], [3.0]),
    }
