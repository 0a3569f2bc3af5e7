"""The domains of parameters: values as they come, and as they are used."""

import numpy as np

from sparseksc.config.domains import check_value
from sparseksc.config.parameters import PARAMETERS


def test_numbers_of_clusters_come_as_integers_and_collections():
    def candidates(value):
        return check_value("n_clusters", value, PARAMETERS["n_clusters"].domain)

    assert candidates(3) == candidates(np.int64(3)) == candidates(np.array(3)[()]) == [3]
    assert candidates([4, 2, 4]) == [2, 4]
    assert candidates(np.array([2, 3])) == candidates(range(2, 4)) == [2, 3]
    assert candidates("auto") == list(range(2, 11))
