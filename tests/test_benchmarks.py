"""Every benchmark runs, on data so small that its times mean nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from benchmarks import __main__ as command
from benchmarks import battery, clouds, labelled_sets, machine, quality_parts, report
from benchmarks.measure import Settings, Spread
from sparseksc import KernelSpectralClustering

SMALLEST = Settings(scale=0.001, budget=0.0, repeats=1)
# SpectralClustering warns of the two components that the spirals are meant to have; so small a
# sample of them is no good clustering problem.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def noted(calls, name):
    """A contender that notes its calls."""

    def contender():
        calls.append(name)
        return name

    return contender


@pytest.mark.parametrize(
    "name", [*command.USUAL, "commands", "memory_plan", "real_data", "tables", "wide"]
)
def test_benchmark_writes_its_tables_and_acceptance_thresholds(name, tmp_path, capsys):
    settings = replace(SMALLEST, long=name in ("peers", "selection"))
    command.run([name], settings, tmp_path, machine.describe())
    printed = capsys.readouterr().out
    content = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    assert content["benchmark"] == name
    assert set(content["machine"]) >= {"date", "commit", "processor", "cores", "NumPy", "BLAS"}
    assert content["settings"]["scale"] == SMALLEST.scale
    assert content["tables"]
    for table in content["tables"]:
        assert table["title"] in printed
        assert table["rows"]
        assert len({tuple(row) for row in table["rows"]}) == 1
    assert content["thresholds"]
    for threshold in content["thresholds"]:
        assert set(threshold) == {"what", "value", "at_least", "at_most", "met"}
        assert threshold["what"] in printed
    assert list(tmp_path.iterdir()) == [tmp_path / f"{name}.json"]


def test_contenders_take_turns():
    calls = []
    contenders = {name: noted(calls, name) for name in "ab"}
    times = Settings(repeats=3).alternate(contenders)
    assert times.results == {"a": "a", "b": "b"}
    assert len(times.wall["a"]) == len(times.cpu["b"]) == 3
    # One call each to warm up, then forwards, backwards, forwards; neighbours are counted once.
    changes = [key for key, before in zip(calls, [None, *calls], strict=False) if key != before]
    assert changes == ["a", "b"] * 3
    assert times.ratio("a", "a").median == 1.0


def test_a_slow_contender_runs_once():
    calls = []
    times = Settings(repeats=7).alternate(
        {name: noted(calls, name) for name in ("quick", "slow")}, once=["slow"]
    )
    assert calls.count("slow") == len(times.wall["slow"]) == 1
    assert calls.count("quick") > 1


def test_cells_are_short():
    assert report.shown(Spread(8.3456, 8.1, 8.6)) == "8.35 (8.1–8.6)"
    assert report.shown(Spread.of([2.0])) == "2"
    assert report.shown(100_000) == "100,000"
    assert report.shown(0.01234) == "0.0123"
    assert report.shown(None) == ""


def test_acceptance_thresholds_know_whether_they_are_met():
    assert report.Threshold("speed-up", 1.8, at_least=1.7).met
    assert not report.Threshold("memory", 301.0, at_most=300.0).met
    assert report.Threshold("memory", 301.0, at_most=300.0).goal == "at most 300"


def test_the_page_holds_every_table(tmp_path):
    table = report.Table("Times", ("what", "seconds"), [("fit", Spread(1.0, 0.5, 2.0))])
    result = report.Result("peers", [table], [report.Threshold("speed", 2.0, at_least=1.0)])
    page = report.page([result], {"peers": "Against others."}, machine.describe(), "make it")
    assert "one run of `make it`" in page
    assert "| fit | 1 (0.5–2) |" in page
    assert "| speed | at least 1 | 2 | yes |" in page
    assert report.by_name(tmp_path / "page.md") == ""
    section = f"{report.BY_NAME}\nWritten by hand.\n"
    report.write(tmp_path / "page.md", page + section)
    assert report.by_name(tmp_path / "page.md") == section  # it is kept
    report.write(tmp_path / "page.md", page)
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-benchmark"], "no benchmark is named 'no-such-benchmark'"),
        (["kernels", "--slowly"], "unknown option '--slowly'"),
        (["--repeats", "0"], "--repeats must be at least 1"),
        (["--quick", "--markdown"], "--markdown needs the full sizes"),
    ],
)
def test_wrong_arguments_are_named(arguments, message, capsys):
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert message in capsys.readouterr().err


def test_help_lists_the_benchmarks(capsys):
    with pytest.raises(SystemExit):
        command.main(["--help"])
    printed = capsys.readouterr().out
    assert all(name in printed for name in command.USUAL)


def test_the_parts_of_the_quality_select_what_the_search_selects():
    X, y = make_blobs(300, n_features=3, centers=5, cluster_std=2.0, random_state=3)
    problem = labelled_sets.Problem("blobs", X, [y + 1])
    found = quality_parts.candidates(problem, None, seed=0)
    K, ari = quality_parts.selected(found, quality_parts.VARIANTS["the quality"], known=False)
    model = KernelSpectralClustering(random_state=0).fit(X)
    best = model.tuning_.ranking[0]
    assert K == best.n_clusters
    assert ari == pytest.approx(problem.ari(model.labels_), abs=0.05)
    qualities = [quality_parts.VARIANTS["the quality"](one) for one in found]
    assert max(qualities) == pytest.approx(best.value)


def test_small_clouds_are_counted_where_they_are_divided_without_a_warning(monkeypatch):
    monkeypatch.setattr(clouds, "FEW", (10, 200))
    table = clouds.small_clouds(4)
    assert [row[0] for row in table.rows] == [1, 2, 3, 5]
    assert all(0.0 <= share <= 1.0 for row in table.rows for share in row[1:])
    assert [row[2] for row in table.rows[1:]] == [0.0, 0.0, 0.0]


def test_drawn_sets_depend_on_the_number_of_the_draw_alone():
    first, again, other = (list(labelled_sets.drawn(number)) for number in (3, 3, 4))
    assert len({one.name for one in first}) == len(first) > 30
    for one, same, another in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(one.X, same.X)
        assert one.X.shape[1] == another.X.shape[1]
        assert not np.array_equal(one.X[:100], another.X[:100])
        assert one.ari(one.answers[0]) == one.nmi(one.answers[0]) == 1.0
        # Noise may be there, and is no cluster.
        assert one.cluster_numbers == [one.answers[0].max()] != [0]


def test_the_battery_prints_a_line_for_each_set(capsys):
    battery.main(["--suites", "scikit-learn", "--only", "iris", "--ours", "--seeds", "0", "1"])
    printed = capsys.readouterr().out
    assert printed.count("mean NMI") == 2
    assert "-: ours" in printed and "over the seeds" in printed


def test_the_battery_names_what_it_needs(capsys):
    with pytest.raises(SystemExit):
        battery.main(["--suites", "drawn", "--only", "no-such-set"])
    assert "no such sets" in capsys.readouterr().err


def test_a_page_of_the_manual_is_filled_between_its_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- results -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")
    report.fill(page, "new")
    expected = "before\n<!-- results -->\n\nnew\n\n<!-- end -->\nafter\n"
    assert page.read_text(encoding="utf-8") == expected


def test_a_page_without_marks_is_left_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("no marks\n", encoding="utf-8")
    with pytest.raises(ValueError, match="0 places for results"):
        report.fill(page, "new")
    assert page.read_text(encoding="utf-8") == "no marks\n"


@pytest.mark.parametrize("name", ["Gaussian, 2 features", "ring", "pair 6 apart, 32 features"])
def test_one_cloud_is_told_from_two(name):
    *_, as_meant = clouds.look(name, 400, seed=0)
    assert as_meant == "yes"
