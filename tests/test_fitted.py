"""Methods of fitted models are tested with the estimator; here what they share."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparseksc import KernelSpectralClustering

X = np.random.default_rng(0).normal(size=(50, 2))


@pytest.mark.parametrize(
    "method", ["predict", "transform", "membership", "predict_proba", "outliers", "score"]
)
def test_nothing_is_answered_before_a_fit(method):
    with pytest.raises(NotFittedError):
        getattr(KernelSpectralClustering(2), method)(X)
    with pytest.raises(NotFittedError):
        KernelSpectralClustering(2).cut(2)


def test_a_second_fit_forgets_the_classes_of_the_first():
    y = np.full(50, -1)
    y[:3], y[3:6] = 4, 7
    model = KernelSpectralClustering(2, bandwidth=1.0, random_state=0).fit(X, y)
    assert hasattr(model, "classes_")
    model.fit(X)
    assert not hasattr(model, "classes_") and set(model.labels_) == {0, 1}


def test_the_repr_of_a_fitted_model_says_what_was_found():
    model = KernelSpectralClustering(2, bandwidth=1.0, max_rank=20, random_state=0)
    before = repr(model)
    assert "#" not in before and eval(before).get_params() == model.get_params()
    parameters, words = repr(model.fit(X)).split("\n")
    assert parameters == before
    assert words == "# 2 clusters, rbf kernel, 20 pivots; 50 rows"
    blobs, _ = make_blobs(300, n_features=5, centers=4, random_state=0)
    found = KernelSpectralClustering(random_state=0).fit(blobs)
    quality = found.tuning_.ranking[0].value
    assert f"{found.n_clusters_} clusters" in repr(found)
    assert f"quality {quality:.2f}" in repr(found)
    assert repr(make_pipeline(StandardScaler(), found))


def test_the_diagram_of_a_fitted_model_says_what_was_found():
    model = KernelSpectralClustering(2, bandwidth=1.0, max_rank=20, random_state=0)
    assert "<p>" not in model._repr_html_()[-40:]
    model.fit(X)
    words = "<p>2 clusters, rbf kernel, 20 pivots; 50 rows</p>"
    assert model._repr_html_().endswith(words)
    assert model._repr_mimebundle_()["text/html"].endswith(words)


def test_weights_are_routed_through_a_pipeline():
    weights = np.linspace(0.1, 5.0, len(X))
    model = KernelSpectralClustering(2, bandwidth=1.0, random_state=0)
    alone = KernelSpectralClustering(2, bandwidth=1.0, random_state=0)
    alone.fit(StandardScaler().fit_transform(X), sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        steps = make_pipeline(scaler, model).fit(X, sample_weight=weights)
        np.testing.assert_array_equal(steps[-1].coef_, alone.coef_)
        silent = make_pipeline(scaler, KernelSpectralClustering(2, bandwidth=1.0, random_state=0))
        with pytest.raises(UnsetMetadataPassedError):
            silent.fit(X, sample_weight=weights)
