"""Data sets and settings that the tests share."""

import gzip
import os
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import make_moons

from sparseksc.core.reduced_set import select_reduced_set
from sparseksc.datasets import make_gaussians, make_rings, make_spirals
from sparseksc.kernels import make_kernel

# How long an example takes says something about the machine, nothing about the code; and CI draws
# the same examples in every run, so that it fails for a change and not by chance.
settings.register_profile("patient", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("patient")

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
BATTERY = DATA / "battery"
BSDS = DATA / "bsds500"


@dataclass(frozen=True)
class Shape:
    """A small data set, the number of its clusters and a bandwidth that finds them."""

    X: np.ndarray
    y: np.ndarray
    bandwidth: float

    @property
    def n_clusters(self):
        return len(np.unique(self.y))


def raster(size=18):
    """Pixels of an image with three regions, row by row: place and brightness."""
    rng = np.random.default_rng(3)
    row, column = np.divmod(np.arange(size * size), size)
    region = np.where(column < size // 3, 0, np.where(row < size // 2, 1, 2))
    brightness = 2.0 * region + 0.1 * rng.standard_normal(size * size)
    return np.column_stack([row / size, column / size, brightness]), region


def make_shape(name):
    if name == "spirals":
        return Shape(*make_spirals(420, random_state=1), 0.03)
    if name == "rings":
        return Shape(*make_rings(360, noise=0.05, random_state=2), 0.08)
    if name == "moons":
        return Shape(*make_moons(330, noise=0.05, random_state=3), 0.15)
    if name == "gaussians":
        X, y = make_gaussians(300, n_clusters=4, n_features=5, overlap=0.3, random_state=4)
        kept = np.r_[0:280]  # clusters of unequal sizes
        return Shape(X[kept], y[kept], 8.0)
    return Shape(*raster(), 0.6)


SHAPES = ("spirals", "rings", "moons", "gaussians", "raster")


@pytest.fixture(scope="session")
def shapes():
    """All data sets by name."""
    return {name: make_shape(name) for name in SHAPES}


@pytest.fixture(params=SHAPES)
def shape(request, shapes):
    """Each of the data sets."""
    return shapes[request.param]


@pytest.fixture
def gaussians(shapes):
    return shapes["gaussians"]


@pytest.fixture(scope="session")
def blobs():
    """Three well separated clusters of 70, 50 and 30 points: (X, y)."""
    X, y = make_gaussians(210, n_clusters=3, overlap=0.25, random_state=7)
    kept = np.concatenate([np.flatnonzero(y == k)[:n] for k, n in enumerate((70, 50, 30))])
    kept = np.random.default_rng(0).permutation(kept)
    return X[kept], y[kept]


@pytest.fixture
def no_warnings():
    """Turn warnings into errors also where a test runs outside of the usual configuration."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def pivots_of(kernel_name, X, *, bandwidth, max_rank, tol=0.0, **kwargs):
    """A kernel and greedy pivots in it."""
    kernel = make_kernel(kernel_name, bandwidth)
    return kernel, select_reduced_set(kernel, X, max_rank=max_rank, tol=tol, **kwargs)


def battery_names():
    """Names of the labelled clustering problems beside the repository, if they are there."""
    return sorted(str(path.relative_to(BATTERY))[:-8] for path in BATTERY.glob("*/*.data.gz"))


@pytest.fixture
def battery():
    """A function that reads the points of one problem of the battery."""
    if not BATTERY.is_dir():
        pytest.skip("needs ../shared/data/battery")

    def points(name):
        with gzip.open(BATTERY / f"{name}.data.gz", "rt") as lines:
            return np.loadtxt(lines, ndmin=2)

    return points
