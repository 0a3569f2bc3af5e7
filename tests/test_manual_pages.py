"""The tutorial, the how-tos and the cheat sheet run, and do what the pages say."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

import sparseksc
from sparseksc.cli.program import ksc
from tests.test_clusters_pages import DOCS, run

pytest.importorskip("pandas")


@pytest.mark.slow
def test_the_tutorial(tmp_path, monkeypatch, capsys):
    pytest.importorskip("bokeh")
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    names = run("tutorial.md")
    model = names["model"]
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(load_wine().target, model.labels_) > 0.7
    np.testing.assert_array_equal(names["later"].predict(names["new"]), model.labels_[-5:])
    assert not names["later"].outliers(names["new"]).any()
    assert {path.name for path in tmp_path.iterdir()} == {
        "wines.csv",
        "labelled.csv",
        "report.html",
        "wines.ksc",
    }
    assert "3 clusters" in capsys.readouterr().out


@pytest.mark.slow
def test_the_how_tos(capsys):
    names = run("howto.md")
    assert adjusted_rand_score(np.tile([0, 0, 0, 1, 1, 1], 20), names["by_words"].labels_) == 1.0
    assert names["by_topic"].n_clusters_ == 6
    assert adjusted_rand_score(names["group"], names["by_links"].labels_) > 0.95
    inner = names["state"][30:-29:10]
    assert adjusted_rand_score(inner, names["by_state"].labels_) > 0.8
    assert adjusted_rand_score(np.repeat(range(4), 200), names["by_place"].labels_) == 1.0
    assert adjusted_rand_score(names["kind"], names["by_order"].labels_) > 0.95
    assert adjusted_rand_score(names["by_topic"].labels_, names["in_steps"]) > 0.95


def test_the_cheat_sheet_names_what_is_there():
    page = DOCS / "cheat-sheet.md"
    if not page.exists():
        pytest.skip("needs docs/cheat-sheet.md")
    text = page.read_text("utf-8")
    estimator = sparseksc.KernelSpectralClustering
    for method in re.findall(r"`(\w+)\((?:new|3|\")", text):
        assert hasattr(estimator, method) or hasattr(sparseksc, method), method
    for parameter in re.findall(r"(\w+)=", text):
        described = estimator.__doc__ + estimator.fit.__doc__ + estimator.predict.__doc__
        assert parameter in described + sparseksc.estimate_memory.__doc__, parameter
    commands = set(re.findall(r"`ksc (\w+)", text))
    assert commands == commands & set(ksc.commands)
