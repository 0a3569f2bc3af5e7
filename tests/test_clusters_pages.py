"""The examples of the pages on labels, levels and numbers run, and do what the pages say."""

import re
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"


def run(name):
    """What the code of a page defines."""
    page = DOCS / name
    if not page.exists():
        pytest.skip(f"needs docs/{name}")
    scope = {}
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
        exec(compile(block, str(page), "exec"), scope)
    return scope


def test_some_labels():
    names = run("some_labels.md")
    assert round(np.mean(names["model"].labels_ == names["digits"]), 2) == 0.98
    assert names["model"].classes_.tolist() == list(range(10))
    one, two, three, four = names["three"].predict([[0, 0], [6, 0], [0, 7], [8, 8]])
    assert one == four and len({one, two, three}) == 3


def test_levels():
    model = run("hierarchy.md")["model"]
    near, far = (
        model.predict([[0, 0], [0, 5]], n_clusters=2),
        model.predict([[30, 0]], n_clusters=2),
    )
    assert near[0] == near[1] != far[0]
    np.testing.assert_array_equal(model.cut(height=5.0), model.cut(2))


def test_numbers(capsys):
    names = run("stable_numbers.md")
    assert names["november"].predict([[0, 0], [10, 10], [15, 15]]).tolist() == [0, 2, 3]
    assert "died: 1 -> none" in capsys.readouterr().out
    told = [
        (day, kind)
        for day, record in enumerate(names["stream"].history_)
        for kind in ("born", "died")
        if record[kind]
    ]
    assert told == [(4, "born"), (7, "died")]
    assert names["stream"].history_[4]["born"] == [2]
