"""Reports are complete files, or errors before any work."""

import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from sparseksc import KernelSpectralClustering
from sparseksc.report import write_report

for needed in ("bokeh", "jinja2", "matplotlib"):
    pytest.importorskip(needed)


def test_the_same_model_and_data_give_the_same_page(model, data, write):
    assert write(model, data) == write(model, data)


def test_a_report_that_fails_leaves_what_was_there(plain, data, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    with pytest.raises(ValueError, match="NaN"):
        write_report(plain, np.full((3, 5), np.nan), path)
    with pytest.raises(ValueError, match="4 features"):
        write_report(plain, data[:, :4], path)
    assert path.read_text() == "before"
    with pytest.raises(FileNotFoundError, match="no folder"):
        write_report(plain, data, tmp_path / "missing" / "report.html")
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("package", ["matplotlib", "bokeh", "jinja2"])
def test_a_missing_package_is_named_before_any_work(package, plain, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"{package}: install it, .* extra 'report'"):
        write_report(plain, "no data at all", tmp_path / "report.html")
    assert not list(tmp_path.iterdir())


def test_unfitted_models_are_refused(data, tmp_path):
    with pytest.raises(NotFittedError):
        write_report(KernelSpectralClustering(), data, tmp_path / "report.html")
