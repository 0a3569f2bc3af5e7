"""The recipes of docs/similarities.md run, and find the groups that are in their data."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

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


def test_a_series(names):
    middle = names["state"][30::10][: len(names["windows"])]
    assert adjusted_rand_score(middle, names["series"].labels_) >= 0.85
