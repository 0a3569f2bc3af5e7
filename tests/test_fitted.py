"""Methods of fitted models are tested with the estimator; here what they share."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

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
