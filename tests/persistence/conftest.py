"""Fitted models, their files, and changes to these."""

import warnings

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from sparseksc import KernelSpectralClustering, ModelFileError, load
from sparseksc.datasets import make_gaussians
from sparseksc.persistence.container import read_header
from tests.fuzz_model_files import joined, split


def points(n_clusters=4, n_features=3, dtype=np.float64):
    X, _ = make_gaussians(
        240, n_clusters=n_clusters, n_features=n_features, overlap=0.2, random_state=5
    )
    return (X - X.min(axis=0) + 0.1).astype(dtype)


def fitted(X, n_clusters=3, **parameters):
    parameters = {"max_rank": 40, "random_state": 0, **parameters}
    if parameters.get("kernel", "rbf") in ("rbf", "laplacian", "chi2", "polynomial"):
        parameters.setdefault("bandwidth", 3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KernelSpectralClustering(n_clusters, **parameters).fit(X)


def assert_same(one, other, X):
    """The same bits for everything that a model says of points."""
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    for say in ("transform", "membership", "outliers"):
        ours, theirs = getattr(one, say)(X), getattr(other, say)(X)
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes(), say
    assert one.score(X) == other.score(X)


def round_trip(model, tmp_path, **options):
    model.save(tmp_path / "model.ksc")
    return load(tmp_path / "model.ksc", **options)


def similarity(X, Y, gamma=1.0, mode=None):
    return rbf_kernel(X, Y, gamma=gamma)


@pytest.fixture(scope="session")
def model():
    X, _ = make_gaussians(90, n_clusters=3, n_features=2, overlap=0.2, random_state=0)
    return KernelSpectralClustering(3, bandwidth=3.0, max_rank=10, random_state=0).fit(X)


@pytest.fixture
def path(model, tmp_path):
    model.save(tmp_path / "model.ksc")
    return tmp_path / "model.ksc"


def edited(path, *, signed=True, outer=None, **entries):
    """Change entries of the headers ("training.residual" as training__residual)."""
    whole, inner, data = split(path.read_bytes())
    for name, value in entries.items():
        *above, last = name.split("__")
        at = inner
        for key in above:
            at = at[key]
        at[last] = value
    if outer is not None:
        outer(whole)
    path.write_bytes(joined(whole, inner, data, signed=signed))


def with_numbers(path, name, change):
    """Change the numbers of one array."""
    outer, inner, data = split(path.read_bytes())
    start, stop = outer[name]["data_offsets"]
    kind = {"F64": "<f8", "I64": "<i8"}[outer[name]["dtype"]]
    numbers = np.frombuffer(data[start:stop], dtype=kind).copy()
    change(numbers)
    path.write_bytes(
        joined(outer, inner, data[:start] + numbers.tobytes() + data[stop:], signed=True)
    )


def refused(path, match):
    for read in (load, read_header):
        with pytest.raises(ModelFileError, match=match) as caught:
            read(path)
        sentence = str(caught.value)
        assert sentence.startswith(str(path)) and sentence.endswith(".")
