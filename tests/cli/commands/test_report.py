"""`ksc report` writes a page about a saved model."""

import pytest

pytestmark = pytest.mark.filterwarnings("default")


def test_reports_of_a_fit_and_of_a_saved_model(ksc, files, fast, tmp_path):
    pytest.importorskip("bokeh")
    data = (files / "points.csv", "--id", "name")
    done = ksc("fit", *data, *fast, "-o", "model.ksc", "--report", "fit.html")
    assert (done.code, done.err) == (0, "")
    page = (tmp_path / "fit.html").read_text(encoding="utf-8")
    assert "3 clusters" in page
    assert "--report fit.html" in page
    done = ksc("report", "model.ksc", *data, "--title", "Spring & summer", "-o", "later.html")
    assert (done.code, done.err) == (0, "")
    page = (tmp_path / "later.html").read_text(encoding="utf-8")
    assert "<title>Spring &amp; summer" in page
    assert "ksc report model.ksc" in page
