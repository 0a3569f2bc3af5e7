"""Data that scikit-learn does not know: recognised, and checked as scikit-learn would."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sparseksc.data.adapters import external_source, is_dask, is_external, origins_of
from sparseksc.data.files import open_dataset
from sparseksc.data.source import ArraySource, Source
from sparseksc.data.stream import IterableSource


@pytest.fixture
def stored(tmp_path):
    """A source with the columns a and b."""
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}).to_csv(tmp_path / "points.csv", index=False)
    return open_dataset(tmp_path / "points.csv")


def test_arrays_and_frames_are_not_external():
    for X in (np.ones((2, 2)), [[1.0]], pd.DataFrame({"a": [1.0]}), None):
        assert not is_external(X)
        assert not is_dask(X)


def test_sources_and_dask_collections_are_external():
    assert is_external(IterableSource([np.ones((2, 2))]))
    da = pytest.importorskip("dask.array")
    lazy = da.ones((4, 2), chunks=2)
    assert is_dask(lazy) and is_external(lazy)
    assert isinstance(external_source(lazy, SimpleNamespace(), reset=True), Source)


def test_files_are_those_that_the_rows_are_read_from(stored, tmp_path):
    assert origins_of(stored) == [str(tmp_path / "points.csv")]
    np.save(tmp_path / "points.npy", np.ones((2, 2)))
    mapped = np.load(tmp_path / "points.npy", mmap_mode="r")
    assert origins_of(mapped) == [str(tmp_path / "points.npy")]
    assert origins_of(np.ones((2, 2))) == []


def test_training_keeps_the_columns(stored):
    estimator = SimpleNamespace(feature_names_in_=["of an earlier fit"])
    assert external_source(stored, estimator, reset=True) is stored
    assert estimator.n_features_in_ == 2
    assert list(estimator.feature_names_in_) == ["a", "b"]
    external_source(IterableSource([np.ones((2, 3))]), estimator, reset=True)
    assert vars(estimator) == {"n_features_in_": 3}


def test_later_data_must_have_the_columns_of_training(stored):
    names = np.array(["a", "b"], dtype=object)
    trained = SimpleNamespace(n_features_in_=2, feature_names_in_=names)
    assert external_source(stored, trained, reset=False) is stored
    nameless = ArraySource(np.ones((2, 2)))
    assert external_source(nameless, trained, reset=False) is nameless
    trained.feature_names_in_ = names[::-1]
    with pytest.raises(ValueError, match=r"has the columns a, b, but .* trained with b, a"):
        external_source(stored, trained, reset=False)
    trained.n_features_in_ = 5
    with pytest.raises(ValueError, match=r"has 2 features, but .* trained with 5 features"):
        external_source(stored, trained, reset=False)
