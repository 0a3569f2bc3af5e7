"""What a reader should know before trusting the answer."""

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering
from sparseksc.report.facts import gather
from tests.report.conftest import shown

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)


def test_doubts_are_on_the_page(write):
    X = np.random.default_rng(0).normal(size=(500, 2))
    with pytest.warns(UserWarning):
        model = KernelSpectralClustering([2, 3, 4], random_state=0).fit(X)
    text = shown(write(model, X))
    assert "Before you rely on this" in text
    assert " ".join(model.tuning_.doubt.split()) in text


def test_empty_clusters_and_outliers_are_reported(plain, data, write):
    present = data[plain.labels_ != 2]
    assert "Cluster 2 has no rows in this data." in gather(plain, present, None).doubts
    text = shown(write(plain, present))
    assert "Cluster 2 0 0 % – No rows of this data." in text
    facts = gather(plain, np.vstack([data, np.full((5, 5), 1e3)]), None)
    assert facts.survey.n_outliers == 5
    assert any("(5, 1.6 %) are unlike everything" in doubt for doubt in facts.doubts)


def test_one_feature_that_drowns_the_others_is_reported(data, plain):
    X = data[:, :4] * [1.0, 1000.0, 1.0, 1.0]
    model = KernelSpectralClustering(3, bandwidth=8e6, random_state=0).fit(X)
    assert any("“feature 1” varies far more" in doubt for doubt in gather(model, X, None).doubts)
    assert not any("varies far more" in doubt for doubt in gather(plain, data, None).doubts)


def test_a_doubt_among_others_is_said_once():
    X = np.random.default_rng(0).normal(size=(400, 3)) * [1.0, 1.0, 1e6]
    with pytest.warns(UserWarning):
        model = KernelSpectralClustering([2, 3, 4], random_state=0).fit(X)
    found = gather(model, X, None).doubts
    assert sum(model.tuning_.doubt in doubt for doubt in found) == 1
