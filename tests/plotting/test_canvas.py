"""What all figures share: given axes are used, and wrong requests are refused."""

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering
from sparseksc.plotting import (
    ClusterNumberDisplay,
    RegionsDisplay,
    ScoresDisplay,
    SpectrumDisplay,
    TuningDisplay,
)
from tests.plotting.conftest import matplotlib

matplotlib.use("Agg")

plt = pytest.importorskip("matplotlib.pyplot")


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
