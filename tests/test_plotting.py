"""Pictures: each test looks at what was drawn."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sparseksc import KernelSpectralClustering
from sparseksc.plotting import (
    ClusterNumberDisplay,
    MembershipDisplay,
    RegionsDisplay,
    ScoresDisplay,
    SpectrumDisplay,
    TuningDisplay,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    return make_blobs(150, centers=[[0, 0], [6, 0], [0, 6], [6, 6]], random_state=0)[0]


@pytest.fixture(scope="module")
def model(data):
    return KernelSpectralClustering(random_state=0).fit(data)


def test_the_surface_marks_the_choice(model):
    display = TuningDisplay.from_estimator(model)
    result = model.tuning_
    assert display.mesh_.get_array().shape == result.surface.shape
    x, y = display.best_.get_data()
    assert result.surfaces.n_clusters[int(x[0])] == 4
    assert y[0] == result.best_bandwidth
    assert display.ax_.get_yscale() == "log"


def test_the_surface_of_any_criterion(model):
    display = model.tuning_.plot()
    assert "separation" in display.figure_.axes[1].get_ylabel()
    other = TuningDisplay.from_estimator(model, criterion="blf")
    assert "BLF" in other.figure_.axes[1].get_ylabel()
    with pytest.raises(ValueError, match="criterion must be one of"):
        TuningDisplay.from_estimator(model, criterion="cut")


def test_candidates_that_are_vectors_are_numbered(data):
    pairs = [np.array([1.0, 2.0]), np.array([2.0, 1.0])]
    model = KernelSpectralClustering([3, 4], bandwidth=pairs, random_state=0).fit(data)
    display = TuningDisplay.from_estimator(model)
    assert display.ax_.get_ylabel() == "bandwidth, candidate"
    assert display.mesh_.get_array().shape[0] == 2


def test_given_axes_are_used(model, data):
    figure, axes = plt.subplots(1, 5)
    for display, ax in zip(
        (
            TuningDisplay.from_estimator(model, ax=axes[0]),
            ClusterNumberDisplay.from_estimator(model, ax=axes[1]),
            SpectrumDisplay.from_estimator(model, ax=axes[2]),
            ScoresDisplay.from_estimator(model, data, ax=axes[3]),
            RegionsDisplay.from_estimator(model, data, resolution=20, ax=axes[4]),
        ),
        axes,
        strict=True,
    ):
        assert display.ax_ is ax
        assert display.figure_ is figure


def test_one_point_per_number_of_clusters(model):
    display = ClusterNumberDisplay.from_estimator(model)
    K, values = display.line_.get_data()
    expected = {choice.n_clusters: choice.value for choice in model.tuning_.ranking}
    assert dict(zip(K, values, strict=True)) == expected
    assert display.best_.get_xdata()[0] == 4


def test_the_spectrum_tells_used_from_unused(model):
    display = SpectrumDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.used_.get_xdata(), [1, 2, 3])
    np.testing.assert_allclose(display.used_.get_ydata(), model.eigenvalues_)
    assert len(display.rest_.get_xdata()) > 0


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


def test_regions_are_predictions(model, data):
    display = RegionsDisplay.from_estimator(model, data, resolution=30)
    assert set(np.unique(display.values)) == {0, 1, 2, 3}
    corner = [[display.x[0], display.y[0]]]
    assert display.values[0, 0] == model.predict(corner)[0]
    assert len(display.reduced_set_.get_offsets()) == len(model.reduced_set_)
    assert len(display.points_.get_offsets()) == len(data)


def test_memberships_are_between_one_in_k_and_one(model, data):
    display = MembershipDisplay.from_estimator(model, data, resolution=30)
    assert display.values.min() >= 0.25 - 1e-12
    assert display.values.max() <= 1.0
    assert display.figure_.axes[1].get_ylabel() == "largest membership"


def test_what_cannot_be_drawn_is_refused(data):
    plain = KernelSpectralClustering(3, bandwidth=5.0, random_state=0).fit(data)
    with pytest.raises(ValueError, match="without a search"):
        TuningDisplay.from_estimator(plain)
    with pytest.raises(ValueError, match="n_dimensions must be 2 or 3"):
        ScoresDisplay.from_estimator(plain, data, n_dimensions=4)
    wide = KernelSpectralClustering(3, bandwidth=5.0, random_state=0).fit(np.hstack([data, data]))
    with pytest.raises(ValueError, match="two features, this one has 4"):
        RegionsDisplay.from_estimator(wide, np.hstack([data, data]))
    single = KernelSpectralClustering(1, bandwidth=5.0, random_state=0).fit(data)
    with pytest.raises(ValueError, match="no scores"):
        ScoresDisplay.from_estimator(single, data)
