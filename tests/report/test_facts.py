"""The facts of a report, and the sentences made of them."""

from copy import copy

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_circles

from sparseksc import KernelSpectralClustering, load
from sparseksc.report.facts import gather
from tests.report.conftest import shown

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)


def test_large_data_is_sampled_and_says_so(tmp_path):
    X, _ = make_blobs(30_000, centers=[[0, 0], [9, 9]], random_state=0)
    model = KernelSpectralClustering(2, bandwidth=8.0, random_state=0).fit(X[:2000])
    facts = gather(model, X, None)
    assert facts.survey.n_rows == 30_000
    np.testing.assert_array_equal(facts.survey.sizes, np.bincount(model.predict(X)))
    assert facts.sample_size == 20_000
    assert len(facts.points.rows) == 3000
    assert "uniform random sample of 20,000 rows (67 %)" in facts.sampling
    assert any("trained on 2,000 rows" in doubt for doubt in facts.doubts)


def test_the_answer_is_a_sentence(plain, data):
    facts = gather(plain, data, None)
    assert facts.answer == "The 300 rows fall into 3 clusters of 150, 100 and 50 rows."
    assert "They differ most in feature 0 and feature 1." in facts.explanation


def test_shapes_have_no_telling_feature():
    X, _ = make_circles(400, factor=0.4, noise=0.03, random_state=0)
    model = KernelSpectralClustering(2, bandwidth=0.05, random_state=0).fit(X)
    facts = gather(model, X, None)
    assert "No single feature tells them apart" in facts.explanation


def test_models_from_a_file_and_standardised_features(data, tmp_path, write):
    X = data * [1.0, 100.0, 1.0, 1.0, 1.0]
    model = KernelSpectralClustering(scale=True, random_state=0).fit(X)
    model.save(tmp_path / "model.ksc")
    loaded = load(tmp_path / "model.ksc")
    assert not hasattr(loaded, "labels_")
    facts = gather(loaded, X, None)
    np.testing.assert_array_equal(facts.survey.sizes, np.bincount(model.labels_))
    np.testing.assert_allclose(
        facts.profile.overall_means, X.mean(axis=0)[facts.profile.features], atol=1e-12
    )
    assert facts.doubts == []
    text = shown(write(loaded, X))
    assert "Features standardised yes" in text
    assert "scale=True" in text
    assert text == shown(write(model, X))


def test_a_model_without_what_training_kept(plain, data, write):
    bare = copy(plain)
    for name in ("labels_", "residual_", "n_samples_seen_", "timings_", "n_outliers_"):
        del bare.__dict__[name]
    bare.n_clusters = "auto"
    assert "was not kept with this model" in shown(write(bare, data))
