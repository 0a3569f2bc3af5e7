"""The recipes of docs/similarities.md run, and find the groups that are in their data."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from sparseksc import KernelSpectralClustering

PAGE = Path(__file__).resolve().parents[1] / "docs" / "similarities.md"


@pytest.fixture(scope="module")
def names():
    """What the recipes define, run one after the other."""
    if not PAGE.exists():
        pytest.skip("needs docs/similarities.md")
    scope = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S):
        exec(compile(block, str(PAGE), "exec"), scope)
    return scope


@pytest.mark.parametrize("model", ["texts", "own"])
def test_texts(names, model):
    assert adjusted_rand_score(np.arange(400) // 100, names[model].labels_) >= 0.97


def test_a_new_text_goes_to_its_group(names):
    own = names["own"]
    assert own.predict(["constantinopel"]) == np.bincount(own.labels_[100:200]).argmax()


def test_a_network(names):
    assert adjusted_rand_score(names["group"], names["network"].labels_) >= 0.97


def test_movements_are_told_apart_by_alignment(names):
    movement, gestures = names["movement"], names["gestures"]
    assert adjusted_rand_score(movement, names["moves"].labels_) >= 0.97
    rbf = KernelSpectralClustering(3, kernel="rbf", random_state=0).fit(gestures)
    assert adjusted_rand_score(movement, rbf.labels_) < 0.7


def test_the_alignment_kernel_is_positive_semidefinite(names):
    values = names["aligned"](names["gestures"], names["gestures"], 0.5)
    np.testing.assert_allclose(np.diag(values), 1.0)
    assert np.linalg.eigvalsh(values).min() > -1e-9


def test_places_and_sets(names):
    assert adjusted_rand_score(names["island"], names["sightings"].labels_) >= 0.97
    assert adjusted_rand_score(names["taste"], names["customers"].labels_) >= 0.9


def test_a_series(names):
    middle = names["state"][30::10][: len(names["windows"])]
    assert adjusted_rand_score(middle, names["series"].labels_) >= 0.85
