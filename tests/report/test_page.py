"""The page: what is said, and that nothing breaks it."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import rbf_kernel

from sparseksc import KernelSpectralClustering
from tests.report.conftest import Outline, shown

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)


def test_the_page_tells_the_facts(model, data, write):
    page = write(model, data, title="Three groups")
    text = shown(page)
    for fact in (
        "Three groups",
        "The 300 rows fall into 3 clusters of 150, 100 and 50 rows.",
        "feature 0",
        "Why 3 clusters",
        " ".join(model.tuning_.summary().split()),
        "The eigenvalues as numbers",
        "random_state=0",
        "scikit-learn",
        "All numbers and figures show all 300 rows.",
    ):
        assert fact in text, fact
    for cluster, size in enumerate((150, 100, 50)):
        assert re.search(rf"Cluster {cluster} {size} ", text)


def test_nothing_points_to_the_network(model, data, write):
    outline = Outline(write(model, data))
    addresses = [
        attrs[name]
        for _, attrs in outline.tags
        for name in ("href", "src", "xlink:href", "action", "srcset")
        if name in attrs
    ]
    assert all(address.startswith(("#", "data:")) for address in addresses)
    (policy,) = [a["content"] for a in outline.named("meta") if a.get("http-equiv")]
    assert policy.startswith("default-src 'none'")


def test_without_a_search_the_page_says_so(plain, data, write):
    text = shown(write(plain, data))
    assert "The number of clusters was given, 3" in text
    assert "The best model for each number of clusters" not in text


def test_names_cannot_break_out(write):
    X, _ = make_blobs(90, centers=[[0, 0], [9, 9]], random_state=0)
    names = [
        "</script><script>alert(1)</script>",
        "größe 日本 & --> ]]> $\\alpha$ #0072b2 {{ 7*7 }}",
    ]
    frame = pd.DataFrame(X, columns=names)
    model = KernelSpectralClustering(2, bandwidth=8.0, random_state=0).fit(frame)
    page = write(model, frame, title="<img src=x onerror=alert(1)>", ids=["</td><b>"] * 90)
    outline = Outline(page)
    assert len(outline.named("script")) == 3
    assert not outline.named("img") and not any("onerror" in attrs for _, attrs in outline.tags)
    for name in (*names, "<img src=x onerror=alert(1)>", "</td><b>"):
        assert name in shown(page)


@pytest.mark.filterwarnings("ignore::sparseksc.DoubtWarning")
@pytest.mark.parametrize(("n_clusters", "spread"), [(1, 1.0), ("auto", 0.0)])
def test_a_search_without_models(n_clusters, spread, write):
    X = spread * np.random.default_rng(0).normal(size=(50, 2))
    model = KernelSpectralClustering(n_clusters, random_state=0).fit(X)
    assert model.tuning_.n_models == 0
    assert "None" not in model.tuning_.summary()
    assert "A single cluster, with no others to compare." in shown(write(model, X))


@pytest.mark.parametrize("X", [np.zeros((2, 3)), np.ones((9, 1)), np.eye(4)])
def test_hardly_any_data(X, write):
    model = KernelSpectralClustering(1, bandwidth=1.0, random_state=0).fit(X)
    assert "nan" not in shown(write(model, X)).lower().split()
    write(model, X[:1])


def test_forty_clusters_of_a_hundred_features(write):
    X, _ = make_blobs(2000, n_features=100, centers=40, random_state=0)
    model = KernelSpectralClustering(40, bandwidth=800.0, random_state=0).fit(X)
    page = write(model, X)
    assert "the 30 most telling of 100 features" in shown(page)
    chips = [a["id"] for a in Outline(page).named("input") if a.get("name") == "pick"]
    assert len([chip for chip in chips if chip.count("-") == 1]) == 41


def test_a_kernel_matrix_has_no_features(data, write):
    X = rbf_kernel(data[:, :2], gamma=1 / 8)
    model = KernelSpectralClustering(3, kernel="precomputed", random_state=0).fit(X)
    text = shown(write(model, X))
    assert "3 clusters" in text
    assert "Profiles" not in text
