"""Figures of the score space."""

import numpy as np

from sparseksc import KernelSpectralClustering
from sparseksc.plotting import (
    ScoresDisplay,
)
from tests.plotting.conftest import matplotlib

matplotlib.use("Agg")


def test_scores_lie_along_the_lines_of_their_prototypes(model, data):
    display = ScoresDisplay.from_estimator(model, data, n_dimensions=3)
    assert len(display.points_) == len(display.lines_) == 4
    assert display.ax_.name == "3d"
    scores = model.transform(data) - model.bias_
    cosines = scores @ model.prototypes_.T / np.linalg.norm(scores, axis=1, keepdims=True)
    assert (cosines.argmax(axis=1) == model.labels_).all()
    flat = ScoresDisplay.from_estimator(model, data)
    assert sum(len(points.get_offsets()) for points in flat.points_) == len(data)


def test_two_clusters_have_one_score_and_the_kernel_sums(data):
    model = KernelSpectralClustering(2, bandwidth=5.0, random_state=0).fit(data)
    display = ScoresDisplay.from_estimator(model, data)
    assert display.ax_.get_xlabel() == "z₁"
    np.testing.assert_allclose(display.scores[:, 0], model.transform(data)[:, 0])
    assert (display.scores[:, 1] > model.bias_[0]).all()
    assert display.ax_.get_ylabel() == "Σ k(x, p) + b₁"


def test_two_clusters_of_landmarks_have_one_score_and_a_distance(data):
    model = KernelSpectralClustering(2, kernel="landmarks", random_state=0).fit(data)
    display = ScoresDisplay.from_estimator(model, data)
    assert display.ax_.get_ylabel() == "distance to the nearest landmark"
    assert (display.scores[:, 1] >= 0.0).all()
