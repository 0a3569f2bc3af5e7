"""Figures of a search: each test looks at what was drawn."""

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering
from sparseksc.plotting import (
    ClusterNumberDisplay,
    SpectrumDisplay,
    TuningDisplay,
)
from tests.plotting.conftest import matplotlib

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def by_criterion(data):
    """A model that a criterion of the literature has chosen."""
    return KernelSpectralClustering(criterion="ams", random_state=0).fit(data)


@pytest.mark.parametrize("kernel", ["auto", "rbf"])
def test_the_quality_has_a_line_a_kernel(data, kernel):
    model = KernelSpectralClustering(kernel=kernel, random_state=0).fit(data)
    display = TuningDisplay.from_estimator(model)
    assert {line.get_label() for line in display.lines_} == {"landmarks", "rbf"} - (
        {"landmarks"} if kernel == "rbf" else set()
    )
    assert display.best_.get_xdata()[0] == 4
    assert display.ax_.get_ylabel() == "quality"
    with pytest.raises(ValueError, match="has no surface of 'blf'"):
        TuningDisplay.from_estimator(model, criterion="blf")


@pytest.mark.filterwarnings("ignore::sparseksc.DoubtWarning")
def test_one_cluster_is_said_in_the_figure():
    cloud = np.random.default_rng(0).normal(size=(300, 2))
    for X, title in (
        (cloud, "one cluster"),
        (np.ones((20, 2)), "one cluster\nno models to compare"),
    ):
        display = KernelSpectralClustering(random_state=0).fit(X).tuning_.plot()
        assert display.ax_.get_title() == title
        assert display.best_ is None


def test_the_surface_marks_the_best_model(by_criterion):
    display = TuningDisplay.from_estimator(by_criterion)
    result = by_criterion.tuning_
    assert display.mesh_.get_array().shape == result.surface.shape
    x, y = display.best_.get_data()
    assert result.surfaces.n_clusters[int(x[0])] == result.best_n_clusters
    assert y[0] == result.best_bandwidth
    assert display.ax_.get_yscale() == "log"


def test_the_surface_of_any_criterion(by_criterion):
    display = by_criterion.tuning_.plot()
    assert "AMS" in display.figure_.axes[1].get_ylabel()
    other = TuningDisplay.from_estimator(by_criterion, criterion="blf")
    assert "BLF" in other.figure_.axes[1].get_ylabel()
    with pytest.raises(ValueError, match="criterion must be one of"):
        TuningDisplay.from_estimator(by_criterion, criterion="cut")


def test_candidates_that_are_vectors_are_numbered(data):
    pairs = [np.array([1.0, 2.0]), np.array([2.0, 1.0])]
    given = {"bandwidth": pairs, "criterion": "ams", "random_state": 0}
    model = KernelSpectralClustering([3, 4], **given).fit(data)
    display = TuningDisplay.from_estimator(model)
    assert display.ax_.get_ylabel() == "bandwidth, candidate"
    assert display.mesh_.get_array().shape[0] == 2


def test_one_point_per_number_of_clusters(model):
    display = ClusterNumberDisplay.from_estimator(model)
    K, values = display.line_.get_data()
    expected = {ranked.n_clusters: ranked.value for ranked in model.tuning_.ranking}
    assert dict(zip(K, values, strict=True)) == expected
    assert display.best_.get_xdata()[0] == 4


def test_the_spectrum_tells_used_from_unused(model):
    display = SpectrumDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.used_.get_xdata(), [1, 2, 3])
    np.testing.assert_allclose(display.used_.get_ydata(), model.eigenvalues_)
    assert len(display.rest_.get_xdata()) > 0
