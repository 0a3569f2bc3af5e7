"""What the result of a search tells."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sparseksc import tune

CENTRES = [[0, 0], [6, 0], [0, 6]]


@pytest.fixture(scope="module")
def three():
    """Three blobs: (X, y)."""
    return make_blobs(240, centers=CENTRES, cluster_std=0.8, random_state=0)


@pytest.fixture(scope="module")
def found(three):
    """A search among them."""
    return tune(three[0], n_clusters=range(2, 6), kernel="rbf", random_state=0)


def test_the_surfaces_have_every_model_and_criterion(found):
    shape = (len(found.surfaces.bandwidths), len(found.surfaces.n_clusters))
    assert {values.shape for values in found.surfaces.values.values()} == {shape}
    assert found.surface.shape == shape
    assert found.surfaces.bandwidths == sorted(found.surfaces.bandwidths)
    assert len(found.eigenvalues) == shape[0]
    assert np.isnan(found.surfaces["bas"][:, 0]).all()  # two clusters


def test_the_frame_has_a_row_per_model(found):
    frame = found.to_frame()
    assert len(frame) == found.surface.size
    assert frame["chosen"].sum() == 1
    chosen = frame[frame["chosen"]].iloc[0]
    assert chosen["n_clusters"] == 3
    assert chosen["ams"] == found.ranking[0].ams


def test_the_summary_says_what_and_why(found):
    text = found.summary()
    assert text.startswith("3 clusters at bandwidth")
    assert "edges to nearest neighbours" in text
    assert "next best numbers" in text


def test_the_runners_up_are_the_others(found):
    assert {model.n_clusters for model in found.runners_up} == {2, 4, 5}
    values = [model.value for model in found.ranking]
    assert values == sorted(values, reverse=True)
