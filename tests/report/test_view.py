"""Two coordinates for each row, also where there is one feature."""

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering
from tests.report.conftest import shown

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)


def test_a_single_feature_and_a_single_cluster(write):
    X = np.concatenate([np.random.default_rng(0).normal(c, 0.1, 40) for c in (0, 5)])[:, None]
    model = KernelSpectralClustering(2, bandwidth=1.0, random_state=0).fit(X)
    assert "Each cluster has a lane of its own" in shown(write(model, X))
    single = KernelSpectralClustering(1, bandwidth=1.0, random_state=0).fit(X)
    text = shown(write(single, X))
    assert "The 80 rows form a single cluster." in text
    assert "How firmly" not in text
