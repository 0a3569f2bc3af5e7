"""Models to report on, and readers of the page."""

from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sparseksc import KernelSpectralClustering
from sparseksc.report import write_report

LIMIT = 3_000_000


@pytest.fixture(scope="session")
def data():
    """Three clusters of 150, 100 and 50 rows, apart in the first two of four features."""
    X, _ = make_blobs([150, 100, 50], centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    noise = np.random.default_rng(0).normal(size=(300, 2))
    return np.hstack([X, noise, np.full((300, 1), 7.0)])


@pytest.fixture(scope="session")
def model(data):
    return KernelSpectralClustering(random_state=0).fit(data)


@pytest.fixture(scope="session")
def plain(data):
    return KernelSpectralClustering(3, bandwidth=8.0, random_state=0).fit(data)


@pytest.fixture(scope="session")
def nested():
    """A model of two pairs of clusters and a far one, and its rows."""
    centers = [[0, 0], [0, 5], [14, 0], [14, 5], [30, 20]]
    X, _ = make_blobs([400, 300, 200, 150, 100], centers=centers, random_state=0)
    return KernelSpectralClustering(5, bandwidth=4.0, random_state=0).fit(X), X


@pytest.fixture
def write(tmp_path):
    """A function that writes a report and returns the page."""

    def page_of(estimator, X, **options):
        path = tmp_path / "report.html"
        write_report(estimator, X, path, **options)
        text = path.read_text(encoding="utf-8")
        assert len(text.encode()) < LIMIT
        return text

    return page_of


class Outline(HTMLParser):
    """Tags, and the text outside of scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self._inside = [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside = tag

    def handle_endtag(self, tag):
        if tag == self._inside:
            self._inside = None

    def handle_data(self, text):
        if self._inside is None:
            self.text.append(text)

    def named(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def shown(page):
    """What a reader sees, as one line."""
    return " ".join(" ".join(Outline(page).text).split())
