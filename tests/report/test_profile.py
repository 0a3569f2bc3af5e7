"""Features that tell the clusters apart."""

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering
from sparseksc.report.facts import gather
from sparseksc.report.profile import LARGEST_EFFECT

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)


def test_effects_are_standardised_differences_with_the_rest(plain, data):
    facts = gather(plain, data, None)
    labels = plain.labels_
    for place, feature in enumerate(facts.profile.features[:4]):
        for cluster in range(3):
            mine, rest = data[labels == cluster, feature], data[labels != cluster, feature]
            pooled = (len(mine) * mine.var() + len(rest) * rest.var()) / len(data)
            expected = (mine.mean() - rest.mean()) / np.sqrt(pooled)
            assert facts.profile.effects[cluster, place] == pytest.approx(expected)


def test_the_telling_features_come_first(plain, data):
    profile = gather(plain, data, None).profile
    assert set(profile.features[:2]) == {0, 1}
    assert (profile.explained[:2] > 0.8).all()
    assert (profile.explained[2:] < 0.05).all()
    assert profile.features[-1] == 4  # the constant one
    assert profile.explained[-1] == 0.0
    assert (profile.effects[:, -1] == 0.0).all()


def test_features_that_do_not_overlap_have_the_largest_effect():
    X = np.repeat([[0.0, 1.0], [5.0, 1.0]], 20, axis=0)
    model = KernelSpectralClustering(2, bandwidth=1.0, random_state=0).fit(X)
    profile = gather(model, X, None).profile
    assert sorted(profile.effects[:, 0]) == [-LARGEST_EFFECT, LARGEST_EFFECT]
