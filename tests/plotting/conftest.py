"""A model to draw, and figures that are closed after each test."""

import pytest
from sklearn.datasets import make_blobs

from sparseksc import KernelSpectralClustering

matplotlib = pytest.importorskip("matplotlib")

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def data():
    return make_blobs(150, centers=[[0, 0], [6, 0], [0, 6], [6, 6]], random_state=0)[0]


@pytest.fixture(scope="session")
def model(data):
    return KernelSpectralClustering(kernel="rbf", random_state=0).fit(data)
