"""What the result of a search tells."""

from dataclasses import replace

import pytest
from sklearn.datasets import make_blobs

from sparseksc import DoubtWarning, tune

CENTRES = [[0, 0], [6, 0], [0, 6]]


@pytest.fixture(scope="module")
def three():
    """Three blobs: (X, y)."""
    return make_blobs(240, centers=CENTRES, cluster_std=0.8, random_state=0)


@pytest.fixture(scope="module")
def found(three):
    """A search among them."""
    return tune(three[0], n_clusters=range(2, 6), kernel="rbf", random_state=0)


def test_the_repr_is_a_line(found):
    assert repr(found).startswith("<TuningResult: 3 clusters, rbf kernel, of ")
    assert len(repr(found)) < 100


def test_the_surfaces_have_every_model(found):
    shape = (len(found.surfaces.bandwidths), len(found.surfaces.n_clusters))
    assert found.surface.shape == found.surfaces["quality"].shape == shape
    assert found.surfaces.bandwidths == sorted(found.surfaces.bandwidths)
    assert found.surfaces.kernels == shape[0] * ["rbf"]
    assert len(found.eigenvalues) == shape[0]


def test_the_frame_has_a_row_per_model(found):
    frame = found.to_frame()
    assert len(frame) == found.surface.size
    assert frame["chosen"].sum() == 1
    chosen = frame[frame["chosen"]].iloc[0]
    assert chosen["n_clusters"] == 3
    assert chosen["quality"] == found.ranking[0].value


def test_the_summary_says_what_and_why(found, three):
    text = found.summary()
    assert text.startswith("3 clusters, seen with the rbf kernel at bandwidth")
    assert "times as hard to divide as to cut off" in text
    linear = tune(three[0] - [2.0, 2.0], [2, 3], kernel="linear", random_state=0)
    assert "seen with the linear kernel, were chosen" in linear.summary()
    text = tune(three[0], [2, 3, 4], criterion="ams", random_state=0).summary()
    assert text.startswith("3 clusters at bandwidth")
    assert "by the criterion ams, with the value" in text
    assert "next best numbers" in text


def test_the_summary_says_a_doubt_once_or_not_at_all(three):
    with pytest.warns(DoubtWarning):
        result = tune(2.0 * three[0] + three[0][::-1], [2, 3], random_state=0)
    assert result.summary().endswith(result.doubt)
    assert result.summary().count("as hard to divide as to cut off") == 1
    assert result.summary(doubt=False) + " " + result.doubt == result.summary()


def test_the_summary_names_the_numbers_that_there_were_models_of(three):
    assert "with 2 to 3 clusters" in tune(three[0], [2, 3, 230], random_state=0).summary()


def test_a_search_of_an_earlier_version_can_be_read(found):
    """Files have its surfaces, and its rule was called "auto", too."""
    surfaces = replace(found.surfaces, values={"ams": found.surface, "cut": found.surface})
    former = replace(found, surfaces=replace(surfaces, kernels=[], ranks=[]), best_kernel="")
    assert "by the rule of an earlier version" in former.summary()
    assert former.surface is surfaces["ams"]
    assert former.best_row == found.best_row
    assert len(former.to_frame()) == found.surface.size


def test_the_runners_up_are_the_others(found):
    assert {model.n_clusters for model in found.runners_up} == {2, 4, 5}
    values = [model.value for model in found.ranking]
    assert values == sorted(values, reverse=True)
