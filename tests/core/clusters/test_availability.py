import numpy as np
import pytest

from sparseksc import BandwidthWarning, KernelSpectralClustering
from sparseksc.core.clusters.availability import here
from sparseksc.kernels import RBF, Linear

X = np.random.default_rng(0).normal(size=(300, 2))


def test_a_bandwidth_at_which_nothing_is_similar_is_refused_or_doubted():
    with pytest.raises(ValueError, match=r"No two different points.*Use a larger one"):
        KernelSpectralClustering(2, bandwidth=1e-9, random_state=0).fit(X[:100])
    with pytest.warns(BandwidthWarning, match="arbitrary groups"):
        KernelSpectralClustering(2, bandwidth=1e-9, max_rank=20, random_state=0).fit(X)


def test_the_sentence_blames_the_bandwidth_only_where_there_is_one():
    assert here(RBF()) == "at this bandwidth"
    assert here(Linear()) == "with this kernel"
    with pytest.raises(ValueError, match="no more than 3"):
        KernelSpectralClustering(8, kernel="linear", random_state=0).fit(X)
