"""Figures of the plane: regions and memberships."""

import numpy as np

from sparseksc.plotting import (
    MembershipDisplay,
    RegionsDisplay,
)
from tests.plotting.conftest import matplotlib

matplotlib.use("Agg")


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
