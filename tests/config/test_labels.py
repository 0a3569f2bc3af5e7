import numpy as np
import pandas as pd
import pytest

from sparseksc import KernelSpectralClustering, open_dataset
from sparseksc.config.labels import FewLabelsWarning, read_classes

X = np.concatenate([np.random.default_rng(0).normal(c, 0.5, size=(60, 2)) for c in (0.0, 6.0)])
KNOWN = np.full(120, -1)
KNOWN[[0, 1, 2, 60, 61, 62]] = [5, 5, 5, 2, 2, 2]


def model(n_clusters=2):
    return KernelSpectralClustering(n_clusters, bandwidth=2.0, random_state=0)


@pytest.mark.parametrize(
    "y",
    [
        KNOWN,
        np.where(KNOWN < 0, np.nan, KNOWN),
        pd.Series(np.where(KNOWN < 0, np.nan, KNOWN)),
        pd.Series(KNOWN).where(KNOWN >= 0).astype("Int64"),
        [None if k < 0 else int(k) for k in KNOWN],
        KNOWN[:, None],
    ],
)
def test_unknown_classes_can_be_said_in_many_ways(y):
    names, codes = read_classes(y)
    assert names.tolist() == [2, 5]
    np.testing.assert_array_equal(codes[[0, 60, 80]], [1, 0, -1])


def test_text_is_a_class():
    names, codes = read_classes(pd.Series(["b", None, "a"], dtype="object"))
    assert names.tolist() == ["a", "b"] and codes.tolist() == [1, -1, 0]
    names, codes = read_classes(pd.Series(["b", None, "a"], dtype="string"))
    assert names.tolist() == ["a", "b"]


@pytest.mark.parametrize("y", [np.full(120, -1), np.full(120, np.nan), [None] * 120])
def test_no_known_class_is_the_same_as_no_y(y):
    plain, labelled = model().fit(X), model().fit(X, y)
    np.testing.assert_array_equal(plain.labels_, labelled.labels_)
    assert not hasattr(labelled, "classes_")


@pytest.mark.parametrize("y", [np.arange(120), np.linspace(0, 1, 120), ["a", "b"] * 60])
def test_a_target_without_unknown_rows_is_not_used(y):
    np.testing.assert_array_equal(model().fit(X, y).labels_, model().fit(X).labels_)


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (KNOWN[:50], "y has 50 labels, but X has 120 rows"),
        (np.where(KNOWN < 0, np.nan, KNOWN + 0.5), "y must hold classes, integers or text, got"),
        ([None, "a", 3] + [None] * 117, "got both"),
        (np.zeros((120, 2)), "one label for each row"),
    ],
)
def test_wrong_labels_get_a_sentence(y, sentence):
    with pytest.raises(ValueError, match=sentence):
        model().fit(X, y)


def test_fewer_clusters_than_classes_are_refused():
    y = KNOWN.copy()
    y[5:8] = 9
    with pytest.raises(ValueError, match="2 clusters asked for, but y has 3 classes"):
        model(2).fit(X, y)


def test_fewer_than_three_labels_are_a_warning():
    y = np.where(np.arange(120) == 2, -1, KNOWN)
    with pytest.warns(FewLabelsWarning, match="1 of the 2 classes in y has fewer than 3 labels"):
        model().fit(X, y)


def test_labels_of_an_array_a_stream_and_dask_give_the_same_bits():
    da = pytest.importorskip("dask.array")
    whole = model().fit(X, KNOWN)
    stream = model().fit(open_dataset([X]), KNOWN)
    lazy = model().fit(da.from_array(X, chunks=(120, 2)), da.from_array(KNOWN, chunks=50))
    for other in (stream, lazy):
        np.testing.assert_array_equal(whole.coef_, other.coef_)
        np.testing.assert_array_equal(whole.tree_, other.tree_)
        np.testing.assert_array_equal(whole.labels_, np.asarray(other.predict(X)))
    np.testing.assert_array_equal(whole.labels_, lazy.labels_.compute())
