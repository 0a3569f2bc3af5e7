"""Static charts have words, also where candidates are vectors."""

import numpy as np
import pytest

from sparseksc import KernelSpectralClustering
from tests.report.conftest import Outline, shown

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)


def test_every_chart_has_words_and_every_table_a_caption(model, data, write):
    page = write(model, data)
    outline = Outline(page)
    ids = [attrs["id"] for _, attrs in outline.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    images = [attrs for attrs in outline.named("svg") if attrs.get("role") == "img"]
    assert len(images) == 6  # that of the memberships for 3 and for 2 clusters
    assert all(attrs["aria-labelledby"] in ids for attrs in images)
    assert len(outline.named("table")) == len(outline.named("caption"))
    assert all("scope" in attrs for attrs in outline.named("th"))
    labelled = [attrs["aria-labelledby"] for _, attrs in outline.tags if "aria-labelledby" in attrs]
    assert set(labelled) <= set(ids)
    targets = [a["href"][1:] for a in outline.named("a")]
    assert set(targets) <= set(ids)
    assert outline.named("html") == [{"lang": "en"}]
    assert len(outline.named("h1")) == len(outline.named("main")) == 1


def test_candidates_that_are_vectors(data, write):
    pairs = [np.array([8.0, 6.0]), np.array([6.0, 8.0])]
    given = {"bandwidth": pairs, "criterion": "ams", "random_state": 0}
    model = KernelSpectralClustering([2, 3], **given).fit(data[:, :2])
    assert "bandwidth, candidate" in shown(write(model, data[:, :2]))
